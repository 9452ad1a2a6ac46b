// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintlePolicy

/// How many clients are connected, over all loops: what the limits are about.
final class ConnectionCensus: Sendable {
    private struct Tally {
        private(set) var total = 0
        private var byClient: [Client: Int] = [:]

        func count(of client: Client?) -> Int { client.flatMap { self.byClient[$0] } ?? 0 }

        mutating func enter(_ client: Client?) {
            self.total += 1
            if let client { self.byClient[client, default: 0] += 1 }
        }

        mutating func leave(_ client: Client?) {
            self.total -= 1
            // Nobody is known on such a connection, so only the total has it.
            guard let client else { return }
            guard let own = self.byClient[client] else {
                preconditionFailure("BUG: \(client) is counted out more often than in")
            }
            self.byClient[client] = own == 1 ? nil : own - 1
        }
    }

    private struct Counts {
        var connections = Tally()
        var tunnels = Tally()
    }

    private let counts = NIOLockedValueBox(Counts())

    /// Counts a connection, and says which limit it is over, if any. It must be counted out in any case.
    func enter(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLockedValue { counts in
            counts.connections.enter(client)
            if counts.connections.total > limits.connections { return "limits.connections (\(limits.connections))" }
            return counts.connections.count(of: client) > limits.connectionsPerClient
                ? "limits.connections_per_client (\(limits.connectionsPerClient))" : nil
        }
    }

    func leave(_ client: Client?) { self.counts.withLockedValue { $0.connections.leave(client) } }

    /// Counts a tunnel unless there are as many as may be.
    ///
    /// - Returns: the limit that keeps it from being counted; nil where it was counted.
    func enterTunnel(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLockedValue { counts in
            guard counts.tunnels.total < limits.tunnels else { return "limits.tunnels (\(limits.tunnels))" }
            guard client == nil || counts.tunnels.count(of: client) < limits.tunnelsPerClient else {
                return "limits.tunnels_per_client (\(limits.tunnelsPerClient))"
            }
            counts.tunnels.enter(client)
            return nil
        }
    }

    func leaveTunnel(_ client: Client?) { self.counts.withLockedValue { $0.tunnels.leave(client) } }

    /// The number of connections.
    var total: Int { self.counts.withLockedValue { $0.connections.total } }
}
