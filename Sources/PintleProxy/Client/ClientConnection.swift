// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A connection of an HTTP/1.1 client: reads requests from it one after another, hands each to an ``Exchange``, and writes the
/// response.
///
/// Pipelined requests wait in `inbox` until the exchange before them is answered; so responses keep the order of the requests.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The destination of the client's next byte.
    private enum Phase {
        /// A request head.
        case head
        /// The body of this exchange's request, which `reader` takes.
        case body(Exchange)
        /// The next request, once this exchange is answered.
        case answering(Exchange)
        /// None: the last response is sent, and further bytes are discarded.
        case lingering
        /// The connection inside of an intercepted tunnel, which begins when the response has been sent.
        case entering
        /// The other end of a tunnel, or none.
        case closed
    }

    let worker: Worker
    let channel: SocketChannel
    /// Nil if the system does not identify the client.
    let client: Client?
    let owner = ConnectionOwner()
    /// The problem for which all requests of this connection are refused; nil if they are served.
    private var refusal: Problem?
    /// Nil for a plaintext connection.
    private let tls: TLSTransport?
    /// The tunnel that contains the requests; nil for requests to the proxy.
    private let tunnel: InterceptedTunnel?
    private var phase = Phase.head
    private var answer = ClientAnswer(method: "", minorVersion: 1, wantsKeepAlive: false)
    private var parser: RequestParser
    private var reader: BodyReader
    private var inbox = ByteBuffer()
    /// The share of the common memory that the inbox uses.
    private var inboxShare = MemoryReservation()
    private var isProcessing = false
    /// The number of heads taken in the turn with the given number.
    private var (headsInTurn, turn) = (0, UInt64(0))
    /// True while received requests wait for a later turn, so that other connections get their turn.
    private var isResting = false
    /// True once the client has sent something.
    private var hasBegun = false
    /// True once the client has sent everything; it may still read.
    private var hasFinished = false
    private var timer: ConnectionTimer?
    /// Bytes for the client that are not yet given to the channel.
    private var output: ByteBuffer?
    private var flushRequested = false
    private var isWriting = false
    /// An exchange to be notified at the end of the turn that its client has left; it was writing at the time.
    private var abandoned: Exchange?

    /// The most heads that are taken in a turn.
    private static let mostHeadsInTurn = 16
    /// The most bytes sent ahead by the client that are kept.
    private static let inboxLimit = 64 * 1024
    /// More gathered bytes than these are sent at once, to save memory.
    private static let gatherLimit = 64 * 1024
    /// Pieces of at least this size are not gathered, unless the client lags.
    private static let largePiece = 16 * 1024

    init(
        worker: Worker, channel: SocketChannel, tls: TLSTransport?, client: Client?, refusal: Problem? = nil,
        inside tunnel: InterceptedTunnel? = nil
    ) {
        self.tunnel = tunnel
        self.worker = worker
        self.channel = channel
        self.client = client
        self.tls = tls
        self.refusal = refusal
        self.parser = RequestParser(limits: worker.active.headLimits)
        self.reader = BodyReader(.none, limits: worker.active.headLimits)
    }

    // MARK: The channel's events

    func channelActive(context: ChannelHandlerContext) {
        self.tls?.whenPlainText = { [weak self] in
            if let tunnel = self?.tunnel { tunnel.speaksPlainly() } else { self?.refusal = .plainTextForTLS }
        }
        self.worker.add(self)
        self.timer = ConnectionTimer(connection: self)
        self.timer?.expect(.firstHead)
        self.channel.allowsHalfClosure = true
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if !self.hasBegun, let tls, tls.applicationProtocol == "h2" { return self.leave(to: tls, bytes) }
        self.hasBegun = true
        switch self.phase {
        case .lingering, .closed: return
        case .head, .body, .answering, .entering: break
        }
        if self.inbox.readableBytes == 0 {
            // The common case: the bytes are parsed where they were received.
            swap(&self.inbox, &bytes)
            self.process()
            self.keepRest(receivedIn: &bytes)
        } else {
            // Consumed bytes would otherwise stay in front of the new ones until the inbox is empty.
            self.inbox.discardReadBytes()
            self.inbox.writeBuffer(&bytes)
            self.process()
        }
    }

    /// The client has closed its sending side. Its requests so far are still answered (RFC 9112 §9.6). A client that has left
    /// completely resets the connection.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return }
        self.hasFinished = true
        switch self.phase {
        case .head, .body: self.process()
        case .lingering where self.channel.pendingWriteBytes == 0: self.channel.close(promise: nil)
        case .answering, .lingering, .entering, .closed: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let exchange = self.exchange
        self.leave()
        if self.isWriting {
            // The exchange is notified when it is not writing.
            self.abandoned = exchange
        } else {
            exchange?.clientLeft()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let failure = error as? TLSFailure, failure.isOfHandshake {
            self.tunnel?.handshakeFailed(failure)
            if self.tunnel == nil { self.worker.noteHandshakeFailure(of: self.client, "\(failure)") }
        }
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard let exchange = self.exchange else {
            if case .head = self.phase, self.channel.isWritable {
                self.timer?.expect(self.inbox.readableBytes > 0 ? .restOfHead : .nextHead)
                self.process()
            }
            return
        }
        guard self.channel.isWritable else {
            self.timer?.expect(.clientToRead)
            return
        }
        self.expectNext()
        // If the exchange is writing, it is notified at the end of the turn.
        if !self.isWriting { exchange.clientCaughtUp() }
    }

    // MARK: Taking requests

    /// Processes as much of the inbox as possible.
    func process() {
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        while self.step() {}
        // No bytes are counted for a client that has left.
        guard self.timer != nil else { return }
        self.countInbox()
        self.adjustReading()
    }

    /// - Returns: true if there may be more to do.
    private func step() -> Bool {
        switch self.phase {
        case .head: self.takeHead()
        case .body(let exchange): self.takeBody(exchange)
        case .answering, .lingering, .entering, .closed: false
        }
    }

    private func takeHead() -> Bool {
        guard self.inbox.readableBytes > 0 else { return self.endIfFinished() }
        guard self.channel.isWritable else {
            // Back-pressure: no new request while responses are unread.
            self.timer?.expect(.clientToRead)
            return false
        }
        if self.turn != self.worker.loop.turn { (self.turn, self.headsInTurn) = (self.worker.loop.turn, 0) }
        guard self.headsInTurn < Self.mostHeadsInTurn else {
            self.rest()
            return false
        }
        // The present limits, not those at the time of the connection.
        self.parser.limits = self.worker.active.headLimits
        do throws(WireError) {
            guard let (request, length) = try self.readRequest() else {
                self.timer?.expect(.restOfHead)
                return self.endIfFinished()
            }
            self.inbox.moveReaderIndex(forwardBy: length)
            self.headsInTurn += 1
            self.begin(request)
            return true
        } catch {
            self.refuse(Problem(error))
            return false
        }
    }

    /// Continues with the received requests in a later turn, so that a client with many requests does not delay others.
    private func rest() {
        guard !self.isResting else { return }
        self.isResting = true
        LoopBound(self, loop: self.worker.loop).run { connection in
            connection.isResting = false
            // A task sent within a turn may run in that turn; the connection then rests again.
            connection.process()
        }
    }

    /// Closes the connection if the client has stopped sending, so that no complete request will follow.
    private func endIfFinished() -> Bool {
        if self.hasFinished { self.closeGently() }
        return false
    }

    /// Reads the request at the front of the inbox, or finds it among the recurrent ones.
    ///
    /// - Returns: the request with the length of its head; nil if the head is incomplete.
    private func readRequest() throws(WireError) -> (ReceivedRequest, length: Int)? {
        var result: Result<(ReceivedRequest, length: Int)?, WireError> = .success(nil)
        self.inbox.withUnsafeReadableBytes { bytes in
            result = Result { () throws(WireError) in try self.readRequest(bytes) }
        }
        return try result.get()
    }

    private func readRequest(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> (ReceivedRequest, length: Int)? {
        guard let place = try self.parser.findHead(bytes) else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: bytes[place])
        // In a tunnel the same bytes are another request.
        let known = self.tunnel == nil ? RecurrentRequests.Head(bytes) : nil
        if let known, let request = self.worker.recurrent.find(known, in: bytes) { return (request, place.upperBound) }
        let head = try self.parser.read(bytes)
        let framing = try head.bodyFraming()
        guard let known, framing == .none, self.worker.recurrent.note(known) else {
            return (ReceivedRequest(head, framing), place.upperBound)
        }
        let request = ReceivedRequest(head, framing, isRecurrent: true)
        self.worker.recurrent.remember(request, known, in: bytes)
        return (request, place.upperBound)
    }

    private func begin(_ request: ReceivedRequest) {
        var request = request
        let refusal = self.refusal ?? self.worker.active.refusal(of: self.client) ?? self.complete(&request)
        self.answer = ClientAnswer(
            method: request.head.method, minorVersion: request.head.minorVersion,
            wantsKeepAlive: refusal == nil && request.keepsConnection)
        let exchange = Exchange(request, from: self, of: self.client, on: self.worker, inside: self.tunnel)
        if request.framing == .none {
            self.phase = .answering(exchange)
        } else {
            self.reader = BodyReader(request.framing, limits: self.worker.active.headLimits)
            self.phase = .body(exchange)
            if self.channel.takesPipes, (self.reader.missingBytes ?? 0) >= PipedBytes.leastBody {
                self.channel.pipeReader = self
            }
        }
        self.expectNext()
        self.worker.watchProgress()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
    }

    /// Adds the tunnel's destination to a request from inside of it.
    private func complete(_ request: inout ReceivedRequest) -> Problem? {
        guard let tunnel else { return nil }
        var head = request.head
        let problem = tunnel.complete(&head)
        request = ReceivedRequest(head, request.framing)
        return problem
    }

    private func takeBody(_ exchange: Exchange) -> Bool {
        // The end needs no room. If the end waited, an origin that has all bytes could answer first, and the response would
        // then have to close the connection.
        guard self.reader.isAtEnd ? exchange.wantsEndOfBody : exchange.wantsBody else { return false }
        do throws(WireError) {
            switch try self.reader.next(&self.inbox) {
            case .waiting:
                // The client closed within the body: the request is incomplete and cannot be answered.
                if self.hasFinished { self.channel.close(promise: nil) }
                return false
            case .data(let piece):
                self.expectNext()
                // This may end the exchange, and with it the phase.
                exchange.received(piece)
                return true
            case .end(let trailers):
                self.phase = .answering(exchange)
                self.expectNext()
                exchange.receivedEndOfBody(trailers: trailers)
                return true
            }
        } catch {
            exchange.fail(with: Problem(error))
            return false
        }
    }

    /// Answers bytes that are not a valid request; the exchange only serves for the response.
    private func refuse(_ problem: Problem) {
        let head = RequestHead(method: "", target: .asterisk, minorVersion: 1)
        let request = ReceivedRequest(head, .none)
        let exchange = Exchange(request, from: self, of: self.client, on: self.worker, inside: self.tunnel)
        self.answer = ClientAnswer(method: "", minorVersion: 1, wantsKeepAlive: false)
        self.phase = .answering(exchange)
        exchange.refuse(problem)
    }

    /// The current exchange.
    var exchange: Exchange? {
        switch self.phase {
        case .body(let exchange), .answering(let exchange): exchange
        case .head, .lingering, .entering, .closed: nil
        }
    }

    // MARK: Writing

    /// Gathers bytes for the client during a turn; they are sent with one system call at its end.
    private func write(_ body: (inout ByteBuffer) -> Void) {
        if case .closed = self.phase { return }
        // Moved out of the property while it is written to, so that it is never copied.
        var buffer = self.output ?? self.worker.takeOutput()
        self.output = nil
        body(&buffer)
        let count = buffer.readableBytes
        self.output = buffer
        if count >= Self.gatherLimit {
            self.isWriting = true
            self.flush()
            self.isWriting = false
        }
        guard !self.flushRequested else { return }
        self.flushRequested = true
        self.worker.loop.atEndOfTurn(self)
    }

    /// Writes a piece of a body. A large one is sent without copying, together with the gathered bytes before it, because a
    /// copy would cost more than a system call. Bytes that the kernel does not take are gathered.
    private func write(_ bytes: UnsafeRawBufferPointer, behind output: inout ByteBuffer) {
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

    /// Sends the gathered bytes. Then `channel.isWritable` shows if the client keeps up.
    private func flush() {
        guard let output = self.output else { return }
        self.output = nil
        if output.readableBytes > 0 {
            self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: nil)
        }
        self.worker.giveBack(output)
    }

    // MARK: The end of an answer

    /// Takes the next request, or closes the connection if there cannot or must not be one.
    private func answered(keepAlive: Bool) {
        if keepAlive, case .answering = self.phase, !self.worker.isDraining {
            self.phase = .head
            self.flush()
            self.timer?.expect(self.inbox.readableBytes > 0 ? .restOfHead : .nextHead)
            self.process()
        } else {
            self.flush()
            self.closeGently()
        }
    }

    /// Resets the connection: after a normal close, a response without a length would look complete.
    func abort() { self.abort("the client closed the connection") }

    private func abort(_ reason: String) {
        let exchange = self.exchange
        self.phase = .closed
        self.output = nil
        self.channel.reset()
        exchange?.clientLeft(reason)
    }

    func tellProgress() -> Bool {
        self.exchange?.tellProgress()
        return self.exchange != nil
    }

    func closeIfIdle(since end: NIODeadline) { if self.timer?.isIdle(since: end) == true { self.timedOut(.nextHead) } }

    /// Finishes the current exchange, and closes.
    func drain() {
        if case .head = self.phase, self.inbox.readableBytes == 0 { self.closeGently() }
    }

    // MARK: Inside

    /// Copies the remaining bytes, because the receive buffer belongs to the event loop.
    private func keepRest(receivedIn bytes: inout ByteBuffer) {
        if self.inbox.readableBytes == 0 {
            self.inbox = ByteBuffer()
        } else {
            bytes.clear()
            bytes.writeBuffer(&self.inbox)
            swap(&self.inbox, &bytes)
        }
    }

    /// Counts the bytes received ahead. If the common memory is exhausted, an incomplete head is refused; bytes of a body, or
    /// bytes that wait for a response, are limited, and are accepted.
    private func countInbox() {
        let memory = self.worker.memory
        guard
            !self.inboxShare.resize(
                to: self.inbox.readableBytes, of: memory, limit: self.worker.active.limits.heldBytes)
        else { return }
        guard case .head = self.phase else {
            return self.inboxShare.resize(to: self.inbox.readableBytes, of: memory)
        }
        self.refuse(Problem(.overloaded, self.worker.active.limits.memoryShortage))
    }

    private func adjustReading() {
        let isFull = self.inbox.readableBytes >= Self.inboxLimit
        // A head may be longer than the limit, but not the requests that wait for their turn.
        guard case .head = self.phase else { return self.channel.setAutoRead(!isFull) }
        self.channel.setAutoRead(self.channel.isWritable && !(isFull && self.isResting))
    }

    private func expectNext() {
        switch self.phase {
        case .body: self.timer?.expect(.body)
        case .answering: self.timer?.expect(.nothing)
        case .head, .lingering, .entering, .closed: break
        }
    }

    /// Closes in a way that lets the client read its response: a close with unread input would reset the connection (RFC 9112
    /// §9.6).
    private func closeGently() {
        if case .closed = self.phase { return }
        self.phase = .lingering
        self.inbox = ByteBuffer()
        self.inboxShare.resize(to: 0, of: self.worker.memory)
        self.channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
        self.channel.setAutoRead(true)
        self.channel.goOnMoving()
        self.timer?.expect(.clientToClose)
    }

    /// - Parameter countingOut: true if the client has left; false if only this handler leaves.
    private func leave(countingOut: Bool = true) {
        guard let timer else { return }
        timer.stop()
        self.owner.end()
        self.timer = nil
        self.phase = .closed
        self.inbox = ByteBuffer()
        self.inboxShare.resize(to: 0, of: self.worker.memory)
        if countingOut { self.worker.limiter.leave(self.client) }
        self.worker.remove(self)
    }

    /// Called when the client was too slow to do what was expected.
    func timedOut(_ expectation: ConnectionTimer.Expectation) {
        switch expectation {
        case .restOfHead:
            self.refuse(Problem(.requestTimeout, "the request head was not complete in time (limits.header_timeout)"))
        case .body where self.exchange?.wantsBody == false || self.channel.waitsToMove:
            // The upstream takes no more bytes; the client is not to blame.
            self.timer?.expect(.body)
        case .body:
            self.exchange?.fail(
                with: Problem(.requestTimeout, "no byte of the request body came in time (limits.body_timeout)"))
        case .clientToRead: self.abort(ConnectionTimer.unread)
        case .nextHead where self.channel.pendingWriteBytes > 0: self.timer?.expect(.clientToRead)
        case .firstHead:
            if self.tls?.isShakingHands == true {
                self.worker.noteHandshakeFailure(of: self.client, "it was not complete in time (limits.header_timeout)")
            }
            self.channel.close(promise: nil)
        case .nextHead, .clientToClose, .nothing: self.channel.close(promise: nil)
        }
    }
}

