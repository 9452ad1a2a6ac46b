// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleWebSocket

/// The connection of a ``WebSocket``: carries bytes between its machine and its channel, and keeps its timers.
///
/// Used only on its loop's thread. A turn processes a bounded number of bytes, whatever they inflate to.
final class WebSocketLink: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// Messages are sent and received.
        case open
        /// No more messages are received. Waiting messages are sent, then the Close; then the server's Close is
        /// awaited.
        case closing(WebSocketClose)
        /// The server has violated the protocol. Readers first get the messages from before that, and may answer them.
        case failing(WebSocketViolation)
        /// Nothing more is sent or received. The server must end the connection (RFC 6455 §7.1.1).
        case lingering
        case over
    }

    private let loop: Loop
    private let peer: Authority
    private let options: WebSocketOptions
    private let shared: WebSocketSharedState
    /// Called when the connection is closed.
    private let onEnd: () -> Void
    private var machine: WebSocketMachine
    private var channel: SocketChannel?
    private var state = State.open
    /// The reason why the connection has ended, if it failed.
    private(set) var failure: SessionError?
    private var isSuspended = false
    // Receiving.
    /// Received bytes that are not wanted yet, or are the beginning of a frame.
    private var held = ByteBuffer()
    /// True if this turn's work is done, and there are more bytes.
    private var readsOnLater = false
    /// The end of the input, which comes after the held bytes.
    private var endOfInput: SessionError?
    private var transportCause: String?
    private var watch: SilenceWatch?
    // Sending.
    private var output = ByteBuffer()
    private var sendsOnLater = false
    /// The payload of a ping whose pong waits for room.
    private var unanswered: ByteBuffer?
    private var pings = PendingPings()
    // Timers.
    private var silence: LoopTimer?
    private var patience: LoopTimer?

    /// The most bytes that are processed in a turn, in each direction.
    private static let turnBudget = 256 * 1024
    /// The time that the server has for ending a connection after both Closes.
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
        // Why unowned holds: `end` disarms the timers before the link is released.
        self.silence = LoopTimer { [unowned self] in self.checkSilence() }
        self.patience = LoopTimer { [unowned self] in self.patienceIsOver() }
    }

    /// Begins, with the bytes that came after the head of the response.
    func start(_ connection: EstablishedConnection, early: ByteBuffer) {
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

    /// Pauses: nothing is read or sent, and silence does not count.
    func suspend() {
        self.isSuspended = true
        self.updateReading()
    }

    /// Continues after a pause.
    func resume() {
        self.isSuspended = false
        _ = self.watch?.heard(at: .now())
        self.readOn()
        self.sendOn()
    }

    /// Ends the connection at once, with a Close to the server if that can be sent. Does nothing if it is over.
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
            // The rest of an earlier turn's bytes comes first.
            return self.readsOnLater ? self.updateReading() : self.readOn()
        }
        self.take(&bytes)
        // A copy, because the loop reuses its buffer.
        if bytes.readableBytes > 0 { self.held.writeBytes(bytes.readableBytesView) }
        self.finishTurn()
    }

    /// Processes the held bytes, as far as they are wanted.
    func readOn() {
        // Nothing is held after the end, and a later turn has the rest.
        guard !self.isOver, !self.readsOnLater else { return }
        self.failIfRead()
        var bytes = ByteBuffer()
        swap(&bytes, &self.held)
        self.take(&bytes)
        bytes.discardReadBytes()
        self.held = bytes
        self.finishTurn()
    }

    /// True if received bytes are processed now.
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
        // The end has closed the channel.
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
        // The end has closed the channel.
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
        // The Close has been sent, so no reader would hear of the violation.
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

    /// Fails the connection, if every message from before the violation was read and answered.
    private func failIfRead() {
        // Nothing is wrong, or readers have to get earlier messages first.
        guard case .failing(let violation) = self.state, !self.shared.inbox.isBeforeEnd else { return }
        self.fail(violation)
    }

    private func fail(_ violation: WebSocketViolation) {
        self.sendOn()
        self.machine.answer(.violation(violation), into: &self.output)
        self.linger(self.error(for: violation))
        // The server may not answer the Close, but it will see the end of the output.
        self.flushOutput()
        self.channel?.close(mode: .output, promise: nil)
    }

    /// Answers a ping. If there is no room, only the last ping is kept, as RFC 6455 §5.5.3 allows.
    private func answer(_ payload: ByteBuffer) {
        if self.mayWrite { self.machine.writePong(payload, into: &self.output) } else { self.unanswered = payload }
    }

    private func received(_ close: WebSocketClose) {
        self.shared.note(close)
        if self.isOpen {
            self.machine.writeClose(WebSocketClose(close.code), into: &self.output)
        } else if case .closing(let own) = self.state {
            // Sent here if it has not been sent yet.
            self.machine.writeClose(own, into: &self.output)
        }
        self.linger(nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The other events of a channel do not concern a WebSocket.
        guard let event = event as? ChannelEvent, event == .inputClosed else { return }
        self.noteEndOfInput("\(self.peer) ended the connection of the WebSocket without a Close")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.transportCause = CarrierFailure.words(for: error)
        // The channel closes itself after such an error.
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.channel = nil
        self.noteEndOfInput("the connection of the WebSocket to \(self.peer) broke")
    }

    private func noteEndOfInput(_ message: String) {
        // A channel that this side has closed ends, too.
        guard !self.isOver else { return }
        if self.endOfInput == nil {
            self.endOfInput = SessionError(.connectionBroken, message, cause: self.transportCause)
        }
        // Bytes from before the end are processed first.
        self.readOn()
    }

    private func inputEnded(_ error: SessionError) {
        switch self.state {
        case .open: self.end(error)
        // A Close of our own is no longer due, and no reader waits for a message.
        case .closing, .failing, .lingering: self.end(nil)
        case .over: break
        }
    }

    // MARK: Sending

    private var mayWrite: Bool { self.channel?.isWritable == true && !self.isSuspended }

    /// Sends waiting messages, as far as there is room.
    func sendOn() {
        self.shared.outbox.isLookedAt()
        // A later turn has the rest.
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

    /// True if messages are sent.
    private var isSending: Bool {
        switch self.state {
        case .open, .closing, .failing: self.machine.takesOutput
        case .lingering, .over: false
        }
    }

    /// Writes the next frame of a message, after a pong that is due.
    ///
    /// - Returns: the amount of work in bytes; nil if there is nothing to write.
    private func writeNext() -> Int? {
        self.answerLate()
        if !self.machine.isWithinMessage {
            guard let message = self.shared.outbox.take() else { return nil }
            self.machine.begin(message)
        }
        return self.machine.writeFragment(into: &self.output) + Self.frameWork
    }

    /// The work for a frame in addition to its bytes, in bytes.
    private static let frameWork = 256

    private func answerLate() {
        // Every ping was answered.
        guard let payload = self.unanswered else { return }
        self.unanswered = nil
        self.machine.writePong(payload, into: &self.output)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // There is no room yet, or a pause; after the end nothing is sent.
        guard self.mayWrite, !self.isOver else { return }
        self.answerLate()
        self.sendOn()
    }

    /// Passes the written bytes to the channel.
    private func flushOutput() {
        // Nothing was written.
        guard self.output.readableBytes > 0 else { return }
        var bytes = ByteBuffer()
        swap(&bytes, &self.output)
        // The connection has broken, so that no byte can be sent.
        guard let channel else { return }
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(bytes), promise: nil)
        // If the bytes have been sent already, their memory is reused.
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
        // Silence does not matter, or the closing handshake has a time limit of its own.
        guard self.isOpen, self.watch != nil, let silence else { return }
        let now = NIODeadline.now()
        // While the connection is not read, the server cannot be heard.
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

    /// Begins the closing handshake; does nothing if it has begun.
    func close(_ close: WebSocketClose) {
        guard self.isOpen else { return }
        self.state = .closing(close)
        // Senders that wait for room are refused; messages that were accepted are sent.
        self.shared.outbox.refuse(self.refusal, dropping: false)
        self.shared.inbox.finish(nil)
        self.bePatient(for: TimeAmount(limit: self.options.closeTimeout))
        self.sendOn()
        self.readOn()
    }

    /// Waits for the server to end the connection, without sending or receiving messages.
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

    /// Notifies readers, senders and callers that wait for a pong.
    private func tellEnd(_ error: SessionError?) {
        self.shared.inbox.finish(error)
        self.shared.outbox.refuse(error ?? self.refusal, dropping: true)
        self.pings.fail(error ?? self.refusal)
    }

    /// Closes the connection; does nothing if it is over.
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
