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

/// A configuration made ready to serve: its policy, a session for each trust policy, its rules and its counters.
///
/// Immutable. Exchanges keep the configuration that they began with, so a new one can take its place at any time.
package final class ActiveConfiguration: Sendable {
    let policy: Policy
    let via: String?
    let headLimits: HeadLimits
    let limits: LimitsConfiguration
    let patience: Patience
    /// Those of the routes, in their order.
    let routeCounters: [RouteCounters]
    let activity: Activity
    let counters: Counters
    let exchangeLog: ExchangeLog
    /// Told of what the exchange log writes, where anybody learns from it.
    let observer: ExchangeObserver?
    let logger: Logger
    let precheck: NetworkPrecheck
    /// Where this proxy listens, once it does.
    let ownAddresses: OwnAddresses
    let tunnelProofs: TunnelProofs
    /// Which requests have relied on which trust policy.
    let trustUses = TrustUses()
    /// Nil where no tunnel is intercepted.
    let interception: Interception?
    /// Keeps the cookies of routes.
    let cookies: CookieJars
    /// Keeps the answers of routes that use the cache, or merge equal requests.
    let caching: Caching
    /// Nil where clients need not say who they are.
    let passwords: PasswordCheck?
    /// The parents of the policy, in their order.
    private let parents: [ProxyLink]
    private let sessions: [TrustSession]
    private let systemSession: TrustSession

    /// A session and what is said about it.
    struct TrustSession: Sendable {
        let session: Session
        /// Nil where no policy of the configuration applies.
        let name: String?
    }

    /// Makes the sessions on `engine`.
    ///
    /// - Parameters:
    ///   - observer: told of each exchange that `exchangeLog` takes.
    ///   - reachability: the system's, which explains failures; nil where the network is not watched.
    ///   - previous: the configuration whose place this one takes.
    ///   - authority: issues the certificates of intercepted tunnels; read only where the policy has such.
    /// - Throws: `TrustError` when roots cannot be loaded, or the authority cannot be read.
    package init(
        policy: Policy, engine: Engine, activity: Activity, counters: Counters, exchangeLog: ExchangeLog,
        observer: ExchangeObserver? = nil, logger: Logger,
        reachability: Reachability? = nil, continuing previous: ActiveConfiguration? = nil,
        authority: (InterceptionConfiguration) throws(TrustError) -> CertificateAuthority = ActiveConfiguration
            .noAuthority
    ) throws(TrustError) {
        let configuration = policy.configuration
        self.policy = policy
        self.ownAddresses = previous?.ownAddresses ?? OwnAddresses()
        self.via = configuration.via
        self.limits = configuration.limits
        self.patience = Patience(configuration.limits)
        self.headLimits = HeadLimits(
            bytes: configuration.limits.headerBytes, line: configuration.limits.headerLine,
            count: configuration.limits.headerCount)
        // What it knows is good for as long as the users are the same.
        self.passwords = configuration.clients.basicAuth.map { users in
            if let known = previous?.passwords, known.configuration == users { known } else { PasswordCheck(users) }
        }
        self.interception =
            policy.intercepts
            ? try Interception(
                configuration.interception, by: authority(configuration.interception),
                continuing: previous?.interception) : nil
        self.cookies = CookieJars(policy.routes, continuing: previous?.cookies)
        self.caching = Caching(policy, name: configuration.via ?? "pintle", continuing: previous?.caching)
        self.activity = activity
        self.counters = counters
        self.exchangeLog = exchangeLog
        self.observer = observer
        self.logger = logger
        self.precheck = NetworkPrecheck(reachability: reachability)
        self.tunnelProofs = TunnelProofs(validity: TimeAmount(configuration.tunnels.verifyTTL))
        self.routeCounters = policy.routes.routes.map { counters[$0.index] }
        var settings = SessionConfiguration(configuration.engine)
        settings.responseHead = self.headLimits
        let judge = DestinationJudge(rules: policy.destinations, own: self.ownAddresses)
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
            // An https parent is judged as an origin of its name would be, by an evaluator that is loaded already.
            let index = policy.trust.choose(for: parent.server.authority, route: nil).index
            return ProxyLink(
                parent.server, evaluator: (index.map { sessions[$0] } ?? systemSession).session.evaluator,
                identity: index.flatMap { policy.clientIdentities[$0] },
                connectFields: configuration.via.map { ["Via": "1.1 \($0)"] } ?? Fields())
        }
    }

    /// For configurations that intercept nothing.
    package static func noAuthority(_ configuration: InterceptionConfiguration) throws(TrustError)
        -> CertificateAuthority
    {
        throw TrustError(
            code: .unreadableIdentity, message: "tunnels are to be intercepted, and there is no certificate authority")
    }

    /// The answer to a client that may not use the proxy; nil where it may. Asked at each request: what a client may is a matter
    /// of the configuration in force, not of the one when it connected.
    func refusal(of client: Client?) -> Problem? {
        guard case .address(let ip)? = client, case .denied(let rule) = self.policy.clients.judge(ip) else {
            return nil
        }
        return Problem(.clientDenied, "\(ip) is not in \(rule)")
    }

    /// How transfers take the way that was decided on.
    func way(_ way: RequestWay) -> TransferRequest.Way {
        switch way {
        case .straight, .direct: .direct
        case .parent(let number): .by(self.parents[number])
        }
    }

    /// The proxy by which the requests of a decision go; nil where they go to their origin.
    func parent(of decision: Decision?) -> ProxyServer? {
        guard let decision, case .by(let link) = self.way(decision.way) else { return nil }
        return link.server
    }

    /// The problem that a failed transfer is for its client.
    func problem(_ error: SessionError, asking decision: Decision?) -> Problem {
        self.precheck.problem(error, with: self.parent(of: decision)?.authority ?? decision?.authority)
    }

    /// True where a broken rule about addresses only reports, so that it is asked about the address that was dialled. A parent
    /// resolves names itself.
    func judgesAddressesAfterwards(_ decision: Decision) -> Bool {
        guard self.policy.destinations.areReported, self.policy.destinations.judgesAddresses,
            case .direct = self.way(decision.way)
        else { return false }
        return true
    }

    /// The parent that has the requests themselves, and so may ask who they are from: that is for Pintle to know, not for
    /// the client. In a tunnel, which offers of other protocols go by, too, and behind SOCKS, a parent has no say.
    func forwarder(of decision: Decision?) -> ProxyServer? {
        guard decision?.scheme == .http, let parent = self.parent(of: decision), parent.scheme != .socks5 else {
            return nil
        }
        return parent
    }

    /// Keeps answers; nil where no route needs it.
    package var answers: AnswerStore? { self.caching.store }

    /// True where some are kept beyond the requests that are under way.
    package var keepsAnswers: Bool { self.caching.keepsAnswers }

    /// What the configuration says of them.
    package var cacheConfiguration: CacheConfiguration { self.policy.configuration.cache }

    /// How a request is answered from what is kept; nil where its route keeps nothing and merges no requests.
    func cacheUse(_ decision: Decision) -> CacheUse? {
        guard let route = decision.route else { return nil }
        return self.caching.use(route, under: decision.trust, by: self.parent(of: decision))
    }

    func session(for choice: TrustChoice?) -> TrustSession {
        guard let index = choice?.index else { return self.systemSession }
        return self.sessions[index]
    }

    /// What was relied on lately: each use of a trust policy, with the last verdict on its host.
    func verdictsRelied() async -> [(use: TrustUses.Use, trust: TrustSession, verdict: DatedVerdict)] {
        var known: [TrustEvaluator: [Authority: DatedVerdict]] = [:]
        for trust in self.sessions + [self.systemSession] {
            known[trust.session.evaluator] = await trust.session.verdicts()
        }
        for (question, verdict) in self.tunnelProofs.all {
            known[question.evaluator, default: [:]][question.authority] = verdict
        }
        return self.trustUses.all.compactMap { use in
            let trust = self.session(for: use.choice)
            let verdict = known[trust.session.evaluator]?[use.authority]
            return verdict.map { (use, trust, $0) }
        }
    }

    /// Whether https requests to `host` go to itself.
    func reachesDirectly(_ host: Authority) -> Bool {
        if case .by = self.way(self.policy.parents.way(to: host, .https)) { false } else { true }
    }

    /// Cancels every transfer and closes every connection to an origin.
    package func close() async {
        for session in self.sessions { await session.session.closed() }
        await self.systemSession.session.closed()
    }
}

/// The time limits in the unit of the loop, converted once: they are looked at several times a request.
struct Patience: Sendable {
    let head: TimeAmount
    let idle: TimeAmount
    let body: TimeAmount
    let tunnel: TimeAmount

    init(_ limits: LimitsConfiguration) {
        self.head = TimeAmount(limits.headerTimeout)
        self.idle = TimeAmount(limits.idleTimeout)
        self.body = TimeAmount(limits.bodyTimeout)
        self.tunnel = TimeAmount(limits.tunnelIdleTimeout)
    }
}
