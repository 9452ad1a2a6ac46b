// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
package import NIOCore
internal import PintleLoop
package import PintleMessage
package import PintleTrust

/// One request on its way and its response, on one loop.
///
/// The object and its libcurl handle are used again by the pool: an owner lets go of it when it is told of the end.
package final class Transfer {
    enum Provided { case bytes(Int), wait, abort }
    enum Received { case taken, later, abort }

    /// How long a body waits for `100 Continue`: RFC 9110 §10.1.1 forbids to wait for ever.
    private static let expectationTime = TimeAmount.seconds(1)

    /// Lets its transfers go when it is closed; until then they hold each other.
    let pool: TransferPool
    var easy: EasyHandle
    private var headers = HeaderBlock()
    private(set) var delegate: (any TransferDelegate)?
    private(set) var errand = Errand()
    var isAdded = false
    /// Whether another request may be sent with this handle.
    var isReusable = true
    /// Whether the connection that was made stays with this handle, which is then not used for another one.
    var isKept = false {
        didSet { self.isReusable = !self.isKept }
    }
    // What is received.
    private let limits: HeadLimits
    let speaksHTTP2InClear: Bool
    private(set) var response: ResponseReader
    private var readingPaused = false
    // What is sent.
    private var upload: UploadQueue?
    private var writingPaused = false
    private var isHoldingBody = false
    /// Fires when a body was kept long enough for its expectation to be met; nil where there is none any more.
    private var expectation: LoopTimer?
    private(set) var trailersToSend = Fields()
    // How it ends.
    /// How often the request was begun to be sent.
    var attempts = 0
    /// Whether libcurl was told not to send the request over the connection that it had.
    var beginsAgain = false
    /// Over which it goes, as far as libcurl has said.
    var usedSocket: Int32?
    var error: SessionError?
    var socketRefusal: SocketRefusal?
    var trust: VerdictBox?
    /// The same for the proxy that the transfer goes by.
    var proxyTrust: VerdictBox?
    private var metrics = TransferMetrics()
    private var silence: LoopTimer?

    /// What it waits for before libcurl has it, and what came of that.
    var waiting = Waiting()
    private var start = NIODeadline.uptimeNanoseconds(0)
    private var lastActivity = NIODeadline.uptimeNanoseconds(0)

    init(pool: TransferPool, configuration: SessionConfiguration) {
        self.pool = pool
        self.limits = configuration.responseHead
        self.speaksHTTP2InClear = configuration.httpVersion == .http2
        self.response = ResponseReader(limits: configuration.responseHead)
        self.easy = EasyHandle(configuration)
        self.easy.configure(
            configuration, context: Unmanaged.passUnretained(self).toOpaque(),
            pool: Unmanaged.passUnretained(pool).toOpaque())
        if let jar = pool.cookieJar { self.easy.use(jar) }
        // `end` disarms the timer before the transfer goes.
        self.silence = LoopTimer { [unowned self] in self.checkSilence() }
    }

    var easyPointer: UnsafeMutableRawPointer { self.easy.pointer }
    var isRunning: Bool { self.delegate != nil }
    var hasFailed: Bool { self.error != nil }
    /// Whether the head of a final response was received.
    var hasResponse: Bool { self.response.isComplete }

    /// The verdict on the peer's chain: of this transfer's handshake, or of the one that its connection began with.
    package var verdict: Verdict? {
        if let verdict = self.trust?.verdict { return verdict }
        guard self.errand.scheme == .https else { return nil }
        return self.pool.verdict(on: self.errand.authority)
    }

    /// The verdict on the chain of the https proxy that the transfer goes by, where this transfer made the connection.
    package var proxyVerdict: Verdict? { self.proxyTrust?.verdict }

    /// The version of the response whose head was received: `1.0`, `1.1` or `2`.
    package var responseVersion: String { self.response.version }

    // MARK: For the owner

    /// Appends bytes to the body of a `.stream` request.
    package func send(_ bytes: ByteBuffer) {
        guard self.isRunning else { return }
        self.upload?.append(bytes)
        self.resumeWriting()
    }

    /// Ends the body of a `.stream` request; trailers go with chunked bodies only.
    package func finishBody(trailers: Fields = Fields()) {
        guard self.isRunning else { return }
        if !trailers.isEmpty {
            self.trailersToSend = trailers
            self.easy.sendTrailers(context: Unmanaged.passUnretained(self).toOpaque())
            // libcurl 7.88 never leaves the state that sending trailers brings a handle into: the next chunked body on
            // it would be written before the start of its buffer.
            self.isReusable = false
        }
        self.upload?.isComplete = true
        self.resumeWriting()
    }

    /// Keeps the rest of the body here; at most what libcurl has taken is still sent.
    package func holdBody() { self.isHoldingBody = true }

    /// Sends the body on.
    package func releaseBody() {
        self.isHoldingBody = false
        self.resumeWriting()
    }

    /// Bytes that were given to ``send(_:)`` and that the upstream has not taken.
    package var unsentBodyBytes: Int { self.upload?.byteCount ?? 0 }

    /// Stops reading from the upstream; nothing more of the body arrives until reading is resumed.
    package func pauseReading() {
        guard self.isRunning, !self.readingPaused else { return }
        self.readingPaused = true
        self.applyPauses()
    }

    /// Reads on.
    package func resumeReading() {
        guard self.isRunning, self.readingPaused else { return }
        self.readingPaused = false
        self.lastActivity = self.pool.loop.turnTime
        self.applyPauses()
    }

    /// Gives the transfer up. The delegate hears nothing more.
    package func cancel() {
        guard self.isRunning else { return }
        self.delegate = nil
        self.pool.cancel(self)
    }

    // MARK: For the pool

    func forgetCookies() { self.easy.forgetCookies() }

    func begin(_ request: TransferRequest, delegate: any TransferDelegate) {
        self.errand = Errand(request, by: self.pool.proxy(for: request))
        self.delegate = delegate
        self.response = ResponseReader(
            limits: self.limits, mayBeHTTP2: self.speaksHTTP2InClear || request.scheme == .https)
        self.attempts = 0
        self.beginsAgain = false
        self.usedSocket = nil
        self.metrics = TransferMetrics()
        self.trust = nil
        self.proxyTrust = nil
        self.error = nil
        self.start = self.pool.loop.turnTime
        self.lastActivity = self.start
        self.waiting = Waiting(connectDeadline: self.start + request.connectTimeout)
        var directives: [StaticString] = []
        if !request.fields.contains(.accept) { directives.append("Accept:") }
        if self.errand.proxy?.server.forwards == true { directives.append("Proxy-Connection:") }
        switch request.body {
        case .none: break
        case .bytes(let bytes): self.upload = UploadQueue(whole: bytes)
        case .stream: self.upload = UploadQueue()
        }
        if self.upload != nil {
            // libcurl asks for 100-continue on its own before large bodies; here the client decides. It also makes a
            // refused request again, so it is not told of an expectation, which the line of the client still announces.
            directives.append("Expect:")
            if request.fields.contains(.expect) { self.expect() }
        }
        let headers = self.headers.list(of: request.fields, directives: directives)
        if !self.easy.prepare(request, by: self.errand.proxy, headers: headers) {
            self.error = SessionError(
                .cannotSend, "the target for \(request.authority) is over 8 MB; send a shorter one")
        }
        if let silence { self.pool.loop.arm(silence, at: self.lastActivity + request.timeout) }
    }

    /// Puts everything back for the next request.
    func end() {
        if let silence { self.pool.loop.disarm(silence) }
        self.forgetWaiting()
        self.upload = nil
        self.trailersToSend = Fields()
        self.readingPaused = false
        self.writingPaused = false
        self.isHoldingBody = false
        self.forgetExpectation()
        self.socketRefusal = nil
    }

    func collectResult(_ result: CURLcode) {
        if result != CURLE_OK || self.errand.collectsMetrics { self.easy.fill(&self.metrics, after: result) }
        if self.waiting.lookupTime > .zero { self.metrics.delay(by: self.waiting.lookupTime.nanoseconds / 1000) }
        if result == CURLE_OK, self.error == nil {
            if self.errand.connectOnly {
                self.handOver()
            } else if !self.response.isComplete {
                self.error = SessionError(.malformedResponse, "\(self.errand.authority) sent no complete response head")
            } else if self.response.lacksChunks {
                self.error = SessionError(.truncated, "\(self.errand.authority) sent no last chunk")
            }
        } else if self.error == nil {
            self.error =
                TransferFailure(
                    result: result, errand: self.errand, tunnelStatus: self.easy.long(CURLINFO_HTTP_CONNECTCODE),
                    proxyError: self.easy.long(CURLINFO_PROXY_ERROR), interface: self.pool.interface,
                    metrics: self.metrics, verdict: self.trust?.verdict,
                    hasReachedOrigin: self.trust != nil, proxyVerdict: self.proxyTrust?.verdict,
                    socketRefusal: self.socketRefusal, systemError: Int32(self.easy.long(CURLINFO_OS_ERRNO)),
                    headComplete: self.response.isComplete
                ).error
        }
        if let verdict = self.trust?.verdict { self.pool.note(verdict, on: self.errand.authority) }
    }

    func tellEnd() {
        let delegate = self.delegate
        let error = self.error
        self.delegate = nil
        self.error = nil
        if error == nil, !self.response.trailers.isEmpty {
            delegate?.transfer(self, receivedTrailers: self.response.trailers)
        }
        delegate?.transfer(self, finishedWith: error, metrics: self.metrics)
        guard self.delegate == nil else { return }
        self.trust = nil
        self.proxyTrust = nil
    }

    /// Ends the transfer with an error of ours.
    func fail(_ code: SessionError.Code, _ message: String, cause: String? = nil) {
        guard self.isRunning, self.error == nil else { return }
        self.error = SessionError(code, message, cause: cause)
        self.pool.end(self)
    }

    /// The session behind the transfer is there only while the connection is in use.
    private func noteTLSVersion() {
        guard self.errand.collectsMetrics, self.errand.scheme == .https, let ssl = self.easy.tlsConnection() else {
            return
        }
        self.metrics.tlsVersion = TLSConnection.version(of: ssl)
    }

    // MARK: Called by libcurl

    func receivedHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        self.lastActivity = self.pool.loop.turnTime
        guard let delegate else { return false }
        do throws(WireError) {
            switch try self.response.line(line, method: self.errand.method) {
            case .more: break
            case .interim(let head):
                if head.status == 100 { self.stopExpecting() }
                delegate.transfer(self, receivedInterim: head)
            case .head(let head, let length):
                self.stopExpecting()
                // libcurl stops sending the body after an error status, but never notices while it is paused.
                if head.status >= 300 { self.resumeWriting() }
                self.noteTLSVersion()
                delegate.transfer(self, received: head, length: length)
            }
        } catch {
            self.error = SessionError(
                .malformedResponse, "the response of \(self.errand.authority) is malformed: \(error.message)")
            return false
        }
        return self.isRunning
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Received {
        self.lastActivity = self.pool.loop.turnTime
        // libcurl does not pause a transfer that has no connection yet, and finishes the piece that it is at.
        if self.readingPaused { return .later }
        var offset = 0
        do throws(WireError) {
            while self.isRunning, let piece = try self.response.nextBody(bytes, from: &offset) {
                self.delegate?.transfer(self, receivedBody: UnsafeRawBufferPointer(rebasing: bytes[piece]))
            }
        } catch {
            self.error = SessionError(
                .malformedResponse, "the response of \(self.errand.authority) is malformed: \(error.message)")
            return .abort
        }
        if self.response.isBodyOver { self.checkExcess() }
        return self.isRunning ? .taken : .abort
    }

    func provideBody(_ space: UnsafeMutableRawBufferPointer) -> Provided {
        guard let delegate else { return .abort }
        self.lastActivity = self.pool.loop.turnTime
        // The rest of a body is not wanted any more after the response's head; libcurl finds out when it goes on.
        if self.isHoldingBody && !self.response.isComplete || self.expectation != nil {
            if let expectation, !expectation.isArmed {
                self.pool.loop.arm(expectation, at: self.lastActivity + Self.expectationTime)
            }
            self.writingPaused = true
            return .wait
        }
        let count = self.upload?.take(into: space) ?? 0
        if count > 0 {
            delegate.transfer(self, sentBodyBytes: count)
            return self.isRunning ? .bytes(count) : .abort
        }
        if self.upload?.isComplete ?? true { return .bytes(0) }
        self.writingPaused = true
        return .wait
    }

    func rewindBody(to offset: Int) -> Bool {
        guard self.upload?.rewind(to: offset) ?? true else { return false }
        self.delegate?.transfer(self, rewoundBodyTo: offset)
        return true
    }

    // MARK: Inside

    private func expect() {
        // unowned: `end` disarms the timer before the transfer goes.
        self.expectation = LoopTimer { [unowned self] in self.stopExpecting() }
    }

    private func stopExpecting() {
        guard self.expectation != nil else { return }
        self.forgetExpectation()
        self.resumeWriting()
    }

    private func forgetExpectation() {
        if let expectation { self.pool.loop.disarm(expectation) }
        self.expectation = nil
    }

    private func resumeWriting() {
        guard self.writingPaused else { return }
        self.writingPaused = false
        self.lastActivity = self.pool.loop.turnTime
        self.applyPauses()
    }

    private func applyPauses() {
        if self.readingPaused, self.pool.isInsideLibcurl {
            // Only sets a bit; libcurl keeps what it still reads until the transfer is resumed.
            curl_easy_pause(self.easy.pointer, self.pauses)
            return
        }
        self.pool.whenOutsideLibcurl { [self] in
            guard self.isRunning, self.isAdded else { return }
            self.pool.callLibcurl { curl_easy_pause(self.easy.pointer, self.pauses) }
        }
    }

    /// Asked when it is applied: it may have changed since that was wanted.
    private var pauses: Int32 {
        var mask = CURLPAUSE_CONT
        // A paused libcurl still reads once, and runs the lines of a head together. `receivedBody` pauses it in time.
        if self.readingPaused, self.response.isComplete { mask |= CURLPAUSE_RECV }
        if self.writingPaused { mask |= CURLPAUSE_SEND }
        return mask
    }

    func armSilence(at deadline: NIODeadline) {
        if let silence { self.pool.loop.arm(silence, at: deadline) }
    }

    /// The upstream is silent only while something is expected of it: not while we hold it back, nor while it waits
    /// for a body that the client has not sent, nor before it has a connection: libcurl limits the time of connecting.
    private func checkSilence() {
        guard let silence, self.isRunning else { return }
        let now = NIODeadline.now()
        if let waitDeadline, waitDeadline <= now { return self.failToWait() }
        if self.waiting.what != nil {
            return self.pool.loop.arm(silence, at: self.waitDeadline ?? now + self.errand.timeout)
        }
        let connected = self.easy.offset(CURLINFO_PRETRANSFER_TIME_T)
        if self.readingPaused || self.writingPaused || connected == 0 { self.lastActivity = now }
        self.lastActivity = max(self.lastActivity, self.start + .microseconds(connected))
        let deadline = self.lastActivity + self.errand.timeout
        guard deadline <= now else {
            self.pool.loop.arm(silence, at: deadline)
            return
        }
        self.fail(.timeout, "\(self.errand.authority) was silent for \(self.errand.timeout.inWords)")
    }
}
