// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintlePolicy

/// How many clients are connected, over all loops: what the limits are about.
final class ConnectionCensus: Sendable {
    private struct Counts {
        var total = 0
        var tunnels = 0
        var byClient: [Client: Int] = [:]
        var tunnelsByClient: [Client: Int] = [:]
    }

    private let counts = NIOLockedValueBox(Counts())

    /// Counts a connection, and says which limit it is over, if any. It must be counted out in any case.
    func enter(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLockedValue { counts in
            counts.total += 1
            var own = 0
            if let client {
                own = counts.byClient[client, default: 0] + 1
                counts.byClient[client] = own
            }
            if counts.total > limits.connections { return "limits.connections (\(limits.connections))" }
            return own > limits.connectionsPerClient
                ? "limits.connections_per_client (\(limits.connectionsPerClient))" : nil
        }
    }

    func leave(_ client: Client?) {
        self.counts.withLockedValue { counts in
            counts.total -= 1
            guard let client, let own = counts.byClient[client] else { return }
            counts.byClient[client] = own == 1 ? nil : own - 1
        }
    }

    /// Counts a tunnel unless there are as many as may be.
    ///
    /// - Returns: the limit that keeps it from being counted; nil where it was counted.
    func enterTunnel(_ client: Client?, _ limits: LimitsConfiguration) -> String? {
        self.counts.withLockedValue { counts in
            guard counts.tunnels < limits.tunnels else { return "limits.tunnels (\(limits.tunnels))" }
            if let client {
                let own = counts.tunnelsByClient[client, default: 0]
                guard own < limits.tunnelsPerClient else {
                    return "limits.tunnels_per_client (\(limits.tunnelsPerClient))"
                }
                counts.tunnelsByClient[client] = own + 1
            }
            counts.tunnels += 1
            return nil
        }
    }

    func leaveTunnel(_ client: Client?) {
        self.counts.withLockedValue { counts in
            counts.tunnels -= 1
            guard let client, let own = counts.tunnelsByClient[client] else { return }
            counts.tunnelsByClient[client] = own == 1 ? nil : own - 1
        }
    }

    /// The number of connections.
    var total: Int { self.counts.withLockedValue { $0.total } }
}