extension ClientConnection: ClientStream {
    var isWritable: Bool { self.channel.isWritable }

    func send(interim head: ResponseHead) {
        guard self.answer.minorVersion == 1 else { return }
        self.write { $0.writeInterim(head) }
    }

    func send(_ head: ResponseHead, length: UInt64?) {
        precondition(self.answer.framing == nil, "BUG: a request is answered twice")
        let framing = ResponseFraming(
            method: self.answer.method, minorVersion: self.answer.minorVersion, head: head, length: length)
        let isTaken = if case .answering = self.phase { true } else { false }
        let mayAskMore = !self.hasFinished || self.inbox.readableBytes > 0
        let keepsAlive =
            isTaken && self.answer.wantsKeepAlive && framing != .untilClose && !self.worker.isDraining && mayAskMore
        self.answer.framing = framing
        self.answer.keepsAlive = keepsAlive
        if case .length(let length) = framing { self.answer.owedBytes = length }
        let minorVersion = self.answer.minorVersion
        self.write { $0.writeHead(head, framing: framing, keepAlive: keepsAlive, minorVersion: minorVersion) }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch self.answer.framing {
        case nil: preconditionFailure("BUG: a body is written before its head")
        case .some(.none): return 0
        case .length:
            self.answer.note(written: bytes.count)
            self.write { self.write(bytes, behind: &$0) }
        case .chunked:
            // An empty chunk would end the body.
            guard bytes.count > 0 else { return 0 }
            self.write { output in
                output.writeChunkSize(bytes.count)
                self.write(bytes, behind: &output)
                output.writeStaticString("\r\n")
            }
        case .untilClose: self.write { self.write(bytes, behind: &$0) }
        }
        return bytes.count
    }

