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
        let document = Parameter.object(of: StreamEvent.Activity.self) { (member) -> Parameter? in
            switch member {
            case .state: .string(program.activity.state.rawValue)
            case .status: .string(program.status)
            case .version: .string(program.version)
            case .revision: .string(program.revision)
            case .started: .string(program.started.description)
            case .now: now.map { .string($0.description) }
            case .listeners: .strings(program.places.map(\.description))
            case .connections: .integer(Int64(program.connections))
            case .heldBytes: .integer(Int64(snapshot.memory.held))
            case .counters: snapshot.parameter
            case .violations: snapshot.overall.violations.parameter
            case .kept: recent.parameter
            case .bodies: program.active.keptBodies.map(\.parameter)
            }
        }
        self.text = JSONText.value(document)
    }
}

extension RecentExchanges {
    /// The number of exchanges that are kept, with the bounds.
    fileprivate var parameter: Parameter {
        let usage = self.usage
        return .object(of: StreamEvent.Kept.self) { (member) -> Parameter? in
            switch member {
            case .exchanges: .integer(Int64(usage.exchanges))
            case .bytes: .integer(Int64(usage.bytes))
            case .mostExchanges: .integer(Int64(self.mostExchanges))
            case .mostBytes: .integer(Int64(self.mostBytes))
            case .forgotten: .integer(Int64(usage.forgotten))
            }
        }
    }
}

extension CaptureStore.Usage {
    fileprivate var parameter: Parameter {
        .object(of: StreamEvent.Bodies.self) { (member) -> Parameter? in
            switch member {
            case .bytes: .integer(Int64(self.bytes))
            case .mostBytes: .integer(Int64(CaptureStore.mostBytes))
            case .forgotten: .integer(Int64(self.forgotten))
            case .lost: .integer(Int64(self.lost))
            }
        }
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
