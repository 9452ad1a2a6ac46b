// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleTrust
internal import PintleWatch

/// The facts about an exchange, for its counters and its line in the log.
final class ExchangeReport: ExchangeProgress {
    let id: ExchangeID
    let worker: Worker
    let client: Client?
    /// The process of the client; nil if it is not on this machine.
    let process: ClientProcess?
    let request: ReceivedRequest
    let start: NIODeadline
    private(set) var counters: RouteCounters
    private(set) var mode = Mode.forward
    /// True if the client has not asked the proxy: its connection was captured.
    let isCaptured: Bool
    /// The parts that sinks wanted when the exchange began.
    private let wants: SinkWants
    /// The names of the client; inside an intercepted tunnel those of its CONNECT.
    var identity = ProxyIdentity()
    /// Body bytes received from the client.
    var bytesIn = 0
    /// Body bytes written to the client.
    var bytesOut = 0
    var status: UInt16?
    var upstreamStatus: UInt16?
    /// The HTTP version of the origin's response.
    var upstreamVersion = "1.1"
    private(set) var trust: String?
    var rule: DecidingRule?
    var problem: Problem.Name?
    var error: String?
    /// True if the ClientHello of a relayed tunnel has no server name.
    var hasNamelessHello = false
    /// True for a tunnel whose client speaks neither TLS nor HTTP, or waits for its server to speak.
    var isOpaque = false
    /// True for the second record of a tunnel that was opened for interception but cannot be intercepted.
    var continuesTunnel = false
    /// True if the exchange occupies one of the places for tunnels.
    private var holdsTunnel = false
    /// Violations by the request that are only reported.
    private var requestViolations: [ViolationKind] = []
    /// True if a destination rule that only reports is broken.
    private(set) var wouldBeDenied = false
    /// A violation of a trust policy that only reports.
    private var trustViolation: ViolationKind?
    /// The kind of answer, if it was not the origin's own.
    var simulation: Simulation?
    /// Keeps the messages of a WebSocket, beside the capture.
    var messageKeeper: (any MessageKeeper)?
    /// The credentials that the request may have had, and those of redirects that were followed.
    var releases: [CredentialRelease] = []
    /// Reported violations that do not concern the response.
    var otherViolations: [String] {
        if self.trustViolation == nil, self.requestViolations.isEmpty { return [] }
        return ((self.trustViolation.map { [$0] } ?? []) + self.requestViolations).map(\.rawValue)
    }
    /// Metrics of the last attempt; the retry count includes all attempts.
    private(set) var metrics = TransferMetrics()
    private(set) var route: String?
    private(set) var violations: [ViolationKind] = []
    private(set) var verdict: Verdict?
    private(set) var assurance: Assurance?
    /// The number of redirects that were followed.
    private(set) var redirects = 0
    /// The cache outcome of the request.
    private(set) var cache: CacheOutcome?
    /// The heads as the client and the origin sent them; nil if no sink wants their fields.
    private(set) var heads: HeadBlock?
    /// The rules for the origin's address, which are checked when it is known; set only if they only report.
    private var addressQuestion: (rules: DestinationRules, host: Authority, client: ClientRights)?
    /// The place of the exchange in a trace; nil if traces are off.
    var trace: ExchangeTrace?
    /// True once there is a trace. Asked instead of the trace itself, which is large.
    var isTraced = false
    /// Records the response for an observer, and its body.
    private(set) var tap: ResponseTap?
    /// Keeps the bodies; nil if none are kept.
    let capture: ExchangeCapture?
    /// True once the verdict on an https upstream proxy was noted; a tunnel may make two connections to it.
    private var hasNotedParent = false
    /// True once the exchange was counted as started.
    private var isCounted = false
    /// The bytes already added to the counters.
    private var told = (up: 0, down: 0)

