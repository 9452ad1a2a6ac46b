// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// One request and its answer, from the plan to the record: a machine between a ``ClientStream`` and an ``OriginStream``.
///
/// Its two halves, the way of the request's body and that of the answer, move by themselves. What a stream must not do traps
/// with `BUG:`; what a peer can cause is an action. One loop has it together with both streams, so it needs no lock.
final class Exchange {
    private let client: any ClientStream
    private let lane: Lane
    private let active: ActiveConfiguration
    /// The client as limits and logs know it; nil where the system does not say.
    private let peer: Client?
    private var request: ReceivedRequest
    private let report: ExchangeReport
    private var plan: RequestPlan?
    /// Follows redirects; nil where they are the client's, and once the last was followed.
    private var trail: RedirectTrail?
    private var upload: RequestUpload
    private var answer = AnswerState.none
    private var origin: (any OriginStream)?
    private var opening: TunnelOpening?
    /// Connects a tunnel whose destination has proved itself.
    private var dialler: Dialler?
    /// The protocols that the origin may switch to.
    private var offer: UpgradeOffer?
    private var judge: ResponseJudge?
    /// Waits for the head of the answer no longer than the route says.
    private var lateness: Lateness?
    private var (requestTrailers, responseTrailers) = (Fields(), Fields())
    /// True while the connection is to look for more of the body at the end of this turn.
    private var resumesBody = false
    private var held: HeldShares

    /// - Parameter tunnel: that the request comes out of, which knows its user; nil for a request to the proxy.
    init(
        _ request: ReceivedRequest, from client: any ClientStream, of peer: Client?, on lane: Lane,
        inside tunnel: InterceptedTunnel? = nil
    ) {
        (self.client, self.lane, self.active) = (client, lane, lane.active)
        (self.peer, self.request) = (peer, request)
        self.upload = RequestUpload(request.framing, limit: lane.active.limits.bodyBuffer)
        self.held = HeldShares(limit: lane.active.limits.heldBytes, of: lane.memory)
        self.report = ExchangeReport(request, of: peer, on: lane, inside: tunnel)
    }

    // Ends have given everything back; this is for exchanges that a loop leaves behind when it stops.
    deinit { self.giveBack() }

    /// Names the exchange among those of its loop.
    var sequence: UInt64 { self.report.id.sequence }

    // MARK: Admission

    /// Begins the request of a client that may use the proxy, as far as its address tells.
    func begin() {
        guard !self.lane.memory.isOver(self.active.limits.heldBytes) else {
            return self.refuse(Problem(.overloaded, self.active.limits.memoryShortage))
        }
        guard let passwords = self.active.passwords, self.report.mode != .intercept else { return self.performPlan() }
        self.lane.check(self.request.head.fields, of: self.peer, by: passwords, for: self)
    }

    /// Begins the request in the name of a user, or of nobody in particular, unless the client has left in the meantime.
    func admitted(_ result: Result<String?, Problem>) {
        guard case .none = self.answer else { return }
        switch result {
        case .success(let user):
            self.report.user = user
            self.performPlan()
        case .failure(let problem): self.refuse(problem)
        }
        self.client.resumeBody()
    }

    // MARK: The plan

    private func performPlan() {
        let plan = self.request.plan(by: self.active.policy)
        self.report.note(plan, in: self.active)
        if plan.followsRedirects { self.trail = RedirectTrail(self.request.head, plan) }
        self.perform(plan, nil)
    }

    /// - Parameter body: of the request, where it is known before it is planned.
    private func perform(_ plan: RequestPlan, _ body: RequestPlan.Body?) {
        self.plan = plan
        switch plan.step {
        case .refuse(let problem): self.refuse(problem)
        case .answer: self.answer(OwnResponse(asLastOf: self.request.head), .completed)
        case .collect where body == nil: self.collect()
        case .collect, .send: self.makeRequest(body ?? .streamed)
        case .tunnel(let authority): self.openTunnel(to: authority, plan)
        }
    }

