// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem

/// The hosts for which clients have refused a certificate of Pintle, because they pin or do not know the authority.
final class PinningClients: Sendable {
    private let hosts = Locked<[Authority: Int]>([:])

    /// Limited, because clients choose the hosts.
    private static let mostHosts = 4096

    /// Notes a refusal.
    ///
    /// - Returns: true if it is the first one for this host.
    func refused(_ host: Authority) -> Bool {
        self.hosts.withLock { hosts in
            let count = hosts[host, default: 0]
            guard count > 0 || hosts.count < Self.mostHosts else { return false }
            hosts[host] = count + 1
            return count == 0
        }
    }

    /// True if a client has refused Pintle's certificate for this host.
    func contains(_ host: Authority) -> Bool { self.hosts.withLock { $0[host] != nil } }
}