    init(
        _ request: ReceivedRequest, of client: Client?, in process: ClientProcess?, on worker: Worker,
        inside enclosure: (any RequestEnclosure)? = nil
    ) {
        let (active, wants) = (worker.active, worker.active.sinks.wants)
        (self.id, self.worker, self.wants) = (worker.nextID(), worker, wants)
        (self.client, self.process, self.request, self.start) = (client, process, request, worker.loop.turnTime)
        self.counters = active.counters.unrouted
        self.capture = active.capture.map(ExchangeCapture.init)
        if wants.contains(.fields) {
            let heads = worker.headBlocks.take()
            request.copy(to: heads)
            self.heads = heads
        }
        // Finds the process of a connection that is older than the first sink for it.
        if let process, wants.contains(.processes) { process.seek(by: worker.processes) }
        self.isCaptured = enclosure?.isCaptured ?? request.isCaptured
        if let enclosure {
            (self.mode, self.identity) = (enclosure.isIntercepted ? .intercept : .forward, enclosure.identity)
        } else if active.passwords == nil, let value = request.head.fields[.proxyAuthorization] {
            self.identity.tag = BasicCredentials(value)?.user
        }
    }

    /// Records the plan of the request, and counts its start.
    func note(_ plan: RequestPlan, in active: ActiveConfiguration) {
        if plan.isTunnel {
            self.mode = plan.decision?.isIntercepted == true ? .intercept : .tunnel
        } else if plan.isGateway {
            self.mode = .gateway
        }
        self.beginTrace(in: active)
        // A request that is refused before a decision has no route and no destination.
        guard let decision = plan.decision else { return }
        if let route = decision.route {
            self.route = route.name
            self.counters = active.routeCounters[route.index]
        }
        active.activity.started(route: self.counters)
        self.isCounted = true
        self.noteDestination(of: plan, decision, in: active)
    }

    /// Records the request to which a redirect leads. The exchange stays with the route that follows the redirect.
    func note(redirect plan: RequestPlan, in active: ActiveConfiguration) {
        self.redirects += 1
        if let decision = plan.decision { self.noteDestination(of: plan, decision, in: active) }
    }

    private func noteDestination(of plan: RequestPlan, _ decision: Decision, in active: ActiveConfiguration) {
        self.trust = active.session(for: decision.trust).name
        self.rule = decision.destination.rule
        self.addressQuestion = nil
        if decision.trust != nil, let query = plan.query {
            active.trustUses.note(query, decision, isTunnel: plan.isTunnel)
        }
        if case .refuse = plan.step { return }
        if let reason = decision.reportedBreach {
            self.noteReported(.destinationDenied, reason)
        } else if active.judgesAddressesAfterwards(decision) {
            self.addressQuestion = (active.policy.destinations, decision.authority, decision.rights)
        }
    }

    /// Reports an address that would be denied if its rules were enforced; does nothing if it is allowed or unknown yet.
    private func judge(address: String) {
        guard let (rules, host, client) = self.addressQuestion, let address = IPAddress(address),
            let rule = rules.judge(address: address, port: host.port, asked: host, for: client).reported
        else { return }
        self.addressQuestion = nil
        self.rule = DecidingRule(rule)
        self.noteReported(.destinationDenied, "\(address), which is dialled for \(host), is reported by \(rule)")
    }

    /// Records the metrics of a transfer, and the cache outcome if it is known at the end only.
    func note(_ metrics: TransferMetrics, _ outcome: CacheOutcome? = nil) {
        self.note(outcome)
        var metrics = metrics
        metrics.retries += self.metrics.retries
        self.metrics = metrics
        self.noteOriginEnd()
        if self.addressQuestion != nil { self.judge(address: metrics.address) }
    }

    /// Records why the origin and the upstream proxy were trusted; does nothing if neither sinks nor counters show it.
    func noteVerdicts(of origin: any OriginStream, _ decision: Decision?, in active: ActiveConfiguration) {
        self.note(parent: origin.proxyVerdict)
        guard let decision else { return }
        let reportsOnly = active.session(for: decision.trust).session.reportsOnly
        guard reportsOnly || !self.wants.isEmpty else { return }
        if let verdict = origin.verdict { self.note(verdict) }
    }

    /// Records the head of a response, and why the origin was trusted.
    func note(
        _ head: ResponseHead, of origin: any OriginStream, _ decision: Decision?, in active: ActiveConfiguration
    ) {
        self.note(origin.cacheOutcome)
        self.simulation = origin.simulation
        if let note = origin.simulationNote, self.error == nil { self.error = note }
        if origin.isUpstream { self.upstreamStatus = head.status }
        self.upstreamVersion = origin.responseVersion
        self.heads?.keep(response: head.fields)
        // The head for the client lists reported violations; so the address is checked before.
        if self.addressQuestion != nil { self.judge(address: origin.metrics.address) }
        self.noteVerdicts(of: origin, decision, in: active)
    }