    /// Goes on with the request that a redirect leads to.
    private func follow(_ hop: RedirectTrail.Hop) {
        self.answer = .none
        self.cancelOrigin()
        self.request = ReceivedRequest(hop.head, self.request.framing)
        self.upload.beginAgain()
        self.requestTrailers = Fields()
        self.report.note(redirect: hop.plan, in: self.active)
        self.perform(hop.plan, hop.body)
    }

    // MARK: Making the request

    private func collect() {
        let limit = self.active.limits.bodyBuffer
        if case .length(let length) = self.request.framing, length > UInt64(limit) {
            // Known before a byte has come.
            return self.goOnUnbuffered(.unbuffered, ByteBuffer())
        }
        self.upload.collect()
        if self.upload.hasEnded { return self.makeRequestOfWholeBody() }
        if self.request.head.fields.hasToken("100-continue", in: .expect) {
            // The body is wanted here, before the origin can be asked.
            self.client.send(interim: ResponseHead(status: 100, reason: "Continue"))
        }
    }

    /// Goes on with a body that there is no room for.
    private func goOnUnbuffered(_ problem: Problem, _ beginning: ByteBuffer) {
        guard self.plan?.goesOnUnbuffered == true else { return self.refuse(problem) }
        self.makeRequest(.unbuffered(beginning: beginning, reason: problem.detail))
    }

    private func makeRequestOfWholeBody() {
        guard let bytes = self.upload.takeCollected() else { preconditionFailure("BUG: no body was collected") }
        self.makeRequest(.whole(bytes, trailers: self.requestTrailers))
    }

