// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSession

/// The decision on a connection to a destination, with the rule that made it.
package enum DestinationDecision: Sendable, Hashable {
    /// `destinations.allow[0] "*.corp.example"`, or `destinations.default`.
    case allowed(by: DecidingRule)
    /// `destinations.deny[3] "*.ads.example"`, or `destinations.default`.
    case denied(by: DecidingRule)
    /// `destinations.private_addresses deny: 10.0.0.0/8 is private use`: the host is an address that may not be dialled.
    case prohibited(by: DecidingRule)
    /// `destinations.ask[0] "*.example.com"`, or `destinations.default`: the request waits until the name is allowed.
    case asked(by: DecidingRule)
    /// A rule about names is broken, but the request passes, since `enforcement` is `report`.
    case reported(by: DecidingRule)
    /// No rule about names decides; one about networks may, once the address is known.
    case byAddress

    /// The rule that decides; nil if a rule about addresses may still decide.
    package var rule: DecidingRule? {
        switch self {
        case .allowed(let rule), .denied(let rule), .prohibited(let rule), .asked(let rule), .reported(let rule): rule
        case .byAddress: nil
        }
    }

    /// The rule that refuses; nil if none does.
    package var denial: String? {
        switch self {
        case .denied(let rule), .prohibited(let rule): rule.description
        case .allowed, .asked, .reported, .byAddress: nil
        }
    }

    /// The rule that refuses, with its advice; nil if none does.
    package var objection: String? {
        self.denial.map { denial in self.rule?.advice.map { "\(denial): \($0)" } ?? denial }
    }

    /// The rule that would refuse but only reports; nil if there is none.
    package var reported: String? {
        if case .reported(let rule) = self { rule.description } else { nil }
    }

    /// Adds a broken rule to the decision, which names the first rule that refuses, else the first that only reports.
    mutating func add(_ rule: String, isReported: Bool) {
        guard self.denial == nil else { return }
        if !isReported {
            self = .denied(by: DecidingRule(rule))
        } else if self.reported == nil {
            self = .reported(by: DecidingRule(rule))
        }
    }
}

