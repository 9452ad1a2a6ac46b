// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Hosts that stand for all hosts as far as the patterns of two configurations can tell: each name that a pattern names, one
/// below each suffix, one beside all of them, and the borders of each network.
///
/// Of long lists of hosts only the first entries are tried, those before others that the other configuration lacks.
struct HostClasses {
    /// The hosts, as in a URL: an IPv6 address in brackets.
    let hosts: [String]
    /// False if a list of hosts has entries that are not tried.
    let isComplete: Bool
    private let policies: [Policy]
    private let clients: [ProxyIdentity]
    private let patterns: [HostPattern]
    /// The patterns by their places: there may be thousands, and hosts are many times as many.
    private let index: HostIndex
    /// The lists of hosts that rules name, of all configurations.
    private let lists: [HostList]
    private let commonPorts: [UInt16]
    /// The other ports that patterns name.
    private let rarePorts: HostPorts

    /// - Parameters:
    ///   - clients: names of clients that stand for all.
    ///   - others: further patterns that tell hosts apart.
    init(_ policies: [Policy], _ clients: [ProxyIdentity], besides others: [HostPattern]) {
        (self.policies, self.clients) = (policies, clients)
        let listed = ListWitnesses(policies)
        (self.lists, self.isComplete) = (listed.lists, listed.isComplete)
        self.patterns = policies.flatMap(Self.patterns) + others
        self.index = HostIndex(self.patterns)
        var ports: Set<UInt16> = []
        for destinations in policies.map(\.configuration.destinations) {
            for case .only(let listed) in [destinations.ports, destinations.connectPorts] { ports.formUnion(listed) }
        }
        for list in listed.lists { ports.formUnion(list.ports) }
        // The first of equivalent ports is shown: the usual ones.
        self.commonPorts = [443, 80] + ports.subtracting([443, 80]).sorted()
        var known = Set(self.commonPorts)
        let rarePorts = self.patterns.compactMap(\.port).filter { known.insert($0).inserted }
        self.rarePorts = HostPorts(rarePorts, of: self.patterns)
        let networks = self.patterns.compactMap(\.network) + listed.networks
        let isSpecial = policies.contains { $0.destinations.judgesAddresses }
        let addresses = IPAddress.witnesses(of: networks, isSpecial: isSpecial)
        var seen: Set<String> = []
        let names = Self.names(self.patterns + listed.names, policies, besides: listed.lists)
        self.hosts = (names + addresses.map(Self.spelled))
            .filter { seen.insert($0).inserted }
    }

    /// The ports that stand for all ports of a host: those that a pattern for it names, one below 1024 and one above.
    func ports(of host: String) -> [UInt16] {
        var ports = self.commonPorts
        // A pattern for every port tells nothing about these.
        if let authority = Authority(host, defaultPort: 443) { ports += self.rarePorts.ports(of: authority) }
        let high = (UInt16(8080)...UInt16.max).first { !ports.contains($0) }
        let low = (UInt16(81)...1023).first { !ports.contains($0) }
        return ports + [high, low].compactMap(\.self)
    }

    /// The conditions that an authority meets. Two with the same conditions are alike to every table.
    struct Conditions: Hashable {
        fileprivate let patterns: [Int]
        fileprivate let lists: [Bool]
        fileprivate let isOwn: [Bool]
        fileprivate let ports: [Bool]
        fileprivate let destinations: [String]
    }

    func conditions(of authority: Authority) -> Conditions {
        let policies = self.policies
        let port = authority.port
        return Conditions(
            patterns: self.index.all(authority),
            lists: self.lists.map { $0.first(authority) != nil },
            isOwn: policies.map { $0.isOwnHost(authority.host) },
            ports: [port == 443] + policies.flatMap { [$0.ports.allows(port), $0.connectPorts.allows(port)] },
            destinations: policies.flatMap { policy in
                self.clients.map {
                    Self.name(policy.destinations.judge(authority, for: policy.destinations.rights(of: $0)))
                }
            })
    }

    private static func name(_ decision: DestinationDecision) -> String {
        switch decision {
        case .allowed: "allowed"
        case .denied, .prohibited: "denied"
        case .asked: "asked"
        case .reported: "reported"
        case .byAddress: "by address"
        }
    }

    private static func spelled(_ address: IPAddress) -> String {
        address.family == .v6 ? "[\(address)]" : "\(address)"
    }

    private static func names(
        _ patterns: [HostPattern], _ policies: [Policy], besides lists: [HostList]
    ) -> [String] {
        var (exact, suffixes) = (Set<String>(), Set<String>())
        for pattern in patterns {
            switch pattern.host {
            case .exact(let name): exact.insert(name)
            case .suffix(let suffix): suffixes.insert(suffix)
            case .any, .network: break
            }
        }
        exact.formUnion(policies.flatMap(\.ownHosts).map { IPAddress($0).map(Self.spelled) ?? $0 })
        let below = suffixes.sorted().compactMap { suffix in
            Self.labels.lazy.map { "\($0).\(suffix)" }.first { !exact.contains($0) && !suffixes.contains($0) }
        }
        let named = HostIndex(patterns.filter { $0.host != .any }.map(\.onEveryPort))
        let beside = Self.labels.lazy.map { "\($0).example" }.first { name in
            guard let authority = Authority(name, defaultPort: 443) else { return false }
            return lists.allSatisfy { $0.first(authority) == nil } && named.first(authority) { _ in true } == nil
        }
        return exact.sorted() + below + [beside].compactMap(\.self)
    }

    /// Labels that few patterns name.
    private static let labels = ["other"] + (2...1000).map { "other\($0)" }

    private static func patterns(of policy: Policy) -> [HostPattern] {
        let configuration = policy.configuration
        var patterns = configuration.destinations.patterns
        patterns += configuration.trust.flatMap { $0.hosts.map(\.value) }
        patterns += configuration.routes.flatMap(\.match.hosts)
        patterns += configuration.tunnels.verify + configuration.interception.hosts
        switch configuration.upstreamProxy?.exceptions {
        case .patterns(let exceptions): patterns += exceptions
        case .environment(let exceptions):
            for word in ProxyExceptions.environment(exceptions).descriptions {
                let name = word.lowercased().drop { $0 == "." }
                patterns += [String(name), "*.\(name)"].compactMap { try? HostPattern($0) }
            }
        case nil: break
        }
        let origins = policy.apiContract?.origins ?? []
        patterns += origins.compactMap { try? HostPattern($0.authority.description) }
        return patterns
    }
}
