// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession

/// One request and its response, from plan to record: a state machine between a ``ClientStream`` and an ``OriginStream``.
///
/// Its two halves, the upload of the request's body and the response, move independently. A call that a stream must not make
/// traps with `BUG:`; every behaviour of a peer is handled. One event loop owns it and both streams, so it needs no lock.
final class Exchange: TransferDelegate {
    private let client: any ClientStream
    private let worker: Worker
    private let active: ActiveConfiguration
    private var request: ReceivedRequest
    private let report: ExchangeReport
    private var plan: RequestPlan?
    /// Follows redirects; nil if that is left to the client, and once the last redirect was followed.
    private var trail: RedirectTrail?
    private var upload: RequestUpload
    private var answer = AnswerState.none
    private var origin: (any OriginStream)?
    private var opening: TunnelOpening?
    /// Connects a tunnel whose destination was verified.
    private var dialler: Dialler?
    /// The wait for an answer about a destination, and the destination that an answer has allowed.
    private var (pendingAnswer, allowed): (PendingAnswer?, AllowedDestination?) = (nil, nil)
    /// The protocols that the origin may switch to, and the rules for its response.
    private var (offer, judge): (UpgradeOffer?, ResponseValidator?) = (nil, nil)
    /// Limits the wait for the head of the response, if the route does.
    private var lateness: ResponseDeadline?
    private var (requestTrailers, responseTrailers) = (Fields(), Fields())
    /// True if the client connection is to deliver more of the body at the end of this turn.
    private var resumesBody = false
    private var held: ExchangeReservation

    /// - Parameter enclosure: contains the request, and knows its user; nil for a request to the proxy.
    init(
        _ request: ReceivedRequest, from client: any ClientStream, of peer: Client?, on worker: Worker,
        inside enclosure: (any RequestEnclosure)? = nil
    ) {
        (self.client, self.worker, self.active) = (client, worker, worker.active)
        (self.request, self.allowed) = (request, enclosure?.allowed)
        self.upload = RequestUpload(request.framing, limit: worker.active.limits.bodyBuffer)
        self.held = ExchangeReservation(limit: worker.active.limits.heldBytes, of: worker.memory)
        self.report = ExchangeReport(request, of: peer, in: client.clientProcess, on: worker, inside: enclosure)
    }

    // Normally everything was released before; this is for exchanges that a stopping event loop leaves behind.
    deinit { self.giveBack() }

    /// Identifies the exchange on its event loop.
    var sequence: UInt64 { self.report.id.sequence }

    // MARK: Admission

    /// Begins the request of a client whose address may use the proxy.
    func begin() {
        guard !self.worker.memory.isOver(self.active.limits.heldBytes) else {
            return self.refuse(Problem(.overloaded, self.active.limits.memoryShortage))
        }
        guard let passwords = self.active.passwords, self.report.mode != .intercept else { return self.performPlan() }
        self.worker.check(self.request.head.fields, of: self.report.client, passwords, as: self.sequence) { result in
            self.proceed(with: result) { identity in
                self.report.identity = identity
                self.performPlan()
            }
        }
    }

    /// Continues after a wait, in which no body bytes were taken, unless the client has left in the meantime.
    private func proceed<Value>(with result: Result<Value, Problem>, _ work: (Value) -> Void) {
        guard case .none = self.answer else { return }
        switch result {
        case .success(let value): work(value)
        case .failure(let problem): self.refuse(problem)
        }
        self.client.resumeBody()
    }

    // MARK: The plan, and the request that it makes

    private func performPlan() {
        if self.active.service != nil { return self.collect() }
        let plan = self.request.plan(by: self.active.policy, of: self.report.identity)
        self.report.note(plan, in: self.active)
        if plan.followsRedirects { self.trail = RedirectTrail(self.request.head, plan) }
        self.perform(plan, nil)
    }

