// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// A connection of a client that speaks HTTP/1.1: takes requests off it one after another, hands each to an ``Exchange``, and
/// writes its answer.
///
/// Pipelined requests wait in `inbox` until the exchange before them is answered, so answers keep the requests' order.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Tells where the next byte of the client belongs.
    private enum Phase {
        /// To a request head.
        case head
        /// To the body of this exchange's request, which `reader` takes.
        case body(Exchange)
        /// To the next request, once this exchange is answered.
        case answering(Exchange)
        /// Nowhere: the last answer is sent, and what still arrives is thrown away.
        case lingering
        /// To the connection inside of an intercepted tunnel, which begins when the answer has left.
        case entering
        /// To the other end of a tunnel, or nowhere.
        case closed
    }

    let lane: Lane
    let channel: SocketChannel
    /// Nil where the system does not say.
    let client: Client?
    let owner = ConnectionOwner()
    /// The problem for which nothing is served over this connection; nil where it is served.
    private var refusal: Problem?
    /// Nil where the client speaks in clear.
    private let tls: TLSTransport?
    /// The tunnel that the requests come out of; nil for requests to the proxy.
    private let tunnel: InterceptedTunnel?
    private var phase = Phase.head
    private var answer = ClientAnswer(method: "", minorVersion: 1, wantsKeepAlive: false)
    private var parser: RequestParser
    private var reader: BodyReader
    private var inbox = ByteBuffer()
    /// What is drawn from the common memory for the inbox.
    private var inboxShare = MemoryShare()
    private var isProcessing = false
    /// The heads that were taken in a turn of the loop.
    private var (headsInTurn, turn) = (0, UInt64(0))
    /// True while requests wait that have come, because others want their turn.
    private var isResting = false
    /// True once the client has sent something.
    private var hasBegun = false
    /// True once the client has sent everything; it may still read.
    private var hasFinished = false
    private var timer: ConnectionTimer?
    /// Bytes for the client that were not given to the channel yet.
    private var output: ByteBuffer?
    private var flushRequested = false
    private var isWriting = false
    /// The exchange that is told at the end of the turn that its client is gone: it was writing.
    private var abandoned: Exchange?

    /// The most heads that are taken in a turn.
    private static let mostHeadsInTurn = 16
    /// How much of what the client sends ahead is kept.
    private static let inboxLimit = 64 * 1024
    /// Above this, gathered bytes are sent at once: more would only take memory.
    private static let gatherLimit = 64 * 1024
    /// From this on, bytes are not gathered where the client keeps up.
    private static let largePiece = 16 * 1024

    init(
        lane: Lane, channel: SocketChannel, tls: TLSTransport?, client: Client?, refusal: Problem? = nil,
        inside tunnel: InterceptedTunnel? = nil
    ) {
        self.tunnel = tunnel
        self.lane = lane
        self.channel = channel
        self.client = client
        self.tls = tls
        self.refusal = refusal
        self.parser = RequestParser(limits: lane.active.headLimits)
        self.reader = BodyReader(.none, limits: lane.active.headLimits)
    }

    // MARK: The channel's events

    func channelActive(context: ChannelHandlerContext) {
        self.tls?.whenPlainText = { [weak self] in
            if let tunnel = self?.tunnel { tunnel.speaksPlainly() } else { self?.refusal = .plainTextForTLS }
        }
        self.lane.add(self)
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
            // The common case: the bytes are understood where they were received.
            swap(&self.inbox, &bytes)
            self.process()
            self.keepRest(receivedIn: &bytes)
        } else {
            // What was taken would otherwise stay in front of what comes, for as long as the inbox is never empty.
            self.inbox.discardReadBytes()
            self.inbox.writeBuffer(&bytes)
            self.process()
        }
    }

    /// The client sends no more. What it has asked for by now is answered all the same (RFC 9112 §9.6); that it is gone
    /// altogether shows when the connection is reset.
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
            // The exchange is told when it does not write.
            self.abandoned = exchange
        } else {
            exchange?.clientLeft()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let failure = error as? TLSFailure, failure.isOfHandshake {
            self.tunnel?.handshakeFailed(failure)
            if self.tunnel == nil { self.lane.noteHandshakeFailure(of: self.client, "\(failure)") }
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
        // The exchange is told of room at the end of the turn where it writes.
        if !self.isWriting { exchange.clientCaughtUp() }
    }

    // MARK: Taking requests

    /// Understands as much of the inbox as can be.
    func process() {
        guard !self.isProcessing else { return }
        self.isProcessing = true
        defer { self.isProcessing = false }
        while self.step() {}
        // Nothing is held for a client that is gone.
        guard self.timer != nil else { return }
        self.countInbox()
        self.adjustReading()
    }

    /// - Returns: whether there may be more to do.
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
            // Who does not read answers gets no more of them.
            self.timer?.expect(.clientToRead)
            return false
        }
        if self.turn != self.lane.loop.turn { (self.turn, self.headsInTurn) = (self.lane.loop.turn, 0) }
        guard self.headsInTurn < Self.mostHeadsInTurn else {
            self.rest()
            return false
        }
        // Those in force: nothing is remembered by a connection.
        self.parser.limits = self.lane.active.headLimits
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

    /// Goes on in a later turn with what has come: who sends many requests at once does not hold up others.
    private func rest() {
        guard !self.isResting else { return }
        self.isResting = true
        LoopBound(self, loop: self.lane.loop).run { connection in
            connection.isResting = false
            // A task that is sent within a turn may run in it: the connection rests again then.
            connection.process()
        }
    }

    /// Closes where the rest of a request, or another one, will never come.
    private func endIfFinished() -> Bool {
        if self.hasFinished { self.closeGently() }
        return false
    }

    /// Reads the request that begins the inbox, or knows it.
    ///
    /// - Returns: it, with the length of its head; nil where that is not complete.
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
        if let known, let request = self.lane.recurrent.find(known, in: bytes) { return (request, place.upperBound) }
        let head = try self.parser.read(bytes)
        let framing = try head.bodyFraming()
        guard let known, framing == .none, self.lane.recurrent.note(known) else {
            return (ReceivedRequest(head, framing), place.upperBound)
        }
        let request = ReceivedRequest(head, framing, isRecurrent: true)
        self.lane.recurrent.remember(request, known, in: bytes)
        return (request, place.upperBound)
    }

    private func begin(_ request: ReceivedRequest) {
        var request = request
        let refusal = self.refusal ?? self.lane.active.refusal(of: self.client) ?? self.complete(&request)
        self.answer = ClientAnswer(
            method: request.head.method, minorVersion: request.head.minorVersion,
            wantsKeepAlive: refusal == nil && request.keepsConnection)
        let exchange = Exchange(request, from: self, of: self.client, on: self.lane, inside: self.tunnel)
        if request.framing == .none {
            self.phase = .answering(exchange)
        } else {
            self.reader = BodyReader(request.framing, limits: self.lane.active.headLimits)
            self.phase = .body(exchange)
            if self.channel.takesPipes, (self.reader.missingBytes ?? 0) >= PipedBytes.leastBody {
                self.channel.pipeReader = self
            }
        }
        self.expectNext()
        self.lane.watchProgress()
        if let refusal { exchange.refuse(refusal) } else { exchange.begin() }
    }

    /// Has a request out of a tunnel name its destination.
    private func complete(_ request: inout ReceivedRequest) -> Problem? {
        guard let tunnel else { return nil }
        var head = request.head
        let problem = tunnel.complete(&head)
        request = ReceivedRequest(head, request.framing)
        return problem
    }

    private func takeBody(_ exchange: Exchange) -> Bool {
        // The end takes no room: an origin that has all bytes may answer before more of them would be wanted, and the answer
        // would say that the connection closes.
        guard self.reader.isAtEnd ? exchange.wantsEndOfBody : exchange.wantsBody else { return false }
        do throws(WireError) {
            switch try self.reader.next(&self.inbox) {
            case .waiting:
                // A body that is cut off is nobody's request.
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

    /// Answers bytes that are no request: there is no exchange that could be forwarded.
    private func refuse(_ problem: Problem) {
        let head = RequestHead(method: "", target: .asterisk, minorVersion: 1)
        let request = ReceivedRequest(head, .none)
        let exchange = Exchange(request, from: self, of: self.client, on: self.lane, inside: self.tunnel)
        self.answer = ClientAnswer(method: "", minorVersion: 1, wantsKeepAlive: false)
        self.phase = .answering(exchange)
        exchange.refuse(problem)
    }

    /// The exchange under way.
    var exchange: Exchange? {
        switch self.phase {
        case .body(let exchange), .answering(let exchange): exchange
        case .head, .lingering, .entering, .closed: nil
        }
    }

    // MARK: Writing

    /// Gathers bytes during a turn, which are sent with one system call at its end.
    private func write(_ body: (inout ByteBuffer) -> Void) {
        if case .closed = self.phase { return }
        // Taken out while it is written to, so that it is never copied.
        var buffer = self.output ?? self.lane.takeOutput()
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
        self.lane.loop.atEndOfTurn(self)
    }

    /// Writes a piece of a body. A large one is sent from where it is, and what was gathered before it: copying it would cost
    /// more than a system call. What the kernel does not take is gathered.
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

    /// Sends what was gathered. After it, `channel.isWritable` says whether the client keeps up.
    private func flush() {
        guard let output = self.output else { return }
        self.output = nil
        if output.readableBytes > 0 {
            self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: nil)
        }
        self.lane.giveBack(output)
    }

    // MARK: The end of an answer

    /// The next request is taken, or the connection closes where there cannot or must not be one.
    private func answered(keepAlive: Bool) {
        if keepAlive, case .answering = self.phase, !self.lane.isDraining {
            self.phase = .head
            self.flush()
            self.timer?.expect(self.inbox.readableBytes > 0 ? .restOfHead : .nextHead)
            self.process()
        } else {
            self.flush()
            self.closeGently()
        }
    }

    /// Breaks the connection: a mere close would end an answer that has no length like a complete one.
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

    /// Finishes what is under way and closes.
    func drain() {
        if case .head = self.phase, self.inbox.readableBytes == 0 { self.closeGently() }
    }

    // MARK: Inside

    /// The buffer that bytes are received in belongs to the loop: what is left of it is copied, not kept.
    private func keepRest(receivedIn bytes: inout ByteBuffer) {
        if self.inbox.readableBytes == 0 {
            self.inbox = ByteBuffer()
        } else {
            bytes.clear()
            bytes.writeBuffer(&self.inbox)
            swap(&self.inbox, &bytes)
        }
    }

    /// Counts what came before its time. A head that would take more than there is left is not waited for; what belongs to a
    /// body, or waits for an answer, is bounded and goes on.
    private func countInbox() {
        let memory = self.lane.memory
        guard
            !self.inboxShare.resize(to: self.inbox.readableBytes, of: memory, limit: self.lane.active.limits.heldBytes)
        else { return }
        guard case .head = self.phase else {
            return self.inboxShare.resize(to: self.inbox.readableBytes, of: memory)
        }
        self.refuse(Problem(.overloaded, self.lane.active.limits.memoryShortage))
    }

    private func adjustReading() {
        let isFull = self.inbox.readableBytes >= Self.inboxLimit
        // A head may be longer, but not what waits for its turn.
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

    /// Closes in a way that lets the client read its answer: a close with unread input would reset the connection
    /// (RFC 9112 §9.6).
    private func closeGently() {
        if case .closed = self.phase { return }
        self.phase = .lingering
        self.inbox = ByteBuffer()
        self.inboxShare.resize(to: 0, of: self.lane.memory)
        self.channel.close0(error: ChannelError.eof, mode: .output, promise: nil)
        self.channel.setAutoRead(true)
        self.channel.goOnMoving()
        self.timer?.expect(.clientToClose)
    }

    /// - Parameter countingOut: whether the client is gone, and not only this handler.
    private func leave(countingOut: Bool = true) {
        guard let timer else { return }
        timer.stop()
        self.owner.end()
        self.timer = nil
        self.phase = .closed
        self.inbox = ByteBuffer()
        self.inboxShare.resize(to: 0, of: self.lane.memory)
        if countingOut { self.lane.census.leave(self.client) }
        self.lane.remove(self)
    }

    /// The client was too slow with what was expected of it.
    func timedOut(_ expectation: ConnectionTimer.Expectation) {
        switch expectation {
        case .restOfHead:
            self.refuse(Problem(.requestTimeout, "the request head was not complete in time (limits.header_timeout)"))
        case .body where self.exchange?.wantsBody == false || self.channel.waitsToMove:
            // It is the upstream that takes no more.
            self.timer?.expect(.body)
        case .body:
            self.exchange?.fail(
                with: Problem(.requestTimeout, "no byte of the request body came in time (limits.body_timeout)"))
        case .clientToRead: self.abort(ConnectionTimer.unread)
        case .nextHead where self.channel.pendingWriteBytes > 0: self.timer?.expect(.clientToRead)
        case .firstHead:
            if self.tls?.isShakingHands == true {
                self.lane.noteHandshakeFailure(of: self.client, "it was not complete in time (limits.header_timeout)")
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
            isTaken && self.answer.wantsKeepAlive && framing != .untilClose && !self.lane.isDraining && mayAskMore
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
        // Gathered bytes go first, and the end of the turn tells the exchange of a client that is behind, or gone.
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

    /// Ends the connection in the middle of an answer, so that the client knows that it is cut (invariant 4).
    func cut() {
        switch self.answer.framing {
        case .length, .chunked, .some(.none):
            // The end of the connection is not the end that the framing promised; what was sent still arrives.
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

    /// Leaves the socket to a tunnel. The client has been answered.
    func leave(to terms: TunnelTerms) {
        self.phase = .closed
        var sent = ByteBuffer()
        swap(&sent, &self.inbox)
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        Tunnel.open(terms, to: self.channel, of: self.client, on: self.lane, sent: sent)
        // Behind it: a lane that drains is not empty in between.
        self.leave(countingOut: false)
    }
}

extension ClientConnection: ServedConnection {}

extension ClientConnection: PipeReader {
    func moveBytes(from descriptor: Int32) -> StreamOutcome? {
        guard case .body(let exchange) = self.phase, self.inbox.readableBytes == 0, !self.isProcessing,
            let missing = self.reader.missingBytes, missing >= PipedBytes.leastBody
        else { return nil }
        // Nothing is taken from the inbox meanwhile: the origin may ask for more from within.
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
        // What comes from now on is the tunnel's.
        self.channel.setAutoRead(false)
        self.timer?.expect(.clientToRead)
        let written = self.lane.loop.makePromise(of: Void.self)
        let both = NIOLoopBound((self, tunnel), eventLoop: self.lane.loop)
        written.futureResult.whenSuccess { both.value.0.enter(both.value.1) }
        self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: written)
        self.lane.giveBack(output)
    }

    /// The client has chosen HTTP/2.
    private func leave(to tls: TLSTransport, _ bytes: ByteBuffer) {
        self.channel.pipeline.syncOperations.removeHandler(self, promise: nil)
        let caller = HTTP2ClientConnection.Caller(client: self.client, refusal: self.refusal, tunnel: self.tunnel, tls)
        HTTP2ClientConnection.begin(on: self.channel, for: caller, on: self.lane, with: bytes)
        self.leave(countingOut: false)
    }

    /// Another connection goes on with the socket, when the last byte of this one has left.
    private func enter(_ tunnel: InterceptedTunnel) {
        guard case .entering = self.phase, let socket = self.channel.release() else { return }
        self.phase = .closed
        // The receive buffer is the loop's.
        let early = ByteBuffer(bytes: self.inbox.readableBytesView)
        let transport = TLSTransport(
            tunnel.interception.context, descriptor: socket.descriptor, inside: self.tls, behind: early
        ) { tunnel.choose($0) }
        let channel = SocketChannel(
            adopting: socket, loop: self.lane.loop, remoteAddress: self.channel.remoteAddress, transport: transport)
        // Not counted out: it is the same client. Removed first, so that nothing of the old pipeline is told of what comes.
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
