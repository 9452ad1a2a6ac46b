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
    /// Its way to a connection.
    private enum Stage {
        /// It has not begun, or is over, or is between two stages.
        case none
        /// It waits for a place: until one of the connections to its host is free.
        case waiting
        /// A connection is being made.
        case connecting(ConnectionAttempt, for: Beneficiary)
        /// A connection is being made for another transfer, which all of them may share (HTTP/2).
        case joining
        /// No connection could be made; another is tried when the timer fires.
        case pausing(LoopTimer)
        case carried(any Carrier)
    }

    /// The transfers for which a connection is being made.
    private enum Beneficiary {
        case itself
        /// Others wait for it, or may come to wait.
        case all
    }

    /// Its part in the connections of its host.
    private enum Standing {
        /// It has no host: it has not begun, is over, or makes a connection that is handed over.
        case none
        case withoutPlace(HostNumber)
        /// It has one of the places for the host's connections.
        case withPlace(HostNumber)
    }

    /// The owner's hold on the body.
    private enum Hold {
        case none
        /// Bytes that the connection has not taken wait until the owner releases them, or the response begins.
        case held
        /// The response has begun, after which a hold has no effect.
        case ended
    }

    /// The party that must act next.
    private enum Awaited {
        /// The origin must take bytes, or send some.
        case origin
        /// The connection waits for bytes of the body.
        case body
    }

    /// The time for which a body waits for `100 Continue`: RFC 9110 §10.1.1 forbids to wait for ever.
    private static let expectationTime = TimeAmount.seconds(1)

    /// The longest silence of an upstream after which an abandoned transfer casts no doubt on its connection.
    private static let longestWithoutDoubt = TimeAmount.seconds(5)

    /// Its index among the running transfers of its pool.
    var place: Int?
    private let pool: TransferPool
    private var stage = Stage.none
    private(set) var asked = AskedRequest.none
    private var delegate: (any TransferDelegate)?
    /// The proxy on its route; nil for none.
    private var proxy: ProxyLink?
    private var standing = Standing.none
    private var attempts = TransferAttempts()
    private var start = NIODeadline.uptimeNanoseconds(0)
    private var lastActivity = NIODeadline.uptimeNanoseconds(0)
    private var connectDeadline = NIODeadline.uptimeNanoseconds(0)
    private var attemptStart = NIODeadline.uptimeNanoseconds(0)
    private var measured = TransferMetrics()
    private var judged: Verdict?
    private var judgedProxy: Verdict?
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
    private var hold = Hold.none
    private var awaited = Awaited.origin
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
        guard self.expectation == nil, self.hold != .held, self.carrier?.takesPipes == true else { return .isUnfit }
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
    package func holdBody() { if self.hold == .none { self.hold = .held } }

    /// Continues to send the body.
    package func releaseBody() {
        if self.hold == .held { self.hold = .none }
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
        self.proxy = proxy
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
        // A connection that is being made has its own time limit.
        if asked.request.connectOnly { return self.makeConnection(for: .itself) }
        // Before, because the transfer may have ended afterwards.
        self.pool.loop.arm(self.silence, at: self.nextCheck)
        self.enterHost()
    }

    /// Fails at the end of this turn, because the session is closed.
    func beginToFail(_ request: consuming TransferRequest, delegate: any TransferDelegate) {
        self.delegate = delegate
        self.asked = AskedRequest(consume request)
        self.start = self.pool.loop.turnTime
        self.pool.loop.atEndOfTurn(self)
    }

    private func enterHost() {
        let (host, admission) = self.pool.enter(self, by: self.proxy)
        switch admission {
        case .queued:
            self.standing = .withoutPlace(host)
            self.stage = .waiting
        case .counted:
            self.standing = .withPlace(host)
            self.connect()
        case .uncounted:
            self.standing = .withoutPlace(host)
            self.goOnConnecting(over: .any)
        }
    }

    /// Continues with a place for one of the host's connections.
    func gotPlace() {
        guard case .waiting = self.stage, case .withoutPlace(let host) = self.standing else {
            preconditionFailure("BUG: a place is given to a transfer that does not wait")
        }
        self.standing = .withPlace(host)
        self.stage = .none
        if !self.asked.request.limitsWaiting {
            self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        }
        self.pool.loop.arm(self.silence, at: self.nextCheck)
        self.connect()
    }

    /// Ends the transfer with an error of Pintle's own; does nothing if it is over.
    func fail(_ code: SessionError.Code, _ message: String, cause: String? = nil) {
        guard self.isRunning else { return }
        self.leaveStage()
        self.tellEnd(SessionError(code, message, cause: cause))
    }

    // MARK: Getting a connection

    private var host: HostNumber? {
        switch self.standing {
        case .none: nil
        case .withoutPlace(let host), .withPlace(let host): host
        }
    }

    /// The proxy that gets the request itself; nil if it goes to its origin.
    var forwarder: ProxyServer? { self.asked.request.forwarder(self.proxy) }

    private func connect(over choice: TransferPool.State.Choice = .any) {
        guard let host else { preconditionFailure("BUG: a transfer without a host is connected") }
        let uses = self.uses
        if choice == .any {
            self.pool.retireUnfit(at: host)
            // A transfer that has lost its stream by that has cancelled this one.
            guard self.uses == uses else { return }
        }
        while true {
            switch self.pool.connect(self, at: host, over: choice) {
            case .use(let connection):
                guard connection.retireIfUnfit() else { return self.use(connection) }
                // A transfer that has lost its stream by that has cancelled this one.
                guard self.uses == uses else { return }
            case .dial: return self.makeConnection(for: .itself)
            case .dialForAll: return self.makeConnection(for: .all)
            case .join: return self.stage = .joining
            }
        }
    }

    private func makeConnection(for beneficiary: Beneficiary) {
        let protocols =
            switch self.pool.configuration.httpVersion {
            case _ where self.asked.request.wantsConnection: ["http/1.1"]
            case .http1: ["http/1.1"]
            case .automatic where self.pool.requiresHTTP1(self.asked.request.authority): ["http/1.1"]
            case .automatic: ["h2", "http/1.1"]
            case .http2: ["h2"]
            }
        self.attemptStart = self.pool.loop.turnTime
        let attempt = ConnectionAttempt(for: self.asked.request, by: self.proxy, protocols: protocols, in: self.pool)
        self.stage = .connecting(attempt, for: beneficiary)
        attempt.begin(within: max(.milliseconds(1), self.connectDeadline - self.attemptStart)) { [unowned self] in
            // Why unowned holds: an attempt is cancelled before its transfer is released.
            self.attempted($0, $1)
        }
    }

    private func attempted(_ result: Result<EstablishedConnection, SessionError>, _ metrics: TransferMetrics) {
        let (others, uses, proxy) = (self.endAttempt(), self.uses, self.proxy)
        self.measured = metrics
        self.measured.delay(by: .nanoseconds((self.attemptStart - self.start).nanoseconds))
        switch result {
        case .failure(let error):
            self.goOn(others, isMade: false)
            // One of the others has cancelled this transfer.
            guard self.uses == uses else { return }
            if !self.connectAgain(after: error) { self.tellEnd(error) }
        case .success(let made):
            self.judged = made.verdict
            self.judgedProxy = made.proxyVerdict
            guard let host else { return self.handOff(ConnectionHandoff(connection: made)) }
            if self.asked.request.upgrade != nil { return self.use(HTTP1Connection(made, to: host, pool: self.pool)) }
            let version = self.pool.version(of: made, at: host)
            switch version {
            case .http1: self.use(HTTP1Connection(made, to: host, pool: self.pool))
            case .http2: HTTP2Connection(made, to: host, pool: self.pool).carry(self)
            }
            self.pool.note(version, at: host, by: proxy)
            self.goOn(others, isMade: true)
        }
    }

    /// Tries another connection after a pause, if the request allows it and no connection has taken any of it.
    ///
    /// - Returns: true if it does.
    private func connectAgain(after error: SessionError) -> Bool {
        let request = self.asked.request
        guard self.host != nil,
            self.attempts.mayConnectAgain(after: error, with: request.method, by: request.retries),
            self.upload?.rewind() ?? true
        else { return false }
        let wait = self.attempts.noteConnection()
        // Why unowned holds: `leaveStage` disarms the timer before the transfer is released.
        let timer = LoopTimer { [unowned self] in self.pauseEnded() }
        self.stage = .pausing(timer)
        self.pool.loop.arm(timer, at: self.pool.loop.turnTime + wait)
        return true
    }

    private func pauseEnded() {
        guard case .pausing = self.stage else { preconditionFailure("BUG: what does not wait goes on") }
        self.stage = .none
        self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        self.goOnConnecting(over: self.attempts.choice)
    }

    private func goOnConnecting(over choice: TransferPool.State.Choice) {
        // A connection that may be switched is made for the request alone.
        if self.asked.request.upgrade != nil { self.makeConnection(for: .itself) } else { self.connect(over: choice) }
    }

    /// Leaves the stage of making a connection, and returns the transfers that wait for it.
    private func endAttempt() -> [Transfer] {
        let stage = self.stage
        self.stage = .none
        guard case .connecting(_, for: .all) = stage, let host else { return [] }
        return self.pool.endAttempt(at: host)
    }

    private func goOn(_ others: [Transfer], isMade: Bool) { for other in others { other.joined(isMade: isMade) } }

    /// - Parameter isMade: false if the connection that was waited for has not come.
    private func joined(isMade: Bool) {
        // Another of the waiting transfers has cancelled this one.
        guard case .joining = self.stage else { return }
        self.stage = .none
        if isMade || self.pool.loop.turnTime < self.connectDeadline { return self.connect() }
        let (peer, limit) = (self.asked.request.authority, self.asked.request.connectTimeout)
        self.tellEnd(SessionError.connectTimeout(peer, by: self.proxy?.server, within: limit))
    }

    private func use(_ connection: PooledConnection) {
        switch connection {
        case .http1(let connection): self.use(connection)
        case .http2(let connection):
            self.note(connection.made, isKept: true)
            connection.carry(self)
        }
    }

    private func use(_ connection: HTTP1Connection) {
        self.stage = .carried(connection)
        self.note(connection.made, isKept: connection.isKept)
        connection.take(for: self)
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
        if case .http1Required = failure, let host {
            let uses = self.uses
            self.pool.requireHTTP1(of: self.asked.request.authority, at: host)
            // A transfer that has lost its stream by that has cancelled this one.
            guard self.uses == uses else { return }
        }
        let resend = self.attempts.resend(
            after: failure, afterUse: afterUse, received: received, by: self.asked.request.retries)
        if let resend { return self.send(again: resend) }
        self.tellEnd(failure.error(of: self.asked.request.authority, after: received))
    }

    private func tellEnd(_ code: SessionError.Code, _ message: String, _ cause: String? = nil) {
        self.tellEnd(SessionError(code, message, cause: cause))
    }

    private func send(again resend: TransferAttempts.Resend) {
        let peer = self.asked.request.authority
        guard self.asked.request.isRepeatable || resend != .lost else {
            return self.tellEnd(
                .connectionBroken, "\(peer) closed without a response", "the request is not sent again")
        }
        guard self.upload?.rewind() ?? true else {
            return self.tellEnd(.cannotRewind, "the connection to \(peer) broke, and the body cannot be sent twice")
        }
        self.delegate?.bodyBeginsAgain()
        // The delegate has cancelled the transfer.
        guard self.isRunning else { return }
        let choice = self.attempts.note(resend)
        self.connectDeadline = self.pool.loop.turnTime + self.asked.request.connectTimeout
        self.connect(over: choice)
    }

    // MARK: For the connection

    /// The body's next step; asked when there is room for it.
    var nextStep: BodyStep {
        guard let upload else { return .end }
        if self.expectation != nil || self.hold == .held {
            self.beginToExpect()
            self.awaited = .body
            return .wait
        }
        self.awaited = upload.byteCount == 0 && !upload.isComplete ? .body : .origin
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
        self.hold = .ended
        self.upload?.forgetSent()
        let isStream = Self.isStream(head.fields)
        self.silenceLimit =
            (isStream ? self.asked.request.streamTimeout : self.asked.request.bodyTimeout) ?? self.asked.request.timeout
        self.measured.httpVersion = version
        // The origin does not want the rest of the body.
        if head.status >= 300 { self.awaited = .origin }
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
        let others = self.endAttempt()
        switch stage {
        case .none, .waiting: break
        case .connecting(let attempt, _):
            attempt.cancel()
            self.goOn(others, isMade: false)
        case .pausing(let timer): self.pool.loop.disarm(timer)
        case .joining: if let host { self.pool.stopJoining(self, at: host) }
        case .carried(let carrier): carrier.abandon(after: self.suspiciousSilence)
        }
    }

    private func tellEnd(_ error: SessionError?) { self.end { $0.originEnded(error, $1) } }

    private func handOff(_ handoff: ConnectionHandoff) { self.end { $0.originHandedOver(handoff, $1) } }

    private func end(telling tell: (any TransferDelegate, TransferMetrics) -> Void) {
        guard let delegate else { preconditionFailure("BUG: a transfer ends that does not run") }
        self.measured.total = self.elapsed
        self.measured.retries = self.attempts.count
        // The others that get its place may cancel it; it is over by then.
        self.delegate = nil
        self.leaveHost()
        tell(delegate, self.measured)
        self.forget()
    }

    private func leaveHost() {
        let standing = self.standing
        self.standing = .none
        switch standing {
        // It makes a bare connection, or has ended before.
        case .none: break
        case .withoutPlace(let host): self.pool.leave(host, self, hasPlace: false)
        case .withPlace(let host): self.pool.leave(host, self, hasPlace: true)
        }
    }

    /// Resets the object for the next request.
    private func forget() {
        self.uses += 1
        self.stage = .none
        self.delegate = nil
        self.leaveHost()
        self.pool.loop.disarm(self.silence)
        if let expectation { self.pool.loop.disarm(expectation) }
        self.expectation = nil
        self.asked = AskedRequest.none
        self.upload?.drop()
        self.upload = nil
        self.trailersToSend = Fields()
        self.measured = TransferMetrics()
        (self.judged, self.judgedProxy) = (nil, nil)
        self.proxy = nil
        self.attempts = TransferAttempts()
        self.isReadingPaused = false
        self.takesPipes = false
        self.hold = .none
        self.awaited = .origin
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
        case .carried: if self.isReadingPaused || self.awaited == .body { self.lastActivity = now }
        // A transfer that has ended needs no check.
        case .none: return
        }
        let deadline = self.nextCheck
        guard deadline <= now else { return self.pool.loop.arm(self.silence, at: deadline) }
        let key = self.asked.request.timeoutKey.map { " (\($0))" } ?? ""
        self.fail(.timeout, "\(self.asked.request.authority) was silent for \(self.silenceLimit.inWords)\(key)")
    }

    /// The second half of a silence of the upstream that is suspiciously long, by its beginning; nil if there is none.
    private var suspiciousSilence: NIODeadline? {
        let silence = NIODeadline.now() - self.lastActivity
        let isLong = silence >= min(self.silenceLimit, Self.longestWithoutDoubt)
        guard isLong, !self.isReadingPaused, self.awaited == .origin else { return nil }
        return self.lastActivity + .nanoseconds(silence.nanoseconds / 2)
    }

    /// True for a type of content that may be silent for a long time.
    private static func isStream(_ fields: Fields) -> Bool {
        fields.begins(.contentType, with: "text/event-stream") || fields.begins(.contentType, with: "application/grpc")
    }

    private func failToWait() {
        let host = self.forwarder?.authority ?? self.asked.request.authority
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
