// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleWebSocket

/// One request of an HTTP/2 client and its response (RFC 9113 §8.1), or the tunnel that it asks for (§8.5).
///
/// Frames wait here until the exchange takes them, and are read no faster than that: the stream's window limits them.
final class HTTP2ClientStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// A part of the request's body.
    enum Piece {
        case bytes(ByteBuffer)
        case end(Fields)
    }

    /// The next action expected of the client.
    enum Expectation { case body, clientToRead, nothing }

    /// The request, as far as it has come.
    enum Input {
        /// Its head is still to come.
        case none
        /// Its content is still to come.
        case head
        /// The client has ended its side of the stream: further frames have no content. Parts may wait until they are taken.
        case ended
        /// The whole request was taken.
        case taken
    }

    /// The response, as far as it matters for its content.
    private enum Answer {
        case none
        /// The final response was begun.
        case begun
        /// The final response was begun. It has no content, whatever its head declares.
        case bodiless
    }

    /// The delivery of frames by the codec. Asking for more meanwhile would nest the deliveries.
    private enum Delivery {
        case none
        case underWay
        /// The codec is to be asked for more when it has delivered everything.
        case wantsMore
    }

    /// The longest frame that every client accepts (RFC 9113 §4.2).
    private static let longestFrame = 1 << 14

    /// The number of the stream on its connection.
    let number: Int
    private let connection: HTTP2ClientConnection
    let worker: Worker
    let channel: any Channel
    private var kind = HTTP2RequestHead.Kind.exchange
    /// The stream as the end of a tunnel, once it is one.
    var socket: HTTP2StreamSocket?
    private weak var tunnel: Tunnel?
    /// Fulfilled when the end of the tunnel's output was sent; nil before that end was written.
    var tunnelEnd: EventLoopFuture<Void>?
    /// Bytes that have arrived and were not taken; the connection counts them, too.
    var untaken = 0
    private var isOver = false
    /// True once a RST_STREAM was written, even before the codec has it: the codec may deliver further frames within that call.
    private var isReset = false
    /// Nil before the head has arrived, and when all is over.
    private(set) var exchange: Exchange?
    var input = Input.none
    private var isHead = false
    var waiting: CircularBuffer<Piece> = []
    /// The bytes of content that are still to arrive; nil if the request does not declare a length.
    private var owed: UInt64?
    private var answer = Answer.none
    /// The content that comes after the response has ended; nil before that, and if the client has to stop at once.
    private var discarded: DiscardedContent?
    private var delivery = Delivery.none
    /// The head of the response, until something follows it or the turn is over, so that a response without content is one
    /// frame.
    private var waitingHead: HPACKHeaders?
    /// The last piece of content, likewise, so that its frame can have the END_STREAM flag.
    private var waitingContent: ByteBuffer?
    /// The bytes of content that are still to be sent; nil if the head does not declare a length.
    private var owedContent: UInt64?
    /// Armed while only the end of the response is missing, which a slow origin sends later. A client like curl that has all
    /// bytes but no end resets the stream, and a client that resets many streams is taken for a flood.
    private var endTimer: LoopTimer?
    private static let patienceForEnd = TimeAmount.milliseconds(10)
    private var isProcessing = false
    private var needsFlush = false
    /// An exchange to be notified at the end of the turn that its client has left.
    private var abandoned: Exchange?
    /// The reason why the stream was reset here; nil if the client has reset it.
    private var leavingReason: String?
    var expectation = Expectation.nothing
    private var expectedSince = NIODeadline.uptimeNanoseconds(0)

    init(on connection: HTTP2ClientConnection, channel: any Channel, number: Int) {
        self.number = number
        self.connection = connection
        self.worker = connection.worker
        self.channel = channel
    }

    // MARK: The request

    /// True if the client has sent the whole request, and it was taken.
    var isTaken: Bool { self.input == .taken }

    func channelActive(context: ChannelHandlerContext) { self.channel.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .none = self.delivery { self.delivery = .underWay }
        // Frames that arrived together with the one that caused the reset are ignored.
        guard !self.isReset else { return }
        guard self.discarded == nil else { return self.drop(self.unwrapInboundIn(data)) }
        switch self.unwrapInboundIn(data) {
        case .headers(let headers):
            if case .none = self.input { return self.begin(headers) }
            self.input = .ended
            self.receive(trailers: headers.headers)
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return self.fault() }
            if data.endStream { self.input = .ended }
            self.took(HTTP2FrameHead.cost)
            self.receive(bytes, isLast: data.endStream)
        case .rstStream: self.leave()
        case .windowUpdate:
            self.took(HTTP2FrameHead.cost)
            self.askForMore()
        case .alternativeService, .goAway, .origin, .ping, .priority, .pushPromise, .settings: self.askForMore()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        let delivery = self.delivery
        self.delivery = .none
        // Otherwise frames wait for the exchange, which asks for more when it has taken them.
        if case .wantsMore = delivery { self.channel.read() }
    }

    /// Asks the codec for more frames. The codec may deliver them within the call; so it is not asked during a delivery,
    /// because the client would control the depth of the recursion.
    func ask() { if case .none = self.delivery { self.channel.read() } else { self.delivery = .wantsMore } }

    /// Asks the codec for more if nothing waits here. After the end it is always asked: then only frames without content
    /// arrive, and the codec would otherwise keep them.
    private func askForMore() {
        if self.input == .ended || self.isTaken || self.socket?.isEmpty ?? self.waiting.isEmpty { self.ask() }
    }

    private func receive(_ bytes: ByteBuffer, isLast: Bool) {
        if let socket {
            if isLast { self.input = .taken }
            if bytes.readableBytes > 0 { socket.received(bytes) }
            if isLast { socket.receivedEnd() }
            self.took(bytes.readableBytes)
            if isLast { self.ask() }
            return
        }
        guard self.expects(bytes.readableBytes, isLast: isLast) else { return self.fault() }
        if bytes.readableBytes > 0 { self.wait(with: bytes) }
        if isLast { self.receivedEnd(Fields()) }
        self.process()
    }

    /// Keeps content until it is taken.
    private func wait(with bytes: ByteBuffer) {
        if case .bytes(var last) = self.waiting.last {
            self.waiting.removeLast()
            let isTakenIn = last.takeIn(bytes)
            self.waiting.append(.bytes(last))
            if isTakenIn { return }
        }
        self.waiting.append(.bytes(bytes.forWaiting))
    }

    /// Checks content against the declared length of the request (RFC 9113 §8.1.1). The codec could do so, too, but would reset
    /// the stream of a refused client that ends its content early.
    private func expects(_ count: Int, isLast: Bool) -> Bool {
        guard let owed else { return true }
        guard UInt64(count) <= owed else { return false }
        self.owed = owed - UInt64(count)
        return !isLast || UInt64(count) == owed || self.answer != .none
    }

    private func receivedEnd(_ trailers: Fields) {
        // Incomplete content has no valid end: the origin gets only the bytes that have arrived.
        guard self.owed ?? 0 == 0 else { return self.input = .taken }
        self.waiting.append(.end(trailers))
    }

    private func receive(trailers: HPACKHeaders) {
        // A tunnel has only bytes (RFC 9113 §8.5).
        guard case .exchange = self.kind, self.expects(0, isLast: true) else { return self.fault() }
        do throws(WireError) {
            self.receivedEnd(try HTTP2RequestHead.trailers(trailers, within: self.worker.active.headLimits))
        } catch {
            return self.fault()
        }
        self.process()
    }

    /// Subtracts bytes that were taken or dropped from the counts.
    func took(_ count: Int) {
        let taken = min(count, self.untaken)
        self.untaken -= taken
        self.connection.untaken(changedBy: -taken)
    }

    private func begin(_ headers: HTTP2Frame.FramePayload.Headers) {
        self.input = headers.endStream ? .taken : .head
        // A refused request has a method, too.
        self.isHead = headers.headers.first(name: ":method") == "HEAD"
        let caller = self.connection.caller
        let request: HTTP2RequestHead
        do throws(WireError) {
            request = try HTTP2RequestHead(
                headers.headers, endsStream: headers.endStream, at: caller.place, within: self.worker.active.headLimits)
        } catch {
            return self.refuse(Problem(error))
        }
        var head = request.head
        self.kind = request.kind
        if case .length(let length) = request.framing { self.owed = length }
        let refusal =
            caller.refusal ?? self.worker.active.refusal(of: caller.client) ?? caller.enclosure?.complete(&head)
        let exchange = Exchange(
            ReceivedRequest(head, request.framing), from: self, of: caller.client, on: self.worker,
            inside: caller.enclosure)
        self.exchange = exchange
        self.expectNext()
        self.worker.watchProgress()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
        self.process()
    }

    /// Answers a malformed request; the exchange only serves for the response.
    private func refuse(_ problem: Problem) {
        let exchange = Exchange(
            ReceivedRequest(RequestHead(method: "", target: .asterisk), .none), from: self,
            of: self.connection.caller.client, on: self.worker, inside: self.connection.caller.enclosure)
        self.exchange = exchange
        exchange.refuse(problem)
    }

    /// Gives the exchange the pieces that it takes, and asks for more.
    private func process() {
        // An outer call continues. The bytes of a tunnel go to its socket.
        guard !self.isProcessing, self.socket == nil else { return }
        self.isProcessing = true
        self.giveBody()
        self.isProcessing = false
        // The request has become a tunnel, which asks for its bytes.
        guard self.socket == nil else { return }
        // Content without an exchange is dropped; the client is told to stop sending when its response has ended.
        if self.exchange == nil {
            self.waiting.removeAll()
            self.took(self.untaken)
        }
        self.expectNext()
        self.askForMore()
    }

    private func giveBody() {
        // Bytes for a tunnel wait until the tunnel exists.
        guard case .exchange = self.kind else { return }
        while let exchange, let piece = self.waiting.first {
            switch piece {
            case .bytes(let bytes):
                // The exchange calls `resumeBody` when it takes more.
                guard exchange.wantsBody else { return }
                self.waiting.removeFirst()
                self.took(bytes.readableBytes)
                exchange.received(bytes)
            case .end(let trailers):
                // The exchange calls `resumeBody` when it takes the end.
                guard exchange.wantsEndOfBody else { return }
                self.waiting.removeFirst()
                self.input = .taken
                exchange.receivedEndOfBody(trailers: trailers)
            }
        }
    }

    // MARK: Content after the response

    /// Drops the rest of the request, after all bytes for the client have been sent; then tells the client to stop sending.
    private func discardInput(when sent: EventLoopFuture<Void>) {
        sent.assumeIsolated().whenSuccess {
            // The client has ended its side meanwhile, or the stream is over.
            guard case .head = self.input, !self.isOver, !self.isReset else { return }
            guard self.connection.beginDiscarding() else { return self.stopInput() }
            self.discarded = DiscardedContent(since: self.worker.loop.turnTime)
            self.waiting.removeAll()
            self.took(self.untaken)
            self.ask()
        }
    }

    /// Drops a frame of a request whose response has ended. Its length and its trailers no longer matter.
    private func drop(_ payload: HTTP2Frame.FramePayload) {
        var count = HTTP2FrameHead.cost
        switch payload {
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data { count += bytes.readableBytes }
            if data.endStream { self.input = .taken }
        case .headers(let headers): if headers.endStream { self.input = .taken }
        case .rstStream: return self.leave()
        case .alternativeService, .goAway, .origin, .ping, .priority, .pushPromise, .settings, .windowUpdate: break
        }
        self.took(count)
        self.discarded?.dropped(count, at: self.worker.loop.turnTime)
        self.stopIfTooMuch()
        if !self.isReset { self.ask() }
    }

    /// Tells a client to stop that sends more, or takes longer, than is dropped. Nothing is done if it has ended its side.
    private func stopIfTooMuch() {
        // Most clients end before, and nothing is to be stopped.
        guard let discarded, !self.isTaken, discarded.isOver(at: self.worker.loop.turnTime) else { return }
        self.stopInput()
    }

    /// Tells the client to stop sending (RFC 9113 §8.1).
    private func stopInput() {
        self.writeReset(.noError)
        self.channel.flush()
    }

    /// Tells the client at once to stop sending, after all bytes for it have been sent: a reset would drop waiting bytes.
    func stopInput(when sent: EventLoopFuture<Void>) { sent.assumeIsolated().whenSuccess { self.stopInput() } }

    // MARK: Time

    private func expectNext() {
        // A tunnel has its own timeouts.
        guard self.socket == nil else { return self.expectation = .nothing }
        let next: Expectation =
            !self.isWritable
            ? .clientToRead : !self.isTaken && self.waiting.isEmpty && self.kind.isExchange ? .body : .nothing
        self.expectation = next
        self.expectedSince = self.worker.loop.turnTime
    }

    /// Ends the stream if the client has not done in time what is expected of it.
    func checkTime() {
        self.stopIfTooMuch()
        let patience = self.worker.active.patience.body
        // Nothing is expected of the client, or it has still time.
        guard self.expectation != .nothing, self.expectedSince + patience <= self.worker.loop.turnTime else { return }
        switch self.expectation {
        case .body where self.exchange?.wantsBody == true:
            self.exchange?.fail(
                with: Problem(.requestTimeout, "no byte of the request body came in time (limits.body_timeout)"))
        case .clientToRead: self.reset(.cancel, for: ConnectionTimer.unread)
        case .body, .nothing: break
        }
    }

    // MARK: The end

    func channelInactive(context: ChannelHandlerContext) { self.leave() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.reset(.protocolError) }

    func channelWritabilityChanged(context: ChannelHandlerContext) { self.mayHaveRoom() }

    func mayHaveRoom() {
        self.socket?.mayHaveRoom()
        self.expectNext()
        self.flushLater()
    }

    /// Ends the stream because of a fault of the client.
    private func fault() {
        self.reset(.protocolError)
        self.connection.resetByFault()
    }

    /// Resets the stream, so that its response does not look complete.
    func reset(_ code: HTTP2ErrorCode, for reason: String? = nil) {
        self.leavingReason = reason
        self.writeReset(code)
        self.channel.flush()
        self.leave()
    }

    /// Writes a RST_STREAM, unless one was written before.
    private func writeReset(_ code: HTTP2ErrorCode) {
        guard !self.isReset else { return }
        self.isReset = true
        self.channel.write(HTTP2Frame.FramePayload.rstStream(code), promise: nil)
    }

    func abort() { self.reset(.cancel) }

    /// Ends the stream. The exchange is notified at the end of the turn, because it may be writing.
    func leave() {
        self.isOver = true
        self.waiting.removeAll()
        self.took(self.untaken)
        if let endTimer { self.worker.loop.disarm(endTimer) }
        if self.discarded != nil { self.connection.endDiscarding() }
        self.discarded = nil
        if let content = self.waitingContent { self.uncounting(content).succeed() }
        self.waitingContent = nil
        self.expectation = .nothing
        if let socket {
            self.socket = nil
            // If both sides have ended, the tunnel only has to pass that on.
            if !self.isTaken || self.tunnelEnd == nil {
                socket.broke()
                // The origin gets a reset, too, because the tunnel has no orderly end (RFC 9113 §8.5).
                self.tunnel?.abort()
            }
        }
        if let exchange {
            self.exchange = nil
            self.abandoned = exchange
            self.worker.loop.atEndOfTurn(self)
        }
        self.connection.ended(self)
    }

    // MARK: Writing

    func write(_ payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>? = nil) {
        self.writeWaiting()
        self.channel.write(payload, promise: promise)
        self.flushLater()
    }

    /// Writes the head and the content that were held back for the next frame.
    private func writeWaiting() {
        if let head = self.waitingHead {
            self.waitingHead = nil
            self.channel.write(HTTP2Frame.FramePayload.headers(.init(headers: head)), promise: nil)
        }
        if let content = self.waitingContent {
            self.waitingContent = nil
            let data = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(content)))
            self.channel.write(data, promise: self.uncounting(content))
        }
    }

    /// Returns a promise that stops counting the content when it was sent.
    private func uncounting(_ content: ByteBuffer) -> EventLoopPromise<Void> {
        let (connection, count) = (self.connection, content.readableBytes)
        let sent = self.worker.loop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in connection.unsent(changedBy: -count) }
        return sent
    }

    /// Writes content, which is counted until the client has taken it.
    func write(content bytes: UnsafeRawBufferPointer) {
        // The codec does not split frames; it assumes that clients accept any size.
        for start in stride(from: 0, to: bytes.count, by: Self.longestFrame) {
            self.writeWaiting()
            let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.longestFrame, bytes.count)])
            self.waitingContent = ByteBuffer(bytes: piece)
            self.owedContent = self.owedContent.map { $0 - min($0, UInt64(piece.count)) }
            self.connection.unsent(changedBy: piece.count)
        }
        self.flushLater()
    }

    /// Flushes at the end of the turn, so that the frames of one turn are sent together. Does nothing if that is due.
    private func flushLater() {
        guard !self.needsFlush else { return }
        self.needsFlush = true
        self.worker.loop.atEndOfTurn(self)
    }

    /// Holds back the waiting content a little longer if only the end of the response is missing.
    ///
    /// - Returns: false if the content is to be written now.
    private func waitsForEnd() -> Bool {
        guard self.owedContent == 0, self.exchange != nil, self.endTimer == nil || self.endTimer?.isArmed == true
        else { return false }
        guard self.endTimer == nil else { return true }
        // unowned: `leave` and `end` disarm it.
        let timer = LoopTimer { [unowned self] in
            self.writeWaiting()
            self.channel.flush()
        }
        self.endTimer = timer
        self.worker.loop.arm(timer, at: self.worker.loop.turnTime + Self.patienceForEnd)
        return true
    }

    private func end(with payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>? = nil) {
        self.exchange = nil
        self.expectation = .nothing
        if let endTimer { self.worker.loop.disarm(endTimer) }
        guard !self.isTaken else { return self.write(payload, promise: promise) }
        self.writeWaiting()
        let sent = promise ?? self.channel.eventLoop.makePromise(of: Void.self)
        // The bytes for a tunnel that is not opened belong to no request.
        if self.kind.isExchange {
            self.discardInput(when: sent.futureResult)
        } else {
            self.stopInput(when: sent.futureResult)
        }
        self.channel.write(payload, promise: sent)
        self.flushLater()
    }
}