    /// The data of the exchange that problems contain.
    func context(json: Bool) -> ProblemWriter.Context {
        ProblemWriter.Context(exchangeID: self.id.description, route: self.route, trust: self.trust, json: json)
    }

    /// Records and counts the cache outcome.
    func note(_ outcome: CacheOutcome?) {
        // An outcome is counted once, and a request past the cache has none.
        guard let outcome, self.cache == nil else { return }
        self.cache = outcome
        switch outcome {
        case .hit, .stale: self.counters.hitCache()
        case .merged: self.counters.coalesced()
        case .miss, .validated: self.counters.missedCache()
        case .bypass: break
        }
    }

    private func noteReported(_ kind: ViolationKind, _ reason: String) {
        self.violated(kind)
        self.error = reason
        self.requestViolations.append(kind)
        if kind == .destinationDenied { self.wouldBeDenied = true }
    }

    /// Records that a tunnel is relayed, and takes a place for it.
    ///
    /// - Returns: the result of ``holdTunnel(within:)``.
    func openTunnel(by plan: RequestPlan, in active: ActiveConfiguration) -> Problem? {
        if let trust = plan.decision?.trustIfRelayed { self.trust = active.session(for: trust).name }
        return self.holdTunnel(within: active.limits)
    }

    /// Takes one of the places for tunnels, until the end.
    ///
    /// - Returns: the problem if no place is free; nil on success.
    func holdTunnel(within limits: LimitsConfiguration) -> Problem? {
        // A redirect may lead from one offered upgrade to another.
        if self.holdsTunnel { return nil }
        if let limit = self.worker.limiter.enterTunnel(self.client, limits) {
            return Problem(.overloaded, "there are as many tunnels as \(limit) allows")
        }
        self.holdsTunnel = true
        return nil
    }

    /// Records that the request breaks a contract, or a rule that only reports. It is sent nevertheless.
    func note(_ breach: PlannedRequest.Breach) {
        guard let kind = ViolationKind(rawValue: breach.kind.rawValue) else {
            preconditionFailure("BUG: \(breach.kind) is no violation")
        }
        self.noteReported(kind, breach.reason)
    }

    /// Records the problem that answers the client.
    func note(_ problem: Problem) {
        self.problem = problem.name
        self.error = problem.detail
        if problem.breaksContract { self.violated(.unserializableRequest) }
        if problem.name == .credentialMisuse { self.violated(.credentialMisuse) }
    }

    /// Records that a tunnel is broken off because of its ClientHello, or would be.
    func note(hello reason: String, isReported: Bool) {
        let rule = "destinations.require_sni_match"
        self.rule = DecidingRule(rule)
        if isReported {
            // A destination already reported often has a reportable name, too; it is reported once.
            guard !self.wouldBeDenied else { return }
            return self.noteReported(.destinationDenied, "the tunnel is reported by \(rule): \(reason)")
        }
        self.problem = .destinationDenied
        self.error = "the tunnel is broken off by \(rule): \(reason)"
    }

    /// Records an untrusted other end, if the problem is about trust.
    ///
    /// - Parameter verdict: the verdict on its chain, if it has shown one.
    func noteUntrusted(_ problem: Problem.Name, _ verdict: Verdict? = nil) {
        if let verdict { self.verdict = verdict }
        if let kind = ViolationKind(rawValue: problem.rawValue) { self.violated(kind) }
    }

    func violated(_ kind: ViolationKind) {
        self.violations.append(kind)
        self.counters.violated(kind)
        if kind == .pinMismatch { self.counters.pinFailed() }
    }

    /// Counts a violation that a report-only policy has let pass.
    @discardableResult private func noteReported(_ verdict: Verdict) -> ViolationKind? {
        guard let reported = verdict.reported, let kind = ViolationKind(reported) else { return nil }
        self.violated(kind)
        return kind
    }

    /// Records all violations of a response: each kind is counted, and the first message becomes the error.
    func violated(_ violation: ValidationError) {
        for kind in violation.kinds { self.violated(ViolationKind(kind)) }
        if self.error == nil { self.error = violation.description }
    }

