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
    /// A rule about names is broken, and the request passes, since `enforcement` is `report`.
    case reported(by: String)
    /// No rule about names decides; one about networks may, once the address is known.
    case byAddress

    /// The rule that decides; nil where one about addresses may.
    package var rule: String? {
        switch self {
        case .allowed(let rule), .denied(let rule), .prohibited(let rule), .reported(let rule): rule
        case .byAddress: nil
        }
    }

    /// The rule that refuses; nil where none has.
    package var denial: String? {
        switch self {
        case .denied(let rule), .prohibited(let rule): rule
        case .allowed, .reported, .byAddress: nil
        }
    }

    /// The rule that would refuse, and only reports; nil where there is none.
    package var reported: String? {
        if case .reported(let rule) = self { rule } else { nil }
    }

    /// Adds a broken rule to those that were asked before: the first that refuses is the one that is told, else the first that
    /// reports.
    mutating func add(_ rule: String, isReported: Bool) {
        guard self.denial == nil else { return }
        if !isReported { self = .denied(by: rule) } else if self.reported == nil { self = .reported(by: rule) }
    }
}

/// `destinations`, compiled: denials come before permissions, permissions before the rule about private addresses, and the
/// default is last.
///
/// Names are judged when the request is read, addresses when they are dialled. A name that is allowed is still refused
/// when what it resolves to is in a denied network: denials are judged on both.
///
/// With `enforcement: report` a broken rule only reports. What `auto` says protects a proxy that others can reach, and nobody
/// has written it to try it out: that refuses all the same.
package struct DestinationRules: Sendable {
    private let deny: RuleList
    private let allow: RuleList
    private let fallback: DestinationDecision
    /// `destinations.private_addresses deny`, where it denies.
    private let privateDenial: String?
    /// Whether a name is looked up for the sake of a rule about networks.
    private let resolvesNames: Bool
    /// True where broken rules are only reported.
    package let areReported: Bool
    /// True if the rule about private addresses only reports.
    private let privateDenialIsReported: Bool

    init(
        _ configuration: DestinationsConfiguration, listeners: [ListenAddress],
        enforcement: Enforcement = .enforce
    ) {
        self.areReported = enforcement == .report
        self.privateDenialIsReported = self.areReported && configuration.privateAddresses == .deny
        self.deny = RuleList("destinations.deny", configuration.deny)
        self.allow = RuleList("destinations.allow", configuration.allow)
        self.resolvesNames = configuration.resolvesNames
        let reason = "destinations.default"
        self.fallback =
            configuration.fallback == .allow
            ? .allowed(by: reason) : self.areReported ? .reported(by: reason) : .denied(by: reason)
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
        let denied = self.deny.first(authority).map(self.broken)
        if let denied, denied.denial != nil { return denied }
        let address = IPAddress(authority.host)
        let breach = address.flatMap { self.breach(by: $0, authority.port, asked: authority) }
        if let breach, breach.denial != nil { return breach }
        if let broken = denied ?? breach { return broken }
        if let permission = self.allow.first(authority) { return .allowed(by: permission) }
        if case .allowed = self.fallback { return self.fallback }
        guard self.allow.hosts.hasNetworks, address == nil else { return self.fallback }
        guard self.resolvesNames else {
            return self.broken("destinations.default, and destinations.resolve is off, so the name is not looked up")
        }
        return .byAddress
    }

    /// Judges the host of a request that goes this way. A parent resolves names itself, so what only an address could
    /// allow is not allowed there.
    func judge(_ authority: Authority, goingBy way: RequestWay) -> DestinationDecision {
        let decision = self.judge(authority)
        guard case .byAddress = decision, case .parent = way else { return decision }
        return self.broken("destinations.default, and upstream_proxy resolves the name, so no address can be judged")
    }

    /// Judges the address that is about to be dialled; never `.byAddress`.
    ///
    /// - Parameter host: what was asked for, which may be a name for any address.
    package func judge(address: IPAddress, port: UInt16, asked host: Authority) -> DestinationDecision {
        let decision = self.judge(host)
        if decision.denial != nil { return decision }
        if let breach = self.breach(by: address, port, asked: host) {
            return breach.denial == nil && decision.reported != nil ? decision : breach
        }
        guard case .byAddress = decision else { return decision }
        if let rule = self.allow.first(address, port) { return .allowed(by: rule) }
        return self.fallback
    }

    /// The decision where a rule is broken that `private_addresses` is not.
    private func broken(_ rule: String) -> DestinationDecision {
        self.areReported ? .reported(by: rule) : .denied(by: rule)
    }

    /// The decision where a rule about addresses is broken; nil where none is.
    private func breach(by address: IPAddress, _ port: UInt16, asked host: Authority) -> DestinationDecision? {
        let denied = self.denial(of: address, port).map(self.broken)
        if let denied, denied.denial != nil { return denied }
        guard let rule = self.prohibition(of: address, port, asked: host) else { return denied }
        return self.privateDenialIsReported ? denied ?? .reported(by: rule) : .prohibited(by: rule)
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
        guard IPAddress(host.host) == nil, !self.allow.lists(host) else { return nil }
        return self.privateDenial.map { self.privateDenialIsReported ? "\($0), which is only reported" : $0 }
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
