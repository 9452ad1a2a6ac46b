// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization

/// The routes with their counters.
struct RoutesAnswer {
    let text: [UInt8]

    init(_ program: any AdminProgram) {
        let policy = program.active.policy
        let snapshot = program.activity.counters.snapshot()
        let routes = policy.routes.routes.map { route in
            let configuration = route.configuration
            let counts = snapshot[route: route.name] ?? Counts()
            let summary = RouteSummary(configuration, policy.configuration.enforcement)
            return Parameter.object([
                ("name", .string(route.name)),
                ("place", Self.place(configuration.position, program)),
                ("match", .string(summary.matched)), ("summary", .string(summary.description)),
                ("upstream", configuration.upstream.map { .string("\($0)") }),
                ("answer", configuration.answer.map { .integer(Int64($0.status)) }),
                ("trust", configuration.trust.map { .string($0.value) }), ("counters", counts.parameter),
                ("violations", counts.violations.parameter), ("used", .bool(counts.started > 0)),
            ])
        }
        self.text = JSONText.value(
            .object([
                ("routes", .array(routes)),
                ("rules", .array(Self.rules(program))),
                ("unrouted", (snapshot[route: Counters.noRoute] ?? Counts()).parameter),
            ]))
    }

    /// The rules about clients and destinations, with the number of their decisions under the configuration in force.
    private static func rules(_ program: any AdminProgram) -> [Parameter] {
        program.ruleCounts.map { rule, count in
            .object([
                ("name", .string(rule.name)), ("place", rule.position.map { Self.place($0, program) }),
                ("count", .integer(Int64(count))), ("used", .bool(count > 0)),
            ])
        }
    }

    private static func place(_ position: SourcePosition, _ program: any AdminProgram) -> Parameter {
        let file = position.file ?? program.configurationFile
        return .object([("file", file.map { .string($0) }), ("line", .integer(Int64(position.line)))])
    }
}
