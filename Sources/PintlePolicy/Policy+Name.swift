// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession

extension Policy {
    /// The reason why a name may not be looked up: no connection to it could be allowed, on whatever port. Nil if one could.
    ///
    /// The connection that follows is captured, so that its client has no name.
    ///
    /// - Parameter name: in lower case, without a dot at its end.
    package func denial(ofName name: String) -> String? {
        let host = Authority(host: name, port: Scheme.https.defaultPort)
        // A route may lead requests for the name elsewhere.
        if self.names.elsewhere.first(host, where: { _ in true }) != nil { return nil }
        let written = Set(self.names.ports.ports(of: host) + self.names.listedPorts)
        // A port that no pattern for the name has stands for all such ports.
        let other = (1...UInt16.max).first { !written.contains($0) }
        var reason: String?
        for port in [other].compactMap({ $0 }) + written.sorted() {
            let decision = self.destinations.judge(
                Authority(host: name, port: port), for: self.destinations.rights(of: ProxyIdentity()))
            guard let denial = decision.objection else { return nil }
            reason = reason ?? denial
        }
        return reason
    }
}

/// The parts of a configuration that decide if a name may be looked up, besides the rules about destinations.
struct NameRules: Sendable {
    /// The hosts that routes lead elsewhere, on every port.
    let elsewhere: HostIndex
    /// The ports that rules about destinations name.
    let ports: HostPorts
    /// The ports that lists of hosts name.
    let listedPorts: [UInt16]

    init(_ configuration: Configuration, _ rules: DestinationRules) {
        let client = rules.rights(of: ProxyIdentity())
        var elsewhere = HostIndex()
        for (number, route) in configuration.routes.enumerated() {
            guard let upstream = route.upstream, route.match.clients == nil,
                rules.judge(upstream.authority, for: client).denial == nil
            else { continue }
            if route.match.hosts.isEmpty { elsewhere.insertEverywhere(number: number) }
            for host in route.match.hosts { elsewhere.insert(host.onEveryPort, number: number) }
        }
        self.elsewhere = elsewhere
        let patterns = configuration.destinations.patterns
        self.ports = HostPorts(Set(patterns.compactMap(\.port)).sorted(), of: patterns)
        let lists = configuration.hostLists
        self.listedPorts = configuration.destinations.lists.reduce(into: Set<UInt16>()) { ports, name in
            ports.formUnion(lists[name]?.ports ?? [])
        }.sorted()
    }
}
