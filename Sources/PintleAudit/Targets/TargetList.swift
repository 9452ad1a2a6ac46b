// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy

/// The servers to audit: all those that the configuration pins or names as upstreams, or some of them.
package struct TargetList: Sendable, Equatable {
    /// The servers, in the order of the configuration, each once.
    package private(set) var targets: [AuditTarget] = []
    /// Host patterns of the audited policies for which no server is known.
    package private(set) var unnamed: [UnnamedHosts] = []

    /// - Parameters:
    ///   - hosts: the only servers to audit; empty means all. For those that the configuration does not name, the policy is
    ///     chosen as it would be for a request.
    ///   - policyName: audits only the servers of this policy, and applies it to all `hosts`.
    /// - Throws: an error if there is no such policy.
    package init(_ policy: Policy, hosts: [RequestedHost] = [], policyName: String? = nil) throws(Malformed) {
        let choice = try policyName.map { (name) throws(Malformed) in try Self.choice(named: name, policy) }
        var collection = Collection(policy)
        collection.addTrustHosts()
        collection.addRoutes()
        var selected = collection.targets.filter { target in
            hosts.isEmpty || hosts.contains { $0.isMet(by: target.authority) }
        }
        if let choice { selected = selected.filter { $0.policy == choice.name } }
        for host in hosts where !selected.contains(where: { host.isMet(by: $0.authority) }) {
            selected.append(collection.target(for: host, choice))
        }
        self.targets = selected
        let audited = Set(choice.map { [$0.name] } ?? selected.map(\.policy))
        self.unnamed = collection.unnamed.filter { unnamed in
            (hosts.isEmpty && choice == nil || audited.contains(unnamed.policy))
                && !hosts.contains { unnamed.pattern.matches($0.authority) }
        }
    }

    private static func choice(named name: String, _ policy: Policy) throws(Malformed) -> (name: String, index: Int) {
        let names = policy.configuration.trust.map(\.name)
        guard let index = names.firstIndex(of: name) else {
            let known = names.isEmpty ? "the configuration has none" : "there are \(names.joined(separator: ", "))"
            throw Malformed("no trust policy has that name; \(known)\(name.hint(of: names))")
        }
        return (name, index)
    }

    /// All servers that the configuration names.
    private struct Collection {
        let policy: Policy
        var targets: [AuditTarget] = []
        var unnamed: [UnnamedHosts] = []
        private var known: Set<Key> = []

        private struct Key: Hashable {
            let policy: String
            let authority: Authority
        }

        init(_ policy: Policy) { self.policy = policy }

        mutating func addTrustHosts() {
            for trust in self.policy.configuration.trust {
                for (number, host) in trust.hosts.enumerated() {
                    let source = "trust.\(trust.name).hosts[\(number)]"
                    guard let authority = host.value.onlyAuthority else {
                        self.unnamed.append(
                            UnnamedHosts(
                                policy: trust.name, pattern: host.value, position: host.position, source: source))
                        continue
                    }
                    self.add(authority, nil, host.position, source)
                }
            }
        }

        mutating func addRoutes() {
            for route in self.policy.routes.routes {
                let configuration = route.configuration
                if let upstream = configuration.upstream {
                    guard upstream.scheme == .https else { continue }
                    self.add(upstream.authority, route, configuration.position, "routes[\(route.index)].upstream")
                } else if let trust = configuration.trust {
                    // Such a route sets the policy of the hosts that it matches.
                    for host in configuration.match.hosts {
                        guard let authority = host.onlyAuthority else { continue }
                        self.add(authority, route, trust.position, "routes[\(route.index)].match.hosts")
                    }
                }
            }
        }

        private mutating func add(
            _ authority: Authority, _ route: Route?, _ position: SourcePosition, _ source: String
        ) {
            // The policy that applies may be another than the one that lists the host: the first matching pattern wins.
            let choice = self.policy.trust.choose(for: authority, route: route)
            guard self.known.insert(Key(policy: choice.name, authority: authority)).inserted else { return }
            self.targets.append(
                AuditTarget(
                    policy: choice.name, policyIndex: choice.index, authority: authority, position: position,
                    source: source))
        }

        /// Returns the target for a host that only the command line names.
        func target(for host: RequestedHost, _ choice: (name: String, index: Int)?) -> AuditTarget {
            let pattern = self.unnamed.first { unnamed in
                unnamed.pattern.matches(host.authority) && (choice == nil || choice?.name == unnamed.policy)
            }
            let applying = self.policy.trust.choose(for: host.authority, route: nil)
            return AuditTarget(
                policy: choice?.name ?? applying.name, policyIndex: choice?.index ?? applying.index,
                authority: host.authority, position: pattern?.position, source: pattern?.source ?? "--host")
        }
    }
}

extension HostPattern {
    /// The only server that the pattern can match, with the default port of https if the pattern has none; nil if the
    /// pattern may match several.
    fileprivate var onlyAuthority: Authority? {
        let port = self.port ?? Scheme.https.defaultPort
        switch self.host {
        case .exact(let name): return Authority(host: name, port: port)
        case .network(let network):
            guard network.prefixLength == network.address.bitCount else { return nil }
            return Authority(host: network.address.description, port: port)
        case .suffix, .any: return nil
        }
    }
}
