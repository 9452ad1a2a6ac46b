// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Whether the proxy may connect to a destination, and which rule says so.
package enum DestinationDecision: Sendable, Equatable {
    /// `destinations.allow[0] "*.corp.example"`, or `destinations.default`.
    case allowed(by: String)
    /// `destinations.deny[3] "*.ads.example"`, or `destinations.default`.
    case denied(by: String)
    /// `destinations.private_addresses deny: 10.0.0.0/8 is private use`: the host is an address that may not be dialled.
    case prohibited(by: String)
    /// No rule about names decides; one about networks may, once the address is known.
    case byAddress

    /// The rule that decides; nil where one about addresses may.
    package var rule: String? {
        switch self {
        case .allowed(let rule), .denied(let rule), .prohibited(let rule): rule
        case .byAddress: nil
        }
    }

    /// The rule that refuses; nil where none has.
    package var denial: String? {
        switch self {
        case .denied(let rule), .prohibited(let rule): rule
        case .allowed, .byAddress: nil
        }
    }
}

/// `destinations`, compiled: denials come before permissions, permissions before the rule about private addresses, and the
/// default is last.
///
/// Names are judged when the request is read, addresses when they are dialled. A name that is allowed is still refused
/// when what it resolves to is in a denied network: denials are judged on both.
package struct DestinationRules: Sendable {
    private let deny: RuleList
    private let allow: RuleList
    private let fallback: DestinationDecision
    /// `destinations.private_addresses deny`, where it denies.
    private let privateDenial: String?
    /// Whether a name is looked up for the sake of a rule about networks.
    private let resolvesNames: Bool

    init(_ configuration: DestinationsConfiguration, listeners: [ListenAddress]) {
        self.deny = RuleList("destinations.deny", configuration.deny)
        self.allow = RuleList("destinations.allow", configuration.allow)
        self.resolvesNames = configuration.resolvesNames
        let reason = "destinations.default"
        self.fallback = configuration.fallback == .allow ? .allowed(by: reason) : .denied(by: reason)
        let key = "destinations.private_addresses"
        switch configuration.privateAddresses {
        case .allow: self.privateDenial = nil
        case .deny: self.privateDenial = "\(key) deny"
        case .auto: self.privateDenial = listeners.exposed.map { "\(key) auto, because \($0) is not loopback" }
        }
    }

    /// Whether dialled addresses must be judged: where no rule is about them the first decision is the last.
    package var judgesAddresses: Bool {
        self.deny.hosts.hasNetworks || self.allow.hosts.hasNetworks || self.privateDenial != nil
    }

    /// Judges the host of a request, before it is resolved. A literal address is judged as one.
    package func judge(_ authority: Authority) -> DestinationDecision {
        if let rule = self.deny.first(authority) { return .denied(by: rule) }
        let address = IPAddress(authority.host)
        if let address, let rule = self.denial(of: address, authority.port) { return .denied(by: rule) }
        let permission = self.allow.first(authority)
        if let address, let rule = self.prohibition(of: address, authority.port, asked: authority) {
            return .prohibited(by: rule)
        }
        if let permission { return .allowed(by: permission) }
        guard case .denied = self.fallback, self.allow.hosts.hasNetworks, address == nil else { return self.fallback }
        guard self.resolvesNames else {
            return .denied(by: "destinations.default, and destinations.resolve is off, so the name is not looked up")
        }
        return .byAddress
    }

    /// Judges the host of a request that goes this way. A parent resolves names itself, so what only an address could
    /// allow is not allowed there.
    func judge(_ authority: Authority, goingBy way: RequestWay) -> DestinationDecision {
        let decision = self.judge(authority)
        guard case .byAddress = decision, case .parent = way else { return decision }
        return .denied(by: "destinations.default, and upstream_proxy resolves the name, so no address can be judged")
    }

    /// Judges the address that is about to be dialled; never `.byAddress`.
    ///
    /// - Parameter host: what was asked for, which may be a name for any address.
    package func judge(address: IPAddress, port: UInt16, asked host: Authority) -> DestinationDecision {
        let decision = self.judge(host)
        if decision.denial != nil { return decision }
        if let rule = self.denial(of: address, port) { return .denied(by: rule) }
        if let rule = self.prohibition(of: address, port, asked: host) { return .prohibited(by: rule) }
        guard case .byAddress = decision else { return decision }
        if let rule = self.allow.first(address, port) { return .allowed(by: rule) }
        return self.fallback
    }

    /// The network of `deny` that holds the address, or one that it stands for: a translator on the way (NAT64, 6to4) makes
    /// an IPv4 connection of it.
    private func denial(of address: IPAddress, _ port: UInt16) -> String? {
        if let rule = self.deny.first(address, port) { return rule }
        guard self.deny.hosts.hasNetworks else { return nil }
        return address.embeddedAddresses.lazy.compactMap { self.deny.first($0, port) }.first
    }

    /// The rule about private addresses that the address of `host` will have to satisfy; nil where there is none.
    func addressRule(for host: Authority) -> String? {
        IPAddress(host.host) != nil || self.allow.lists(host) ? nil : self.privateDenial
    }

    /// Why an address may not be dialled that cannot be reached from everywhere; nil where it may.
    ///
    /// Who lists a network, a name or a suffix means it, wherever that leads. `*` lists nothing.
    private func prohibition(of address: IPAddress, _ port: UInt16, asked host: Authority) -> String? {
        guard let privateDenial, let reason = SpecialAddresses.reason(for: address) else { return nil }
        if self.allow.first(address, port) != nil || self.allow.lists(host) { return nil }
        return "\(privateDenial): \(reason)"
    }
}

/// One list of host patterns with a reason for each.
private struct RuleList: Sendable {
    let hosts: HostIndex
    private let reasons: [String]
    /// Whether a pattern says more than a port.
    private let isSpecific: [Bool]

    init(_ name: String, _ patterns: [HostPattern]) {
        var hosts = HostIndex()
        for (number, pattern) in patterns.enumerated() { hosts.insert(pattern, number: number) }
        self.hosts = hosts
        self.reasons = patterns.enumerated().map { "\(name)[\($0)] \"\($1)\"" }
        self.isSpecific = patterns.map { $0.host != .any }
    }

    func first(_ authority: Authority) -> String? {
        self.hosts.first(authority) { _ in true }.map { self.reasons[$0] }
    }

    /// Whether a pattern other than `*` matches.
    func lists(_ authority: Authority) -> Bool { self.hosts.first(authority) { self.isSpecific[$0] } != nil }

    func first(_ address: IPAddress, _ port: UInt16) -> String? {
        self.hosts.firstNetwork(containing: address, port: port).map { self.reasons[$0] }
    }
}
