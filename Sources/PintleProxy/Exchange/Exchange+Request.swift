// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// The way up.
extension Exchange {
    /// The most bytes that wait on the way up.
    static let window = 64 * 1024

    /// Decides what becomes of the request, and begins it.
    func begin() {
        if let refusal = self.connection.refusal { return self.refuse(refusal) }
        let memory = self.connection.lane.memory
        guard !memory.isOver(self.gate.limits.heldBytes) else {
            return self.refuse(Problem(.overloaded, self.memoryShortage))
        }
        self.admitClient()
    }

    /// Begins a request of a client that may use the proxy.
    func beginAdmitted() {
        if let via = self.gate.via, Forwarding.hasPassed(via, self.head.fields) {
            return self.refuse(
                Problem(.loopDetected, "the request has passed \"\(via)\" before; give each proxy its own via"))
        }
        switch self.head.target {
        case .absolute(let scheme, let authority, let path):
            self.forward(scheme, authority, path, form: .proxy)
        case .origin(let path):
            guard let host = self.head.fields[.host], let authority = Authority(host, defaultPort: 80) else {
                return self.refuse(Problem(.badRequest, "a request with a path for a target needs a Host"))
            }
            self.host = host
            self.report.mode = .gateway
            self.forward(.http, authority, path, form: .gateway)
        case .authority(let authority): self.openTunnel(to: authority)
        case .asterisk: self.answerOptions()
        }
    }

    private func forward(_ scheme: Scheme, _ authority: Authority, _ path: String, form: RouteQuery.Form) {
        let query = RouteQuery(
            method: self.head.method, scheme: scheme, authority: authority, path: path, form: form,
            isWebSocket: self.head.hasWebSocketScheme)
        let decision: Decision
        do throws(Malformed) {
            decision = try self.gate.policy.decide(query)
        } catch {
            return self.refuse(Problem(.badRequest, error.reason))
        }
        self.take(decision)
        self.gate.trustUses.note(query, decision)
        if form == .gateway, decision.route == nil {
            return self.refuse(
                Problem(
                    .badRequest,
                    "no gateway route matches \(authority); use Pintle as a proxy, or give a route an upstream"))
        }
        if let denial = self.denial(by: decision) { return self.refuse(denial) }
        if self.head.hopsLeft == 0 { return self.answerAsLast() }
        guard self.findOperation(decision) else { return }
        guard self.needsWholeBody else { return self.send(self.outgoing(decision), self.bodyToStream) }
        self.holdBody()
    }

    func take(_ decision: Decision) {
        self.decision = decision
        if let route = decision.route {
            let rules = self.gate.routes[route.index]
            self.rules = rules
            self.report.counters = rules.counters
        }
        self.sentTo = self.gate.session(for: decision.trust)
        self.report.trust = self.sentTo?.name
        self.gate.activity.started(route: self.report.counters)
        self.report.isCounted = true
    }

    /// What is answered where the destination is denied already.
    func denial(by decision: Decision) -> Problem? {
        guard let rule = decision.destination.denial else { return nil }
        self.report.rule = rule
        let detail = "\(decision.authority) is denied by \(rule)"
        if case .prohibited = decision.destination {
            return Problem(.destinationDenied, detail, proxyError: "destination_ip_prohibited")
        }
        return Problem(.destinationDenied, detail)
    }

    // MARK: A body that is needed whole

    /// Whether nothing can be sent before the body is there: it takes another form, or is judged.
    private var needsWholeBody: Bool {
        if self.isSerialized { return true }
        guard self.framing != .none, let operation, operation.checksRequests else { return false }
        // A header rule may name the type.
        var fields = self.head.fields
        self.rules?.rewriter.apply(to: &fields)
        return operation.readsRequestBody(fields[.contentType])
    }

    /// Whether the route's serializer makes the request anew.
    private var isSerialized: Bool { self.isSerialized(self.head) }

    private func isSerialized(_ head: RequestHead) -> Bool {
        self.rules?.rewriter.serializes(head, hasBody: self.framing != .none) == true
    }

    private func holdBody() {
        let limit = self.gate.limits.bodyBuffer
        if case .length(let length) = self.framing, length > UInt64(limit) {
            // Known before a byte has come.
            return self.passesUnjudged(Self.unbuffered) ? self.sendUnjudged() : self.refuse(Self.unbuffered)
        }
        self.heldBody = ByteBuffer()
        guard !self.requestEnded else { return self.sendHeldBody() }
        if self.head.minorVersion == 1, self.head.fields.hasToken("100-continue", in: .expect) {
            // The body is wanted here, before the origin can be asked.
            self.connection.write { $0.writeInterim(ResponseHead(status: 100, reason: "Continue")) }
        }
    }

