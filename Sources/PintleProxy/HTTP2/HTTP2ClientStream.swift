// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// One request of a client that speaks HTTP/2, and its answer (RFC 9113 §8.1).
///
/// Frames wait here until the exchange takes them, and are read no faster than that: the stream's window bounds them.
final class HTTP2ClientStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// A part of the request's body.
    private enum Piece {
        case bytes(ByteBuffer)
        case end(Fields)
    }

    /// Says what is waited for.
    private enum Expectation { case body, clientToRead, nothing }

    private let connection: HTTP2ClientConnection
    private let lane: Lane
    private let channel: any Channel
    /// Nil before the head has come, and when all is over.
    private(set) var exchange: Exchange?
    private var hasHead = false
    private var isHead = false
    private var waiting: CircularBuffer<Piece> = []
    /// True once the client has sent all of the request.
    private var hasRequest = false
    /// True where no body follows the answer's head, whatever it says.
    private var isBodiless = false
    private var isProcessing = false
    private var needsFlush = false
    /// The exchange that is told at the end of the turn that its client is gone.
    private var abandoned: Exchange?
    private var expectation = Expectation.nothing
    private var expectedSince = NIODeadline.uptimeNanoseconds(0)

    init(on connection: HTTP2ClientConnection, channel: any Channel) {
        self.connection = connection
        self.lane = connection.lane
        self.channel = channel
    }

    // MARK: The request

    func channelActive(context: ChannelHandlerContext) { self.channel.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .headers(let headers) where !self.hasHead: self.begin(headers)
        case .headers(let headers): self.receive(trailers: headers.headers)
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return self.reset(.protocolError) }
            if bytes.readableBytes > 0 { self.waiting.append(.bytes(bytes)) }
            if data.endStream { self.waiting.append(.end(Fields())) }
            self.process()
        case .rstStream: self.leave()
        case .alternativeService, .goAway, .origin, .ping, .priority, .pushPromise, .settings, .windowUpdate: break
        }
    }

    private func receive(trailers: HPACKHeaders) {
        do throws(WireError) {
            self.waiting.append(.end(try trailers.fields(within: self.lane.active.headLimits)))
        } catch {
            return self.reset(.protocolError)
        }
        self.process()
    }

    private func begin(_ headers: HTTP2Frame.FramePayload.Headers) {
        self.hasHead = true
        self.hasRequest = headers.endStream
        var head: RequestHead
        let framing: BodyFraming
        do throws(WireError) {
            head = try headers.headers.requestHead(self.connection.tunnel.scheme, within: self.lane.active.headLimits)
            framing = headers.endStream ? .none : try head.fields.declaredLength().map { .length($0) } ?? .chunked
        } catch {
            return self.refuse(Problem(error))
        }
        self.isHead = head.method == "HEAD"
        let refusal = self.lane.active.refusal(of: self.connection.client) ?? self.connection.tunnel.complete(&head)
        let exchange = Exchange(
            head, framing, from: self, of: self.connection.client, on: self.lane, inside: self.connection.tunnel)
        self.exchange = exchange
        self.expectNext()
        self.lane.watchProgress()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
        self.process()
    }

    /// Answers what is no request: there is no exchange that could be forwarded.
    private func refuse(_ problem: Problem) {
        let exchange = Exchange(
            RequestHead(method: "", target: .asterisk), .none, from: self, of: self.connection.client, on: self.lane,
            inside: self.connection.tunnel)
        self.exchange = exchange
        exchange.refuse(problem)
    }

    /// Gives the exchange what it takes, and asks for more.
    private func process() {
        guard !self.isProcessing else { return }
        self.isProcessing = true
        self.giveBody()
        self.isProcessing = false
        // What nobody waits for any more is dropped; the client is told to stop when its answer has ended.
        if self.exchange == nil { self.waiting.removeAll() }
        self.expectNext()
        // Frames that have come already are told of from within the call.
        if self.waiting.isEmpty, !self.hasRequest { self.channel.read() }
    }

    private func giveBody() {
        while let exchange, let piece = self.waiting.first {
            switch piece {
            case .bytes(let bytes):
                guard exchange.wantsBody else { return }
                self.waiting.removeFirst()
                exchange.received(bytes)
            case .end(let trailers):
                guard exchange.wantsEndOfBody else { return }
                self.waiting.removeFirst()
                self.hasRequest = true
                exchange.receivedEndOfBody(trailers: trailers)
            }
        }
    }

    // MARK: Time

    private func expectNext() {
        let next: Expectation =
            !self.channel.isWritable ? .clientToRead : !self.hasRequest && self.waiting.isEmpty ? .body : .nothing
        self.expectation = next
        self.expectedSince = self.lane.loop.turnTime
    }

    /// Ends a stream on which nothing was done that was expected of its client.
    func checkTime() {
        let patience = self.lane.active.patience.body
        guard self.expectation != .nothing, self.expectedSince + patience <= self.lane.loop.turnTime else { return }
        switch self.expectation {
        case .body where self.exchange?.wantsBody == true:
            self.exchange?.fail(
                with: Problem(.requestTimeout, "no byte of the request body came in time (limits.body_timeout)"))
        case .clientToRead: self.reset(.cancel)
        case .body, .nothing: break
        }
    }

    // MARK: The end

    func channelInactive(context: ChannelHandlerContext) { self.leave() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.reset(.protocolError) }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.expectNext()
        self.flushLater()
    }

    /// Ends the stream so that its answer does not look complete.
    private func reset(_ code: HTTP2ErrorCode) {
        self.channel.writeAndFlush(HTTP2Frame.FramePayload.rstStream(code), promise: nil)
        self.leave()
    }

    func abort() { self.reset(.cancel) }

    /// The client is gone. The exchange is told at the end of the turn: it may be writing.
    private func leave() {
        self.waiting.removeAll()
        self.expectation = .nothing
        if let exchange {
            self.exchange = nil
            self.abandoned = exchange
            self.lane.loop.atEndOfTurn(self)
        }
        self.connection.ended(self)
    }

    // MARK: Writing

    private func write(_ payload: HTTP2Frame.FramePayload) {
        self.channel.write(payload, promise: nil)
        self.flushLater()
    }

    /// Frames of a turn leave together.
    private func flushLater() {
        guard !self.needsFlush else { return }
        self.needsFlush = true
        self.lane.loop.atEndOfTurn(self)
    }

    private func end(with payload: HTTP2Frame.FramePayload) {
        self.exchange = nil
        self.expectation = .nothing
        guard !self.hasRequest else { return self.write(payload) }
        // Whoever still sends a body is told that nobody wants the rest, when all of the answer has left (§8.1): a reset takes
        // what waits with it.
        let sent = self.channel.eventLoop.makePromise(of: Void.self)
        let channel = self.channel
        sent.futureResult.whenSuccess {
            channel.writeAndFlush(HTTP2Frame.FramePayload.rstStream(.noError), promise: nil)
        }
        self.channel.write(payload, promise: sent)
        self.flushLater()
    }
}

