// SPDX-License-Identifier: Apache-2.0

private import PintleMessage
private import PintleSession

// Findings about traffic that the rules for destinations and tunnels let through.
extension Lint {
    /// Warns that names that no rule names are looked up: that tells them to name servers, so also to the owner of a domain
    /// that was made up for it.
    var resolvedNames: [LintFinding] {
        let destinations = self.configuration.destinations
        guard destinations.fallback == .deny, destinations.resolvesNames,
            let index = self.firstPermissionWithNetworks
        else { return [] }
        let rule = destinations.allow[index]
        return [
            self.warning(
                destinations.places["destinations.allow[\(index)]"] ?? .start, "destinations.allow[\(index)]",
                "\(rule.quoted) \(rule.list == nil ? "is a network" : "has a network"), so every name that no rule names is looked up "
                    + "before it is denied, which tells the name to others; destinations.resolve: off denies it at once"
            )
        ]
    }

    /// Warns of a permission for handshakes that pass without it.
    var uselessAbsentSNI: [LintFinding] {
        let destinations = self.configuration.destinations
        guard !destinations.absentSNI.isEmpty, destinations.fallback == .allow else { return [] }
        return [
            self.warning(
                .start, "destinations.require_sni_match.allow_absent",
                "allows nothing more: a ClientHello may lack a server name everywhere, because destinations.default is allow"
            )
        ]
    }

    /// Warns of questions that only a command's terminal can answer.
    var unansweredQuestions: [LintFinding] {
        let configuration = self.configuration
        guard configuration.destinations.asks, !self.policy.destinations.areReported,
            configuration.admin.place == nil, configuration.ask.webhook == nil
        else { return [] }
        return [
            self.warning(
                .start, "destinations.ask",
                "under serve nothing can answer, and requests are refused: admin is off, and there is no ask.webhook; under "
                    + "run the terminal answers")
        ]
    }

    /// Warns of names that are never asked about, because a list before decides.
    var uselessQuestions: [LintFinding] {
        let destinations = self.configuration.destinations
        if destinations.ask.isEmpty { return [] }
        // Questions are for every client.
        let lists = self.configuration.hostLists
        var deny = DestinationCovers(destinations.deny.filter { $0.clients == nil }, lists: lists)
        var allow = DestinationCovers(destinations.allow.filter { $0.clients == nil }, lists: lists)
        return destinations.ask.enumerated().compactMap { index, pattern in
            let name = "destinations.ask[\(index)]"
            let message: String
            if let earlier = deny.rule(covering: pattern, for: nil) {
                message = "is never asked about: destinations.deny has \(earlier), and denials come first"
            } else if let earlier = allow.rule(covering: pattern, for: nil) {
                message = "is never asked about: destinations.allow has \(earlier), and permissions come first"
            } else {
                return nil
            }
            return self.warning(destinations.places[name] ?? .start, name, "\"\(pattern)\" \(message)")
        }
    }

    /// Notes that traffic that `destinations` refuses is only reported.
    var reportedDestinations: [LintFinding] {
        let rules = self.configuration.destinations
        let ports = [rules.ports, rules.connectPorts]
        guard self.policy.destinations.areReported,
            rules.fallback != .allow || !rules.ask.isEmpty || !rules.deny.isEmpty || rules.privateAddresses == .deny
                || ports.contains(where: { if case .only = $0 { true } else { false } })
        else { return [] }
        let isGuarded = rules.privateAddresses == .auto || ports.contains(.auto)
        let kept = isGuarded ? self.configuration.listen.exposed : nil
        let exception = kept.map { "; auto still refuses, because other machines reach \($0)" } ?? ""
        let key = rules.enforcement == nil ? "enforcement" : "destinations.enforcement"
        let addresses = rules.enforcement == nil ? "" : "; rules about addresses refuse"
        return [
            LintFinding(
                severity: .note, position: .start, path: "destinations",
                message:
                    "requests that these rules refuse pass and are reported, because \(key) is report\(addresses)\(exception)"
            )
        ]
    }