    var takesPipes: Bool { if case .length = self.answer.framing { self.channel.takesPipes } else { false } }

    func send(_ piped: PipedBytes) -> Int {
        // Gathered bytes go first. The exchange hears at the end of the turn if the client lags or has left.
        self.write { _ in }
        self.isWriting = true
        self.flush()
        let count = self.channel.send(piped)
        self.isWriting = false
        self.answer.note(written: count)
        return count
    }

    func finish(trailers: Fields) {
        precondition(self.answer.owedBytes == 0, "BUG: less is written than was declared")
        if self.answer.framing == .chunked { self.write { $0.writeLastChunk(trailers) } }
        self.answered(keepAlive: self.answer.keepsAlive)
    }

    /// Ends the connection within a response, so that the client sees that it is incomplete (invariant 4).
    func cut() {
        switch self.answer.framing {
        case .length, .chunked, .some(.none):
            // The close contradicts the framing, so the response is visibly incomplete; sent bytes still arrive.
            self.flush()
            self.closeGently()
        case .untilClose, nil: self.abort()
        }
    }

    func resumeBody() {
        self.process()
        self.channel.goOnMoving()
    }

    func relay(_ terms: TunnelTerms) {
        self.write { output in
            if let head = terms.head {
                output.writeInterim(head)
            } else {
                output.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n")
            }
        }
        self.flush()
        self.leave(to: terms)
    }

