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
        // A route may lead requests for the name elsewhere.
        if self.routes.routes.contains(where: { self.leadsElsewhere(name, by: $0.configuration) }) { return nil }
        let destinations = self.configuration.destinations
        let lists = self.configuration.hostLists
        let written = destinations.lists.reduce(into: Set(destinations.patterns.compactMap(\.port))) { ports, name in
            ports.formUnion(lists[name]?.ports ?? [])
        }
        // A port that no pattern names stands for all such ports.
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

    private func leadsElsewhere(_ name: String, by route: RouteConfiguration) -> Bool {
        guard let upstream = route.upstream, route.match.clients == nil,
            self.destinations.judge(upstream.authority, for: self.destinations.rights(of: ProxyIdentity())).denial
                == nil
        else { return false }
        let hosts = route.match.hosts
        return hosts.isEmpty || hosts.contains { $0.matches(Authority(host: name, port: $0.port ?? 80)) }
    }
}