    /// Notes the treatment of https destinations that no trust policy names, unless it is the default.
    var unpinnedNotes: [LintFinding] {
        let verb: String
        switch self.configuration.unpinnedHosts {
        case .allow: return []
        case .report: verb = "reported"
        case .deny: verb = "refused"
        }
        return [
            LintFinding(
                severity: .note, position: .start, path: "unpinned_hosts",
                message: "tunnels and https requests to hosts that no trust policy names are \(verb)")
        ]
    }

    /// Warns of `unpinned_hosts: deny` if it refuses every https destination.
    var namelessTrust: [LintFinding] {
        let trust = self.configuration.trust
        let pinsAll = trust.contains { $0.name == TrustConfiguration.defaultName && $0.pinning != .none }
        guard self.configuration.unpinnedHosts == .deny, !pinsAll, trust.allSatisfy(\.hosts.isEmpty),
            self.configuration.routes.allSatisfy({ $0.trust == nil })
        else { return [] }
        return [
            self.warning(
                .start, "unpinned_hosts",
                "is deny, and no trust policy names a host: every tunnel and https request is refused; give trust policies "
                    + "hosts, or write report")
        ]
    }

    /// Warns of pins that nearly all clients bypass.
    var unverifiedTunnels: [LintFinding] {
        guard !self.configuration.tunnels.verifiesTrusted else { return [] }
        return self.configuration.trust.filter { $0.pinning != .none && !$0.hosts.isEmpty }.map { policy in
            self.warning(
                policy.position, "trust.\(policy.name)",
                "its pins say nothing about tunnels, by which most clients go to https: tunnels.verify is off")
        }
    }

    /// Warns of pins that only a route names: the proxy cannot tell which route the requests in a tunnel belong to.
    var tunnelsPastRoutes: [LintFinding] {
        let routeless = Set(self.configuration.trust.filter { $0.pinning != .none && $0.hosts.isEmpty }.map(\.name))
        let verified = self.configuration.tunnels.verify + self.configuration.interception.hosts
        return self.policy.routes.routes.compactMap { route in
            let configuration = route.configuration
            guard let trust = configuration.trust, routeless.contains(trust.value), verified.isEmpty,
                configuration.connect == nil, configuration.upstream == nil, configuration.match.schemes != [.http]
            else { return nil }
            return self.warning(
                trust.position, "routes[\(route.index)].trust",
                "tunnels to its hosts are not verified by trust.\(trust.value), which has no hosts; name them there, or set connect: "
                    + "verify on the route")
        }
    }

    /// The rules about destinations for upstreams. The client is not known: a permission may be for it, and a denial for others.
    var destinationsOfUpstreams: DestinationRules {
        var rules = self.configuration.destinations
        rules.deny.removeAll { $0.clients != nil }
        for index in rules.allow.indices { rules.allow[index].clients = nil }
        return DestinationRules(
            rules, lists: self.configuration.hostLists, listeners: self.configuration.listen,
            enforcement: self.configuration.enforcement, from: 0)
    }

    /// The rule that refuses an upstream, whatever the request is.
    func denial(of upstream: Upstream, _ route: Route, by destinations: DestinationRules) -> String? {
        var destination = destinations.judge(upstream.authority, for: .none)
        if upstream.scheme == .https {
            _ = self.policy.judgeUnpinned(
                self.policy.trust.choose(for: upstream.authority, route: route), &destination)
        }
        return destination.denial
    }

    /// Warns of ports of mail servers and shells that any client may reach.
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

    /// Warns of gateway routes that put credentials into requests that any web page may cause.
    var openGateways: [LintFinding] {
        self.configuration.routes.enumerated().compactMap { index, route in
            guard route.upstream != nil, route.injectsCredentials else { return nil }
            if route.match.hosts.isEmpty {
                return self.warning(
                    route.position, "routes[\(index)].match",
                    "names no hosts, and the route puts credentials into requests: it serves only "
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
