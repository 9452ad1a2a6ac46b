// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// Counts the connected clients of all event loops, for the limits.
final class ConnectionLimiter: Sendable {
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
            // An unidentified client is counted in the total only.
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

    private let counts = Locked(Counts())

    /// Counts a connection, and returns the limit that it exceeds, if any. It must be counted out in both cases.
    func enter(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLock { counts in
            counts.connections.enter(client)
            if counts.connections.total > limits.connections { return "limits.connections (\(limits.connections))" }
            return counts.connections.count(of: client) > limits.connectionsPerClient
                ? "limits.connections_per_client (\(limits.connectionsPerClient))" : nil
        }
    }

    func leave(_ client: Client?) { self.counts.withLock { $0.connections.leave(client) } }

    /// Counts a tunnel unless a limit is reached.
    ///
    /// - Returns: the limit that is reached; nil if the tunnel was counted.
    func enterTunnel(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLock { counts in
            guard counts.tunnels.total < limits.tunnels else { return "limits.tunnels (\(limits.tunnels))" }
            guard client == nil || counts.tunnels.count(of: client) < limits.tunnelsPerClient else {
                return "limits.tunnels_per_client (\(limits.tunnelsPerClient))"
            }
            counts.tunnels.enter(client)
            return nil
        }
    }

    func leaveTunnel(_ client: Client?) { self.counts.withLock { $0.tunnels.leave(client) } }

    /// The number of connections.
    var total: Int { self.counts.withLock { $0.connections.total } }
}
