// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleWebSocket

/// The connection of a ``WebSocket``: carries bytes between its machine and its channel, and knows the time.
///
/// Used on its loop's thread only. A turn works on a bounded number of bytes, whatever they inflate to.
final class WebSocketLink: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Messages go both ways.
        case open
        /// Nothing more is read. What is waiting is sent, then the Close, and the server's is waited for.
        case closing(WebSocketClose)
        /// The server has broken the protocol. Who reads is to be heard first about what came before.
        case failing(WebSocketViolation)
        /// Nothing more counts. The end of the connection is waited for, which is the server's to make (RFC 6455 §7.1.1).
        case lingering
        case over
    }

    private let loop: Loop
    private let peer: Authority
    private let options: WebSocketOptions
    private let shared: WebSocketSharedState
    /// Told when the connection is closed.
    private let onEnd: () -> Void
    private var machine: WebSocketMachine
    private var channel: SocketChannel?
    private var state = State.open
    /// Why the connection has ended, where that was not in order.
    private(set) var failure: SessionError?
    private var isSuspended = false
    // Receiving.
    /// Bytes that nobody has wanted yet, or that are the beginning of something.
    private var held = ByteBuffer()
    /// A turn's work on them was done, and there is more.
    private var readsOnLater = false
    /// The end of the input behind them.
    private var endOfInput: SessionError?
    private var transportCause: String?
    private var watch: SilenceWatch?
    // Sending.
    private var output = ByteBuffer()
    private var sendsOnLater = false
    /// The payload of a ping that is to be answered when there is room.
    private var unanswered: ByteBuffer?
    private var pings = PendingPings()
    // When things are to have happened.
    private var silence: LoopTimer?
    private var patience: LoopTimer?

    /// The most bytes that are worked on in a turn, in each direction.
    private static let turnBudget = 256 * 1024
    /// The time that the server has for ending a connection on which everything was said.
    private static let lingerTime = TimeAmount.seconds(1)

    init(
        _ machine: consuming WebSocketMachine, on loop: Loop, to peer: Authority, options: WebSocketOptions,
        shared: WebSocketSharedState, onEnd: @escaping () -> Void
    ) {
        self.machine = machine
        self.loop = loop
        self.peer = peer
        self.options = options
        self.shared = shared
        self.onEnd = onEnd
        self.watch = options.keepAlive.map { SilenceWatch($0, at: loop.turnTime) }
        // unowned: `end` disarms the timers before this goes.
        self.silence = LoopTimer { [unowned self] in self.checkSilence() }
        self.patience = LoopTimer { [unowned self] in self.patienceIsOver() }
    }

    /// Begins, with what came behind the head of the response.
    func start(_ connection: MadeConnection, early: ByteBuffer) {
        let channel = connection.makeChannel(on: self.loop)
        self.channel = channel
        channel.allowsHalfClosure = true
        self.shared.belongs(to: LoopBound(self, loop: self.loop))
        do {
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            preconditionFailure("BUG: a new channel takes no handlers: \(error)")
        }
        self.held.writeImmutableBuffer(early)
        self.checkSilence()
        channel.start()
        self.readOn()
    }

    var isOver: Bool { if case .over = self.state { true } else { false } }

    private var isOpen: Bool { if case .open = self.state { true } else { false } }

    // MARK: For the task

    /// Stops where it is: nothing is read or sent, and silence does not count.
    func suspend() {
        self.isSuspended = true
        self.updateReading()
    }

    /// Goes on.
    func resume() {
        self.isSuspended = false
        _ = self.watch?.heard(at: .now())
        self.readOn()
        self.sendOn()
    }

    /// Ends it at once, with a word to the server where that can be said.
    func abort(_ error: SessionError) {
        guard !self.isOver else { return }
        self.machine.writeClose(WebSocketClose(.goingAway), into: &self.output)
        self.flushOutput()
        self.end(error)
    }

    // MARK: Receiving

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if self.watch?.heard(at: self.loop.turnTime) == true { self.checkSilence() }
        guard self.held.readableBytes == 0, !self.readsOnLater else {
            self.held.writeImmutableBuffer(bytes)
            // The rest of an earlier turn's work comes first.
            return self.readsOnLater ? self.updateReading() : self.readOn()
        }
        self.take(&bytes)
        // A copy, because the loop uses its buffer again.
        if bytes.readableBytes > 0 { self.held.writeBytes(bytes.readableBytesView) }
        self.finishTurn()
    }

    /// Goes on with what is here, where it is wanted.
    func readOn() {
        guard !self.isOver, !self.readsOnLater else { return }
        self.failIfRead()
        var bytes = ByteBuffer()
        swap(&bytes, &self.held)
        self.take(&bytes)
        bytes.discardReadBytes()
        self.held = bytes
        self.finishTurn()
    }

    /// Tells whether what comes is to be understood, or thrown away.
    private var isReading: Bool {
        switch self.state {
        case .open: !self.isSuspended && self.shared.inbox.hasRoom()
        case .closing, .lingering: true
        case .failing, .over: false
        }
    }

    private func take(_ bytes: inout ByteBuffer) {
        var budget = Self.turnBudget
        while self.isReading {
            guard let event = self.machine.next(&bytes, budget: &budget) else {
                self.readsOnLater = budget <= 0
                break
            }
            self.handle(event)
        }
    }

    private func finishTurn() {
        self.flushOutput()
        guard !self.isOver else { return }
        if self.readsOnLater {
            LoopBound(self, loop: self.loop).run { link in
                link.readsOnLater = false
                link.readOn()
            }
        } else if let endOfInput, self.isReading {
            return self.inputEnded(endOfInput)
        }
        self.updateReading()
    }

    private func updateReading() {
        guard !self.isOver else { return }
        self.channel?.setAutoRead(self.isReading && !self.readsOnLater)
    }

    private func handle(_ event: WebSocketEvent) {
        switch event {
        case .message(let message): if self.isOpen { self.shared.inbox.add(message) }
        case .ping(let payload): self.answer(payload)
        case .pong(let payload): self.pings.received(payload, at: .now())
        case .close(let close): self.received(close)
        case .violation(let violation): self.received(violation)
        }
    }

    private func received(_ violation: WebSocketViolation) {
        // With its own Close on the way, nobody hears of it.
        guard self.isOpen else { return self.linger(nil) }
        self.state = .failing(violation)
        self.shared.inbox.finish(self.error(for: violation))
        self.bePatient(for: Self.lingerTime)
        self.failIfRead()
    }

    private func error(for violation: WebSocketViolation) -> SessionError {
        SessionError(
            violation.kind == .messageTooBig ? .tooLarge : .malformedResponse,
            "the WebSocket to \(self.peer) was given up", cause: violation.message, underlying: violation)
    }

    /// Fails the connection, where every message from before the violation was read, and answered.
    private func failIfRead() {
        guard case .failing(let violation) = self.state, !self.shared.inbox.isBeforeEnd else { return }
        self.fail(violation)
    }

    private func fail(_ violation: WebSocketViolation) {
        self.sendOn()
        self.machine.answer(.violation(violation), into: &self.output)
        self.linger(self.error(for: violation))
        // It may not answer the Close, but will see this.
        self.flushOutput()
        self.channel?.close(mode: .output, promise: nil)
    }

    /// Answers a ping. While there is no room, only the last one is kept, as RFC 6455 §5.5.3 allows.
    private func answer(_ payload: ByteBuffer) {
        if self.mayWrite { self.machine.writePong(payload, into: &self.output) } else { self.unanswered = payload }
    }

    private func received(_ close: WebSocketClose) {
        self.shared.note(close)
        if self.isOpen {
            self.machine.writeClose(WebSocketClose(close.code), into: &self.output)
        } else if case .closing(let own) = self.state {
            // Where it has not left yet.
            self.machine.writeClose(own, into: &self.output)
        }
        self.linger(nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? ChannelEvent, event == .inputClosed else { return }
        self.noteEndOfInput("\(self.peer) ended the connection of the WebSocket without a Close")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.transportCause = CarrierFailure.words(for: error)
        // The channel closes behind an error of its own.
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.channel = nil
        self.noteEndOfInput("the connection of the WebSocket to \(self.peer) broke")
    }

    private func noteEndOfInput(_ message: String) {
        guard !self.isOver else { return }
        if self.endOfInput == nil {
            self.endOfInput = SessionError(.connectionBroken, message, cause: self.transportCause)
        }
        // Bytes from before the end are read first.
        self.readOn()
    }

    private func inputEnded(_ error: SessionError) {
        switch self.state {
        case .open: self.end(error)
        // Its own Close is not due any more, and nobody waits for a message.
        case .closing, .failing, .lingering: self.end(nil)
        case .over: break
        }
    }

    // MARK: Sending

    private var mayWrite: Bool { self.channel?.isWritable == true && !self.isSuspended }

    /// Sends what is waiting, as far as there is room.
    func sendOn() {
        self.shared.outbox.isLookedAt()
        guard !self.sendsOnLater else { return }
        var left = Self.turnBudget
        while self.isSending, self.mayWrite {
            guard left > 0 else {
                self.sendsOnLater = true
                LoopBound(self, loop: self.loop).run { link in
                    link.sendsOnLater = false
                    link.sendOn()
                }
                break
            }
            guard let count = self.writeNext() else { break }
            left -= count
            if self.output.readableBytes >= Self.outputSize { self.flushOutput() }
        }
        if case .closing(let close) = self.state, self.mayWrite, !self.sendsOnLater, !self.machine.isWithinMessage {
            self.machine.writeClose(close, into: &self.output)
        }
        self.flushOutput()
    }

    private static let outputSize = 64 * 1024

    /// Tells whether messages are sent.
    private var isSending: Bool {
        switch self.state {
        case .open, .closing, .failing: self.machine.takesOutput
        case .lingering, .over: false
        }
    }

    /// Writes the next frame of a message, and pongs that are due before it.
    ///
    /// - Returns: the number of bytes that this was work for; nil where there is nothing to be written.
    private func writeNext() -> Int? {
        self.answerLate()
        if !self.machine.isWithinMessage {
            guard let message = self.shared.outbox.take() else { return nil }
            self.machine.begin(message)
        }
        return self.machine.writeFragment(into: &self.output) + Self.frameWork
    }

    /// The work for a frame beyond its bytes, in bytes.
    private static let frameWork = 256

    private func answerLate() {
        guard let payload = self.unanswered else { return }
        self.unanswered = nil
        self.machine.writePong(payload, into: &self.output)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard self.mayWrite, !self.isOver else { return }
        self.answerLate()
        self.sendOn()
    }

    /// Gives the channel what was written.
    private func flushOutput() {
        guard self.output.readableBytes > 0 else { return }
        var bytes = ByteBuffer()
        swap(&bytes, &self.output)
        guard let channel else { return }
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(bytes), promise: nil)
        // Where it has left already, its memory is used again.
        guard bytes.capacity <= 2 * Self.outputSize, self.output.readableBytes == 0 else { return }
        bytes.clear()
        self.output = bytes
    }

    // MARK: Pings

    /// Sends a ping.
    func ping(_ pong: PendingPings.Pong) {
        guard self.isOpen else {
            pong.give(.failure(self.refusal))
            return
        }
        self.machine.writePing(self.pings.next(for: pong, at: .now()), into: &self.output)
        self.flushOutput()
    }

    private func checkSilence() {
        guard self.isOpen, self.watch != nil, let silence else { return }
        let now = NIODeadline.now()
        // While it is not read, it cannot be heard.
        if self.channel?.isReadingByItself == false { _ = self.watch?.heard(at: now) }
        switch self.watch?.step(at: now) {
        case nil: break
        case .wait(let moment): self.loop.arm(silence, at: moment)
        case .ping(let moment):
            self.loop.arm(silence, at: moment)
            self.machine.writePing(self.pings.next(), into: &self.output)
            self.flushOutput()
        case .giveUp:
            let silence = self.watch?.limit.inWords ?? ""
            self.end(SessionError(.timeout, "\(self.peer) was silent for \(silence), and has answered no ping"))
        }
    }

    // MARK: The end

    private var refusal: SessionError {
        self.failure ?? SessionError(.cannotSend, "the WebSocket to \(self.peer) is closed")
    }

    /// Begins the closing handshake, where it has not begun.
    func close(_ close: WebSocketClose) {
        guard self.isOpen else { return }
        self.state = .closing(close)
        // Senders that wait for room are refused; what was taken is sent.
        self.shared.outbox.refuse(self.refusal, dropping: false)
        self.shared.inbox.finish(nil)
        self.bePatient(for: TimeAmount(limit: self.options.closeTimeout))
        self.sendOn()
        self.readOn()
    }

    /// Waits for the end of the connection, in which nothing more is said.
    private func linger(_ error: SessionError?) {
        if self.failure == nil { self.failure = error }
        self.state = .lingering
        self.tellEnd(error)
        self.bePatient(for: Self.lingerTime)
    }

    private func patienceIsOver() {
        if case .failing(let violation) = self.state { self.fail(violation) } else { self.end(nil) }
    }

    private func bePatient(for time: TimeAmount) {
        if let patience { self.loop.arm(patience, at: .now() + time) }
    }

    /// Tells who reads, sends or waits for a pong that there is an end.
    private func tellEnd(_ error: SessionError?) {
        self.shared.inbox.finish(error)
        self.shared.outbox.refuse(error ?? self.refusal, dropping: true)
        self.pings.fail(error ?? self.refusal)
    }

    /// Closes the connection.
    private func end(_ error: SessionError?) {
        guard !self.isOver else { return }
        if self.failure == nil { self.failure = error }
        self.state = .over
        if let silence { self.loop.disarm(silence) }
        if let patience { self.loop.disarm(patience) }
        self.held = ByteBuffer()
        self.channel.take()?.close(promise: nil)
        self.tellEnd(error)
        self.shared.end()
        self.onEnd()
    }
}
