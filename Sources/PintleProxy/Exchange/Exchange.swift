// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// One request and its answer, from decision to record. This file tells the way up; `Exchange+Response.swift` the way
/// back.
///
/// It lives on one loop together with the client's connection and the transfer, so it needs neither lock nor task.
final class Exchange {
    /// What has become of the answer.
    enum Answer {
        /// Nothing was written to the client yet.
        case none
        /// The response is kept back until its contract can be judged.
        case checking(HeldResponse)
        /// The head was written; the body follows in this framing.
        case body(ResponseFraming)
        /// Everything was written, or never will be.
        case done
    }

    let connection: ClientConnection
    let gate: Gate
    /// The request; its fields move into the outgoing request when that is made.
    private(set) var head: RequestHead
    let framing: BodyFraming
    /// The client's Accept, which decides what a problem looks like.
    let accept: String?
    /// The host of a gateway request.
    private(set) var host: String?
    private let wantsKeepAlive: Bool
    private let hasEmptyBody: Bool
    var report: ExchangeReport
    var answer = Answer.none
    private(set) var rules: RouteRules?
    private(set) var transfer: Transfer?
    /// Where the route sets a pace, what sends the body.
    private var pacer: BodyPacer?
    /// What a contract says of this request; nil where none is about it.
    var operation: ContractedOperation?
    /// What the response must keep to; nil where it may be anything.
    var judge: ResponseJudge?
    /// What looks at the response's body while it streams.
    var streamedCheck: BodyCheck?
    /// Whether the body was found to be too long.
    var hasExceeded = false
    /// How much of a body with a length is still to be written.
    var owedBytes: UInt64 = 0
    /// What the head of the answer said about the connection.
    var announcedKeepAlive = false
    private(set) var decision: Decision?
    private var sentTo: Gate.TrustSession?
    /// The request's body, where a serializer needs all of it.
    private var heldBody: ByteBuffer?
    private var requestEnded: Bool
    /// Whether the connection is to look for more of the body at the end of this turn.
    var resumesBody = false
    private var trailers = Fields()

    init(connection: ClientConnection, head: RequestHead, framing: BodyFraming) {
        self.connection = connection
        self.gate = connection.lane.gate
        self.head = head
        self.framing = framing
        self.accept = head.fields[.accept]
        self.wantsKeepAlive = head.wantsKeepAlive && connection.refusal == nil
        self.hasEmptyBody = framing == .none && head.fields.contains(.contentLength)
        self.requestEnded = framing == .none
        self.report = ExchangeReport(
            id: connection.lane.nextID(), counters: self.gate.counters.unrouted, start: connection.lane.loop.turnTime)
    }

    // MARK: The way up

