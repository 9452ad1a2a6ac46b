// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleMessage

/// Remembers the hosts whose clients have refused a certificate of ours: they pin, or do not know the authority.
final class PinningClients: Sendable {
    private let hosts = NIOLockedValueBox<[Authority: Int]>([:])

    /// Clients name hosts as they like.
    private static let mostHosts = 4096

    /// Notes a refusal.
    ///
    /// - Returns: true where it is the first one for this host.
    func refused(_ host: Authority) -> Bool {
        self.hosts.withLockedValue { hosts in
            let count = hosts[host, default: 0]
            guard count > 0 || hosts.count < Self.mostHosts else { return false }
            hosts[host] = count + 1
            return count == 0
        }
    }

    /// True where a client has refused our certificate for this host.
    func contains(_ host: Authority) -> Bool { self.hosts.withLockedValue { $0[host] != nil } }
}