/// `destinations`, compiled: denials come before permissions, permissions before the rule about private addresses, then come
/// questions, and the default is last.
///
/// Names are judged when the request is read, addresses when they are dialled. An allowed name is still refused if it resolves
/// to an address in a denied network: denials are judged on both.
///
/// Questions are about names, before these are looked up; an answer changes nothing of the rules about addresses.
///
/// With `enforcement: report` a broken rule only reports, and no question is asked. The exception is `private_addresses: auto`,
/// which still refuses: it protects a proxy that other machines can reach, and no operator has written it to try it out. With
/// `destinations.enforcement: report` all rules about addresses still refuse.
///
/// Entries for named clients hold for these alone. A client comes in as its ``ClientRights``, the entries that hold for it, and
/// not as its names: so clients with equal rights are judged alike.
package struct DestinationRules: Sendable {
    private let deny: RuleList
    private let allow: RuleList
    private let ask: RuleList
    /// The clients of entries that are not for all, each once, with the numbers of ``ClientRights``.
    private let namedClients: NumberedClients
    /// The numbers of those that entries with networks are for.
    private let clientsOfNetworks: Set<Int>
    private let fallback: DestinationDecision
    /// The rule that denies private addresses, as in `destinations.private_addresses deny`; nil if they are allowed.
    private let privateDenial: String?
    /// The rules `tcp://HOST:PORT` of `allow`, and their numbers there.
    private let opaque: (rules: RuleList, numbers: [Int])
    /// True if a name is looked up because a rule about networks could allow its addresses.
    private let resolvesNames: Bool
    /// True if broken rules are only reported, apart from those about addresses.
    package let areReported: Bool
    /// True if broken rules about addresses are only reported, too.
    private let addressesAreReported: Bool
    /// True if the rule about private addresses only reports.
    private let privateDenialIsReported: Bool

    /// The key of the rule for destinations that no other rule decides about.
    static let defaultKey = "destinations.default"

    /// - Parameters:
    ///   - lists: the lists of hosts, by their names.
    ///   - enforcement: that of the whole configuration.
    ///   - first: the place of the first rule in ``Policy/rules``.
    init(
        _ configuration: DestinationsConfiguration, lists: [String: HostList] = [:], listeners: [ListenAddress],
        enforcement: Enforcement = .enforce, from first: Int
    ) {
        self.areReported = (configuration.enforcement ?? enforcement) == .report
        self.addressesAreReported = configuration.enforcement == nil && enforcement == .report
        self.privateDenialIsReported = self.addressesAreReported && configuration.privateAddresses == .deny
        var named = NumberedClients()
        // The order of `Policy.rules`.
        self.deny = RuleList("destinations.deny", configuration.deny, lists, from: first, &named)
        self.allow = RuleList(
            "destinations.allow", configuration.allow, lists, from: first + configuration.deny.count, &named)
        let listed = configuration.deny.count + configuration.allow.count
        self.ask = RuleList(
            "destinations.ask", configuration.ask.map { DestinationEntry($0) }, [:], from: first + listed, &named,
            asks: true)
        let opaque = configuration.allow.indices.filter { configuration.allow[$0].pattern?.takesAnyProtocol == true }
        self.opaque = (
            RuleList("destinations.allow", opaque.map { configuration.allow[$0] }, [:], from: 0, &named), opaque
        )
        self.namedClients = named
        self.clientsOfNetworks = Set(self.deny.clientsOfNetworks + self.allow.clientsOfNetworks)
        self.resolvesNames = configuration.resolvesNames
        let reason = DecidingRule(
            Self.defaultKey, place: first + listed + configuration.ask.count, asks: configuration.fallback == .ask)
        self.fallback =
            switch configuration.fallback {
            case .allow: .allowed(by: reason)
            case .deny: self.areReported ? .reported(by: reason) : .denied(by: reason)
            case .ask: self.areReported ? .reported(by: reason) : .asked(by: reason)
            }
        let key = "destinations.private_addresses"
        switch configuration.privateAddresses {
        case .allow: self.privateDenial = nil
        case .deny: self.privateDenial = "\(key) deny"
        case .auto: self.privateDenial = listeners.exposed.map { "\(key) auto, because \($0) is not loopback" }
        }
    }

    /// The names of the rules of `deny`, `allow` and `ask`, in the order of the configuration.
    var listedNames: [String] { (self.deny.rules + self.allow.rules + self.ask.rules).map(\.description) }

    /// True if dialled addresses must be judged. If no rule is about addresses, the decision on the name is final.
    package var judgesAddresses: Bool {
        self.deny.hasNetworks || self.allow.hasNetworks || self.privateDenial != nil
    }

    // MARK: Clients

    /// True if an entry is for named clients.
    var namesClients: Bool { !self.namedClients.isEmpty }

    /// The rights of a client.
    package func rights(of client: ProxyIdentity) -> ClientRights {
        // Without entries for named clients nothing is compared.
        if self.namedClients.isEmpty { return .none }
        return self.namedClients.rights(of: client)
    }

    /// The part of a client's rights that can decide about the addresses of `host`. By them these are judged as by all rights.
    func addressRights(_ rights: ClientRights, for host: Authority) -> ClientRights {
        if self.namedClients.isEmpty || !self.judgesAddresses { return .none }
        var ofHost: Set<Int> = []
        self.deny.addClients(of: host, among: rights, to: &ofHost)
        self.allow.addClients(of: host, among: rights, to: &ofHost)
        return ClientRights(
            rules: rights.rules.filter { self.clientsOfNetworks.contains($0) || ofHost.contains($0) })
    }

    // MARK: Names and addresses

    /// Judges the host of a request, before it is resolved. A literal address is also judged by the rules about addresses.
    package func judge(_ authority: Authority, for client: ClientRights) -> DestinationDecision {
        let denied = self.deny.first(authority, client).map(self.broken)
        if let denied, denied.denial != nil { return denied }
        let address = IPAddress(authority.host)
        let breach = address.flatMap {
            self.breach(by: $0, authority.port, client, isListed: self.allow.lists(authority, client))
        }
        if let breach, breach.denial != nil { return breach }
        if let broken = denied ?? breach { return broken }
        if let permission = self.allow.first(authority, client) { return .allowed(by: permission) }
        if address != nil { return self.fallbackForAddresses(authority) }
        if let question = self.ask.first(authority, client) {
            return self.areReported ? .reported(by: question) : .asked(by: question)
        }
        switch self.fallback {
        // A question comes before the name is looked up.
        case .allowed, .asked: return self.fallback
        case .denied, .prohibited, .reported, .byAddress: break
        }
        guard self.allow.hasNetworks(for: client) else {
            return self.fallback(unlessFor: self.allow.firstForAnyone(authority))
        }
        guard self.resolvesNames else {
            return self.broken(
                DecidingRule("\(Self.defaultKey), and destinations.resolve is off, so the name is not looked up"))
        }
        return .byAddress
    }

    /// The decision on an address that no list names. Addresses are never asked about.
    private func fallbackForAddresses(_ authority: Authority) -> DestinationDecision {
        guard case .asked(let rule) = self.fallback else {
            return self.fallback(unlessFor: self.allow.firstForAnyone(authority))
        }
        return .denied(by: DecidingRule("\(rule), and an address is never asked about", place: rule.place))
    }

    /// The default; if it refuses, with the permission that the destination has for other clients.
    private func fallback(unlessFor other: @autoclosure () -> DecidingRule?) -> DestinationDecision {
        guard self.namesClients, let permission = other() else { return self.fallback }
        func denial(_ rule: DecidingRule) -> DecidingRule {
            DecidingRule("\(rule), and \(permission) is for other clients", place: rule.place)
        }
        switch self.fallback {
        case .denied(let rule): return .denied(by: denial(rule))
        case .reported(let rule): return .reported(by: denial(rule))
        case .allowed, .prohibited, .asked, .byAddress: return self.fallback
        }
    }

    /// The rule that lets every protocol of the client through to this destination (`tcp://HOST:PORT`); nil if none does.
    package func ruleForAnyProtocol(to authority: Authority, for client: ClientRights) -> DecidingRule? {
        self.opaque.rules.first(authority, client)?.place.map { self.allow.rules[self.opaque.numbers[$0]] }
    }

    /// Judges the host of a request that goes this way. An upstream proxy resolves names itself, so a name that only a rule
    /// about addresses could allow is refused there.
    func judge(_ authority: Authority, goingBy way: RequestWay, for client: ClientRights) -> DestinationDecision {
        let decision = self.judge(authority, for: client)
        guard case .byAddress = decision, case .parent = way else { return decision }
        return self.broken(
            DecidingRule("\(Self.defaultKey), and upstream_proxy resolves the name, so no address can be judged"))
    }

    /// Judges the address that is about to be dialled; never `.byAddress`.
    ///
    /// - Parameters:
    ///   - host: the host that the request names, which may be a name with any address.
    ///   - client: the rights of the client, or the part of them that can decide about the addresses of `host`.
    package func judge(
        address: IPAddress, port: UInt16, asked host: Authority, for client: ClientRights
    ) -> DestinationDecision {
        let decision = self.judge(host, for: client)
        let verdict = self.verdict(
            on: address, port, client, beside: AddressTerms.Name(decision), isListed: self.allow.lists(host, client))
        return verdict ?? decision
    }

    /// The terms under which the addresses of a host are judged.
    package func addressTerms(of host: Authority, for client: ClientRights) -> AddressTerms {
        AddressTerms(
            port: host.port, client: client, name: AddressTerms.Name(self.judge(host, for: client)),
            isListed: self.allow.lists(host, client))
    }

    /// Judges an address that the name of a host led to; nil if the decision on the name holds.
    package func judge(address: IPAddress, under terms: AddressTerms) -> DestinationDecision? {
        self.verdict(on: address, terms.port, terms.client, beside: terms.name, isListed: terms.isListed)
    }

    /// - Parameter isListed: true if the host itself is allowed by a rule that says more than a port.
    private func verdict(
        on address: IPAddress, _ port: UInt16, _ client: ClientRights, beside name: AddressTerms.Name,
        isListed: @autoclosure () -> Bool
    ) -> DestinationDecision? {
        if name == .denied { return nil }
        if let breach = self.breach(by: address, port, client, isListed: isListed()) {
            return breach.denial == nil && name == .reported ? nil : breach
        }
        switch name {
        case .denied, .reported, .allowed: return nil
        // An address that a rule allows needs no answer; any other is dialled only after one.
        case .asked: return self.allow.first(address, port, client).map { DestinationDecision.allowed(by: $0) }
        case .byAddress:
            if let permission = self.allow.first(address, port, client) { return .allowed(by: permission) }
            return self.fallback(unlessFor: self.allow.firstForAnyone(address, port))
        }
    }

    /// The decision on a broken rule other than `private_addresses`.
    private func broken(_ rule: DecidingRule) -> DestinationDecision {
        self.areReported ? .reported(by: rule) : .denied(by: rule)
    }

    /// The decision if a rule about addresses is broken; nil if none is.
    private func breach(
        by address: IPAddress, _ port: UInt16, _ client: ClientRights, isListed: @autoclosure () -> Bool
    ) -> DestinationDecision? {
        let denied: DestinationDecision? = self.denial(of: address, port, client).map { rule in
            self.addressesAreReported ? .reported(by: rule) : .denied(by: rule)
        }
        if let denied, denied.denial != nil { return denied }
        guard let rule = self.prohibition(of: address, port, client, isListed: isListed()) else { return denied }
        let prohibition = DecidingRule(rule)
        return self.privateDenialIsReported ? denied ?? .reported(by: prohibition) : .prohibited(by: prohibition)
    }

    /// The rule of `deny` that holds the address, or an IPv4 address that it stands for: a translator on the way (NAT64, 6to4)
    /// connects to that one.
    private func denial(of address: IPAddress, _ port: UInt16, _ client: ClientRights) -> DecidingRule? {
        if let rule = self.deny.first(address, port, client) { return rule }
        guard self.deny.hasNetworks else { return nil }
        return address.embeddedAddresses.lazy.compactMap { self.deny.first($0, port, client) }.first
    }

    /// The rules that can deny the address of `host` when it is known, in words; none for a host that is an address.
    func addressRules(for host: Authority, _ client: ClientRights) -> [String] {
        guard IPAddress(host.host) == nil else { return [] }
        let reported = ", which is only reported"
        var rules: [String] = []
        let networks = self.deny.networkRules(for: client)
        if let first = networks.first {
            let more = networks.count > 1 ? " and \(networks.count - 1) more" : ""
            rules.append("\(first)\(more)\(self.addressesAreReported ? reported : "")")
        }
        if let privateDenial, !self.allow.lists(host, client) {
            rules.append(self.privateDenialIsReported ? privateDenial + reported : privateDenial)
        }
        return rules
    }

    /// The reason why an address that is not globally reachable may not be dialled; nil if it may.
    ///
    /// A network, a name or a suffix in `allow` permits any address that it leads to. `*` does not.
    private func prohibition(
        of address: IPAddress, _ port: UInt16, _ client: ClientRights, isListed: @autoclosure () -> Bool
    ) -> String? {
        guard let privateDenial, let reason = SpecialAddresses.reason(for: address) else { return nil }
        if self.allow.first(address, port, client) != nil || isListed() { return nil }
        return "\(privateDenial): \(reason)"
    }
}
