// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// A request that offers the origin another protocol, on a connection of its own, up to the origin's choice.
///
/// An origin that does not switch has given an ordinary answer, which is passed on by the rules for any
/// other; the connection closes behind it.
final class UpgradeAttempt {
    private enum State {
        /// The connection is being made.
        case connecting
        /// The request was sent.
        case asking
        /// The origin answers as it would have without the offer.
        case answering(BodyReader, untilClose: Bool)
        /// The answer is complete, or nobody wants it any more; or the channel is somebody else's.
        case over
    }

    private let request: TransferRequest
    private let offer: UpgradeOffer
    private let exchange: Exchange
    private let loop: Loop
    private var state = State.connecting
    private var transfer: Transfer?
    private var channel: SocketChannel?
    private var handler: UpgradeHandler?
    private var tlsVersion = ""
    private var verdict: Verdict?
    private var reader: ResponseReader
    private var inbox = ByteBuffer()
    private var isPaused = false
    private var isReading = false
    private var silence: LoopTimer?
    private let start: NIODeadline
    private var lastActivity: NIODeadline

    /// Holds `exchange` until it is over.
    init(_ request: TransferRequest, offering offer: UpgradeOffer, for exchange: Exchange) {
        self.request = request
        self.offer = offer
        self.exchange = exchange
        self.loop = exchange.connection.lane.loop
        self.reader = ResponseReader(limits: exchange.gate.headLimits)
        self.start = self.loop.turnTime
        self.lastActivity = self.start
        self.silence = LoopTimer { [weak self] in self?.checkSilence() }
    }

    private var origin: Authority { self.request.authority }

    func begin(in session: Session) {
        var request = self.request
        request.connectOnly = true
        self.transfer = session.start(request, on: self.loop, delegate: self)
    }

    // MARK: For the exchange

    func pauseReading() {
        self.isPaused = true
        self.channel?.setAutoRead(false)
    }

    func resumeReading() {
        guard self.isPaused else { return }
        self.isPaused = false
        self.lastActivity = self.loop.turnTime
        self.channel?.setAutoRead(true)
        self.read()
    }

    /// Gives the request up.
    func cancel() {
        self.end()
        self.transfer?.cancel()
        self.transfer = nil
        self.channel?.close0(error: ChannelError.eof, mode: .all, promise: nil)
        self.channel = nil
        // The handler holds this object.
        self.handler = nil
        self.inbox = ByteBuffer()
    }

    /// Hands the channel over, without a handler on it.
    func release() -> SocketChannel? {
        self.end()
        guard let channel, let handler else { return nil }
        channel.pipeline.syncOperations.removeHandler(handler, promise: nil)
        self.channel = nil
        self.handler = nil
        return channel
    }

    private func end() {
        self.state = .over
        if let silence { self.loop.disarm(silence) }
        self.silence = nil
    }

    // MARK: Asking

