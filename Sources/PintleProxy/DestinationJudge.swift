// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleReachability
internal import PintleSession
internal import PintleSystem

/// Judges the resolved address before dialling, by the destination rules (invariant 3 of the design), and prevents connections
/// of the proxy to itself.
struct DestinationJudge: ClientAddressJudge {
    let rules: DestinationRules
    let own: OwnAddresses
    /// Counts the rules that allow addresses. Those that refuse them, and those about names, are counted with their exchanges.
    let counters: RuleCounters

    func refusal(dialling address: SocketAddress, asked host: Authority, by client: ClientRights) -> AddressRefusal? {
        guard let ip = IPAddress(address), let port = address.port else {
            return AddressRefusal("it is neither IPv4 nor IPv6")
        }
        if self.own.contains(ip, address) {
            return AddressRefusal("\(ip) with port \(port) is where this proxy listens")
        }
        guard self.rules.judgesAddresses else { return nil }
        let decision = self.rules.judge(
            address: ip, port: UInt16(truncatingIfNeeded: port), asked: host, for: client)
        if let objection = decision.objection {
            let cause = decision.rule.map { DestinationRefusal(rule: $0) }
            return AddressRefusal("\(ip) is denied by \(objection)", cause: cause)
        }
        if let rule = decision.rule, decision.reported == nil, rule != self.rules.judge(host, for: client).rule {
            self.counters.count(rule)
        }
        return nil
    }

    /// Destination rules do not apply to an upstream proxy, because the operator configured it.
    func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String? {
        guard let ip = IPAddress(address), let port = address.port else { return "it is neither IPv4 nor IPv6" }
        return self.own.contains(ip, address) ? "\(ip) with port \(port) is where this proxy listens: a loop" : nil
    }
}

/// The cause of ``SessionError`` with the code `addressDenied`, if a rule about destinations refuses the address.
struct DestinationRefusal: Error {
    let rule: DecidingRule
}

/// The addresses on which the proxy listens; they are known when its listeners are bound, after its sessions were made.
final class OwnAddresses: Sendable {
    private struct Listening {
        var addresses: [(ip: IPAddress, port: Int)] = []
        /// The addresses of the machine, if a listener accepts connections to any of them; nil otherwise, and if the kernel
        /// does not reveal them.
        var machine: MachineAddresses?
    }

    private let listening = Locked(Listening())

    func set(_ addresses: [SocketAddress]) {
        let own = addresses.compactMap { address in
            IPAddress(address).flatMap { ip in address.port.map { (ip: ip, port: $0) } }
        }
        // Without the routing tables, loopback addresses are still recognised.
        let machine = own.contains { $0.ip.isUnspecified } ? try? MachineAddresses() : nil
        self.listening.withLock { $0 = Listening(addresses: own, machine: machine) }
    }

    /// True if a connection to this address would reach this proxy.
    ///
    /// - Parameter ip: the address of `address`; it is IPv4 even if the address is dialled in its IPv6 form.
    func contains(_ ip: IPAddress, _ address: SocketAddress) -> Bool {
        let listening = self.listening.withLock { $0 }
        return listening.addresses.contains { own in
            guard own.port == address.port else { return false }
            if ListenAddress.isReached(own.ip, by: ip) { return true }
            return own.ip.isUnspecified && listening.machine?.contains(address) == true
        }
    }
}
