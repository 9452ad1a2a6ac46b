// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSystem

/// The times at which servers last sent or confirmed the lists that are in force, for metrics.
final class ListTimes: Sendable {
    private let times: Locked<[String: Timestamp]>

    init(_ policy: Policy) { self.times = Locked(Self.times(policy)) }

    /// The times by the names of the lists.
    var all: [String: Timestamp] { self.times.withLock { $0 } }

    /// Takes the lists of another configuration.
    func use(_ policy: Policy) { self.times.withLock { $0 = Self.times(policy) } }

    /// Notes that a server has confirmed a list.
    func note(_ name: String, confirmed time: Timestamp) {
        // A reload may have removed the list.
        self.times.withLock { if $0[name] != nil { $0[name] = time } }
    }

    private static func times(_ policy: Policy) -> [String: Timestamp] {
        policy.configuration.lists.reduce(into: [:]) { times, list in times[list.name] = list.remote?.confirmed }
    }
}