    /// Makes the request: at once where that is quick, else on another thread. What comes of the body meanwhile is not taken.
    private func makeRequest(_ body: RequestPlan.Body) {
        guard let plan else { preconditionFailure("BUG: a request is made without a plan") }
        if let question = self.request.question, !self.client.owner.isBound, self.answerPromptly(question) { return }
        self.trail?.keep(body)
        guard plan.takesWork else { return self.send(self.request.make(by: plan, body)) }
        let head = self.request.head
        if let result = plan.makePromptly(head, body) { return self.send(result) }
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .request(self.active.limits)) { budget in
                plan.make(head, body, within: budget)
            } then: { exchange, result, _ in
                exchange.send(result)
            }
        } catch {
            self.send(plan.make(head, body, lacking: error.reason))
        }
    }

    // MARK: Sending

    private func send(_ result: consuming Result<PlannedRequest, Problem>) {
        switch consume result {
        case .success(let planned): self.send(planned)
        case .failure(let problem): self.refuse(problem)
        }
    }

    private func send(_ planned: consuming PlannedRequest) {
        guard let plan, let decision = plan.decision else { preconditionFailure("BUG: what was not planned is sent") }
        for breach in planned.breaches { self.report.note(breach) }
        (self.judge, self.offer) = (planned.judge, planned.offer)
        if planned.offer != nil, let full = self.report.holdTunnel(within: self.active.limits) {
            return self.refuse(full)
        }
        self.trail?.wasSent(planned.transfer)
        self.held.wholeBody = planned.wholeBytes + (self.trail?.heldBytes ?? 0)
        self.lateness = self.lateness ?? Lateness(decision.route, on: self.lane.loop, for: self)
        self.active.cookies.fill(&planned.transfer, of: decision)
        // One that was noted has found nothing in this very call.
        let noted = self.request.question
        let mayBeKept = !self.client.owner.isBound && !planned.transfer.fields.logConnectionIn
        let use = mayBeKept && noted == nil ? self.active.cacheUse(decision) : nil
        let question = mayBeKept ? noted ?? use.map { CacheQuestion(planned.transfer, $0) } : nil
        if let question, noted == nil, planned.isPlain, self.trail == nil {
            if self.active.cookies.addsNothing(to: decision) { self.request.note(question) }
            if self.answerPromptly(question) { return }
        }
        self.open(planned.transfer, in: self.active.session(for: decision.trust).session, question)
        guard case .stream = planned.transfer.body, let origin else {
            self.upload.stop()
            return self.countUpload()
        }
        self.upload.stream(to: origin, BodyPacer(decision.route, to: origin, on: self.lane.loop, client: self.client))
        if planned.isWhole { self.requestTrailers = planned.trailers }
        if planned.content.readableBytes > 0 { self.upload.sink?.send(planned.content) }
        if planned.isWhole || self.upload.hasEnded { self.upload.finish()?.finish(trailers: self.requestTrailers) }
        self.countUpload()
    }

    /// Answers at once where what is kept in memory does; else does nothing, and returns false.
    private func answerPromptly(_ question: CacheQuestion) -> Bool {
        guard let (head, body) = question.promptAnswer({ self.forwarded($0, mark: nil) }),
            self.client.needsSwitch(insteadOf: head.received) == nil
        else { return false }
        question.countHit()
        self.report.note(head.outcome)
        self.pass(head.received, as: head.forwarded, length: head.length, inspection: nil)
        head.forEachPiece(of: body) { self.write($0) }
        self.complete()
        return true
    }

    /// Answers in place of an origin that is late (`placeholder_after`). What it answers then, others may get.
    func originIsLate(_ placeholder: ResponseRules.Placeholder, after limit: Duration) {
        guard case .none = self.answer else { return }
        self.origin?.detach()
        self.letOriginGo()
        self.report.noteLate(limit)
        self.answer(OwnResponse(placeholder), .completed)
    }

    /// Asks for the origin.
    private func open(_ request: consuming TransferRequest, in session: Session, _ question: CacheQuestion? = nil) {
        guard let decision = self.plan?.decision else { preconditionFailure("BUG: nothing says where a request goes") }
        request.way = self.active.way(decision.way)
        (request.client, request.owner, request.limitsWaiting) = (self.peer?.forTransfers, self.client.owner, true)
        self.origin = self.lane.open(consume request, in: session, for: self, question)
    }

    // MARK: The client's events

    /// True where more of the body is taken now.
    var wantsBody: Bool { self.upload.wantsBody }

    /// True where the end of the body is taken now.
    var wantsEndOfBody: Bool { self.upload.wantsEnd }

    func received(_ bytes: ByteBuffer) {
        self.report.bytesIn += bytes.readableBytes
        let problem: Problem
        switch self.upload.receive(bytes) {
        case .dropped: return
        case .send(let sink):
            sink.send(bytes)
            return self.countUpload()
        case .collected(let count) where count > self.active.limits.bodyBuffer: problem = .unbuffered
        case .collected(let count):
            if self.held.holdRequest(count) { return }
            problem = Problem(.overloaded, self.active.limits.memoryShortage)
        }
        self.goOnUnbuffered(problem, self.upload.takeCollected() ?? ByteBuffer())
    }

    /// Moves bytes of the body from the client's socket to the origin's, if nobody has to see them.
    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        let filling = self.upload.sink?.move(from: descriptor, atMost: limit) ?? .isUnfit
        if case .outcome(.bytes(let count)) = filling { self.report.bytesIn += count }
        return filling
    }

    func receivedEndOfBody(trailers: Fields) {
        guard self.upload.noteEnd() else { return }
        self.requestTrailers = trailers
        if self.upload.isCollecting { return self.makeRequestOfWholeBody() }
        if !trailers.isEmpty, let plan { self.requestTrailers = plan.forwarded(trailers: trailers) }
        self.upload.finish()?.finish(trailers: self.requestTrailers)
    }

    /// The client does not read as fast as the origin sends.
    func clientFellBehind() { self.origin?.pauseReading() }

    func clientCaughtUp() { if !self.isBehind { self.origin?.resumeReading() } }

    /// The client is gone: nobody waits for the answer.
    func clientLeft(_ reason: String = "the client closed the connection") {
        if case .over = self.answer { return }
        self.report.error = reason
        self.end(.cancelled)
    }

    /// Ends the exchange from the client's side: answers, or cuts the answer that has begun.
    func fail(with problem: Problem) {
        switch self.answer {
        case .none, .inspected, .redirected: self.refuse(problem)
        case .passing: self.cut(problem.detail)
        case .over: break
        }
    }

    // MARK: The origin's events

    func originSent(interim head: ResponseHead) {
        guard case .none = self.answer else { preconditionFailure("BUG: an interim response follows the final one") }
        var head = self.active.cookies.taking(from: head, to: self.plan?.decision)
        Forwarding.removeHopByHop(from: &head.fields)
        self.client.send(interim: head)
    }

    func originAnswered(_ received: ResponseHead, length: UInt64?) {
        guard case .none = self.answer, let origin else { preconditionFailure("BUG: there is an answer already") }
        let head = self.active.cookies.taking(from: received, to: self.plan?.decision)
        self.lateness = nil
        self.report.note(head, of: origin, self.plan?.decision, in: self.active)
        if head.status == 407, self.offer == nil, let parent = self.active.forwarder(of: self.plan?.decision) {
            return self.refuse(Problem(unadmittedBy: parent))
        }
        if let problem = self.client.needsSwitch(insteadOf: head) { return self.refuse(problem) }
        do throws(Problem) {
            if let hop = try self.trail?.next(after: head) { return self.waitForRest(of: hop, length) }
        } catch {
            return self.refuse(error)
        }
        if self.trail != nil { self.trail = nil }  // To write none over none is dear.
        guard let inspection = self.makeInspection() else {
            return self.pass(head, length: length, mark: nil, inspection: nil)
        }
        self.answer = .inspected(inspection)
        self.perform(inspection.receive(head, length: length), inspection)
    }

    /// Follows a redirect when its content is over, or too long to be worth the wait.
    private func waitForRest(of hop: RedirectTrail.Hop, _ length: UInt64?) {
        self.upload.stop()
        self.originTookBody(0)
        self.answer = .redirected(hop)
        if let length, length > UInt64(hop.room) { self.follow(hop) }
    }

    private func makeInspection() -> ResponseInspection? {
        self.judge.map { judge in
            ResponseInspection(
                judge, limits: self.active.limits, loop: self.lane.loop,
                // unowned: the inspection is the exchange's own, and asks from within its calls.
                reserve: { [unowned self] in self.held.holdResponse($0) },
                whenBehind: { [weak self] in self?.proceedWithInspection() })
        }
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        switch self.answer {
        case .none: preconditionFailure("BUG: a body comes without a head")
        case .passing(nil): self.write(bytes)
        case .inspected(let inspection), .passing(.some(let inspection)):
            self.perform(inspection.receive(bytes), inspection, on: bytes)
            if self.isBehind { self.origin?.pauseReading() }
        case .redirected(var hop):
            hop.room -= bytes.count
            self.answer = .redirected(hop)
            if hop.room < 0 { self.follow(hop) }
        case .over: break
        }
    }

    func originSent(_ piped: PipedBytes) {
        guard case .passing(nil) = self.answer else { preconditionFailure("BUG: a judged body is piped") }
        self.report.bytesOut += self.client.send(piped)
        if piped.count > 0 { self.origin?.pauseReading() }
    }

    func originSent(trailers fields: Fields) {
        let fields = fields.forwarded(asTrailersBy: self.plan?.responseFields)
        switch self.answer {
        case .none: preconditionFailure("BUG: trailers come without a head")
        case .inspected(let inspection):
            if !inspection.keep(trailers: fields) { self.responseTrailers.prepend(fields) }
        case .passing: self.responseTrailers.prepend(fields)
        case .redirected, .over: break
        }
    }

    /// The origin has taken some of the body. From within the stream; the client is asked for more when it has returned.
    func originTookBody(_ count: Int) {
        guard !self.resumesBody else { return }
        self.resumesBody = true
        self.lane.loop.atEndOfTurn(self)
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.report.note(metrics, self.origin?.cacheOutcome)
        self.letOriginGo()
        // Its head was all that counted.
        if case .redirected(let hop) = self.answer { return self.follow(hop) }
        if let error {
            if self.opening != nil { return self.perform(self.opening?.failed(error)) }
            return self.fail(with: error)
        }
        switch self.answer {
        case .none, .redirected: preconditionFailure("BUG: a response ends that has not begun")
        case .inspected(let inspection), .passing(.some(let inspection)): self.perform(inspection.end(), inspection)
        case .passing(nil): self.complete()
        case .over: break
        }
    }

    /// A connection is there for a tunnel, or has become one.
    func originHandedOver(_ handover: Handover, _ metrics: TransferMetrics) {
        self.report.note(metrics)
        guard let origin else { preconditionFailure("BUG: a connection comes that nobody asked for") }
        // What a tunnel leads to proves itself by other means.
        self.report.noteVerdicts(of: origin, self.opening == nil ? self.plan?.decision : nil, in: self.active)
        self.letOriginGo()
        if let head = handover.head {
            return self.switchProtocols(handover, self.active.cookies.taking(from: head, to: self.plan?.decision))
        }
        self.perform(self.opening?.connected(handover.connection, verdict: origin.verdict))
    }

    private func fail(with error: SessionError) {
        let problem = self.active.problem(error, asking: self.plan?.decision)
        self.report.note(error, as: problem.name)
        self.fail(with: problem)
    }

    private func letOriginGo() {
        self.origin = nil
        self.upload.originIsGone()
    }

    /// The proxy by which the request goes; nil where it goes to its origin.
    private var parent: ProxyServer? { self.active.parent(of: self.plan?.decision) }

    // MARK: The inspection

    private var isBehind: Bool { self.answer.inspection?.isBehind ?? false }

    /// - Parameter bytes: the piece of the body that the action is about.
    private func perform(
        _ action: ResponseInspection.Action, _ inspection: ResponseInspection,
        on bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        switch action {
        case .wait: break
        case .pass(let held, let violation): self.pass(held, violation, inspection)
        case .reject(let violation): self.reject(violation)
        case .refuse(let reason): self.refuse(Problem(.overloaded, reason))
        case .judge(let held, let judge): self.leave(held, to: judge, inspection)
        case .forward(let violations):
            for violation in violations { self.note(violation) }
            if bytes.count > 0 { self.write(bytes) }
        case .cut(let violations):
            for violation in violations { self.note(violation) }
            self.cut(violations.last?.message ?? "")
        case .finish(let violation):
            if let violation { self.note(violation) }
            self.complete()
        }
    }

    private func leave(_ held: HeldResponse, to judge: ResponseJudge, _ inspection: ResponseInspection) {
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .response(self.active.limits)) { budget in
                ResponseInspection.judge(held, by: judge, within: budget)
            } then: { exchange, verdict, interruption in
                guard case .inspected(let inspection) = exchange.answer else { return }
                exchange.perform(inspection.judged(verdict, interruption), inspection)
            }
        } catch {
            self.perform(inspection.notJudged(error.reason), inspection)
        }
    }

    private func proceedWithInspection() {
        guard let inspection = self.answer.inspection else { return }
        self.perform(inspection.proceed(), inspection)
        if !self.isBehind, self.client.isWritable { self.origin?.resumeReading() }
    }

    /// Notes a violation of a response whose head has left: in the log, and in a trailer where there can be one.
    private func note(_ violation: ValidationError) {
        self.report.violated(violation)
        for kind in violation.kinds { self.responseTrailers.append("Pintle-Violation", kind.rawValue) }
    }

    private func pass(_ held: HeldResponse, _ violation: ValidationError?, _ inspection: ResponseInspection) {
        if let violation { self.report.violated(violation) }
        var length = self.origin == nil && held.need != .nothing ? UInt64(held.body.readableBytes) : held.length
        if !held.trailers.isEmpty, !held.isReplaced {
            // Only chunks have trailers behind them.
            length = nil
            self.responseTrailers.prepend(held.trailers)
        }
        self.pass(held.head, length: length, mark: violation, inspection: inspection)
        if held.body.readableBytes > 0 { held.body.withUnsafeReadableBytes { self.write($0) } }
        // From here on the channel counts what its client does not take. A check under way goes on.
        self.held.letResponseGo(butFor: inspection.memory)
        if self.origin == nil { self.complete() }
    }

    // MARK: Answering

    private func pass(_ head: ResponseHead, length: UInt64?, mark: ValidationError?, inspection: ResponseInspection?) {
        let told = head.lengthToTell(to: self.request.head.method, length)
        self.pass(head, as: self.forwarded(head, mark: mark), length: told, inspection: inspection)
        if inspection == nil, self.report.tap?.wantsBody != true, self.client.takesPipes { self.origin?.takePipes() }
    }

    private func pass(
        _ head: ResponseHead, as forwarded: ResponseHead, length: UInt64?, inspection: ResponseInspection?
    ) {
        self.report.status = head.status
        self.report.observe(head, in: self.active)
        self.answer = .passing(inspection)
        self.client.send(forwarded, length: length)
    }

    /// The head of a response as the client gets it, without framing. It passes although it violates what `mark` says.
    private func forwarded(_ head: ResponseHead, mark: ValidationError?) -> ResponseHead {
        head.forwarded(
            by: self.plan?.responseFields, via: self.active.via,
            version: self.report.upstreamVersion, marks: mark?.kinds ?? [], others: self.report.otherViolations)
    }

    /// Writes a piece of the body: every byte of it is written, and counted, here.
    private func write(_ bytes: UnsafeRawBufferPointer) {
        self.report.bytesOut += self.client.send(bytes)
        self.report.tap?.take(bytes)
        if !self.client.isWritable { self.origin?.pauseReading() }
    }

    /// Everything was sent.
    private func complete() {
        self.end(.completed)
        self.client.finish(trailers: self.responseTrailers)
    }

    /// Breaks off an answer that has begun.
    private func cut(_ reason: String) {
        self.report.error = reason
        self.end(.failed)
        self.client.cut()
    }

    /// Answers with a problem of Pintle's own, or with the route's placeholder if that stands for it.
    func refuse(_ problem: Problem) {
        self.report.note(problem)
        if let placeholder = self.plan?.placeholder(insteadOf: problem.name) {
            return self.answer(OwnResponse(placeholder, for: problem), .completed)
        }
        let context = self.report.context(json: ProblemWriter.acceptsJSON(self.request.accept))
        self.answer(OwnResponse(problem, context), .failed)
    }

    /// Answers in place of a response that breaks its contract.
    private func reject(_ violation: ValidationError) {
        self.report.violated(violation)
        guard self.judge?.onViolation == .placeholder, let placeholder = self.plan?.placeholder else {
            return self.refuse(Problem(violation))
        }
        self.report.problem = Problem(violation).name
        self.answer(OwnResponse(placeholder, for: violation), .completed)
    }

    private func answer(_ response: OwnResponse, _ outcome: Outcome) {
        self.cancelOrigin()
        self.report.status = response.head.status
        self.client.send(response.head(by: self.plan?.responseFields), length: UInt64(response.body.count))
        self.report.bytesOut += response.body.withUnsafeBytes { self.client.send($0) }
        self.end(outcome)
        self.client.finish(trailers: Fields())
    }

    // MARK: The end

    private func end(_ outcome: Outcome) {
        if case .over = self.answer { preconditionFailure("BUG: an exchange ends twice") }
        self.answer.inspection?.stop()
        (self.answer, self.lateness) = (.over, nil)
        self.cancelOrigin()
        self.upload.stop()
        self.giveBack()
        self.report.close(outcome, in: self.active)
    }

    private func cancelOrigin() {
        let origin = self.origin
        if let metrics = origin?.metrics { self.report.note(metrics) }
        self.letOriginGo()
        origin?.cancel()
        guard self.opening != nil else { return }
        self.dialler?.cancel()
        (self.opening, self.dialler) = (nil, nil)
    }

    // MARK: Tunnels

    private func openTunnel(to authority: Authority, _ plan: RequestPlan) {
        if let interception = self.active.interception, interception.takes(plan, to: authority) {
            return self.intercept(authority, interception)
        }
        if let problem = self.report.openTunnel(by: plan, in: self.active) { return self.refuse(problem) }
        let fields = self.parent == nil ? Fields() : Forwarding.path(of: self.request.head, to: self.active.via)
        self.opening = TunnelOpening(to: authority, plan, by: self.parent, fields, in: self.active)
        self.perform(self.opening?.begin())
    }

    /// The client goes on in the tunnel as it would with its destination, which is asked when there is a request for it.
    private func intercept(_ authority: Authority, _ interception: Interception) {
        self.report.status = 200
        self.end(.completed)
        self.client.open(InterceptedTunnel(to: authority, by: interception, of: self.report, in: self.active))
    }

    /// - Parameter action: nil where no tunnel is opened any more.
    private func perform(_ action: TunnelOpening.Action?) {
        if let proof = self.opening?.proof { self.report.note(proof, assurance: .probed) }
        switch action {
        case nil: break
        case .connect(let request, let session): self.open(request, in: session)
        case .prove(let question, let socket, let patience):
            self.lane.verifier.ask(question, over: socket, patience: patience, keepingIn: self.active.tunnelProofs) {
                answer in
                // The client may have left in the meantime.
                self.perform(self.opening?.proved(answer))
            }
        case .dial(let address, let patience):
            self.dialler = Dialler(address, for: self.plan?.decision?.route, patience: patience, loop: self.lane.loop)
            self.dialler?.start { result in
                self.dialler = nil
                self.perform(self.opening?.dialled(result))
            }
        case .relay(let connection, let watch): self.relay(Handover(connection: connection), watch, head: nil)
        case .fail(let error): self.fail(with: error)
        case .refuse(let problem, let verdict):
            self.report.noteUntrusted(problem.name, verdict)
            self.refuse(problem)
        }
    }

    /// The origin switches: from here on there are only bytes.
    private func switchProtocols(_ handover: Handover, _ head: ResponseHead) {
        (self.report.upstreamStatus, self.report.upstreamVersion) = (head.status, handover.version)
        switch ProtocolSwitch(head, offered: self.offer, to: self.client, self.makeInspection()) {
        case .refused(let reason):
            handover.connection.close()
            self.refuse(Problem(.upstreamProtocol, reason))
        case .violates(let violation):
            handover.connection.close()
            self.reject(violation)
        case .passes(let accepted, let violation):
            if let violation { self.report.violated(violation) }
            var head = self.forwarded(head, mark: violation)
            head.fields.append("Connection", "Upgrade")
            head.fields.append("Upgrade", accepted)
            self.relay(handover, nil, head: head)
        }
    }

    private func relay(_ handover: Handover, _ watch: TunnelWatch?, head: ResponseHead?) {
        (self.answer, self.opening) = (.over, nil)
        self.giveBack()
        self.report.status = head?.status ?? 200
        self.client.relay(
            TunnelTerms(
                origin: handover.connection.release(), head: head, early: handover.early, watch: watch,
                authority: head == nil ? self.plan?.decision?.authority : nil, report: self.report, active: self.active)
        )
    }

    // MARK: Work elsewhere, and memory

    /// Has work done on another thread, which must not know the exchange. That goes on in a later turn, unless it is over.
    ///
    /// - Throws: where as many jobs wait as may.
    private func leaveLoop<Value: Sendable>(
        within limits: WorkPool.Limits, _ work: @escaping @Sendable (WorkBudget) -> Value,
        then proceed: @escaping @Sendable (Exchange, Value, WorkBudget.Interruption?) -> Void
    ) throws(WorkPool.Refusal) {
        self.held.job = try self.lane.work(for: self, of: self.peer, within: limits, work) {
            exchange, value, interruption in
            exchange.held.job = nil
            if case .over = exchange.answer { return }
            proceed(exchange, value, interruption)
            exchange.client.resumeBody()
        }
    }

    private func countUpload() {
        // The origin may have ended the exchange by what it was given.
        if case .over = self.answer { return }
        self.held.count(waiting: self.upload.heldBytes)
    }

    private func giveBack() {
        if self.held.giveBack(self.lane.pool) { _ = self.lane.resume(self.sequence) }
    }

    func tellProgress() { self.report.tellProgress() }
}

/// Takes the request's body on, once the origin's stream has returned.
extension Exchange: TurnEndWork {
    func runAtEndOfTurn() {
        self.resumesBody = false
        if case .over = self.answer { return }
        self.upload.pacer?.proceed()
        self.countUpload()
        self.client.resumeBody()
    }
}