extension HTTP2ClientStream: ClientStream {
    var isWritable: Bool { self.channel.isWritable }

    var takesPipes: Bool { false }

    func send(interim head: ResponseHead) {
        // Nothing is switched in HTTP/2, and nothing was asked to be continued that is not.
        self.write(.headers(.init(headers: HPACKHeaders(head, length: nil))))
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        self.isBodiless = self.isHead || head.status == 204 || head.status == 304
        self.write(.headers(.init(headers: HPACKHeaders(head, length: length))))
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !self.isBodiless, bytes.count > 0 else { return 0 }
        self.write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)))))
        return bytes.count
    }

    func send(_ piped: PipedBytes) -> Int { preconditionFailure("BUG: a stream of HTTP/2 is given a pipe") }

    func finish(trailers: Fields) {
        if trailers.isEmpty || self.isBodiless {
            self.end(with: .data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)))
        } else {
            self.end(with: .headers(.init(headers: HPACKHeaders(trailers: trailers), endStream: true)))
        }
    }

    func cut() {
        self.exchange = nil
        // What was written still arrives: a reset takes with it what waits.
        self.channel.flush()
        self.write(.rstStream(.internalError))
    }

    func resumeBody() { self.process() }

    func relay(_ terms: TunnelTerms) { preconditionFailure("BUG: HTTP/2 switches to no other protocol") }

    func open(_ tunnel: InterceptedTunnel) { preconditionFailure("BUG: a tunnel has no tunnel inside") }
}

extension HTTP2ClientStream: TurnEndWork {
    func runAtEndOfTurn() {
        if self.needsFlush {
            self.needsFlush = false
            self.channel.flush()
        }
        if let abandoned {
            self.abandoned = nil
            return abandoned.clientLeft()
        }
        guard let exchange else { return }
        if self.channel.isWritable { exchange.clientCaughtUp() } else { exchange.clientFellBehind() }
    }
}