extension HTTP2ClientStream: ClientStream {
    // HTTP/2 is chosen by ALPN.
    var isSecure: Bool { true }

    var owner: ConnectionOwner { self.connection.owner }

    var clientProcess: ClientProcess? { self.connection.caller.process }

    var isWritable: Bool { self.channel.isWritable && self.connection.hasRoom }

    var takesPipes: Bool { false }

    func send(interim head: ResponseHead) {
        // HTTP/2 has no 101, and a 100 is sent only if it was asked for.
        self.write(.headers(.init(headers: HPACKHeaders(head, length: nil))))
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        self.answer = self.isHead || head.status == 204 || head.status == 304 ? .bodiless : .begun
        // A response that ends with its head, like an error of gRPC, gets no length that its origin did not send.
        self.waitingHead = HPACKHeaders(head, length: head.endsUnmeasured && length == 0 ? nil : length)
        self.owedContent = self.answer == .bodiless ? 0 : length
        self.flushLater()
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard self.answer != .bodiless, bytes.count > 0 else { return 0 }
        self.write(content: bytes)
        return bytes.count
    }

    func send(_ piped: PipedBytes) -> Int { preconditionFailure("BUG: a stream of HTTP/2 is given a pipe") }

    func finish(trailers: Fields) {
        if trailers.isEmpty || self.answer == .bodiless, let head = self.waitingHead {
            self.waitingHead = nil
            self.end(with: .headers(.init(headers: head, endStream: true)))
        } else if trailers.isEmpty || self.answer == .bodiless {
            guard let content = self.waitingContent else { return self.end(with: .end) }
            self.waitingContent = nil
            self.end(
                with: .data(.init(data: .byteBuffer(content), endStream: true)), promise: self.uncounting(content))
        } else {
            self.end(with: .headers(.init(headers: HPACKHeaders(trailers: trailers), endStream: true)))
        }
    }

