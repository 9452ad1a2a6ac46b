// SPDX-License-Identifier: Apache-2.0

private import PintleMessage
package import PintleTrust

/// One finding about a configuration that is valid.
package struct LintFinding: Sendable, Equatable {
    /// The importance of a finding.
    package enum Severity: Sendable, Equatable {
        /// Information about the effect of the configuration.
        case note
        /// The configuration may not do what was meant.
        case warning
    }

    package let severity: Severity
    package let position: SourcePosition
    /// The key: `routes[2]`, `trust.payments`.
    package let path: String
    package let message: String
}

/// The findings of `pintle check` about a configuration that loads: the effect of each route, and probable mistakes.
package struct Lint {
    let policy: Policy
    private let now: UnixTime
    private let knowsPublicSuffixes: Bool
    var configuration: Configuration { self.policy.configuration }

    /// Examines a compiled policy; connects to nothing.
    ///
    /// - Parameter knowsPublicSuffixes: true if certificates are judged with the list of public suffixes. Default: true if
    ///   this machine has the list.
    package init(_ policy: Policy, now: UnixTime = .now, knowsPublicSuffixes: Bool = PublicSuffixes.areKnown) {
        self.policy = policy
        self.now = now
        self.knowsPublicSuffixes = knowsPublicSuffixes
    }

    /// Notes first, in the order of the file, then warnings.
    package var findings: [LintFinding] {
        self.parentNotes + self.reportedDestinations + self.unpinnedNotes + self.listNotes + self.routeNotes
            + self.shadowedRoutes
            + self.unverifiedRoutes + self.weakPins
            + self.expiringPins
            + self.unusedTrust + self.unusedLists + self.namelessTrust + self.unverifiedTunnels + self.tunnelsPastRoutes
            + self.reportOnly
            + self.unreadKeys
            + self.unreadReferences + self.unreadExamples + self.unjudgedCredentials
            + self.unreachableUpstreams
            + self.uselessPermissions + self.uselessDenials + self.unknownUsers + self.uselessQuestions
            + self.unansweredQuestions + self.uselessAbsentSNI
            + self.resolvedNames
            + self.openPorts + self.openGateways
            + self.unjudgedNames + self.listenCertificate + self.missingPublicSuffixes
    }

    // MARK: Routes

    private var routeNotes: [LintFinding] {
        self.policy.routes.routes.map { route in
            LintFinding(
                severity: .note, position: route.configuration.position, path: "routes[\(route.index)]",
                message: RouteSummary(route.configuration, self.configuration.enforcement).description)
        }
    }

    private var shadowedRoutes: [LintFinding] {
        let routes = self.policy.routes.routes
        return zip(routes, RouteCovers(routes.map(\.configuration)).earlier).compactMap { later, number in
            guard let earlier = number.map({ routes[$0] }) else { return nil }
            return self.warning(
                later.configuration.position, "routes[\(later.index)]",
                "\"\(later.name)\" is never used: \"\(earlier.name)\" at \(earlier.configuration.position.words) comes "
                    + "first and matches everything that it does")
        }
    }

    private var unverifiedRoutes: [LintFinding] {
        let pinned = Set(self.configuration.trust.filter { $0.pinning != .none }.map(\.name))
        return self.policy.routes.routes.compactMap { route in
            let configuration = route.configuration
            guard let trust = configuration.trust, pinned.contains(trust.value), configuration.upstream == nil,
                configuration.match.schemes != [.https]
            else { return nil }
            return self.warning(
                trust.position, "routes[\(route.index)].trust",
                "http requests pass this route unverified; match schemes: [https] only, or give an https upstream")
        }
    }

    private var unreadKeys: [LintFinding] {
        self.policy.routes.routes.flatMap { route in
            let request = route.configuration.request
            return request.unreadKeys.map {
                self.warning(
                    $0.position, "routes[\(route.index)].request.\($0.value)",
                    "does nothing beside serialize: \(request.serialize.rawValue)")
            }
        }
    }

    private var unreachableUpstreams: [LintFinding] {
        let destinations = self.destinationsOfUpstreams
        return self.policy.routes.routes.compactMap { route in
            guard let upstream = route.configuration.upstream,
                let rule = self.denial(of: upstream, route, by: destinations)
            else { return nil }
            return self.warning(
                route.configuration.position, "routes[\(route.index)].upstream",
                "\(upstream.authority) is refused by \(rule); requests of this route can only fail")
        }
    }

    // MARK: Trust

    private var weakPins: [LintFinding] {
        self.configuration.trust.compactMap { policy in
            guard policy.pinning != .none, policy.pins.count == 1, policy.certificates.isEmpty else { return nil }
            return self.warning(
                policy.position, "trust.\(policy.name)",
                "has a single pin: when that key is replaced nothing gets through; add the pin of a backup key")
        }
    }

    private var expiringPins: [LintFinding] {
        self.configuration.trust.compactMap { policy in
            guard let end = policy.expires, end <= self.now.advanced(by: policy.warnBeforeExpiry) else { return nil }
            let consequence =
                switch policy.onExpiry {
                case .fail: "every destination is refused"
                case .report: "a key that is not pinned is only reported"
                case .system: "every valid chain is believed"
                }
            return self.warning(
                policy.position, "trust.\(policy.name)",
                end <= self.now
                    ? "its pins expired on \(end): \(consequence); check them and set expires anew"
                    : "its pins expire on \(end), and then \(consequence); check them and set expires anew")
        }
    }

    private var missingPublicSuffixes: [LintFinding] {
        self.knowsPublicSuffixes ? [] : [self.warning(.start, "trust", PublicSuffixes.missing)]
    }

    private var unusedTrust: [LintFinding] {
        let named = Set(
            self.configuration.routes.compactMap { $0.trust?.value }
                + self.configuration.lists.compactMap { $0.remote?.trust?.value })
        return self.configuration.trust.compactMap { policy in
            guard policy.hosts.isEmpty, policy.name != TrustConfiguration.defaultName, !named.contains(policy.name)
            else { return nil }
            return self.warning(
                policy.position, "trust.\(policy.name)",
                "is never used: it has no hosts, and no route and no list name it")
        }
    }

    private var reportOnly: [LintFinding] {
        self.configuration.trust.compactMap { policy in
            guard policy.pinning != .none, (policy.enforcement ?? self.configuration.enforcement) == .report else {
                return nil
            }
            return self.warning(
                policy.position, "trust.\(policy.name)", "only reports: a chain without the pins still gets through")
        }
    }

    // MARK: Destinations

    private var uselessPermissions: [LintFinding] {
        let destinations = self.configuration.destinations
        if destinations.fallback == .deny, destinations.allow.isEmpty, destinations.ask.isEmpty {
            return [self.warning(.start, "destinations", "nothing is allowed: default is deny and allow is empty")]
        }
        var denials = DestinationCovers(destinations.deny, lists: self.configuration.hostLists)
        return destinations.allow.enumerated().compactMap { index, allowed in
            guard let pattern = allowed.pattern, let deny = denials.rule(covering: pattern, for: allowed.clients)
            else { return nil }
            return self.warning(
                destinations.places["destinations.allow[\(index)]"] ?? .start, "destinations.allow[\(index)]",
                "\(allowed.quoted) is never allowed: destinations.deny has \(deny), and denials come first")
        }
    }

    // MARK: Listeners

    private var listenCertificate: [LintFinding] {
        guard let files = self.configuration.listenTLS else { return [] }
        let position = files.certificate.position
        guard self.configuration.listen.contains(where: \.isTLS) else {
            return [
                self.warning(
                    position, "listen_tls",
                    "is not used: no listener speaks TLS; write https:// before an address of listen, or keep it for "
                        + "--listen https:// and sockets that are named https")
            ]
        }
        guard let end = self.policy.listenTLS?.identity?.chain.first?.notAfter, end <= self.now else { return [] }
        return [
            self.warning(
                position, "listen_tls", "the certificate expired on \(end): clients refuse it; have it renewed")
        ]
    }

    func warning(_ position: SourcePosition, _ path: String, _ message: String) -> LintFinding {
        LintFinding(severity: .warning, position: position, path: path, message: message)
    }
}