    /// - Parameter body: the body of the request, if it is known before it is planned.
    private func perform(_ plan: RequestPlan, _ body: RequestPlan.Body?) {
        self.plan = plan
        switch plan.step {
        case .refuse(let problem): self.refuse(problem)
        case .answer: self.answer(OwnResponse(asLastOf: self.request.head), .completed)
        case .collect where body == nil, .respond where body == nil && self.request.deliversBody: self.collect()
        case .collect, .send, .respond: self.makeRequest(body ?? .streamed)
        case .tunnel(let authority): self.openTunnel(to: authority, plan)
        case .ask:
            // No limit of the route applies meanwhile.
            self.lateness = nil
            self.pendingAnswer = self.worker.ask(
                about: plan, for: self.request.head, of: self.client.clientProcess, as: self.sequence, self.allowed
            ) { answer in
                self.proceed(with: answer) { allowed in
                    (self.pendingAnswer, self.allowed, self.report.rule) = (nil, allowed, allowed.rule)
                    self.perform(plan.granted(by: allowed.rule), body)
                }
            }
        }
    }

    /// Continues with the request to which a redirect leads.
    private func follow(_ hop: RedirectTrail.Hop) {
        (self.answer, self.requestTrailers) = (.none, Fields())
        self.cancelOrigin()
        self.request = ReceivedRequest(hop.head, self.request.framing)
        self.upload.beginAgain()
        self.report.note(redirect: hop.plan, in: self.active)
        self.perform(hop.plan, hop.body)
    }

    private func collect() {
        let limit = self.active.limits.bodyBuffer
        if case .length(let length) = self.request.framing, length > UInt64(limit) {
            // The size is known before a byte has arrived.
            return self.goOnUnbuffered(self.active.unbuffered, ByteBuffer())
        }
        self.upload.collect()
        if self.upload.hasEnded { return self.makeRequestOfWholeBody() }
        if self.request.head.fields.hasToken("100-continue", in: .expect) {
            // The body is needed here, before the request to the origin.
            self.client.send(interim: ResponseHead(status: 100, reason: "Continue"))
        }
    }

    /// Continues with a body that cannot be buffered.
    private func goOnUnbuffered(_ problem: Problem, _ beginning: ByteBuffer) {
        guard self.plan?.goesOnUnbuffered == true else { return self.refuse(problem) }
        self.makeRequest(.unbuffered(beginning: beginning, reason: problem.detail))
    }

    private func makeRequestOfWholeBody() {
        guard let bytes = self.upload.takeCollected() else { preconditionFailure("BUG: no body was collected") }
        self.makeRequest(.whole(bytes, trailers: self.requestTrailers))
    }

