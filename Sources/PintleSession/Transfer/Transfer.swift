// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop
package import PintleMessage
package import PintleTrust

/// One request and its response, on one loop.
///
/// It waits for a connection to its host that is free, or for a new one, which then carries it. The pool reuses the object: an
/// owner must release it when it hears of the end.
package final class Transfer {
    private enum Stage {
        /// It has not begun, or is over.
        case none
        /// It waits until one of the connections to its host is free.
        case waiting
        /// A connection is being made for it.
        case connecting(ConnectionAttempt)
        /// A connection is being made for another transfer, which all of them may share (HTTP/2).
        case joining
        /// No connection could be made; another is tried when the timer fires.
        case pausing(LoopTimer)
        case carried(any Carrier)
    }

    /// The time for which a body waits for `100 Continue`: RFC 9110 §10.1.1 forbids to wait for ever.
    private static let expectationTime = TimeAmount.seconds(1)
    /// The most connections that may turn the request away: a server that takes only five requests on each connection refuses
    /// those of a busy client again and again.
    private static let mostTurnedAway = 16

    /// Its index among the running transfers of its pool.
    var place: Int?
    private let pool: TransferPool
    private var stage = Stage.none
    private(set) var asked = AskedRequest.none
    private var delegate: (any TransferDelegate)?
    private var host: OriginHost?
    /// True if it holds one of the places for the host's connections.
    private var hasPlace = false
    /// True if other transfers wait, or may wait, for the connection that it makes.
    private var isJoined = false
    /// True if the request was sent again although its peer may have seen it, or has refused it.
    private var wasSentAgain = false
    /// The number of retries, of the connection or of the request.
    private var retries = 0
    /// The number of connections whose peer took no more requests when this one came.
    private var turnedAway = 0
    private var start = NIODeadline.uptimeNanoseconds(0)
    private var lastActivity = NIODeadline.uptimeNanoseconds(0)
    private var connectDeadline = NIODeadline.uptimeNanoseconds(0)
    private var attemptStart = NIODeadline.uptimeNanoseconds(0)
    private var measured = TransferMetrics()
    private var judged: Verdict?
    private var judgedProxy: Verdict?
    private var hasResponse = false
    /// The number of transfers that the object has served.
    private var uses: UInt64 = 0
    // Why unowned holds: `forget` disarms the timer before the transfer is released.
    private lazy var silence = LoopTimer { [unowned self] in self.checkSilence() }
    /// The longest silence of the origin in the present phase of the exchange.
    private var silenceLimit = TimeAmount.zero
    private(set) var isReadingPaused = false
    /// True if the delegate takes the body in pipes.
    private(set) var takesPipes = false
    // The request's body.
    private var upload: UploadQueue?
    private(set) var trailersToSend = Fields()
    private var isHoldingBody = false
    private var waitsForBody = false
    /// Fires when the body has waited long enough for `100 Continue`; nil if it does not wait any more.
    private var expectation: LoopTimer?

    init(pool: TransferPool) { self.pool = pool }

    // MARK: For the owner

    // Stored privately, so that the compiler sees every access, and needs no check of exclusive access at run time.

    /// The verdict on the peer's chain: from this transfer's handshake, or from the one that its connection began with.
    package var verdict: Verdict? { self.judged }
    /// The verdict on the chain of the https proxy, if this transfer made the connection.
    package var proxyVerdict: Verdict? { self.judgedProxy }
    /// The version of the response whose head was received: `1.0`, `1.1` or `2`.
    package var responseVersion: String { self.measured.httpVersion }
    /// Measurements of the connection and the request so far.
    package var metrics: TransferMetrics { self.measured }

    /// Appends bytes to the body of a `.stream` request; does nothing if the transfer is over.
    package func send(_ bytes: ByteBuffer) {
        guard self.isRunning else { return }
        self.upload?.append(bytes)
        self.sendOn()
    }

    /// Moves bytes from a socket to the connection, unseen, as the next ones of a `.stream` body.
    package func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        guard self.expectation == nil, !self.isHoldingBody, self.carrier?.takesPipes == true else { return .isUnfit }
        guard self.unsentBodyBytes == 0 else { return .mustWait }
        let filling = self.upload?.fill(from: descriptor, atMost: limit, on: self.pool.loop) ?? .isUnfit
        if case .outcome(.bytes) = filling { self.sendOn() }
        return filling
    }

    /// Ends the body of a `.stream` request; trailers are sent with chunked bodies only. Does nothing after the end.
    package func finishBody(trailers: Fields = Fields()) {
        guard self.isRunning else { return }
        self.trailersToSend = trailers
        self.upload?.isComplete = true
        self.sendOn()
    }

    /// Holds back the rest of the body; bytes that the connection has taken are still sent.
    package func holdBody() { self.isHoldingBody = true }

    /// Continues to send the body.
    package func releaseBody() {
        self.isHoldingBody = false
        self.sendOn()
    }

    /// The number of bytes that were passed to ``send(_:)`` and that the upstream has not taken.
    package var unsentBodyBytes: Int { self.upload?.byteCount ?? 0 }

    /// The number of its body's bytes in memory: unsent ones, and those that may have to be sent again.
    package var heldBodyBytes: Int { self.upload?.heldBytes ?? 0 }

    /// Stops reading from the upstream until reading is resumed; does nothing if it is stopped or the transfer is over.
    package func pauseReading() {
        guard self.isRunning, !self.isReadingPaused else { return }
        self.isReadingPaused = true
        self.carrier?.pauseReading()
    }

    /// Continues to read; does nothing if reading is not stopped or the transfer is over.
    package func resumeReading() {
        guard self.isRunning, self.isReadingPaused else { return }
        self.isReadingPaused = false
        self.lastActivity = self.pool.loop.turnTime
        self.carrier?.resumeReading()
    }

    /// Lets the rest of the response's body be moved through pipes, if possible: the delegate does not need to see it.
    package func takePipes() { self.takesPipes = true }

    /// Cancels the transfer. The delegate is not called again. Does nothing if the transfer is over.
    package func cancel() {
        guard self.isRunning else { return }
        self.leaveStage()
        self.forget()
    }

    // MARK: For the pool

    var isRunning: Bool { self.delegate != nil }

    func begin(_ request: consuming TransferRequest, by proxy: ProxyLink?, delegate: any TransferDelegate) {
        self.delegate = delegate
        self.start = self.pool.loop.turnTime
        let asked = AskedRequest(consume request)
        self.asked = asked
        let isCall = Self.isStream(asked.request.fields)
        self.silenceLimit = isCall ? asked.request.streamTimeout ?? asked.request.timeout : asked.request.timeout
        self.lastActivity = self.start
        self.connectDeadline = self.start + asked.request.connectTimeout
        switch asked.request.body {
        case .none: break
        case .bytes(let bytes): self.upload = UploadQueue(whole: bytes)
        case .stream:
            self.upload = UploadQueue()
            if asked.request.isRepeatable { self.upload?.keepSent() }
        }
        if self.upload?.mayHaveBytes == true, asked.request.fields.contains(.expect) {
            // Why unowned holds: `forget` disarms the timer before the transfer is released.
            self.expectation = LoopTimer { [unowned self] in self.stopExpecting() }
        }
        if asked.request.connectOnly {
            self.makeConnection(by: proxy)
        } else {
            let host = self.pool.host(for: asked.request, by: proxy)
            self.host = host
            host.users += 1
            // The host's limit does not count connections that may be switched.
            if asked.request.upgrade == nil { self.takePlace(at: host) } else { self.makeConnection(by: proxy) }
        }
        // A connection that is being made has its own time limit.
        if !asked.request.connectOnly { self.pool.loop.arm(self.silence, at: self.nextCheck) }
    }

    /// Fails at the end of this turn, because the session is closed.
    func beginToFail(_ request: consuming TransferRequest, delegate: any TransferDelegate) {
        self.delegate = delegate
        self.asked = AskedRequest(consume request)
        self.start = self.pool.loop.turnTime
        self.pool.loop.atEndOfTurn(self)
    }

    private func takePlace(at host: OriginHost) {
        if host.speaksHTTP2 == true { return self.connect() }
        if host.places?.take(self, for: self.asked.request.client) == false {
            self.stage = .waiting
        } else {
            self.hasPlace = host.places != nil
            self.connect()
        }
    }

    /// Gives the transfer a place for one of the host's connections; ``goOnWithPlace()`` follows.
    func gotPlace() {
        guard case .waiting = self.stage else { preconditionFailure("BUG: a place is given to who does not wait") }
        self.hasPlace = true
    }

    /// Continues, unless the transfer was cancelled since it got its place.
    func goOnWithPlace() {
        guard case .waiting = self.stage, self.hasPlace else { return }
        if !self.asked.request.limitsWaiting {
            self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        }
        self.connect()
        self.pool.loop.arm(self.silence, at: self.nextCheck)
    }

    /// Ends the transfer with an error of Pintle's own; does nothing if it is over.
    func fail(_ code: SessionError.Code, _ message: String, cause: String? = nil) {
        guard self.isRunning else { return }
        self.leaveStage()
        self.tellEnd(SessionError(code, message, cause: cause))
    }

    // MARK: Getting a connection

    private func connect(again: Bool = false) {
        guard let host else { preconditionFailure("BUG: a transfer without a host is connected") }
        if !again, let connection = host.connectionOfHTTP2() { return self.use(connection) }
        while !again, let connection = host.takeIdle(for: self.asked.request.owner) {
            self.pool.unkeep(connection)
            guard connection.made.isTrusted(at: .now) else {
                connection.close()
                continue
            }
            return self.use(connection)
        }
        if host.speaksHTTP2 == false { self.makeConnection(by: host.proxy) } else { self.join(host) }
    }

    /// Waits for the connection that is being made, or makes it: if it turns out to use HTTP/2, all transfers share it.
    private func join(_ host: OriginHost) {
        if host.isBeingJoined {
            self.stage = .joining
            host.joining.append(self)
        } else {
            host.isBeingJoined = true
            self.isJoined = true
            self.makeConnection(by: host.proxy)
        }
    }

    private func makeConnection(by proxy: ProxyLink?) {
        let protocols =
            switch self.pool.configuration.httpVersion {
            case _ where self.asked.request.wantsConnection: ["http/1.1"]
            case .http1: ["http/1.1"]
            case .automatic: ["h2", "http/1.1"]
            case .http2: ["h2"]
            }
        self.attemptStart = self.pool.loop.turnTime
        let attempt = ConnectionAttempt(for: self.asked.request, by: proxy, protocols: protocols, in: self.pool)
        self.stage = .connecting(attempt)
        attempt.begin(within: max(.milliseconds(1), self.connectDeadline - self.attemptStart)) { [unowned self] in
            // Why unowned holds: an attempt is cancelled before its transfer is released.
            self.attempted($0, $1)
        }
    }

    private func attempted(_ result: Result<EstablishedConnection, SessionError>, _ metrics: TransferMetrics) {
        self.stage = .none
        self.measured = metrics
        self.measured.delay(by: .nanoseconds((self.attemptStart - self.start).nanoseconds))
        let others = self.leaveJoining()
        switch result {
        case .failure(let error):
            self.goOn(others)
            if !self.connectAgain(after: error) { self.tellEnd(error) }
        case .success(let made):
            self.judged = made.verdict
            self.judgedProxy = made.proxyVerdict
            guard let host else { return self.handOff(ConnectionHandoff(connection: made)) }
            if self.asked.request.upgrade != nil { return self.use(HTTP1Connection(made, to: host, pool: self.pool)) }
            let speaksHTTP2 = made.speaksHTTP2 || host.knowsHTTP2
            if speaksHTTP2 {
                HTTP2Connection(made, to: host, pool: self.pool).carry(self)
            } else {
                self.use(HTTP1Connection(made, to: host, pool: self.pool))
            }
            self.pool.note(speaksHTTP2: speaksHTTP2, at: host)
            self.goOn(others)
        }
    }

    /// Tries another connection after a pause, if the request allows it and no connection has taken any of it.
    ///
    /// - Returns: true if it does.
    private func connectAgain(after error: SessionError) -> Bool {
        guard self.asked.request.retries.onConnectFailure, error.isConnectFailure, self.host != nil,
            self.retries < self.asked.request.retries.limit, RequestHead.isIdempotent(self.asked.request.method),
            self.upload?.rewind() ?? true
        else { return false }
        self.retries += 1
        // Why unowned holds: `leaveStage` disarms the timer before the transfer is released.
        let timer = LoopTimer { [unowned self] in self.goOnConnecting() }
        self.stage = .pausing(timer)
        self.pool.loop.arm(timer, at: self.pool.loop.turnTime + TransferRetries.wait(before: self.retries))
        return true
    }

    private func goOnConnecting() {
        guard case .pausing = self.stage, let host else { preconditionFailure("BUG: what does not wait goes on") }
        self.stage = .none
        self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        if self.asked.request.upgrade != nil {
            self.makeConnection(by: host.proxy)
        } else {
            self.connect(again: self.wasSentAgain)
        }
    }

    /// Takes the transfers that wait for the connection that this one makes.
    private func leaveJoining() -> [Transfer] {
        guard self.isJoined, let host else { return [] }
        self.isJoined = false
        host.isBeingJoined = false
        defer { host.joining.removeAll() }
        return host.joining
    }

    private func goOn(_ others: [Transfer]) {
        for other in others { other.joined() }
    }

    private func joined() {
        // Another of the waiting transfers has cancelled this one.
        guard case .joining = self.stage else { return }
        self.stage = .none
        self.connect()
    }

    private func use(_ connection: HTTP1Connection) {
        self.stage = .carried(connection)
        self.note(connection.made, isKept: connection.isKept)
        connection.take(for: self)
    }

    private func use(_ connection: HTTP2Connection) {
        self.note(connection.made, isKept: true)
        connection.carry(self)
    }

    /// From here on a stream of HTTP/2 carries the transfer.
    func isCarried(by stream: HTTP2Stream) {
        self.stage = .carried(stream)
        self.upload?.keepSent()
    }

    private func note(_ made: EstablishedConnection, isKept: Bool) {
        self.lastActivity = self.pool.loop.turnTime
        self.measured.reusedConnection = isKept
        self.measured.address = made.address
        self.measured.tlsVersion = made.tlsVersion
        self.judged = made.verdict
    }

    /// The connection failed before anything was sent over it.
    func lostBeforeRequest() {
        self.stage = .none
        self.connect()
    }

    /// The connection is unusable, and the response incomplete.
    ///
    /// - Parameter afterUse: true if the connection has carried an earlier response.
    func lost(_ failure: CarrierFailure, afterUse: Bool, received: ResponsePart) {
        self.stage = .none
        let peer = self.asked.request.authority
        switch failure {
        // A response shows that the request was seen, whatever the peer says about it.
        case .refused where received == .nothing && self.maySendAgain: return self.sendAgain(isUntouched: true)
        case .unseen where received == .nothing && self.turnedAway < Self.mostTurnedAway:
            return self.sendAgain(isUntouched: true, wasTurnedAway: true)
        case .closed, .broken, .brokenFrames:
            if received == .nothing, afterUse, self.maySendAgain { return self.sendAgain() }
        case .malformed, .reset, .refused, .unseen, .excessive: break
        }
        let isBehindHead: SessionError.Code = received.hasHead ? .truncated : .connectionBroken
        switch failure {
        case .malformed(let error):
            self.tellEnd(.malformedResponse, "the response of \(peer) is malformed: \(error.message)")
        case .broken(let cause): self.tellEnd(isBehindHead, "the connection to \(peer) broke", cause)
        case .closed:
            switch received {
            case .nothing: self.tellEnd(.connectionBroken, "\(peer) closed without a response")
            case .bytes: self.tellEnd(.malformedResponse, "\(peer) sent no complete response head")
            case .chunks: self.tellEnd(.truncated, "\(peer) sent no last chunk")
            case .head: self.tellEnd(.truncated, "\(peer) closed before the response was complete")
            }
        case .reset, .refused, .unseen: self.tellEnd(isBehindHead, "\(peer) ended the stream of HTTP/2")
        case .excessive:
            self.tellEnd(isBehindHead, "\(peer) sent more frames of a few bytes than are held until they are taken")
        case .brokenFrames where received.hasHead: self.tellEnd(.truncated, "the connection to \(peer) broke")
        case .brokenFrames:
            self.tellEnd(.malformedResponse, "the response of \(peer) is not HTTP", "its frames break HTTP/2")
        }
    }

    private func tellEnd(_ code: SessionError.Code, _ message: String, _ cause: String? = nil) {
        self.tellEnd(SessionError(code, message, cause: cause))
    }

    /// True if the request may be sent once more.
    private var maySendAgain: Bool {
        !self.wasSentAgain && self.asked.request.retries.onStaleConnection
            && self.retries < self.asked.request.retries.limit
    }

    /// Sends the request once more on a new connection, as RFC 9112 §9.3.1 allows if a kept one was closed while the request
    /// was on its way.
    ///
    /// - Parameters:
    ///   - isUntouched: true if the peer has not processed the request.
    ///   - wasTurnedAway: true if the peer took no more requests when this one came. Any other connection to it will do then,
    ///     an existing one or a new one.
    private func sendAgain(isUntouched: Bool = false, wasTurnedAway: Bool = false) {
        let peer = self.asked.request.authority
        guard self.asked.request.isRepeatable || isUntouched else {
            return self.tellEnd(
                .connectionBroken, "\(peer) closed without a response", "the request is not sent again")
        }
        guard self.upload?.rewind() ?? true else {
            return self.tellEnd(.cannotRewind, "the connection to \(peer) broke, and the body cannot be sent twice")
        }
        self.delegate?.bodyBeginsAgain()
        // The delegate has cancelled the transfer.
        guard self.isRunning else { return }
        if wasTurnedAway {
            self.turnedAway += 1
        } else {
            self.wasSentAgain = true
            self.retries += 1
        }
        self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        self.connect(again: !wasTurnedAway)
    }

    // MARK: For the connection

    /// The body's next step; asked when there is room for it.
    var nextStep: BodyStep {
        guard let upload else { return .end }
        if self.expectation != nil || self.isHoldingBody && !self.hasResponse {
            self.beginToExpect()
            self.waitsForBody = true
            return .wait
        }
        self.waitsForBody = upload.byteCount == 0 && !upload.isComplete
        if upload.byteCount > 0 { return .bytes }
        return upload.isComplete ? .end : .wait
    }

    /// Offers bytes of the body, as many as are in one piece.
    ///
    /// - Parameter body: returns the number of bytes that it takes.
    /// - Returns: that number.
    func takeBody(_ body: (UnsafeRawBufferPointer) -> Int) -> Int { self.upload?.takeFirst(body) ?? 0 }

    /// The pipe that has the next bytes of the body; nil if ``takeBody(_:)`` has them.
    var pipedBody: PipedBytes? { self.upload?.piped }

    func sent(piped count: Int) {
        self.upload?.tookPiped(count)
        self.sent(count)
    }

    func beganToSend() { self.lastActivity = self.pool.loop.turnTime }

    func sent(_ count: Int) {
        self.lastActivity = self.pool.loop.turnTime
        if count > 0 { self.delegate?.originTookBody(count) }
    }

    func received(interim head: ResponseHead) {
        self.noteArrival()
        if head.status == 100 { self.stopExpecting() }
        self.delegate?.originSent(interim: head)
    }

    func received(_ head: ResponseHead, length: UInt64?, version: String) {
        self.noteArrival()
        self.hasResponse = true
        self.upload?.forgetSent()
        let isStream = Self.isStream(head.fields)
        self.silenceLimit =
            (isStream ? self.asked.request.streamTimeout : self.asked.request.bodyTimeout) ?? self.asked.request.timeout
        self.measured.httpVersion = version
        // The origin does not want the rest of the body.
        if head.status >= 300 { self.waitsForBody = false }
        let uses = self.uses
        // First: the delegate may end this transfer and reuse the object, and so may the sending here, which `uses` shows.
        self.stopExpecting()
        guard self.uses == uses else { return }
        self.delegate?.originAnswered(head, length: length)
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        self.lastActivity = self.pool.loop.turnTime
        self.delegate?.originSent(bytes)
    }

    func received(_ buffer: ByteBuffer) {
        self.lastActivity = self.pool.loop.turnTime
        self.delegate?.originSent(buffer)
    }

    func received(_ piped: PipedBytes) {
        self.lastActivity = self.pool.loop.turnTime
        self.delegate?.originSent(piped)
    }

    /// The origin has switched the connection to a protocol that it was offered.
    func switched(_ head: ResponseHead, to connection: EstablishedConnection, version: String, early: ByteBuffer) {
        self.stage = .none
        self.noteArrival()
        self.measured.httpVersion = version
        self.handOff(ConnectionHandoff(connection: connection, head: head, version: version, early: early))
    }

    /// The response is complete.
    func finished(trailers: Fields) {
        self.stage = .none
        if !trailers.isEmpty { self.delegate?.originSent(trailers: trailers) }
        // The delegate has cancelled the transfer.
        guard self.isRunning else { return }
        self.tellEnd(nil)
    }

    private func noteArrival() {
        self.lastActivity = self.pool.loop.turnTime
        if self.measured.firstByte == nil { self.measured.firstByte = self.elapsed }
    }

    /// The time since the start.
    private var elapsed: Duration { .nanoseconds((self.pool.loop.turnTime - self.start).nanoseconds) }

    // MARK: Inside

    private var carrier: (any Carrier)? {
        guard case .carried(let carrier) = self.stage else { return nil }
        return carrier
    }

    private func sendOn() {
        self.lastActivity = self.pool.loop.turnTime
        self.carrier?.sendMore()
    }

    private func beginToExpect() {
        // The body does not wait, or its time runs already.
        guard let expectation, !expectation.isArmed else { return }
        self.pool.loop.arm(expectation, at: self.pool.loop.turnTime + Self.expectationTime)
    }

    private func stopExpecting() {
        // The body does not wait.
        guard let expectation else { return }
        self.pool.loop.disarm(expectation)
        self.expectation = nil
        self.sendOn()
    }

    private func leaveStage() {
        let stage = self.stage
        self.stage = .none
        switch stage {
        case .none, .waiting: break
        case .connecting(let attempt):
            attempt.cancel()
            self.goOn(self.leaveJoining())
        case .pausing(let timer): self.pool.loop.disarm(timer)
        case .joining: self.host?.joining.removeAll { $0 === self }
        case .carried(let carrier): carrier.abandon()
        }
    }

    private func tellEnd(_ error: SessionError?) { self.end { $0.originEnded(error, $1) } }

    private func handOff(_ handoff: ConnectionHandoff) { self.end { $0.originHandedOver(handoff, $1) } }

    private func end(telling tell: (any TransferDelegate, TransferMetrics) -> Void) {
        guard let delegate else { preconditionFailure("BUG: a transfer ends that does not run") }
        self.measured.total = self.elapsed
        self.measured.retries = self.retries + self.turnedAway
        self.giveBackPlace()
        self.delegate = nil
        tell(delegate, self.measured)
        self.forget()
    }

    private func giveBackPlace() {
        // A bare connection has no place, and an ended transfer has given it back.
        guard let host else { return }
        self.host = nil
        host.users -= 1
        if self.hasPlace {
            self.hasPlace = false
            self.pool.giveBackPlace(at: host, of: self.asked.request.client)
        } else {
            host.places?.remove(self)
            self.pool.forget(host)
        }
    }

    /// Resets the object for the next request.
    private func forget() {
        self.uses += 1
        self.stage = .none
        self.delegate = nil
        self.giveBackPlace()
        self.pool.loop.disarm(self.silence)
        if let expectation { self.pool.loop.disarm(expectation) }
        self.expectation = nil
        self.asked = AskedRequest.none
        self.upload?.drop()
        self.upload = nil
        self.trailersToSend = Fields()
        self.measured = TransferMetrics()
        (self.judged, self.judgedProxy) = (nil, nil)
        (self.wasSentAgain, self.retries, self.turnedAway) = (false, 0, 0)
        self.hasResponse = false
        self.isReadingPaused = false
        self.takesPipes = false
        self.isHoldingBody = false
        self.waitsForBody = false
        self.pool.retire(self)
    }

    // MARK: Time

    /// The time of the next check for silence.
    private var nextCheck: NIODeadline {
        if case .waiting = self.stage, self.asked.request.limitsWaiting { return self.connectDeadline }
        return self.lastActivity + self.silenceLimit
    }

    /// Checks for silence. The upstream is silent only while it must send something: not while reading is paused, nor while it
    /// waits for a body that the client has not sent, nor before it has a connection.
    private func checkSilence() {
        let now = NIODeadline.now()
        switch self.stage {
        case .waiting:
            if self.asked.request.limitsWaiting, self.connectDeadline <= now { return self.failToWait() }
            self.lastActivity = now
        case .connecting, .joining, .pausing: self.lastActivity = now
        case .carried: if self.isReadingPaused || self.waitsForBody { self.lastActivity = now }
        // A transfer that has ended needs no check.
        case .none: return
        }
        let deadline = self.nextCheck
        guard deadline <= now else { return self.pool.loop.arm(self.silence, at: deadline) }
        let key = self.asked.request.timeoutKey.map { " (\($0))" } ?? ""
        self.fail(.timeout, "\(self.asked.request.authority) was silent for \(self.silenceLimit.inWords)\(key)")
    }

    /// True for a type of content that may be silent for a long time.
    private static func isStream(_ fields: Fields) -> Bool {
        fields.begins(.contentType, with: "text/event-stream") || fields.begins(.contentType, with: "application/grpc")
    }

    private func failToWait() {
        let host = self.asked.request.forwarder(self.host?.proxy)?.authority ?? self.asked.request.authority
        self.fail(
            .overloaded,
            "none of the \(self.pool.configuration.connectionsPerHost) connections to \(host) that connections_per_host "
                + "allows became free within \(self.asked.request.connectTimeout.inWords)")
    }
}

/// Fails a transfer that was begun in a closed session.
extension Transfer: TurnEndWork {
    package func runAtEndOfTurn() { self.fail(.cancelled, "the session was closed") }
}
