// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The things that are known of a tunnel beside its destination.
package struct TunnelKind: Sendable, Hashable {
    /// True if it carries neither TLS nor HTTP, or its client waits for the server to speak.
    package var isOpaque: Bool
    /// True if its client did not ask for it: the connection was captured on its way to the destination.
    package var isCaptured: Bool

    package init(isOpaque: Bool = false, isCaptured: Bool = false) {
        (self.isOpaque, self.isCaptured) = (isOpaque, isCaptured)
    }
}

extension Policy {
    /// Decides about a CONNECT. The tunnel goes to the host that it was requested for, whatever upstream a route has.
    ///
    /// Nothing is known of the requests inside except their host. If one of them could belong to a route with rules that a
    /// tunnel cannot keep, the tunnel is denied, unless the route says `connect: tunnel` or `verify`, or the tunnel is
    /// intercepted.
    ///
    /// The decision names a trust policy if the destination must prove its identity first: by `tunnels.verify`, by
    /// `connect: verify`, or because the policy's `hosts` name it. Other tunnels are not inspected, and a log line that named a
    /// policy would claim a check that did not happen.
    ///
    /// - Parameter kind: further properties of the tunnel. An opaque one is judged as if nothing asked for interception, and a
    ///   rule `tcp://HOST:PORT` lets it pass routes that it cannot keep. One that is captured and opaque needs such a rule,
    ///   unless `isolate.other_tcp` is `allow`. Default: a CONNECT with any content.
    package func decideTunnel(_ query: RouteQuery, _ kind: TunnelKind = TunnelKind()) -> Decision {
        let isOpaque = kind.isOpaque
        let deciding = self.routes.firstDecidingTunnels(to: query.authority, query.headers, of: query.client)
        // CONNECT has no path that could be read in two ways, so this never throws.
        let route = deciding ?? (try? self.routes.first(matching: query)).flatMap { $0 }
        let isIntercepted = !isOpaque && self.interceptedTunnels.first(query.authority) { _ in true } != nil
        let isVerified = self.verifiesTunnels(to: query.authority)
        let way = self.parents.way(to: query.authority, .https)
        let client = self.destinations.rights(of: query.client)
        var destination = self.destinations.judge(query.authority, goingBy: way, for: client)
        self.judge(query.authority.port, by: self.connectPorts, &destination)
        if isOpaque, self.destinations.ruleForAnyProtocol(to: query.authority, for: client) != nil {
            // The rule is about just such tunnels.
        } else if isOpaque, kind.isCaptured, self.configuration.isolation.otherTCP == .deny {
            destination.add(
                "isolate.other_tcp deny; destinations.allow with \"tcp://\(query.authority)\" lets every protocol through",
                isReported: self.destinations.areReported)
        } else if let rule = self.tunnelDenial(
            of: query, by: deciding, isIntercepted: isIntercepted, isOpaque: isOpaque)
        {
            destination.add(rule, isReported: false)
        }
        let decided = deciding.flatMap { route in
            route.configuration.forTunnels(opaque: isOpaque).connect(
                withFields: route.acceptsHeaders(query.headers), isIntercepted: isIntercepted)
        }
        let mode = decided ?? (isIntercepted ? .intercept : isVerified ? .verify : .tunnel)
        let trust = self.trust.choose(for: query.authority, route: route)
        // The proxy does not see what a tunnel carries: it counts as https, whatever its port is.
        let reported = self.judgeUnpinned(trust, &destination)
        return Decision(
            route: route, scheme: query.scheme, authority: query.authority, path: query.path,
            destination: destination, reportedRule: reported, way: way, trust: mode == .verify ? trust : nil,
            rights: self.addressRights(client, for: query.authority, goingBy: way), isIntercepted: mode == .intercept,
            trustIfRelayed: mode == .intercept && isVerified ? trust : nil)
    }