    /// Hands the socket over to a tunnel, after the client was answered.
    func leave(to terms: TunnelTerms) {
        self.phase = .closed
        var sent = ByteBuffer()
        swap(&sent, &self.inbox)
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        Tunnel.open(terms, to: self.channel, of: self.client, on: self.worker, sent: sent)
        // After the tunnel has begun, so that a draining worker is not empty in between.
        self.leave(countingOut: false)
    }
}

extension ClientConnection: ServedConnection {}

extension ClientConnection: PipeReader {
    func moveBytes(from descriptor: Int32) -> StreamOutcome? {
        guard case .body(let exchange) = self.phase, self.inbox.readableBytes == 0, !self.isProcessing,
            let missing = self.reader.missingBytes, missing >= PipedBytes.leastBody
        else { return nil }
        // Locks the inbox: the origin may ask for more bytes within this call.
        self.isProcessing = true
        let filling = exchange.moveBody(from: descriptor, atMost: min(missing, PipedBytes.mostAtOnce))
        self.isProcessing = false
        switch filling {
        case .isUnfit, .lacksPipe: return nil
        case .mustWait: return .wouldBlock(until: [])
        case .outcome(let outcome):
            guard case .bytes(let count) = outcome else { return outcome }
            self.reader.skip(count)
            self.expectNext()
            if self.reader.isAtEnd { self.process() }
            return outcome
        }
    }
}

