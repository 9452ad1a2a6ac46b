// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession

/// One list of rules, each about a host pattern or a list of hosts.
struct RuleList: Sendable {
    let rules: [DecidingRule]
    private let hosts: HostIndex
    /// The lists of hosts with the numbers of their rules, in rising order.
    private let lists: [(number: Int, hosts: HostList)]
    /// True for each rule that says more than a port.
    private let isSpecific: [Bool]
    /// The number of the clients that each rule is for; nil if it is for all.
    private let clients: [Int?]
    /// The numbers of rules about networks.
    private let networks: [Int]

    /// - Parameters:
    ///   - lists: the lists of hosts, by their names.
    ///   - first: the place of the first rule in ``Policy/rules``.
    ///   - named: the clients that rules are for; those of this list are added.
    ///   - asks: true if the rules ask.
    init(
        _ name: String, _ entries: [DestinationEntry], _ lists: [String: HostList], from first: Int,
        _ named: inout NumberedClients, asks: Bool = false
    ) {
        var hosts = HostIndex()
        var listed: [(Int, HostList)] = []
        for (number, entry) in entries.enumerated() {
            switch entry.subject {
            case .pattern(let pattern): hosts.insert(pattern, number: number)
            case .list(let name): listed.append((number, lists[name] ?? HostList()))
            }
        }
        (self.hosts, self.lists) = (hosts, listed)
        self.rules = entries.enumerated().map { index, entry in
            DecidingRule("\(name)[\(index)] \(entry.quoted)", place: first + index, advice: entry.reason, asks: asks)
        }
        self.isSpecific = entries.map { $0.pattern?.host != .any }
        self.clients = entries.map { entry in entry.clients.map { named.number(of: $0) } }
        self.networks = entries.indices.filter { index in
            switch entries[index].subject {
            case .pattern(let pattern): pattern.network != nil
            case .list(let name): lists[name]?.hasNetworks ?? false
            }
        }
    }

    private func holds(_ number: Int, for client: ClientRights) -> Bool {
        guard let clients = self.clients[number] else { return true }
        return client.rules.contains(clients)
    }

    /// True if a pattern or a list of hosts has a network.
    var hasNetworks: Bool { !self.networks.isEmpty }

    func first(_ authority: Authority, _ client: ClientRights) -> DecidingRule? {
        self.rule(self.hosts.first(authority) { self.holds($0, for: client) }) {
            self.holds($0, for: client) ? $1.first(authority) : nil
        }
    }

    /// True if a pattern other than `*` matches, or a list.
    func lists(_ authority: Authority, _ client: ClientRights) -> Bool {
        self.hosts.first(authority) { self.isSpecific[$0] && self.holds($0, for: client) } != nil
            || self.lists.contains { self.holds($0.number, for: client) && $0.hosts.first(authority) != nil }
    }

    func first(_ address: IPAddress, _ port: UInt16, _ client: ClientRights) -> DecidingRule? {
        self.rule(self.hosts.firstNetwork(containing: address, port: port) { self.holds($0, for: client) }) {
            self.holds($0, for: client) ? $1.firstNetwork(containing: address, port: port) : nil
        }
    }

    /// The first rule for the host if clients are disregarded.
    func firstForAnyone(_ authority: Authority) -> DecidingRule? {
        self.rule(self.hosts.first(authority) { _ in true }) { $1.first(authority) }
    }

    /// The first rule for the address if clients are disregarded.
    func firstForAnyone(_ address: IPAddress, _ port: UInt16) -> DecidingRule? {
        self.rule(self.hosts.firstNetwork(containing: address, port: port) { _ in true }) {
            $1.firstNetwork(containing: address, port: port)
        }
    }

    /// The first rule that matches.
    ///
    /// - Parameters:
    ///   - number: the first with a pattern that matches.
    ///   - entry: the entry that matches in the list of a rule, by the rule's number.
    private func rule(_ number: Int?, orOf entry: (Int, HostList) -> Int?) -> DecidingRule? {
        for list in self.lists {
            if let number, number < list.number { break }
            guard let entry = entry(list.number, list.hosts) else { continue }
            return self.rules[list.number].naming(entry, of: list.hosts)
        }
        return number.map { self.rules[$0] }
    }

    /// True if a rule about networks holds for the client.
    func hasNetworks(for client: ClientRights) -> Bool {
        self.networks.contains { self.holds($0, for: client) }
    }

    /// The rules about networks that hold for the client.
    func networkRules(for client: ClientRights) -> [DecidingRule] {
        self.networks.filter { self.holds($0, for: client) }.map { self.rules[$0] }
    }

    /// The numbers of the clients that rules about networks are for.
    var clientsOfNetworks: [Int] { self.networks.compactMap { self.clients[$0] } }

    /// Adds the numbers of the clients that rules with the host are for, as far as they are among a client's rights.
    func addClients(of host: Authority, among rights: ClientRights, to numbers: inout Set<Int>) {
        // Most clients have none.
        if rights.rules.isEmpty { return }
        // No number is taken, so that all are looked at.
        _ = self.hosts.first(host) { number in
            if let clients = self.clients[number], rights.rules.contains(clients) { numbers.insert(clients) }
            return false
        }
        for list in self.lists where list.hosts.first(host) != nil {
            if let clients = self.clients[list.number], rights.rules.contains(clients) { numbers.insert(clients) }
        }
    }
}

extension DecidingRule {
    /// The rule about a list, with the entry that decides: `destinations.deny[1] list "ads" line 17 "*.ads.example"`.
    fileprivate func naming(_ entry: Int, of list: HostList) -> DecidingRule {
        DecidingRule(
            "\(self.description) line \(list.line(of: entry)) \"\(list.text(of: entry))\"", place: self.place,
            advice: self.advice, asks: self.asks)
    }
}
