// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

// What the rules about destinations and tunnels let through.
extension Lint {
    /// A look-up tells the name to name servers, and so to whoever runs the domain that was made up for it.
    var resolvedNames: [LintFinding] {
        let destinations = self.configuration.destinations
        guard destinations.fallback == .deny, destinations.resolvesNames,
            let index = destinations.allow.firstIndex(where: { $0.network != nil })
        else { return [] }
        return [
            self.warning(
                .start, "destinations.allow[\(index)]",
                "\"\(destinations.allow[index])\" is a network, so every name that no rule names is looked up before it is "
                    + "denied, which tells the name to others; destinations.resolve: off denies it at once")
        ]
    }

    /// Ports of mail servers and shells for everybody.
    var openPorts: [LintFinding] {
        guard let listener = self.configuration.listen.exposed else { return [] }
        let destinations = self.configuration.destinations
        return [("connect_ports", destinations.connectPorts), ("ports", destinations.ports)].filter { $0.1 == .any }
            .map { key, _ in
                self.warning(
                    .start, "destinations.\(key)",
                    "is any, and other machines reach \(listener): they reach every port of every destination through it; "
                        + "name the ports, or write auto")
            }
    }

    /// Gateway routes that put credentials into what any web page may ask for.
    var openGateways: [LintFinding] {
        self.configuration.routes.enumerated().compactMap { index, route in
            guard route.upstream != nil, route.injectsCredentials else { return nil }
            if route.match.hosts.isEmpty {
                return self.warning(
                    route.position, "routes[\(index)].match",
                    "names no hosts, and the route puts credentials into requests: as a gateway it serves only "
                        + "\(self.policy.ownNames.description); name the hosts that clients ask for")
            }
            guard route.match.hosts.contains(where: { $0.host == .any }) else { return nil }
            return self.warning(
                route.position, "routes[\(index)].match.hosts",
                "has \"*\", and the route puts credentials into requests: a web page whose name leads to this proxy reads "
                    + "with them; name the hosts that clients ask for")
        }
    }
}

extension RouteConfiguration {
    fileprivate var injectsCredentials: Bool {
        let headers = self.request.headers
        return self.request.authorization != nil
            || (headers.defaults + headers.set + headers.add).contains {
                [.authorization, .cookie].contains(FieldName($0.name))
            }
    }
}
