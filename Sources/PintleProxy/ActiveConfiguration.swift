// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import NIOCore
package import PintleActivity
internal import PintleLoop
internal import PintleMessage
package import PintlePolicy
package import PintleReachability
package import PintleSession
package import PintleTrust

/// A configuration in use: its policy, a session for each trust policy, its rules and its counters.
///
/// Immutable. Exchanges keep the configuration with which they began, so that it can be replaced at any time.
package final class ActiveConfiguration: Sendable {
    package let policy: Policy
    let via: String?
    let headLimits: HeadLimits
    let limits: LimitsConfiguration
    let patience: Timeouts
    /// The counters of the routes, in the order of the routes.
    let routeCounters: [RouteCounters]
    let activity: Activity
    let counters: Counters
    let sinks: ExchangeSinks
    let logger: Logger
    let precheck: NetworkPrecheck
    /// The addresses on which this proxy listens; filled when it does.
    let ownAddresses: OwnAddresses
    let verifications: VerificationCache
    /// The questions about destinations.
    package let questions: AskBoard
    /// The decisions of rules about clients and destinations.
    package let ruleCounters: RuleCounters
    /// The name of this version of the configuration, for logs and metrics; nil if neither shows it.
    package let revision: String?
    /// The uses of trust policies by requests.
    let trustUses = TrustUses()
    /// Nil if no tunnel is intercepted.
    let interception: Interception?
    /// The cookies of the routes.
    let cookies: CookieJars
    /// The answers in the place of origins'.
    let simulations: Simulations
    /// The cached responses of routes that use the cache or merge identical requests.
    let caching: Caching
    /// Answers every request instead of an origin; nil for a proxy.
    let service: (any LocalService)?
    /// Nil if clients need not authenticate.
    let passwords: PasswordCheck?
    /// Nil if traces are off.
    let tracing: TraceRules?
    /// Nil if no bodies are kept.
    let capture: CaptureRules?
    /// Nil unless a command runs with credentials.
    let credentials: CredentialTable?
    /// The upstream proxies of the policy, in their order.
    private let parents: [ProxyLink]
    private let sessions: [TrustSession]
    private let systemSession: TrustSession

    /// A session with the name of its trust policy.
    struct TrustSession: Sendable {
        let session: Session
        /// Nil for the session under the system's trust.
        let name: String?
    }

    /// Makes the configuration, with its sessions on `engine`.
    ///
    /// - Parameters:
    ///   - sinks: told of each exchange.
    ///   - service: answers every request instead of an origin; nil for a proxy.
    ///   - reachability: the state of the network, which explains failures; nil if it is not watched.
    ///   - revision: see ``revision``.
    ///   - previous: the configuration that this one replaces.
    ///   - authority: issues the certificates of intercepted tunnels; called only if the policy intercepts tunnels.
    /// - Throws: `TrustError` if roots or the authority cannot be loaded.
    package init(
        policy: Policy, revision: String? = nil, engine: Engine, activity: Activity, counters: Counters,
        sinks: ExchangeSinks,
        logger: Logger, service: (any LocalService)? = nil,
        reachability: Reachability? = nil, continuing previous: ActiveConfiguration? = nil,
        authority: (InterceptionConfiguration) throws(TrustError) -> CertificateAuthority = ActiveConfiguration
            .noAuthority
    ) throws(TrustError) {
        let configuration = policy.configuration
        (self.policy, self.revision, self.service) = (policy, revision, service)
        self.ruleCounters = RuleCounters(policy)
        self.ownAddresses = previous?.ownAddresses ?? OwnAddresses()
        self.questions = previous?.questions ?? AskBoard(counters.questions, logger: logger)
        self.via = configuration.via
        self.tracing = configuration.tracing.map { TraceRules($0) }
        // Without keepers nothing would show the bodies.
        self.capture =
            sinks.areKept
            ? configuration.capture.map { CaptureRules($0, of: policy, in: previous?.capture?.store ?? CaptureStore()) }
            : nil
        self.limits = configuration.limits
        self.patience = Timeouts(configuration.limits)
        self.headLimits = HeadLimits(
            bytes: configuration.limits.headerBytes, line: configuration.limits.headerLine,
            count: configuration.limits.headerCount)
        // The verified passwords remain valid as long as the users are the same.
        self.passwords = configuration.clients.basicAuth.map { users in
            if let known = previous?.passwords, known.configuration == users { known } else { PasswordCheck(users) }
        }
        self.interception =
            policy.intercepts
            ? try Interception(
                configuration.interception, by: authority(configuration.interception),
                continuing: previous?.interception) : nil
        self.cookies = CookieJars(policy.routes, continuing: previous?.cookies)
        self.simulations = Simulations(policy, counters, logger: logger, continuing: previous?.simulations)
        if let seed = self.simulations.seed, seed != previous?.simulations.seed {
            logger.log(.notice, .simulation(seed: seed))
        }
        self.caching = Caching(policy, name: configuration.via ?? "pintle", continuing: previous?.caching)
        self.credentials = CredentialTable(configuration.credentials)
        self.activity = activity
        self.counters = counters
        self.sinks = sinks
        self.logger = logger
        self.precheck = NetworkPrecheck(
            reachability: reachability, own: self.ownAddresses, ownNames: policy.ownNames)
        self.verifications = VerificationCache(validity: TimeAmount(configuration.tunnels.verifyTTL))
        self.routeCounters = policy.routes.routes.map { counters[$0.index] }
        var settings = SessionConfiguration(configuration.engine)
        settings.responseHead = self.headLimits
        let judge = DestinationJudge(
            rules: policy.destinations, own: self.ownAddresses, counters: self.ruleCounters)
        func session(
            _ securityPolicy: SecurityPolicy, _ identity: ClientIdentity?, reportsOnly: Bool
        ) throws(TrustError) -> Session {
            settings.clientIdentity = identity
            return try Session(
                engine: engine, configuration: settings, policy: securityPolicy, reportsOnly: reportsOnly, judge: judge,
                memory: counters.memory)
        }
        var sessions: [TrustSession] = []
        for (index, trust) in configuration.trust.enumerated() {
            let reportsOnly = (trust.enforcement ?? configuration.enforcement) == .report
            let made = try session(
                policy.securityPolicies[index], policy.clientIdentities[index], reportsOnly: reportsOnly)
            sessions.append(TrustSession(session: made, name: trust.name))
        }
        self.sessions = sessions
        let systemSession = TrustSession(session: try session(.default, nil, reportsOnly: false), name: nil)
        self.systemSession = systemSession
        self.parents = policy.parents.parents.map { parent in
            // An https upstream proxy is verified like an origin with its name, by the evaluator of an existing session.
            let index = policy.trust.choose(for: parent.server.authority, route: nil).index
            return ProxyLink(
                parent.server, evaluator: (index.map { sessions[$0] } ?? systemSession).session.evaluator,
                identity: index.flatMap { policy.clientIdentities[$0] },
                connectFields: configuration.via.map { ["Via": "1.1 \($0)"] } ?? Fields())
        }
    }

    /// The memory of kept bodies; nil if none are kept.
    package var keptBodies: CaptureStore.Usage? { self.capture?.store.usage }

    /// For configurations that intercept nothing.
    package static func noAuthority(_ configuration: InterceptionConfiguration) throws(TrustError)
        -> CertificateAuthority
    {
        throw TrustError(
            code: .unreadableIdentity, message: "tunnels are to be intercepted, and there is no certificate authority")
    }

    /// The problem with a body that is over `limits.body_buffer`. An endpoint of Pintle's own has no route that could say so.
    var unbuffered: Problem {
        guard self.service != nil else { return .unbuffered }
        let limit = self.limits.bodyBuffer.spelledAsBytes
        return Problem(
            .bodyTooLarge, "the body is longer than the \(limit) that this endpoint takes, which no setting changes")
    }

    /// The response to a client that may not use the proxy; nil if it may. Checked at each request, so that the present
    /// configuration counts instead of the one at the time of the connection.
    func refusal(of client: Client?) -> Problem? {
        guard case .address(let ip)? = client else { return nil }
        return self.policy.clients.refusal(of: ip)
    }

    /// The way of a transfer: directly, or by one of the upstream proxies.
    func way(_ way: RequestWay) -> TransferRequest.Way {
        switch way {
        case .straight, .direct: .direct
        case .parent(let number): .by(self.parents[number])
        }
    }

    /// The upstream proxy for the requests of a decision; nil if they go directly to their origin.
    func parent(of decision: Decision?) -> ProxyServer? {
        guard let decision, case .by(let link) = self.way(decision.way) else { return nil }
        return link.server
    }

    /// The problem with which the client of a failed transfer is answered.
    func problem(_ error: SessionError, asking decision: Decision?) -> Problem {
        self.precheck.problem(error, with: self.parent(of: decision)?.authority ?? decision?.authority)
    }

    /// True if a broken rule about addresses is only reported, so that the rule is checked afterwards with the dialled address.
    /// It is not if an upstream proxy is used, because that resolves names itself.
    func judgesAddressesAfterwards(_ decision: Decision) -> Bool {
        guard self.policy.destinations.areReported, self.policy.destinations.judgesAddresses,
            case .direct = self.way(decision.way)
        else { return false }
        return true
    }

    /// The upstream proxy that handles plaintext requests itself, and so may demand authentication. The demand concerns
    /// Pintle's configuration, and is not passed to the client. An upstream proxy that only relays bytes, in a tunnel (also
    /// used for protocol upgrades) or as SOCKS, cannot demand it.
    func forwarder(of decision: Decision?) -> ProxyServer? {
        guard decision?.scheme == .http, let parent = self.parent(of: decision), parent.scheme != .socks5 else {
            return nil
        }
        return parent
    }

    /// The cached responses; nil if no route needs them.
    package var answers: SharedCache? { self.caching.cache }

    /// True if responses are cached; false if requests in flight are only merged.
    package var keepsAnswers: Bool { self.caching.keepsAnswers }

    package var logConfiguration: LogConfiguration { self.policy.configuration.log }

    /// The configuration of the cache.
    package var cacheConfiguration: CacheConfiguration { self.policy.configuration.cache }

    /// The cache settings for a request; nil if its route caches nothing and merges no requests.
    func cacheUse(_ decision: Decision) -> CacheUse? {
        guard let route = decision.route else { return nil }
        return self.caching.use(route, under: decision.trust, by: self.parent(of: decision), for: decision.rights)
    }

    /// The cache lookup for a request; nil if the cache has no part in it.
    ///
    /// - Parameter noted: that of an equal request.
    func lookup(_ transfer: TransferRequest, by decision: Decision, noted: CacheLookup?) -> CacheLookup? {
        // A credential in a request may change the answer.
        guard transfer.attachment == nil, !transfer.fields.logConnectionIn else { return nil }
        return noted ?? self.cacheUse(decision).map { CacheLookup(transfer, $0) }
    }

    func session(for choice: TrustChoice?) -> TrustSession {
        guard let index = choice?.index else { return self.systemSession }
        return self.sessions[index]
    }

    /// The latest uses of trust policies, each with the last verdict on its host.
    func verdictsRelied() async -> [(use: TrustUses.Use, trust: TrustSession, verdict: DatedVerdict)] {
        var known: [TrustEvaluator: [Authority: DatedVerdict]] = [:]
        for trust in self.sessions + [self.systemSession] {
            known[trust.session.evaluator] = await trust.session.verdicts()
        }
        for (question, verdict) in self.verifications.all {
            known[question.evaluator, default: [:]][question.authority] = verdict
        }
        return self.trustUses.all.compactMap { use in
            let trust = self.session(for: use.choice)
            let verdict = known[trust.session.evaluator]?[use.authority]
            return verdict.map { (use, trust, $0) }
        }
    }

    /// The numbers of connections to origins and upstream proxies.
    package func connectionUses() async -> ConnectionUses {
        var sum = ConnectionUses()
        for trust in self.sessions + [self.systemSession] { sum += await trust.session.connectionUses() }
        return sum
    }

    /// The latest verdict on a host that a trust policy, or the system's trust, was asked about.
    package struct HostVerdict: Sendable {
        /// The name of the trust policy; nil for the system's trust.
        package let policy: String?
        package let host: String
        package let verdict: Verdict
        package let moment: UnixTime
    }

    /// The latest verdicts on the hosts that requests went to.
    package func verdicts() async -> [HostVerdict] {
        await self.verdictsRelied().map { use, trust, dated in
            HostVerdict(
                policy: trust.name, host: use.authority.description, verdict: dated.verdict, moment: dated.moment)
        }
    }

    /// True if https requests to `host` go directly to it, without an upstream proxy.
    func reachesDirectly(_ host: Authority) -> Bool {
        if case .by = self.way(self.policy.parents.way(to: host, .https)) { false } else { true }
    }

    /// Cancels every transfer, closes every connection to an origin, and waits until the recordings are written.
    package func close() async {
        for session in self.sessions { await session.session.closed() }
        await self.systemSession.session.closed()
        await self.simulations.finish()
    }
}