extension ClientConnection {
    func open(_ tunnel: InterceptedTunnel) {
        self.write { $0.writeStaticString("HTTP/1.1 200 Connection Established\r\n\r\n") }
        guard let output = self.output else { return }
        self.output = nil
        self.phase = .entering
        // Further bytes belong to the tunnel.
        self.channel.setAutoRead(false)
        self.timer?.expect(.clientToRead)
        let written = self.worker.loop.makePromise(of: Void.self)
        let both = NIOLoopBound((self, tunnel), eventLoop: self.worker.loop)
        written.futureResult.whenSuccess { both.value.0.enter(both.value.1) }
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: written)
        self.worker.giveBack(output)
    }

    /// Hands the connection over, because the client has chosen HTTP/2.
    private func leave(to tls: TLSTransport, _ bytes: ByteBuffer) {
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        let caller = HTTP2ClientConnection.Caller(client: self.client, refusal: self.refusal, tunnel: self.tunnel, tls)
        HTTP2ClientConnection.begin(on: self.channel, for: caller, on: self.worker, with: bytes)
        self.leave(countingOut: false)
    }

    /// Hands the socket over to the connection inside of the tunnel, when the last byte of this one has been sent.
    private func enter(_ tunnel: InterceptedTunnel) {
        guard case .entering = self.phase, let socket = self.channel.release() else { return }
        self.phase = .closed
        // Copied, because the receive buffer belongs to the event loop.
        let early = ByteBuffer(bytes: self.inbox.readableBytesView)
        let transport = TLSTransport(
            tunnel.interception.context, descriptor: socket.descriptor, inside: self.tls, behind: early
        ) { tunnel.choose($0) }
        let channel = SocketChannel(
            adopting: socket, loop: self.worker.loop, remoteAddress: self.channel.remoteAddress, transport: transport)
        // Not counted out: it is the same client. Removed first, so that the old pipeline gets no further events.
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        tunnel.serve(over: channel, transport, of: self.client)
        self.leave(countingOut: false)
    }
}

extension ClientConnection: TurnEndWork {
    func runAtEndOfTurn() {
        self.flushRequested = false
        self.flush()
        if let abandoned {
            self.abandoned = nil
            return abandoned.clientLeft()
        }
        guard let exchange else { return }
        if self.channel.isWritable { exchange.clientCaughtUp() } else { exchange.clientFellBehind() }
    }
}
