// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Judges the address that is dialled, after resolution, by the destination rules (invariant 3 of the design), and keeps
/// the proxy from calling itself.
struct DestinationJudge: AddressJudge {
    let rules: DestinationRules
    let own: OwnAddresses

    func refusal(dialling address: SocketAddress, asked host: Authority) -> String? {
        guard let ip = IPAddress(address), let port = address.port else { return "it is neither IPv4 nor IPv6" }
        if self.own.contains(ip, port: port) { return "\(ip) with port \(port) is where this proxy listens" }
        guard self.rules.judgesAddresses else { return nil }
        let decision = self.rules.judge(address: ip, port: UInt16(truncatingIfNeeded: port), asked: host)
        return decision.denial.map { "\(ip) is denied by \($0)" }
    }

    /// A parent is no destination of the clients: whoever named it in the configuration means it.
    func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String? {
        guard let ip = IPAddress(address), let port = address.port else { return "it is neither IPv4 nor IPv6" }
        return self.own.contains(ip, port: port) ? "\(ip) with port \(port) is where this proxy listens: a loop" : nil
    }
}

/// The addresses on which a proxy listens; known only when its listeners are bound, after its sessions were made.
final class OwnAddresses: Sendable {
    private let addresses = NIOLockedValueBox<[(ip: IPAddress, port: Int)]>([])

    func set(_ addresses: [SocketAddress]) {
        let own = addresses.compactMap { address in
            IPAddress(address).flatMap { ip in address.port.map { (ip: ip, port: $0) } }
        }
        self.addresses.withLockedValue { $0 = own }
    }

    func contains(_ ip: IPAddress, port: Int) -> Bool {
        self.addresses.withLockedValue { addresses in
            addresses.contains { own in
                own.port == port && (own.ip == ip || (own.ip.isUnspecified && ip.isLoopback))
            }
        }
    }
}