    private func ask() {
        guard let channel else { return }
        let handler = UpgradeHandler(self)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return self.fail("the connection to \(self.origin) was lost at once")
        }
        self.handler = handler
        self.state = .asking
        if let silence { self.loop.arm(silence, at: self.loop.turnTime + self.request.timeout) }
        self.lastActivity = self.loop.turnTime
        channel.start()
        guard case .asking = self.state else { return }
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(self.head), promise: nil)
    }

    private var head: ByteBuffer {
        var head = ByteBuffer()
        head.writeString("\(self.request.method) \(self.request.path) HTTP/1.1\r\n")
        head.writeString("Host: \(self.origin.description(for: self.request.scheme))\r\n")
        self.request.fields.forEachRun { head.writeBytes($0) }
        if case .bytes = self.request.body { head.writeStaticString("Content-Length: 0\r\n") }
        head.writeString("Connection: Upgrade\r\nUpgrade: \(self.offer.value)\r\n\r\n")
        return head
    }

    // MARK: The answer

    fileprivate func received(_ bytes: ByteBuffer) {
        self.lastActivity = self.loop.turnTime
        self.inbox.discardReadBytes()
        self.inbox.writeImmutableBuffer(bytes)
        self.read()
    }

    /// Understands as much as there is.
    private func read() {
        guard !self.isReading else { return }
        self.isReading = true
        defer { self.isReading = false }
        do throws(WireError) {
            while !self.isPaused, try self.step() {}
        } catch {
            self.exchange.fail(
                with: Problem(.upstreamProtocol, "the response of \(self.origin) is malformed: \(error.message)"))
        }
    }

    /// - Returns: whether there may be more to understand.
    private func step() throws(WireError) -> Bool {
        switch self.state {
        case .connecting, .over: return false
        case .asking: return try self.takeLine()
        case .answering(var body, let untilClose):
            let step = try body.next(&self.inbox)
            self.state = .answering(body, untilClose: untilClose)
            switch step {
            case .waiting: return false
            case .data(let piece):
                piece.withUnsafeReadableBytes { self.exchange.answer(with: $0) }
                return true
            case .end(let trailers):
                if !trailers.isEmpty { self.exchange.answer(withTrailers: trailers) }
                self.finish()
                return false
            }
        }
    }

    private func takeLine() throws(WireError) -> Bool {
        let limits = self.exchange.gate.headLimits
        guard let end = self.inbox.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            guard self.inbox.readableBytes <= limits.line + 2 else {
                throw WireError(.headerTooLarge, "a line of its head is over the limit")
            }
            return false
        }
        let count = end + 1 - self.inbox.readerIndex
        var found: Result<ResponseReader.Found, WireError> = .success(.more)
        self.inbox.readWithUnsafeReadableBytes { bytes in
            found = Result { () throws(WireError) in
                try self.reader.line(UnsafeRawBufferPointer(rebasing: bytes[..<count]), method: self.request.method)
            }
            return count
        }
        switch try found.get() {
        case .more: break
        case .interim(let head): self.exchange.pass(interim: head)
        case .head(let head, let length): try self.take(head, length: length)
        }
        return true
    }

    private func take(_ head: ResponseHead, length: UInt64?) throws(WireError) {
        let framing = try head.bodyFraming(to: self.request.method)
        self.exchange.report.metrics.firstByte = (self.loop.turnTime - self.start).nanoseconds / 1000
        self.exchange.report.metrics.httpVersion = self.reader.version
        self.exchange.report.metrics.tlsVersion = self.tlsVersion
        self.exchange.note(
            head, version: self.reader.version, verdict: self.exchange.asksForVerdict ? self.verdict : nil)
        if head.status == 101 {
            let early = self.inbox
            return self.exchange.switchProtocols(head, by: self, early: early)
        }
        self.state = .answering(
            BodyReader(framing, limits: self.exchange.gate.headLimits), untilClose: framing == .untilClose)
        self.exchange.answer(with: head, length: length)
    }

    /// The answer is complete.
    private func finish() {
        guard case .answering = self.state else { return }
        self.cancel()
        self.exchange.forgetTransfer()
        self.exchange.finishAnswer()
    }

    // MARK: The end

    fileprivate func closed(by error: (any Error)?) {
        switch self.state {
        case .connecting, .over: break
        case .asking:
            self.fail(
                error == nil
                    ? "\(self.origin) closed without a response" : "the connection to \(self.origin) broke")
        case .answering(_, untilClose: true) where error == nil: self.finish()
        case .answering: self.fail("\(self.origin) closed before the response was complete")
        }
    }

    private func fail(_ reason: String) {
        self.exchange.fail(with: Problem(.upstreamProtocol, reason, proxyError: "http_response_incomplete"))
    }

    private func checkSilence() {
        guard let silence else { return }
        // The silence is the client's while it is not ready for more.
        if self.isPaused { self.lastActivity = self.loop.turnTime }
        let deadline = self.lastActivity + self.request.timeout
        guard deadline <= self.loop.turnTime else { return self.loop.arm(silence, at: deadline) }
        self.exchange.fail(
            with: Problem(.upstreamTimeout, "\(self.origin) was silent for \(self.request.timeout.inWords)"))
    }
}

/// The connection comes first.
extension UpgradeAttempt: TransferDelegate {
    func transfer(_ transfer: Transfer, connected connection: MadeConnection) {
        self.tlsVersion = connection.tlsVersion
        self.channel = connection.makeChannel(on: self.loop)
        // The verdict is asked for while the transfer is still about this connection.
        self.verdict = transfer.verdict
        self.exchange.report.noteParentVerdict(of: transfer)
    }

    func transfer(_ transfer: Transfer, finishedWith error: SessionError?, metrics: TransferMetrics) {
        self.exchange.report.metrics = metrics
        self.transfer = nil
        if let error { self.exchange.fail(with: error) } else { self.ask() }
    }

    // Of a connection there is nothing else to be told.
    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) {}
    func transfer(_ transfer: Transfer, received head: ResponseHead, length: UInt64?) {}
    func transfer(_ transfer: Transfer, receivedBody bytes: UnsafeRawBufferPointer) {}
    func transfer(_ transfer: Transfer, receivedTrailers fields: Fields) {}
    func transfer(_ transfer: Transfer, sentBodyBytes count: Int) {}
}

/// Gives what the origin sends to the attempt.
final class UpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let attempt: UpgradeAttempt
    private var error: (any Error)?

    init(_ attempt: UpgradeAttempt) { self.attempt = attempt }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.attempt.received(self.unwrapInboundIn(data))
    }

    func channelInactive(context: ChannelHandlerContext) { self.attempt.closed(by: self.error) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.error = error }
}
