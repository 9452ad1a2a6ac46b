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
            let file = configuration.position.file ?? program.configurationFile
            return Parameter.object([
                ("name", .string(route.name)),
                (
                    "place",
                    .object([
                        ("file", file.map { .string($0) }), ("line", .integer(Int64(configuration.position.line))),
                    ])
                ),
                ("match", .string(summary.matched)), ("summary", .string(summary.description)),
                ("upstream", configuration.upstream.map { .string("\($0)") }),
                ("trust", configuration.trust.map { .string($0.value) }), ("counters", counts.parameter),
                ("violations", counts.violations.parameter), ("used", .bool(counts.started > 0)),
            ])
        }
        self.text = JSONText.value(
            .object([
                ("routes", .array(routes)),
                ("unrouted", (snapshot[route: Counters.noRoute] ?? Counts()).parameter),
            ]))
    }
}