    /// Records why the connection to the origin was trusted, before the response is passed on.
    func note(_ verdict: Verdict) {
        self.verdict = verdict
        if let kind = self.noteReported(verdict) { self.trustViolation = kind }
    }

    /// Records the verdict, or the rule about addresses, that has ended the exchange, if one has.
    func note(_ error: SessionError, as problem: Problem.Name) {
        // The rule about the name has let it pass. No rule keeps the proxy from connecting to itself.
        if error.code == .addressDenied { self.rule = (error.underlying as? DestinationRefusal)?.rule }
        if let verdict = error.verdict { self.verdict = verdict }
        if error.code == .untrusted { self.noteUntrusted(problem) }
    }

    /// Records a violation by an https upstream proxy that a report-only policy has let pass.
    func note(parent verdict: Verdict?) {
        // The verdict is counted once; a kept connection brings none.
        guard !self.hasNotedParent, let verdict else { return }
        self.hasNotedParent = true
        self.noteReported(verdict)
    }

    /// Records the verdict on the tunnel's destination.
    func note(_ verdict: Verdict, assurance: Assurance) {
        let isFirst = self.verdict == nil
        self.verdict = verdict
        self.assurance = assurance
        if isFirst { self.noteReported(verdict) }
    }

    /// Counts a piece of the body that the client has sent.
    func received(_ bytes: ByteBuffer) {
        self.bytesIn += bytes.readableBytes
        if let capture { bytes.withUnsafeReadableBytes { capture.take(request: $0) } }
    }

    /// Starts to record the body for the observer, and for those who look at bodies or digest them.
    func observe(_ head: ResponseHead, in active: ActiveConfiguration) {
        self.tap = ResponseTap(
            head, to: self.request.head.method, active.sinks, for: self.wants, self.capture)
    }

    /// Records a response of Pintle's own, with its body if bodies are kept.
    func note(_ response: OwnResponse) {
        self.status = response.head.status
        if let note = response.note { self.error = note }
        // No bodies are kept.
        guard let capture else { return }
        capture.begin(response: response.head)
        response.body.withUnsafeBytes { capture.take(response: $0) }
    }

    /// Adds the bytes since the last call to the counters; does nothing if there are none.
    func tellProgress() {
        guard self.bytesIn != self.told.up || self.bytesOut != self.told.down else { return }
        self.counters.moved(bytesUp: self.bytesIn - self.told.up, bytesDown: self.bytesOut - self.told.down)
        self.told = (self.bytesIn, self.bytesOut)
    }

    /// Counts the end, and tells the sinks.
    func close(_ outcome: Outcome, in active: ActiveConfiguration) {
        defer { self.releaseHeads() }
        if !self.isCounted { active.activity.started(route: self.counters) }
        active.activity.finished(
            route: self.counters, outcome: outcome, bytesUp: self.bytesIn - self.told.up,
            bytesDown: self.bytesOut - self.told.down)
        if let simulation { self.counters.simulated(simulation) }
        if self.holdsTunnel { self.worker.limiter.leaveTunnel(self.client) }
        let wants = active.sinks.wants
        // Without a sink nothing is gathered.
        guard !wants.isEmpty else { return }
        self.endTrace(in: active)
        let bodies = self.capture?.finish(self.status == 101 ? nil : (self.bytesIn, self.bytesOut))
        let digest = self.tap?.finishDigest(isWhole: outcome == .completed)
        let extras = EndedExtras(self, self.tap?.finish(), bodies, digest)
        let end = ExchangeEnd(self, outcome)
        active.sinks.take(self, end, extras, for: wants, in: active)
        if bodies != nil { active.capture?.store.take(EndedExchange(self, end, extras, in: active)) }
    }

    private func releaseHeads() {
        // No sink wants fields.
        guard let heads else { return }
        self.heads = nil
        self.worker.headBlocks.giveBack(heads)
    }

    var soFar: RunningExchange {
        let extras = EndedExtras(self, nil, nil, nil)
        let observed = EndedExchange(self, ExchangeEnd(self, .completed), extras, in: nil).observed
        return RunningExchange(
            record: observed.record, requestFields: observed.requestFields, responseFields: observed.responseFields)
    }
}