    /// True if a rule `tcp://HOST:PORT` lets every protocol of a client through to a destination.
    package func takesAnyProtocol(to authority: Authority, of client: ProxyIdentity) -> Bool {
        self.destinations.ruleForAnyProtocol(to: authority, for: self.destinations.rights(of: client)) != nil
    }

    /// True if destinations of tunnels to this host must prove their identity, unless a route says otherwise.
    private func verifiesTunnels(to authority: Authority) -> Bool {
        if self.configuration.tunnels.verifiesTrusted, self.trust.names(authority) { return true }
        return self.verifiedTunnels.first(authority) { _ in true } != nil
    }

    private func tunnelDenial(
        of query: RouteQuery, by route: Route?, isIntercepted: Bool, isOpaque: Bool
    ) -> String? {
        let configuration = route?.configuration.forTunnels(opaque: isOpaque)
        if let route, let configuration {
            let hasFields = route.acceptsHeaders(query.headers)
            let rule = configuration.tunnelDenial(
                by: route.description, withFields: hasFields, isIntercepted: isIntercepted)
            if let rule { return rule }
        }
        if self.configuration.simulation.refusesTunnels, !isIntercepted {
            return
                "--replay, as what a tunnel carries would pass the recordings; intercept the host, or say --miss forward"
        }
        guard configuration?.connect == nil, !isIntercepted, let contract = self.apiContract,
            contract.covers(.https, query.authority) || contract.covers(.http, query.authority)
        else { return nil }
        return
            "contract \(contract.file), which a tunnel cannot keep; a route with connect: intercept keeps it, with tunnel or "
            + "verify lets it pass"
    }

    /// The reason why a tunnel may not carry a TLS handshake with this server name; nil if it may. With `enforcement: report`
    /// the handshake passes nevertheless.
    ///
    /// A tunnel to an address may carry any name that the client could have requested in place of the address. A handshake
    /// without a name cannot lead to another host; but if only listed destinations are allowed, the tunnel was allowed because
    /// of its name, and `require_sni_match.allow_absent` must list the host.
    ///
    /// - Parameters:
    ///   - name: the name as the client spells it; nil if it gives none.
    ///   - client: the names of the client that asked for the tunnel.
    ///   - isIntercepted: true if the handshake is with this proxy, which then sends requests to the host of the CONNECT.
    package func refusal(
        ofServerName name: String?, inTunnelTo authority: Authority, of client: ProxyIdentity,
        isIntercepted: Bool = false
    ) -> String? {
        let address = IPAddress(authority.host)
        guard let name else {
            let fallback = self.configuration.destinations.fallback
            guard !isIntercepted, address == nil, fallback != .allow,
                self.tunnelsWithoutSNI.first(authority, where: { _ in true }) == nil
            else { return nil }
            return
                "its ClientHello names no server, and destinations.default is \(fallback.rawValue); have the client send the name (SNI), "
                + "intercept the host, or write require_sni_match: {allow_absent: [\"\(authority)\"]}"
        }
        // RFC 6066 §3 forbids addresses here, but some clients send one, IPv6 without brackets.
        if let literal = IPAddress(name), literal == address { return nil }
        let named = name.contains(":") ? nil : Authority(name, defaultPort: authority.port)
        if let named, named == authority { return nil }
        guard let address, let named, IPAddress(named.host) == nil else {
            return "its ClientHello names \(name), not \(authority.host); a CONNECT for each host keeps them apart"
        }
        let decision = self.destinations.judge(
            address: address, port: authority.port, asked: named, for: self.destinations.rights(of: client))
        if case .asked(let rule) = decision {
            return
                "its ClientHello names \(name), which waits for an answer, by \(rule); a CONNECT to the name is asked about"
        }
        return (decision.denial ?? decision.reported).map { "its ClientHello names \(name), which is denied by \($0)" }
    }
}

extension HostIndex {
    /// Makes an index of all `patterns`, numbered in their order.
    package init(_ patterns: [HostPattern]) {
        self.init()
        for (number, pattern) in patterns.enumerated() { self.insert(pattern, number: number) }
    }
}