    private static let unbuffered = Problem(
        .bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer")

    /// Whether a body that cannot be judged is sent all the same: it stays as it is, and its contract only reports.
    func passesUnjudged(_ problem: Problem) -> Bool {
        guard !self.isSerialized, self.onViolation == .report else { return false }
        self.report.violated(.bodyTooLarge)
        self.report.error = problem.detail
        self.report.requestViolation = .bodyTooLarge
        return true
    }

    /// Sends what was held, and streams the rest behind it.
    private func sendUnjudged() {
        guard let decision else { return }
        self.unjudgedBody = self.heldBody
        self.heldBody = nil
        self.operation = self.operation?.withoutRequestBody
        self.send(self.outgoing(decision), self.bodyToStream)
    }

    /// Sends the request whose body is there, by the route's serializer where it has one.
    private func sendHeldBody() {
        guard let decision, let held = self.heldBody else { return }
        self.heldBody = nil
        let isSerialized = self.isSerialized
        var head = self.outgoing(decision)
        head.fields.remove(.expect)
        guard isSerialized, let rewriter = self.rules?.rewriter else {
            return self.send(head, held.readableBytes > 0 ? .bytes(held) : self.bodyToStream)
        }
        // They were about another body.
        self.trailers = Fields()
        let limits = RequestRewriter.Limits(self.gate.limits)
        let serialize: @Sendable (WorkBudget) -> Result<MadeRequest, SerializationError> = { [head] budget in
            Result { () throws(SerializationError) in
                guard budget.reserve(held.readableBytes) else { throw RequestRewriter.interrupted }
                let request = try rewriter.serialize(
                    head, body: Array(held.readableBytesView), limits: limits, within: budget)
                return MadeRequest(head: request.head, body: request.body.map { ByteBuffer(bytes: $0) })
            }
        }
        guard !Self.isPrompt(held, head) else { return self.sendSerialized(serialize(.unlimited), of: held) }
        do throws(WorkPool.Refusal) {
            try self.leaveLoop(within: .request(self.gate.limits), serialize) { exchange, result, interruption in
                switch interruption {
                case nil: exchange.sendSerialized(result, of: held)
                case .memory, .cancelled: exchange.refuse(Problem(.overloaded, exchange.memoryShortage))
                case .steps, .time:
                    let reason = interruption?.reason ?? ""
                    exchange.refuse(Problem(.bodyTooLarge, "to be serialized it \(reason); send less at a time"))
                }
            }
        } catch {
            self.refuse(Problem(.overloaded, error.reason))
        }
    }

    /// Whether a body is serialized in less than a millisecond.
    private static func isPrompt(_ body: ByteBuffer, _ head: RequestHead) -> Bool {
        body.readableBytes == 0
            || body.readableBytes <= 64 * 1024 && !head.fields.contains(.contentEncoding)
                && DocumentWeight(of: body.readableBytesView).valueCount <= 1000
    }

    private func sendSerialized(_ result: Result<MadeRequest, SerializationError>, of held: ByteBuffer) {
        do throws(SerializationError) {
            let request = try result.get()
            if let body = request.body {
                self.send(request.head, .bytes(body))
            } else {
                // An empty body is still a body: a server may refuse a POST that has no length.
                let staysEmpty = held.readableBytes == 0 && (self.hasEmptyBody || self.framing != .none)
                self.send(request.head, staysEmpty ? .bytes(ByteBuffer()) : .none)
            }
        } catch {
            self.refuse(Problem(error))
        }
    }

    // MARK: Sending

    /// The head as it goes upstream. Its fields are moved, so this is asked once.
    private func outgoing(_ decision: Decision) -> RequestHead {
        let head = self.head
        self.head.fields = Fields()
        if !self.isSerialized(head) { self.offer = UpgradeOffer(head) }
        return head.forwarded(by: decision, via: self.gate.via)
    }

    private var bodyToStream: TransferRequest.Body {
        switch self.framing {
        case .none, .untilClose: self.hasEmptyBody ? .bytes(ByteBuffer()) : .none
        case .length(let length): .stream(length: length)
        case .chunked: .stream(length: nil)
        }
    }

    private func send(_ head: RequestHead, _ body: TransferRequest.Body) {
        var body = body
        if head.method == "HEAD" {
            guard body.isKnownToBeEmpty else {
                return self.refuse(Problem(.badRequest, "a HEAD request with content is not forwarded"))
            }
            body = .none
        }
        var head = head
        self.rules?.rewriter.apply(to: &head.fields)
        self.judgeRequest(head, body)
    }

    /// Sends the request, whose contract has nothing against it.
    func sendJudged(_ head: RequestHead, _ body: TransferRequest.Body) {
        guard let decision, let sentTo, let path = head.target.path else { return }
        var head = head
        self.judge = self.makeJudge(method: head.method)
        self.judge?.prepare(&head.fields)
        var request = TransferRequest(
            method: head.method, scheme: decision.scheme, authority: decision.authority, path: path,
            fields: head.fields, body: body)
        request.isRepeatable = head.isIdempotent && !body.isStreamed
        request.collectsMetrics = self.gate.exchangeLog.isEnabled
        if let rules {
            request.timeout = rules.timeout
            request.connectTimeout = rules.connectTimeout
        }
        if let offer = self.passingOffer { return self.attempt(offer, with: request, in: sentTo.session) }
        let pace = self.rules?.throttle
        if case .bytes(let bytes) = body, pace != nil || !self.trailers.isEmpty {
            // Only chunks have trailers behind them.
            request.body = .stream(length: self.trailers.isEmpty ? UInt64(bytes.readableBytes) : nil)
        }
        if case .bytes(let bytes) = body { self.wholeBody = bytes.readableBytes }
        guard self.begin(request, in: sentTo.session), let transfer, case .stream = request.body else {
            return self.countUpload()
        }
        if let pace {
            self.pacer = BodyPacer(
                packet: pace.packet, delay: TimeAmount(pace.delay), exchange: self, transfer: transfer)
        }
        if let begun = self.unjudgedBody, begun.readableBytes > 0 { self.stream(begun) }
        self.unjudgedBody = nil
        if case .bytes(let bytes) = body {
            self.stream(bytes)
            self.finishBody()
        } else if self.requestEnded {
            self.finishBody()
        }
        self.countUpload()
    }

    /// Starts the transfer, unless there is no way to its destination.
    func begin(_ request: TransferRequest, in session: Session) -> Bool {
        var request = request
        if let decision { request.way = self.gate.way(decision.way) }
        (request.client, request.limitsWaiting) = (self.connection.client?.forTransfers, true)
        if let problem = self.gate.outlook.refusal(of: &request) {
            self.refuse(problem)
            return false
        }
        self.transfer = session.start(request, on: self.connection.lane.loop, delegate: self)
        return true
    }

    private func stream(_ bytes: ByteBuffer) {
        if let pacer { return pacer.send(bytes) }
        self.transfer?.send(bytes)
    }

    /// The end of a body that is streamed.
    private func finishBody() {
        if let pacer { return pacer.finish(trailers: self.trailers) }
        self.transfer?.finishBody(trailers: self.trailers)
    }

    // MARK: The body as it comes

    /// Whether more of the body can be taken now.
    var wantsBody: Bool {
        if self.awaitsAdmission || self.job != nil { return false }
        if let heldBody { return heldBody.readableBytes <= self.gate.limits.bodyBuffer }
        if let pacer { return pacer.waitingBytes < Self.window }
        guard let transfer else { return true }
        return transfer.unsentBodyBytes < Self.window
    }

    /// True while the body goes on to the transfer as it comes.
    var streamsBody: Bool {
        !self.awaitsAdmission && self.job == nil && self.heldBody == nil && self.transfer != nil
    }

    /// The upstream has taken some of the body.
    func proceedWithBody() {
        self.pacer?.proceed()
        self.countUpload()
    }

    func receivedBody(_ bytes: ByteBuffer) {
        self.report.bytesIn += bytes.readableBytes
        guard var held = self.heldBody else {
            self.stream(bytes)
            return self.countUpload()
        }
        self.heldBody = nil
        held.writeImmutableBuffer(bytes)
        self.heldBody = held
        let problem: Problem
        if held.readableBytes > self.gate.limits.bodyBuffer {
            problem = Self.unbuffered
        } else if !self.holdRequest(held.readableBytes) {
            problem = Problem(.overloaded, self.memoryShortage)
        } else {
            return
        }
        if self.passesUnjudged(problem) { return self.sendUnjudged() }
        self.heldBody = nil
        self.refuse(problem)
    }

    func receivedEndOfBody(trailers: Fields) {
        self.requestEnded = true
        var trailers = trailers
        Forwarding.removeForbidden(fromTrailers: &trailers)
        self.rules?.rewriter.apply(toTrailers: &trailers)
        self.trailers = trailers
        if self.heldBody != nil { return self.sendHeldBody() }
        self.finishBody()
    }
}

extension TransferRequest.Body {
    var isStreamed: Bool { if case .stream = self { true } else { false } }

    fileprivate var isKnownToBeEmpty: Bool {
        switch self {
        case .none: true
        case .bytes(let bytes): bytes.readableBytes == 0
        case .stream: false
        }
    }
}

/// A request that a serializer made, with its body in the buffer that is sent: no loop copies mebibytes.
private struct MadeRequest: Sendable {
    let head: RequestHead
    let body: ByteBuffer?
}