    func cut() {
        self.exchange = nil
        // Written bytes still arrive: they are flushed, because a reset drops waiting bytes.
        self.writeWaiting()
        self.channel.flush()
        self.writeReset(.internalError)
        self.flushLater()
    }

    func resumeBody() { self.process() }

    func objection(toSwitch head: ResponseHead) -> String? {
        guard case .webSocket(let handshake) = self.kind else { return nil }
        do throws(WebSocketHandshakeError) {
            try handshake.checkProof(in: head)
            return nil
        } catch {
            return "the origin's answer opens no WebSocket: \(error.message)"
        }
    }

    func needsSwitch(insteadOf head: ResponseHead) -> Problem? {
        // A success would tell the client that there is a WebSocket (RFC 8441 §4).
        guard case .webSocket = self.kind, head.status / 100 == 2 else { return nil }
        return Problem(.upstreamProtocol, "the origin answers without opening the WebSocket that was asked for")
    }

    func relay(_ terms: TunnelTerms) {
        self.exchange = nil
        guard !self.isOver else { return Tunnel.giveUp(terms) }
        var head = terms.head ?? ResponseHead(status: 200)
        head.status = 200
        head.fields.remove("Sec-WebSocket-Accept")
        self.tunnel = Tunnel.open(
            terms, over: self.becomeTunnel(answering: head), of: self.connection.caller.client, on: self.worker)
    }

    func open(_ tunnel: InterceptedTunnel) {
        self.exchange = nil
        // The client has left. The exchange has ended with its record.
        guard !self.isOver else { return }
        let stream = DetachedSocket(self.becomeTunnel(answering: ResponseHead(status: 200)))
        InterceptedStream.begin(tunnel, over: stream, of: self.connection.caller.client, on: self.worker)
    }
}

extension HTTP2ClientStream: TurnEndWork {
    func runAtEndOfTurn() {
        if self.needsFlush {
            self.needsFlush = false
            if !self.waitsForEnd() { self.writeWaiting() }
            self.channel.flush()
        }
        if let abandoned {
            self.abandoned = nil
            return self.leavingReason.map(abandoned.clientLeft) ?? abandoned.clientLeft()
        }
        // No more of the response comes, so no origin has to be paused.
        guard let exchange else { return }
        if self.isWritable { exchange.clientCaughtUp() } else { exchange.clientFellBehind() }
    }
}
