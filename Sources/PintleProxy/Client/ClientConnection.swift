// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A connection of an HTTP/1.1 client: hands each of its requests to an ``Exchange``, and writes the response.
///
/// Its parts decide, and call nothing: ``RequestStream`` about the client's bytes, ``GatheredOutput`` about those for the client,
/// ``ClientAnswer`` about the framing of the response, and ``ClientDeadline`` about time. This handler carries that out
/// on the channel.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let worker: Worker
    let channel: SocketChannel
    /// Nil if the system does not identify the client.
    let client: Client?
    /// The process of the client; nil if it is not on this machine.
    let clientProcess: ClientProcess?
    let owner = ConnectionOwner()
    /// The problem for which all requests of this connection are refused; nil if they are served.
    private(set) var refusal: Problem?
    /// Nil for a plaintext connection.
    let tls: TLSTransport?
    /// The connection that contains the requests; nil for requests to the proxy.
    let enclosure: (any RequestEnclosure)?
    let requests: RequestStream<Exchange>
    var answer = ClientAnswer.toNoRequest
    var output = GatheredOutput()
    /// The bytes that come after the last response; nil before that.
    private var discarded: DiscardedContent?
    /// The share of the common memory that the bytes received ahead use.
    private var inboxShare = MemoryReservation()
    /// Nil before the connection is counted in, and after it is counted out.
    private var timer: ConnectionTimer?

    /// Pieces of at least this size are not gathered, unless the client lags.
    private static let largePiece = 16 * 1024

    init(
        worker: Worker, channel: SocketChannel, tls: TLSTransport?, client: Client?, process: ClientProcess? = nil,
        refusal: Problem? = nil, inside enclosure: (any RequestEnclosure)? = nil
    ) {
        self.enclosure = enclosure
        self.worker = worker
        self.channel = channel
        (self.client, self.clientProcess) = (client, process)
        self.tls = tls
        self.refusal = refusal
        self.requests = RequestStream(limits: worker.active.headLimits)
    }

    // MARK: The channel's events

    func channelActive(context: ChannelHandlerContext) {
        self.tls?.whenPlainText = { [weak self] in
            if let enclosure = self?.enclosure { enclosure.speaksPlainly() } else { self?.refusal = .plainTextForTLS }
        }
        self.worker.add(self)
        self.timer = ConnectionTimer(connection: self)
        self.expectNext()
        self.channel.allowsHalfClosure = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        switch self.requests.phase {
        case .opening: if let tls, tls.applicationProtocol == "h2" { return self.leave(to: tls, bytes) }
        case .head, .body, .answering, .entering: break
        case .lingering: return self.discard(bytes.readableBytes)
        case .closed, .abandoned: return
        }
        if self.requests.waitingBytes == 0 {
            // The common case: the bytes are parsed where they were received.
            self.requests.borrow(&bytes)
            self.process()
            self.requests.giveBack(&bytes)
        } else {
            self.requests.append(&bytes)
            self.process()
        }
    }

    /// The client has closed its sending side. A client that has left completely resets the connection.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        self.requests.endInput()
        switch self.requests.phase {
        case .opening, .head, .body: self.process()
        case .lingering where self.channel.pendingWriteBytes == 0: self.channel.close(promise: nil)
        case .answering, .lingering, .entering, .closed, .abandoned: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if self.output.isSending {
            self.requests.abandon()
            self.leave()
        } else {
            let exchange = self.requests.end()
            self.leave()
            exchange?.clientLeft()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let failure = error as? TLSFailure, failure.isOfHandshake {
            self.enclosure?.handshakeFailed(failure)
            if self.enclosure == nil { self.worker.noteHandshakeFailure(of: self.client, "\(failure)") }
        }
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = self.channel.isWritable
        if let exchange = self.requests.receiver {
            guard isWritable else { return self.expect(.clientToRead) }
            self.expectNext()
            // An exchange that is writing is notified at the end of the turn.
            if !self.output.isSending { exchange.clientCaughtUp() }
        } else if isWritable, self.requests.isBetweenRequests {
            self.expectNext()
            self.process()
        }
    }

    // MARK: Taking requests

    /// Processes as many of the received bytes as possible.
    func process() {
        // The run goes on when the exchange that asks for more has returned.
        if self.requests.isRunning { return }
        self.requests.startRun()
        while self.step() {}
        self.requests.endRun()
        // No bytes are counted for a client that has left.
        if self.timer == nil { return }
        self.countInbox()
        self.channel.setAutoRead(self.requests.wantsBytes(isWritable: self.channel.isWritable))
    }

    /// - Returns: true if there may be more to do.
    private func step() -> Bool {
        let takesPiece =
            switch self.requests.nextPiece {
            case .bytes(let exchange): exchange.wantsBody
            case .end(let exchange): exchange.wantsEndOfBody
            case nil: false
            }
        switch self.requests.next(
            in: self.worker.loop.turn, isWritable: self.channel.isWritable, takesPiece: takesPiece,
            limits: self.worker.active.headLimits, &self.worker.recurrent)
        {
        case .begin(let request):
            self.begin(request)
            return true
        case .deliver(let piece, let exchange):
            self.expectNext()
            exchange.received(piece)
            return true
        case .finish(let trailers, let exchange):
            self.expectNext()
            exchange.receivedEndOfBody(trailers: trailers)
            return true
        case .wait: break
        case .awaitHead: self.expectNext()
        case .awaitRoom: self.expect(.clientToRead)
        case .rest:
            LoopBound(self, loop: self.worker.loop).run { connection in
                connection.requests.resume()
                connection.process()
            }
        case .refuse(let error): self.refuse(Problem(error))
        case .fail(let error, let exchange): exchange.fail(with: Problem(error))
        case .close: self.closeGently()
        case .breakOff: self.channel.close(promise: nil)
        }
        return false
    }

    private func begin(_ received: ReceivedRequest) {
        var request = received
        let refusal = self.refusal ?? self.worker.active.refusal(of: self.client) ?? self.complete(&request)
        self.answer = ClientAnswer(
            method: request.head.method, minorVersion: request.head.minorVersion,
            wantsKeepAlive: refusal == nil && request.keepsConnection)
        let exchange = self.makeExchange(request)
        if self.channel.takesPipes, (self.requests.missingBytes ?? 0) >= PipedBytes.leastBody {
            self.channel.pipeReader = self
        }
        self.expectNext()
        self.worker.watchProgress()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
    }

    /// Adds the destination to a request that has none of its own.
    private func complete(_ request: inout ReceivedRequest) -> Problem? {
        guard let enclosure else { return nil }
        let received = request
        let client = self.worker.active.policy.ruledIdentity(enclosure.identity)
        if let known = received.completed(for: enclosure.place, of: client) {
            request = known
            return nil
        }
        var head = received.head
        let problem = enclosure.complete(&head)
        request = ReceivedRequest(head, received.framing, isRecurrent: received.isRecurrent && problem == nil)
        received.note(completed: request, for: enclosure.place, of: client)
        return problem
    }

    /// Answers bytes that are not a valid request; the exchange only serves for the response.
    private func refuse(_ problem: Problem) {
        self.answer = .toNoRequest
        let head = RequestHead(method: "", target: .asterisk, minorVersion: 1)
        self.makeExchange(ReceivedRequest(head, .none)).refuse(problem)
    }

    private func makeExchange(_ request: ReceivedRequest) -> Exchange {
        let exchange = Exchange(request, from: self, of: self.client, on: self.worker, inside: self.enclosure)
        self.requests.begin(request.framing, limits: self.worker.active.headLimits, for: exchange)
        return exchange
    }

    /// Counts the bytes received ahead. If the common memory is exhausted, an incomplete head is refused; bytes of a body, or
    /// bytes that wait for a response, are limited, and are accepted.
    private func countInbox() {
        let (bytes, memory) = (self.requests.waitingBytes, self.worker.memory)
        if self.inboxShare.resize(to: bytes, of: memory, limit: self.worker.active.limits.heldBytes) { return }
        if self.requests.isBetweenRequests {
            self.refuse(Problem(.overloaded, self.worker.active.limits.memoryShortage))
        } else {
            self.inboxShare.resize(to: bytes, of: memory)
        }
    }

    // MARK: Writing

    /// Gathers bytes for the client during a turn; they are sent with one system call at its end.
    func write(_ body: (inout ByteBuffer) -> Void) {
        // The exchange hears later that the client has left.
        if self.requests.hasEnded { return }
        var buffer = self.output.take() ?? self.worker.takeOutput()
        body(&buffer)
        let isFull = buffer.readableBytes >= GatheredOutput.limit
        if self.output.put(consume buffer) { self.worker.loop.atEndOfTurn(self) }
        // The rest of the turn adds to them.
        guard isFull else { return }
        self.output.startSending()
        self.flush()
        self.output.endSending()
    }

    /// Writes a piece of a body. A large one is sent without copying, together with the gathered bytes before it, because a
    /// copy would cost more than a system call. Bytes that the kernel does not take are gathered.
    func write(_ bytes: UnsafeRawBufferPointer, behind output: inout ByteBuffer) {
        guard bytes.count >= Self.largePiece else {
            output.writeBytes(bytes)
            return
        }
        let taken = output.withUnsafeReadableBytes { self.channel.sendNow($0, bytes) }
        let left = max(0, taken - output.readableBytes)
        output.moveReaderIndex(forwardBy: taken - left)
        if output.readableBytes == 0 { output.clear() }
        output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(left)))
    }

    /// Sends the gathered bytes; does nothing if there are none. Then `channel.isWritable` shows if the client keeps up.
    func flush() {
        guard let output = self.output.take() else { return }
        if output.readableBytes > 0 {
            self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: nil)
        }
        self.worker.giveBack(output)
    }

    // MARK: The end of an answer

    /// Takes the next request, or closes the connection if there cannot or must not be one.
    func answered(keepAlive: Bool) {
        let goesOn = self.requests.answered(keepsConnection: keepAlive && !self.worker.isDraining)
        self.flush()
        guard goesOn else { return self.closeGently() }
        self.expectNext()
        self.process()
    }

    /// Closes in a way that lets the client read its response: a close with unread input would reset the connection (RFC 9112
    /// §9.6).
    func closeGently() {
        // The connection has ended already.
        guard self.requests.linger() else { return }
        self.discarded = self.discarded ?? DiscardedContent(since: self.worker.loop.turnTime)
        self.inboxShare.resize(to: 0, of: self.worker.memory)
        self.channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
        self.channel.setAutoRead(true)
        self.channel.goOnMoving()
        self.expectNext()
    }

    /// Drops bytes that are read only so that the client can read its response.
    private func discard(_ count: Int) {
        let now = self.worker.loop.turnTime
        self.discarded?.dropped(count, at: now)
        // A client that still reads its response has the time for that.
        if self.discarded?.isOver(at: now) == true, self.channel.pendingWriteBytes == 0 {
            self.channel.close(promise: nil)
        }
    }

    private func abort(_ reason: String) {
        let exchange = self.requests.end()
        _ = self.output.take()
        self.channel.reset()
        exchange?.clientLeft(reason)
    }

    /// Counts this handler out.
    ///
    /// - Parameter isClientLeaving: false if the client continues with another handler.
    func leave(isClientLeaving: Bool = true) {
        // It may have left when its last bytes were written.
        guard let timer else { return }
        timer.stop()
        self.timer = nil
        self.owner.end()
        self.inboxShare.resize(to: 0, of: self.worker.memory)
        if isClientLeaving { self.worker.limiter.leave(self.client) }
        self.worker.remove(self)
    }

    // MARK: Time

    /// Expects the client's next step, from now on.
    func expectNext() { if let expectation = self.requests.expectation { self.expect(expectation) } }

    private func expect(_ expectation: ClientDeadline.Expectation) { self.timer?.expect(expectation) }

    /// Called when the client was too slow to do what was expected.
    func timedOut(_ expectation: ClientDeadline.Expectation) {
        switch expectation {
        case .restOfHead:
            self.refuse(Problem(.requestTimeout, "the request head was not complete in time (limits.header_timeout)"))
        case .body where self.requests.receiver?.wantsBody == false || self.channel.waitsToMove:
            // The upstream takes no more bytes; the client is not to blame.
            self.expect(.body)
        case .body:
            self.requests.receiver?.fail(
                with: Problem(.requestTimeout, "no byte of the request body came in time (limits.body_timeout)"))
        case .clientToRead: self.abort(ConnectionTimer.unread)
        case .nextHead where self.channel.pendingWriteBytes > 0: self.expect(.clientToRead)
        case .firstHead:
            if self.tls?.isShakingHands == true {
                self.worker.noteHandshakeFailure(of: self.client, "it was not complete in time (limits.header_timeout)")
            }
            self.channel.close(promise: nil)
        // The client still sends its request, and reads the response behind it.
        case .clientToClose where self.discarded?.isOver(at: self.worker.loop.turnTime) == false:
            self.expect(.clientToClose)
        case .nextHead, .clientToClose, .nothing: self.channel.close(promise: nil)
        }
    }
}

extension ClientConnection: ServedConnection {
    /// Resets the connection: after a normal close, a response without a length would look complete.
    func abort() { self.abort("the client closed the connection") }

    func drain() { if self.requests.isBetweenRequests, self.requests.waitingBytes == 0 { self.closeGently() } }

    func closeIfIdle(since end: NIODeadline) { if self.timer?.isIdle(since: end) == true { self.timedOut(.nextHead) } }

    var running: [any ExchangeProgress] { self.requests.receiver.map { [$0.progress] } ?? [] }
}

extension ClientConnection: TurnEndWork {
    func runAtEndOfTurn() {
        self.output.endTurn()
        self.flush()
        if let abandoned = self.requests.takeAbandoned() {
            abandoned.clientLeft()
        } else if let exchange = self.requests.receiver {
            if self.channel.isWritable { exchange.clientCaughtUp() } else { exchange.clientFellBehind() }
        }
    }
}
