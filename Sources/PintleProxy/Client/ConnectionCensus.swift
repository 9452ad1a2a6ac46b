// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintlePolicy

/// How many clients are connected, over all loops: what the limits are about.
final class ConnectionCensus: Sendable {
    private struct Counts {
        var total = 0
        var tunnels = 0
        var byClient: [Client: Int] = [:]
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
    func enterTunnel(limit: Int) -> Bool {
        self.counts.withLockedValue { counts in
            guard counts.tunnels < limit else { return false }
            counts.tunnels += 1
            return true
        }
    }

    func leaveTunnel() { self.counts.withLockedValue { $0.tunnels -= 1 } }

    /// The number of connections.
    var total: Int { self.counts.withLockedValue { $0.total } }
}