    /// Decides what becomes of the request, and begins it.
    func begin() {
        if let refusal = self.connection.refusal { return self.refuse(refusal) }
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
            method: self.head.method, scheme: scheme, authority: authority, path: path, form: form)
        let decision: Decision
        do throws(Malformed) {
            decision = try self.gate.policy.decide(query)
        } catch {
            return self.refuse(Problem(.badRequest, error.reason))
        }
        self.take(decision)
        if form == .gateway, decision.route == nil {
            return self.refuse(
                Problem(
                    .badRequest,
                    "no gateway route matches \(authority); use Pintle as a proxy, or give a route an upstream"))
        }
        if case .denied(let rule) = decision.destination { return self.refuse(self.denied(decision.authority, rule)) }
        if self.head.hopsLeft == 0 { return self.answerAsLast() }
        guard self.findOperation(decision) else { return }
        guard self.needsWholeBody else { return self.send(self.outgoing(decision), self.bodyToStream) }
        self.heldBody = ByteBuffer()
        guard !self.requestEnded else { return self.serialize() }
        if self.head.minorVersion == 1, self.head.fields.hasToken("100-continue", in: .expect) {
            // The body is wanted here, before the origin can be asked.
            self.connection.write { $0.writeInterim(ResponseHead(status: 100, reason: "Continue")) }
        }
    }

    /// Whether nothing can be sent before the body is there: it takes another form, or is judged.
    private var needsWholeBody: Bool {
        if self.rules?.rewriter.needsBody == true { return true }
        guard self.framing != .none, let operation else { return false }
        return operation.readsRequestBody(self.head.fields[.contentType])
    }

    private func take(_ decision: Decision) {
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

    func denied(_ authority: Authority, _ rule: String) -> Problem {
        self.report.rule = rule
        return Problem(.destinationDenied, "\(authority) is denied by \(rule)")
    }

    /// The head as it goes upstream. Its fields are moved, so this is asked once.
    private func outgoing(_ decision: Decision) -> RequestHead {
        let head = self.head
        self.head.fields = Fields()
        return head.forwarded(by: decision, via: self.gate.via)
    }

    private var bodyToStream: TransferRequest.Body {
        switch self.framing {
        // An empty body is still a body: a server may refuse a POST that has no length.
        case .none, .untilClose: self.hasEmptyBody ? .bytes(ByteBuffer()) : .none
        case .length(let length): .stream(length: length)
        case .chunked: .stream(length: nil)
        }
    }

    /// Rewrites the request by the route's serializer, now that its body is there.
    private func serialize() {
        guard let decision, let held = self.heldBody else { return }
        self.heldBody = nil
        var head = self.outgoing(decision)
        head.fields.remove(.expect)
        guard let rewriter = self.rules?.rewriter, rewriter.needsBody else {
            return self.send(head, held.readableBytes > 0 ? .bytes(held) : self.bodyToStream)
        }
        do throws(SerializationError) {
            let request = try rewriter.serialize(
                head, body: Array(held.readableBytesView), limit: self.gate.limits.bodyBuffer)
            self.send(request.head, request.body.map { .bytes(ByteBuffer(bytes: $0)) } ?? .none)
        } catch {
            self.refuse(Problem(error))
        }
    }

    private func send(_ head: RequestHead, _ body: TransferRequest.Body) {
        guard let decision, let sentTo, let path = head.target.path else { return }
        if case .none = body {
        } else if head.method == "HEAD" {
            return self.refuse(Problem(.badRequest, "a HEAD request with content is not forwarded"))
        }
        var head = head
        self.rules?.rewriter.apply(to: &head.fields)
        guard self.keepsContract(head, body) else { return }
        self.judge = self.makeJudge(method: head.method)
        // What is checked must be decoded.
        if self.judge?.readsBody == true { head.fields.narrowAcceptEncoding() }
        var request = TransferRequest(
            method: head.method, scheme: decision.scheme, authority: decision.authority, path: path,
            fields: head.fields, body: body)
        request.collectsMetrics = self.gate.exchangeLog.isEnabled
        if let rules {
            request.timeout = rules.timeout
            request.connectTimeout = rules.connectTimeout
        }
        let pace = self.rules?.throttle
        if pace != nil, case .bytes(let bytes) = request.body {
            request.body = .stream(length: UInt64(bytes.readableBytes))
        }
        guard self.begin(request, in: sentTo.session), let transfer, case .stream = request.body else { return }
        if let pace {
            self.pacer = BodyPacer(
                packet: pace.packet, delay: TimeAmount(pace.delay), exchange: self, transfer: transfer)
        }
        if case .bytes(let bytes) = body {
            self.pacer?.send(bytes)
            self.finishBody()
        } else if self.requestEnded {
            self.finishBody()
        }
    }

    /// The end of a body that is streamed.
    private func finishBody() {
        if let pacer { return pacer.finish(trailers: self.trailers) }
        self.transfer?.finishBody(trailers: self.trailers)
    }

    /// Starts the transfer, unless there is no way to its destination.
    private func begin(_ request: TransferRequest, in session: Session) -> Bool {
        var request = request
        if let problem = self.gate.outlook.refusal(of: &request) {
            self.refuse(problem)
            return false
        }
        self.transfer = session.start(request, on: self.connection.lane.loop, delegate: self)
        return true
    }

    // MARK: The request's body

    /// Whether more of the body can be taken now.
    var wantsBody: Bool {
        if let heldBody { return heldBody.readableBytes <= self.gate.limits.bodyBuffer }
        if let pacer { return pacer.waitingBytes < Self.window }
        guard let transfer else { return true }
        return transfer.unsentBodyBytes < Self.window
    }

    /// The most bytes that wait on the way up.
    static let window = 64 * 1024

    func receivedBody(_ bytes: ByteBuffer) {
        self.report.bytesIn += bytes.readableBytes
        guard var held = self.heldBody else {
            if let pacer { return pacer.send(bytes) }
            self.transfer?.send(bytes)
            return
        }
        self.heldBody = nil
        held.writeImmutableBuffer(bytes)
        self.heldBody = held
        if held.readableBytes > self.gate.limits.bodyBuffer {
            self.heldBody = nil
            self.refuse(
                Problem(.bodyTooLarge, "the route must see the whole body, and it is over limits.body_buffer"))
        }
    }

    func receivedEndOfBody(trailers: Fields) {
        self.requestEnded = true
        var trailers = trailers
        Forwarding.removeForbidden(fromTrailers: &trailers)
        self.trailers = trailers
        if self.heldBody != nil { return self.serialize() }
        self.finishBody()
    }

    // MARK: Requests that Pintle answers itself

    /// This proxy is as far as the request goes.
    private func answerAsLast() {
        guard self.head.method == "TRACE" else { return self.answerOptions() }
        // What was received goes back, but for what identifies the client (RFC 9110 §9.3.8).
        var echoed = self.head.fields
        for name in [FieldName.authorization, .proxyAuthorization, .cookie] { echoed.remove(name) }
        var body = ByteBuffer(string: "TRACE \(self.head.target.path ?? "*") HTTP/1.\(self.head.minorVersion)\r\n")
        echoed.forEachRun { body.writeBytes($0) }
        let response = ResponseHead(status: 200, reason: "OK", fields: ["Content-Type": "message/http"])
        self.write(response, framing: .length(UInt64(body.readableBytes)))
        self.connection.write { $0.writeBuffer(&body) }
        self.finish(.completed)
    }

    private func answerOptions() {
        var response = ResponseHead(status: 200, reason: "OK")
        response.fields.append("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT")
        self.write(response, framing: .length(0))
        self.finish(.completed)
    }

    private func openTunnel(to authority: Authority) {
        guard self.framing == .none else {
            return self.refuse(Problem(.badRequest, "a CONNECT request has no content"))
        }
        let query = RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/", form: .proxy)
        let decision = self.gate.policy.decideTunnel(query)
        self.take(decision)
        self.report.mode = .tunnel
        if case .denied(let rule) = decision.destination { return self.refuse(self.denied(authority, rule)) }
        guard self.connection.lane.census.enterTunnel(limit: self.gate.limits.tunnels) else {
            return self.refuse(Problem(.overloaded, "there are as many tunnels as limits.tunnels allows"))
        }
        self.report.holdsTunnel = true
        var request = TransferRequest(method: "GET", scheme: .http, authority: authority, path: "/")
        request.connectOnly = true
        if let rules { request.connectTimeout = rules.connectTimeout }
        _ = self.begin(request, in: self.gate.session(for: nil).session)
    }

    // MARK: The client

    /// The client does not read as fast as the upstream sends.
    func clientFellBehind() { self.transfer?.pauseReading() }

    func clientCaughtUp() { self.transfer?.resumeReading() }

    /// The client is gone: nobody waits for the answer.
    func clientLeft() {
        if case .done = self.answer { return }
        self.report.error = "the client closed the connection"
        self.finish(.cancelled, cutting: true)
    }

    // MARK: The end

    /// Ends the exchange from the client's side: answers, or cuts the answer that has begun.
    func fail(with problem: Problem) {
        switch self.answer {
        case .none, .checking: self.refuse(problem)
        case .body:
            self.report.error = problem.detail
            self.finish(.failed, cutting: true)
        case .done: break
        }
    }

    /// - Parameter cutting: whether the answer stays incomplete, so that the connection must break.
    func finish(_ outcome: Outcome, cutting: Bool = false) {
        if case .done = self.answer { return }
        var framing: ResponseFraming?
        if case .body(let begun) = self.answer { framing = begun }
        self.answer = .done
        let transfer = self.transfer
        self.forgetTransfer()
        transfer?.cancel()
        self.report.close(self, outcome: outcome)
        if cutting { return self.connection.cut(self.connection.channel.isActive ? framing : nil) }
        self.connection.finished(self, keepAlive: self.keepsAlive && self.announcedKeepAlive)
    }

    /// Whether the connection can carry another request: the client wants it, and this one was taken to its end.
    var keepsAlive: Bool {
        self.requestEnded && self.wantsKeepAlive
    }

    /// Whether anybody wants to know on what grounds the origin was trusted: the log, or a policy that only reports.
    var asksForVerdict: Bool { self.gate.exchangeLog.isEnabled || self.sentTo?.session.reportsOnly == true }

    /// The transfer is over, or was handed on.
    func forgetTransfer() {
        self.transfer = nil
        self.pacer?.stop()
        self.pacer = nil
    }
}

extension RequestHead {
    /// Whether the client would send another request on this connection (RFC 9112 §9.3).
    fileprivate var wantsKeepAlive: Bool {
        guard self.fields.contains(.connection) else { return self.minorVersion == 1 && !self.method.isEmpty }
        if self.fields.hasToken("close", in: .connection) { return false }
        return self.minorVersion == 1 || self.fields.hasToken("keep-alive", in: .connection)
    }
}