    /// Makes the request: now if that is quick, otherwise on another thread. Meanwhile no body bytes are taken.
    private func makeRequest(_ body: RequestPlan.Body) {
        if let service = self.active.service {
            self.offer = UpgradeOffer(self.request.head.fields, minorVersion: self.request.head.minorVersion)
            return self.origin = self.worker.ask(
                service, .init(self.request.head, body, of: self.report.client), for: self)
        }
        guard let plan else { preconditionFailure("BUG: a request is made without a plan") }
        if case .respond(let answer) = plan.step { return self.answer(OwnResponse(answer), .completed) }
        if let question = self.request.question, !self.client.owner.isBound, self.answerPromptly(question) { return }
        self.trail?.keep(body)
        let client = RequestClient(address: self.report.client?.address, isSecure: self.client.isSecure)
        guard plan.takesWork else { return self.send(self.request.make(by: plan, body, of: client)) }
        let head = self.request.head
        if let result = plan.makePromptly(head, body, of: client) { return self.send(result) }
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .request(self.active.limits)) { budget in
                plan.make(head, body, of: client, within: budget)
            } then: { exchange, result, _ in
                exchange.send(result)
            }
        } catch {
            self.send(plan.make(head, body, of: client, lacking: error.reason))
        }
    }

    private func send(_ result: consuming Result<PlannedRequest, Problem>) {
        switch consume result {
        case .success(var planned):
            let misuse = self.report.attachCredentials(to: &planned, by: self.plan?.decision, in: self.active)
            if let misuse { self.refuse(misuse) } else { self.send(planned) }
        case .failure(let problem): self.refuse(problem)
        }
    }

    private func send(_ planned: consuming PlannedRequest) {
        guard let plan, let decision = plan.decision else { preconditionFailure("BUG: what was not planned is sent") }
        for breach in planned.breaches { self.report.note(breach) }
        let simulation = self.report.simulation(of: planned.transfer, by: plan, in: self.active)
        (self.judge, self.offer) = (planned.judge, planned.offer)
        if planned.offer != nil, let full = self.report.holdTunnel(within: self.active.limits) {
            return self.refuse(full)
        }
        self.trail?.wasSent(planned.transfer)
        self.held.wholeBody = planned.wholeBytes + (self.trail?.heldBytes ?? 0)
        self.lateness = self.lateness ?? ResponseDeadline(decision.route, on: self.worker.loop, for: self)
        self.active.cookies.fill(&planned.transfer, of: decision, self.report.capture)
        let takesBody = planned.transfer.body.isStreamed
        let (noted, mayBeKept) = (self.request.question, simulation == nil && !self.client.owner.isBound)
        let question = mayBeKept ? self.active.lookup(planned.transfer, by: decision, noted: noted) : nil
        // A remembered lookup has just failed in `makeRequest`; so it is not tried again here.
        if let question, noted == nil, planned.isPlain, self.trail == nil {
            if self.active.cookies.addsNothing(to: decision), !plan.tellsClient { self.request.note(question) }
            if self.answerPromptly(question) { return }
        }
        let detour = Detour(question, simulation, self.judge)
        self.open(planned.takeTransfer(), in: self.active.session(for: decision.trust).session, by: detour)
        guard takesBody, let origin else {
            self.upload.stop()
            return self.countUpload()
        }
        self.upload.stream(
            to: origin, BodyThrottle(decision.route, to: origin, on: self.worker.loop, client: self.client))
        if planned.isWhole { self.requestTrailers = planned.trailers }
        if planned.content.readableBytes > 0 { self.upload.sink?.send(planned.content) }
        if planned.isWhole || self.upload.hasEnded { self.upload.finish()?.finish(trailers: self.requestTrailers) }
        self.countUpload()
    }

    /// Answers at once if a response in memory can; otherwise does nothing, and returns false.
    private func answerPromptly(_ question: CacheLookup) -> Bool {
        guard let (head, body) = question.preparedHit({ self.forwarded($0, mark: nil) }),
            self.client.needsSwitch(insteadOf: head.received) == nil
        else { return false }
        question.countHit()
        self.report.note(head.outcome)
        self.pass(head.received, as: head.forwarded, length: head.length, inspection: nil)
        head.forEachPiece(of: body) { self.write($0) }
        self.complete()
        return true
    }

    /// Answers in place of an origin (`placeholder_after`), unless it has answered. Its response may still serve others.
    func originIsLate(_ placeholder: ResponseRules.Placeholder, after limit: Duration) {
        guard case .none = self.answer else { return }
        self.origin?.detach()
        self.letOriginGo()
        self.report.noteLate(limit)
        self.answer(OwnResponse(placeholder), .completed)
    }

    /// Opens the stream to the origin.
    private func open(_ request: consuming TransferRequest, in session: Session, by detour: Detour? = nil) {
        guard let decision = self.plan?.decision else { preconditionFailure("BUG: nothing says where a request goes") }
        (request.way, request.owner, request.limitsWaiting) = (self.active.way(decision.way), self.client.owner, true)
        self.report.identify(&request, of: decision.route)
        self.origin = self.worker.open(consume request, in: session, for: self, by: detour)
    }

    // MARK: The client's events

    /// True if more of the body, or its end, is taken now.
    var wantsBody: Bool { self.upload.wantsBody }
    var wantsEndOfBody: Bool { self.upload.wantsEnd }

    func received(_ bytes: ByteBuffer) {
        self.report.received(bytes)
        let problem: Problem
        switch self.upload.receive(bytes) {
        case .dropped: return
        case .send(let sink):
            sink.send(bytes)
            return self.countUpload()
        case .collected(let count) where count > self.active.limits.bodyBuffer: problem = self.active.unbuffered
        case .collected(let count):
            if self.held.holdRequest(count) { return }
            problem = Problem(.overloaded, self.active.limits.memoryShortage)
        }
        self.goOnUnbuffered(problem, self.upload.takeCollected() ?? ByteBuffer())
    }

    /// Moves bytes of the body from the client's socket to the origin's, if they need not be inspected.
    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        if self.report.capture?.wantsRequest == true { return .isUnfit }
        let filling = self.upload.sink?.move(from: descriptor, atMost: limit) ?? .isUnfit
        if case .outcome(.bytes(let count)) = filling { self.report.bytesIn += count }
        return filling
    }

    func receivedEndOfBody(trailers: Fields) {
        // The body before a redirect is not needed any more.
        guard self.upload.noteEnd() else { return }
        self.requestTrailers = trailers
        if self.upload.isCollecting { return self.makeRequestOfWholeBody() }
        if !trailers.isEmpty, let plan { self.requestTrailers = plan.forwarded(trailers: trailers) }
        self.upload.finish()?.finish(trailers: self.requestTrailers)
    }

    /// Called when the client reads more slowly than the origin sends.
    func clientFellBehind() { self.origin?.pauseReading() }
    func clientCaughtUp() { if !self.isBehind { self.origin?.resumeReading() } }

    /// Called when the client has left: the response is no longer needed.
    func clientLeft(_ reason: String = "the client closed the connection") {
        if case .over = self.answer { return }
        self.report.error = reason
        self.end(.cancelled)
    }

    /// Ends the exchange from the client's side: sends a problem, or cuts the response that has begun.
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
            return self.refuse(Problem(unadmittedBy: parent, head.fields))
        }
        if let problem = self.client.needsSwitch(insteadOf: head) { return self.refuse(problem) }
        do throws(Problem) {
            if let hop = try self.trail?.next(after: head) { return self.waitForRest(of: hop, length) }
        } catch {
            return self.refuse(error)
        }
        if self.trail != nil { self.trail = nil }  // Skipped if it is nil already: the assignment is costly.
        guard let inspection = self.makeInspection() else {
            return self.pass(head, length: length, mark: nil, inspection: nil)
        }
        self.answer = .inspected(inspection)
        self.perform(inspection.receive(head, length: length), inspection)
    }

    /// Follows a redirect when its content has arrived, or now if the content is too long to wait for.
    private func waitForRest(of hop: RedirectTrail.Hop, _ length: UInt64?) {
        self.upload.stop()
        self.originTookBody(0)
        self.answer = .redirected(hop)
        if let length, length > UInt64(hop.room) { self.follow(hop) }
    }

    private func makeInspection() -> ResponseInspection? {
        guard let judge, self.origin?.isUnjudged != true else { return nil }
        return ResponseInspection(
            judge, limits: self.active.limits, loop: self.worker.loop,
            // unowned: the exchange owns the inspection, which calls this only within calls of the exchange.
            reserve: { [unowned self] in self.held.holdResponse($0) },
            whenBehind: { [weak self] in self?.proceedWithInspection() })
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
        let fields = fields.forwarded(asTrailersBy: self.plan?.responseRewriter)
        switch self.answer {
        case .none: preconditionFailure("BUG: trailers come without a head")
        case .inspected(let inspection):
            if !inspection.keep(trailers: fields) { self.responseTrailers.prepend(fields) }
        case .passing: self.responseTrailers.prepend(fields)
        case .redirected, .over: break
        }
    }

    /// Called within the origin's stream when it has taken some of the body. The client is asked for more after its return.
    func originTookBody(_ count: Int) {
        if !self.resumesBody { self.worker.loop.atEndOfTurn(self) }
        self.resumesBody = true
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.report.note(metrics, endOf: self.origin)
        if let error, let fault = self.origin?.clientFault { return self.cut(error.message, by: fault) }
        self.letOriginGo()
        // Only the head of a redirect matters.
        if case .redirected(let hop) = self.answer { return self.follow(hop) }
        if let error, self.opening != nil { return self.perform(self.opening?.failed(error)) }
        if let error { return self.fail(with: error) }
        switch self.answer {
        case .none, .redirected: preconditionFailure("BUG: a response ends that has not begun")
        case .inspected(let inspection), .passing(.some(let inspection)): self.perform(inspection.end(), inspection)
        case .passing(nil): self.complete()
        case .over: break
        }
    }

    /// Called with the connection for a tunnel, or with a connection that has switched protocols.
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        guard let origin else { preconditionFailure("BUG: a connection comes that nobody asked for") }
        // A tunnel's destination is verified separately.
        self.report.note(metrics, of: origin, self.opening == nil ? self.plan?.decision : nil, in: self.active)
        self.letOriginGo()
        if let head = handoff.head {
            return self.switchProtocols(handoff, self.active.cookies.taking(from: head, to: self.plan?.decision))
        }
        self.perform(self.opening?.connected(handoff.connection, verdict: origin.verdict))
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

    private func leave(_ held: HeldResponse, to judge: ResponseValidator, _ inspection: ResponseInspection) {
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .response(self.active.limits)) { budget in
                ResponseInspection.judge(held, by: judge, within: budget)
            } then: { exchange, verdict, interruption in
                // The exchange was answered in another way meanwhile.
                guard case .inspected(let inspection) = exchange.answer else { return }
                exchange.perform(inspection.judged(verdict, interruption), inspection)
            }
        } catch {
            self.perform(inspection.notJudged(error.reason), inspection)
        }
    }

    private func proceedWithInspection() {
        // The response has ended while the check was behind.
        guard let inspection = self.answer.inspection else { return }
        self.perform(inspection.proceed(), inspection)
        if !self.isBehind, self.client.isWritable { self.origin?.resumeReading() }
    }

    /// Notes a violation after the head was sent: in the log, and in a trailer if the response can have one.
    private func note(_ violation: ValidationError) {
        self.report.violated(violation)
        for kind in violation.kinds { self.responseTrailers.append("Pintle-Violation", kind.rawValue) }
    }

    private func pass(_ held: HeldResponse, _ violation: ValidationError?, _ inspection: ResponseInspection) {
        self.report.note(held, violation)
        var length = self.origin == nil && held.need != .nothing ? UInt64(held.body.readableBytes) : held.length
        if !held.trailers.isEmpty, !held.isReplaced {
            // Trailers need chunked framing.
            length = nil
            self.responseTrailers.prepend(held.trailers)
        }
        self.pass(held.head, length: length, mark: violation, inspection: inspection)
        if held.body.readableBytes > 0 { held.body.withUnsafeReadableBytes { self.write($0) } }
        // From now on the channel counts the bytes that the client does not take. A check in progress continues.
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

    /// The head of a response for the client, without framing. `mark`: the violation despite which it passes.
    private func forwarded(_ head: ResponseHead, mark: ValidationError?) -> ResponseHead {
        head.forwarded(
            by: self.plan?.responseRewriter, via: self.active.via, version: self.report.upstreamVersion,
            marks: mark?.kinds ?? [], others: self.report.otherViolations, simulation: self.report.simulation)
    }

    /// Writes a piece of the body. Every byte of it is written and counted here.
    private func write(_ bytes: UnsafeRawBufferPointer) {
        self.report.note(bytes, sent: self.client.send(bytes))
        if !self.client.isWritable { self.origin?.pauseReading() }
    }

    /// Ends the exchange after everything was sent.
    private func complete() {
        self.end(.completed)
        self.client.finish(trailers: self.responseTrailers)
    }

    /// Breaks off a response that has begun. A fault may do so before, and reset the connection.
    private func cut(_ reason: String, by fault: ClientFault? = nil) {
        if case .refusal(let problem) = fault { return self.fail(with: problem) }
        self.report.noteCut(reason, by: fault)
        self.end(.failed)
        if case .reset = fault { self.client.reset() } else { self.client.cut() }
    }

    /// Answers with a problem of Pintle's own, or with the route's placeholder for it.
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
        self.report.note(response)
        self.client.send(response.head(by: self.plan?.responseRewriter), length: UInt64(response.body.count))
        self.report.bytesOut += response.body.withUnsafeBytes { self.client.send($0) }
        self.end(outcome)
        self.client.finish(trailers: Fields())
    }

    // MARK: The end

    private func end(_ outcome: Outcome) {
        if case .over = self.answer { preconditionFailure("BUG: an exchange ends twice") }
        self.answer.inspection?.stop()
        (self.answer, self.lateness, self.pendingAnswer) = (.over, nil, nil)
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
        self.dialler?.cancel()
        if self.opening != nil { (self.opening, self.dialler) = (nil, nil) }
    }

    // MARK: Tunnels

    private func openTunnel(to authority: Authority, _ plan: RequestPlan) {
        if let interception = self.active.interception, interception.takes(plan, to: authority) {
            // The tunnel's requests are served in place of its destination, which is contacted when there is one for it.
            self.report.status = 200
            self.end(.completed)
            let tunnel = InterceptedTunnel(authority, by: interception, of: self.report, in: self.active, self.allowed)
            return self.client.open(tunnel)
        }
        if let problem = self.report.openTunnel(by: plan, in: self.active) { return self.refuse(problem) }
        self.opening = TunnelOpening(to: authority, plan, for: self.request.head, in: self.active)
        self.perform(self.opening?.begin())
    }

    /// - Parameter action: nil if the tunnel is not being opened any more.
    private func perform(_ action: TunnelOpening.Action?) {
        if let proof = self.opening?.proof { self.report.note(proof, assurance: .probed) }
        switch action {
        case nil: break
        case .connect(let request, let session): self.open(request, in: session)
        case .prove(let question, let socket, let patience):
            self.worker.verifier.ask(question, over: socket, for: patience, in: self.active.verifications) { answer in
                // The client may have left in the meantime.
                self.perform(self.opening?.proved(answer))
            }
        case .dial(let address, let patience):
            self.dialler = Dialler(address, for: self.plan?.decision?.route, patience: patience, loop: self.worker.loop)
            self.dialler?.start { result in
                self.dialler = nil
                self.perform(self.opening?.dialled(result))
            }
        case .relay(let connection, let watch): self.relay(ConnectionHandoff(connection: connection), watch, head: nil)
        case .fail(let error): self.fail(with: error)
        case .refuse(let problem, let verdict):
            self.report.noteUntrusted(problem.name, verdict)
            self.refuse(problem)
        }
    }

    /// Relays bytes from now on, because the origin switches protocols.
    private func switchProtocols(_ handoff: ConnectionHandoff, _ head: ResponseHead) {
        self.report.noteSwitch(head.status, by: handoff.version)
        switch ProtocolSwitch(head, offered: self.offer, to: self.client, self.makeInspection()) {
        case .refused(let reason):
            handoff.connection.close()
            self.refuse(Problem(.upstreamProtocol, reason))
        case .violates(let violation):
            handoff.connection.close()
            self.reject(violation)
        case .passes(let accepted, let violation):
            if let violation { self.report.violated(violation) }
            self.relay(handoff, nil, head: self.forwarded(head, mark: violation).switching(to: accepted))
        }
    }

    private func relay(_ handoff: ConnectionHandoff, _ watch: ServerCertificateInspector?, head: ResponseHead?) {
        (self.answer, self.opening) = (.over, nil)
        self.giveBack()
        self.report.status = head?.status ?? 200
        let authority = head == nil ? self.plan?.decision?.authority : nil
        self.client.relay(TunnelTerms(handoff, head: head, watch, to: authority, self.report, self.active))
    }

    // MARK: Work elsewhere, and memory

    /// Runs work on another thread, without access to the exchange. Calls `proceed` in a later turn, unless all is over.
    ///
    /// - Throws: an error if too many jobs wait.
    private func leaveLoop<Value: Sendable>(
        within limits: WorkPool.Limits, _ work: @escaping @Sendable (WorkBudget) -> Value,
        then proceed: @escaping @Sendable (Exchange, Value, WorkBudget.Interruption?) -> Void
    ) throws(WorkPool.Refusal) {
        self.held.job = try self.worker.work(as: self.sequence, of: self.report.client, within: limits, work) {
            value, interruption in
            self.held.job = nil
            if case .over = self.answer { return }
            proceed(self, value, interruption)
            self.client.resumeBody()
        }
    }

    private func countUpload() {
        // The origin may have ended the exchange within its call.
        if case .over = self.answer { return }
        self.held.count(waiting: self.upload.heldBytes)
    }

    private func giveBack() { if self.held.giveBack(self.worker.pool) { self.worker.stopWaiting(as: self.sequence) } }
    var progress: any ExchangeProgress { self.report }
}

/// Continues with the request's body, once the origin's stream has returned.
extension Exchange: TurnEndWork {
    func runAtEndOfTurn() {
        self.resumesBody = false
        if case .over = self.answer { return }
        self.upload.pacer?.proceed()
        self.countUpload()
        self.client.resumeBody()
    }
}
