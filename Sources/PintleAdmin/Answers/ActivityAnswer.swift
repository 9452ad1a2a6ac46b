// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization

/// The state of the whole program.
struct ActivityAnswer {
    let text: [UInt8]

    /// - Parameter now: left out if it is nil.
    init(_ program: any AdminProgram, _ recent: RecentExchanges, at now: Timestamp? = .now()) {
        let snapshot = program.activity.counters.snapshot()
        let usage = recent.usage
        self.text = JSONText.value(
            .object([
                ("state", .string(program.activity.state.rawValue)), ("status", .string(program.status)),
                ("version", .string(program.version)), ("revision", .string(program.revision)),
                ("started", .string(program.started.description)), ("now", now.map { .string($0.description) }),
                ("listeners", .strings(program.places.map(\.description))),
                ("connections", .integer(Int64(program.connections))),
                ("held_bytes", .integer(Int64(snapshot.memory.held))),
                ("counters", snapshot.parameter), ("violations", snapshot.overall.violations.parameter),
                (
                    "kept",
                    .object([
                        ("exchanges", .integer(Int64(usage.exchanges))), ("bytes", .integer(Int64(usage.bytes))),
                        ("most_exchanges", .integer(Int64(recent.mostExchanges))),
                        ("most_bytes", .integer(Int64(recent.mostBytes))),
                        ("forgotten", .integer(Int64(usage.forgotten))),
                    ])
                ), ("bodies", program.active.keptBodies.map(\.parameter)),
            ]))
    }
}

extension CaptureStore.Usage {
    fileprivate var parameter: Parameter {
        .object([
            ("bytes", .integer(Int64(self.bytes))), ("most_bytes", .integer(Int64(CaptureStore.mostBytes))),
            ("forgotten", .integer(Int64(self.forgotten))), ("lost", .integer(Int64(self.lost))),
        ])
    }
}

extension Counters.Snapshot {
    /// The counters of all routes, with those that routes share.
    fileprivate var parameter: Parameter {
        var members = self.overall.members
        for (name, value) in self.questions.named { members.append((name, .integer(Int64(value)))) }
        return .object(members)
    }
}

extension Counts {
    /// By the names of logs, with the number of violations.
    var parameter: Parameter { .object(self.members) }

    fileprivate var members: [(String, Parameter?)] {
        self.named.map { ($0.name, .integer(Int64($0.value))) } + [
            ("violations", .integer(Int64(self.violations.total)))
        ]
    }
}

extension Counts.Violations {
    /// The kinds that have occurred.
    var parameter: Parameter {
        .object(
            ViolationKind.allCases.filter { self[$0] > 0 }.map { ($0.rawValue, .integer(Int64(self[$0]))) })
    }
}
