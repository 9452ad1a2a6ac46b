// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// A connection of HTTP/1.1 to an origin, or to a proxy that forwards (RFC 9112): one request after another.
///
/// It moves bytes between the socket, a transfer and an ``HTTP1Machine``, which has the rules of the protocol. Any input without
/// a request under way makes the connection unusable: bytes that came before a request was sent cannot be its response, and an
/// origin that ends a connection takes no more requests (RFC 9112 §9.2, §9.3). Used only on its loop's thread.
final class HTTP1Connection: OwnedConnection, Carrier {
    private enum Phase {
        /// No request is under way.
        case idle
        /// A transfer has it, and its request is sent at the end of the turn.
        case taken(Transfer)
        /// A request is being sent, or its response received.
        case asking(Transfer)
        case closed
    }

    /// The work that calls a transfer, which may call back.
    private enum Work { case none, sending, parsing }

    /// The use of epoll for input.
    private enum Reading {
        case watched
        /// Input was reported while the transfer takes none.
        case paused
    }

    let made: EstablishedConnection
    /// The login on the connection, and its owner.
    private var login = ConnectionLogin()
    private let pool: TransferPool
    /// Its number in the pool; nil when it is closed.
    private var number: ConnectionNumber?
    private let socket: StreamSocket
    /// Carries the bytes; nil if they go over the socket in plaintext.
    private let tls: TLSConnection?
    /// The TLS with the origin, until the pool has its session.
    private var tlsToRemember: TLSConnection?
    private var phase = Phase.idle
    /// The turn in which the last complete response freed the connection; nil before the first.
    private var freedTurn: UInt64?
    /// The time for which it may be used again when it is idle, by the last response; nil if unknown.
    private var timeForReuse: TimeAmount?
    /// The end of that time, by ``TransferPool/idleTime()``; nil before it is idle, and if unknown.
    private var endOfReuse: NIODeadline?
    private var work = Work.none
    private var reading = Reading.watched
    /// True while sending waits for room in the socket.
    private var waitsForRoom = false
    private let machine: HTTP1Machine
    /// Received bytes that could not be parsed yet, or were not wanted yet.
    private var rest = ByteBuffer()
    /// The end of the input, if it came before the transfer took the bytes before it.
    private var endAfterRest: HTTP1Machine.InputEnd?
    /// The pipe for bytes of a body that are moved unseen; nil until there were any.
    private var piped: PipedBytes?

    init(_ made: EstablishedConnection, to host: HostNumber, pool: TransferPool) {
        self.made = made
        self.socket = StreamSocket(descriptor: made.descriptor)
        self.tls = made.tls
        self.tlsToRemember = made.isToOrigin ? made.tls : nil
        self.pool = pool
        self.machine = HTTP1Machine(limits: pool.configuration.responseHead)
        self.number = pool.opened(.http1(self), at: host)
        self.updateInterest()
    }

    /// A loop that ends only releases its connections, so that they are closed here.
    deinit { if case .closed = self.phase {} else { Glibc.close(self.socket.descriptor) } }

    private var loop: Loop { self.pool.loop }

    // MARK: For the pool

    /// True if it has carried a complete response before.
    var isKept: Bool { self.freedTurn != nil }

    /// False if its origin may close it at any moment, as the origin has said.
    var mayBeReused: Bool { self.endOfReuse.map { self.pool.idleTime() < $0 } ?? true }

    /// Gives the connection to a transfer; its request is sent at the end of the turn.
    func take(for transfer: Transfer) {
        guard case .idle = self.phase else { preconditionFailure("BUG: a connection that is in use is taken") }
        self.phase = .taken(transfer)
        self.loop.atEndOfTurn(self)
    }

    /// Sends the request.
    private func start(_ transfer: Transfer) {
        if let freedTurn {
            // The loop has not polled since the last response, so that input after it would be unnoticed.
            guard freedTurn < self.loop.turn else { return self.loop.atEndOfTurn(self) }
            // With TLS inside TLS, bytes may be waiting that epoll does not see.
            let mayHide = !self.loop.sawAllEvents || self.made.proxyTLS != nil && self.made.isToOrigin
            if mayHide, self.hasArrivals { return self.spoil() }
            precondition(self.rest.readableBytes == 0, "BUG: a connection was kept with bytes of its last response")
        }
        self.phase = .asking(transfer)
        transfer.beganToSend()
        self.machine.begin(transfer.asked, to: transfer.forwarder)
        if self.machine.takesBodyWithHead, transfer.nextStep == .bytes {
            transfer.sent(transfer.takeBody { self.machine.stageBody($0) })
        }
        self.pump()
    }

    /// Closes the connection without notifying its transfer.
    func close() {
        if case .closed = self.phase { return }
        // Sends the closing alert (RFC 8446 §6.1), if that can be done at once.
        _ = self.tls?.finishOutput()
        self.leave()
        self.socket.close(on: self.loop)
    }

    func closeIfIdle() { if case .idle = self.phase { self.close() } }

    /// Detaches this object from the connection, which stays open.
    private func leave() {
        self.login.end(on: self)
        self.phase = .closed
        self.socket.unwatch(on: self.loop)
        self.rest = ByteBuffer()
        self.machine.end()
        self.piped?.drop()
        guard let number else { preconditionFailure("BUG: a connection is closed twice") }
        self.number = nil
        self.pool.closed(number)
    }

    // MARK: For the transfer

    func sendMore() { self.pump() }

    func abandon(after silence: NIODeadline?) { self.close() }

    var takesPipes: Bool { self.tls == nil && self.machine.sendsBodyNext }

    /// Does nothing: most pauses are over before epoll reports anything. Only then is epoll told of the pause.
    func pauseReading() {}

    func resumeReading() {
        self.updateInterest()
        // Epoll reports bytes in the socket alone.
        guard self.rest.readableBytes > 0 || self.isPiping || self.tls != nil else { return }
        self.loop.atEndOfTurn(self)
    }

    private func goOnReading(_ transfer: Transfer) {
        // It was paused again in the turn in which it resumed.
        guard !transfer.isReadingPaused else { return }
        if !self.isPiping { self.consumeRest(transfer) }
        // The bytes have ended the exchange, or are enough for now.
        guard self.isAsking(transfer), !transfer.isReadingPaused else { return }
        if let endAfterRest { return self.inputEnded(endAfterRest, transfer) }
        if self.isPiping || self.tls != nil { self.read() }
    }

    /// True if bytes are on their way to the client in a pipe.
    private var isPiping: Bool { self.piped.map { $0.count > 0 } ?? false }

    private func isAsking(_ transfer: Transfer) -> Bool {
        if case .asking(let current) = self.phase { current === transfer } else { false }
    }

    // MARK: Sending

    /// Sends as many bytes as there are and the socket takes.
    private func pump() {
        // A transfer that is told of sent bytes may have more of them: the loop below continues with those.
        guard case .asking(let transfer) = self.phase, self.work != .sending else { return }
        let outerWork = self.work
        self.work = .sending
        self.waitsForRoom = false
        var pieces = 0
        while self.isAsking(transfer) {
            let output = self.machine.output(self.machine.asksForBody ? transfer.nextStep : .wait)
            switch output {
            case .body, .chunk:
                self.waitsForRoom = pieces == HTTP1Amounts.mostInTurn
                pieces += 1
            case .staged, .lastChunk, .nothing, .cut: break
            }
            guard !self.waitsForRoom, self.send(output, of: transfer) else { break }
        }
        self.work = outerWork
        // The transfer has ended while it was told of sent bytes.
        guard self.isAsking(transfer) else { return }
        self.updateInterest()
        // While received bytes are being parsed, the rest of them comes first.
        if self.work == .none { self.finishIfOver(transfer) }
    }

    /// - Returns: true if sending can continue.
    private func send(_ output: HTTP1Machine.Output, of transfer: Transfer) -> Bool {
        switch output {
        case .nothing: return false
        case .cut:
            // The promised length cannot be kept.
            self.close()
            transfer.fail(.cannotSend, "the body for \(transfer.asked.request.authority) ended before its length")
            return false
        case .staged(let isFollowed):
            let outcome = self.machine.staged.withUnsafeReadableBytes { self.transmit($0, isFollowed: isFollowed) }
            if case .bytes(let count) = outcome { self.machine.sentStaged(count) }
            return self.accepted(outcome)
        case .chunk:
            transfer.sent(transfer.takeBody { self.machine.stageChunk($0) })
            return true
        case .lastChunk:
            self.machine.stageLastChunk(transfer.trailersToSend)
            return true
        case .body(let limit):
            if let piped = transfer.pipedBody { return self.move(piped, of: transfer) }
            var outcome = StreamOutcome.end
            let count = transfer.takeBody { bytes in
                outcome = self.transmit(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: limit))))
                guard case .bytes(let count) = outcome else { return 0 }
                return count
            }
            self.machine.sentBody(count)
            guard self.accepted(outcome) else { return false }
            transfer.sent(count)
            return true
        }
    }

    /// Moves bytes of the body from a pipe to the socket, unseen.
    private func move(_ piped: PipedBytes, of transfer: Transfer) -> Bool {
        let outcome = piped.drain(into: self.socket.descriptor)
        if case .bytes(let count) = outcome {
            self.machine.sentBody(count)
            transfer.sent(piped: count)
        }
        return self.accepted(outcome)
    }

    /// - Returns: true if more can be sent now.
    private func accepted(_ outcome: StreamOutcome) -> Bool {
        switch outcome {
        case .bytes: return true
        case .wouldBlock: self.waitsForRoom = true
        // TLS reports this for a peer that has closed its output and then broken the connection.
        case .end: self.machine.failedToSend(IOError(errnoCode: ECONNRESET, reason: "send"))
        case .failed(let error): self.machine.failedToSend(error)
        }
        return false
    }

    /// - Parameter isFollowed: true if more bytes follow at once, which should share a packet with these.
    private func transmit(_ bytes: UnsafeRawBufferPointer, isFollowed: Bool = false) -> StreamOutcome {
        if let tls { return StreamOutcome(tls.write(bytes)) }
        return .sending(bytes, to: self.socket.descriptor, isFollowed: isFollowed)
    }

    // MARK: Receiving

    private func read() {
        for _ in 0..<HTTP1Amounts.mostInTurn {
            // The bytes have ended the exchange, or are enough for now.
            guard case .asking(let transfer) = self.phase, !transfer.isReadingPaused else { return }
            let outcome = self.move(transfer) ?? self.copy(transfer)
            guard self.isAsking(transfer) else { return self.noteEnd(outcome) }
            switch outcome {
            case .bytes: continue
            case .wouldBlock(let readiness):
                if readiness == .write { self.waitsForRoom = true }
                return self.updateInterest()
            case .end: return self.inputEnded(.closed, transfer)
            case .failed(let error): return self.inputEnded(Self.end(after: error), transfer)
            }
        }
        // Epoll does not know of bytes that TLS has already decrypted.
        if self.tls != nil { self.loop.atEndOfTurn(self) }
    }

    private func copy(_ transfer: Transfer) -> StreamOutcome {
        var buffer = self.loop.takeReceiveBuffer()
        let outcome = self.receive(&buffer)
        let isShared = buffer.readableBytes > 0 && self.consume(buffer, transfer)
        self.loop.giveBack(buffer, isShared: isShared)
        return outcome
    }

    /// Moves bytes of a body through a pipe, unseen.
    ///
    /// - Returns: `bytes` if some were moved; nil if they must be received instead.
    private func move(_ transfer: Transfer) -> StreamOutcome? {
        if !self.isPiping {
            guard transfer.takesPipes, self.tls == nil, self.rest.readableBytes == 0,
                let missing = self.machine.missingBytes, missing >= PipedBytes.leastBody
            else { return nil }
            let piped = self.piped ?? PipedBytes(on: self.loop)
            self.piped = piped
            let filling = piped.fill(from: self.socket.descriptor, atMost: min(missing, PipedBytes.mostAtOnce))
            guard case .outcome(let outcome) = filling else { return nil }
            guard case .bytes(let count) = outcome else { return outcome }
            self.machine.movedBody(count)
        }
        guard let piped else { preconditionFailure("BUG: bytes are moved in no pipe") }
        let count = piped.count
        transfer.received(piped)
        if self.isAsking(transfer) { self.finishIfOver(transfer) }
        return .bytes(count)
    }

    /// Fills a receive buffer.
    ///
    /// - Returns: `bytes` if there may be more; otherwise the reason why not, even if some were received.
    private func receive(_ buffer: inout ByteBuffer) -> StreamOutcome {
        var outcome = StreamOutcome.end
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
            guard let tls else {
                outcome = .receiving(from: self.socket.descriptor, into: space)
                guard case .bytes(let count) = outcome else { return 0 }
                // A short read means that no more is there, except perhaps the end, which epoll reports.
                if count < space.count { outcome = .wouldBlock(until: .read) }
                return count
            }
            // For the short rest of a body, reading ahead is not worth its buffer.
            tls.readsAhead = self.machine.hasHead && (self.machine.missingBytes ?? .max) >= HTTP1Amounts.leastAhead
            let (count, end) = tls.fill(space)
            outcome = StreamOutcome(end)
            return count
        }
        return outcome
    }

    /// True if there is input without a request: the end, or bytes. Records that are for TLS alone are processed.
    private var hasArrivals: Bool {
        var byte: UInt8 = 0
        let outcome = withUnsafeMutableBytes(of: &byte) { space in
            self.tls.map { StreamOutcome($0.peek(into: space)) }
                ?? .receiving(from: self.socket.descriptor, into: space, peeking: true)
        }
        if case .wouldBlock(until: .read) = outcome { return false }
        return true
    }

    /// Parses received bytes, in place if no others are before them.
    ///
    /// - Returns: true if the transfer got a part of the buffer without a copy.
    private func consume(_ buffer: ByteBuffer, _ transfer: Transfer) -> Bool {
        guard self.rest.readableBytes == 0 else {
            self.rest.writeImmutableBuffer(buffer)
            self.consumeRest(transfer)
            return false
        }
        var isShared = false
        let parsed = buffer.withUnsafeReadableBytes { bytes in
            let (used, parsed) = self.parse(bytes, transfer) { piece in
                guard piece.count >= HTTP1Amounts.leastShared, let shared = buffer.slice(piece) else { return false }
                isShared = true
                transfer.received(shared)
                return true
            }
            if used < bytes.count { self.rest.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[used...])) }
            return parsed
        }
        self.act(on: parsed, transfer)
        return isShared
    }

    private func consumeRest(_ transfer: Transfer) {
        var bytes = ByteBuffer()
        swap(&bytes, &self.rest)
        let parsed = bytes.readWithUnsafeReadableBytes { bytes in self.parse(bytes, transfer) { _ in false } }
        if bytes.readableBytes > 0 {
            bytes.discardReadBytes()
            self.rest = bytes
        }
        self.act(on: parsed, transfer)
    }

    /// The reason for the end of a run of the parser.
    private enum Parsed {
        /// There are no more bytes, or none are wanted for now, or the transfer has ended.
        case all
        case malformed(WireError)
        /// The `101 Switching Protocols` that was received.
        case switching(ResponseHead)
    }

    /// Parses as many of `bytes` as are complete and wanted.
    ///
    /// - Parameter share: passes a piece of the body on without a copy; returns false if it did not.
    /// - Returns: the number of parsed bytes.
    private func parse(
        _ bytes: UnsafeRawBufferPointer, _ transfer: Transfer, sharing share: (Range<Int>) -> Bool
    ) -> (Int, Parsed) {
        self.work = .parsing
        defer { self.work = .none }
        var offset = 0
        while self.isAsking(transfer), !transfer.isReadingPaused || !self.machine.hasHead {
            do throws(WireError) {
                switch try self.machine.input(bytes, from: &offset) {
                case .more: return (offset, .all)
                case .interim(let head): transfer.received(interim: head)
                case .head(let head, let length):
                    self.login.look(at: head, to: transfer.asked, on: self)
                    self.timeForReuse = head.fields.timeForReuse
                    transfer.received(head, length: length, version: self.machine.version)
                case .body(let piece): if !share(piece) { transfer.received(.init(rebasing: bytes[piece])) }
                case .switching(let head): return (offset, .switching(head))
                }
            } catch {
                return (bytes.count, .malformed(error))
            }
        }
        return (offset, .all)
    }

    private func act(on parsed: Parsed, _ transfer: Transfer) {
        // The transfer was cancelled while it took the bytes.
        guard self.isAsking(transfer) else { return }
        switch parsed {
        case .all: self.finishIfOver(transfer)
        case .malformed(let error): self.end(.malformed(error), transfer)
        case .switching(let head):
            // The bytes after the head are of the new protocol.
            let early = self.rest
            self.leave()
            transfer.switched(head, to: self.made, version: self.machine.version, early: early)
        }
    }

    // MARK: The end

    private func inputEnded(_ end: HTTP1Machine.InputEnd, _ transfer: Transfer) {
        guard self.rest.readableBytes == 0 || !transfer.isReadingPaused else {
            // The bytes before the end must still be parsed.
            self.endAfterRest = end
            return self.updateInterest()
        }
        if let failure = self.machine.failure(after: end) {
            self.end(failure, transfer)
        } else {
            self.endAfterRest = end
            self.finish(transfer)
        }
    }

    private static func end(after error: any Error) -> HTTP1Machine.InputEnd {
        if let failure = error as? TLSFailure, failure.reason == .cutOff { return .cutOff }
        return .broken(CarrierFailure.words(for: error))
    }

    /// Handles an end that came with the last bytes of a response: the transfer that has the connection by now cannot use it.
    private func noteEnd(_ outcome: StreamOutcome) {
        switch (outcome, self.phase) {
        case (.end, .idle), (.end, .taken), (.failed, .idle), (.failed, .taken): self.spoil()
        case (.bytes, _), (.wouldBlock, _), (_, .asking), (_, .closed): break
        }
    }

    private func finishIfOver(_ transfer: Transfer) {
        if self.machine.isOver, !self.isPiping { self.finish(transfer) }
    }

    /// Ends a complete response.
    private func finish(_ transfer: Transfer) {
        let trailers = self.machine.trailers
        // TLS 1.3 sends tickets after the handshake; by now they have arrived.
        if let session = self.tlsToRemember?.session {
            self.tlsToRemember = nil
            self.pool.remember(session, self.made.verdict, for: transfer.asked.request.authority)
        }
        if self.takesAnother { self.keep() } else { self.close() }
        transfer.finished(trailers: trailers)
    }

    /// True if the connection can carry another request after this one.
    private var takesAnother: Bool {
        self.machine.takesAnother && self.endAfterRest == nil && self.rest.readableBytes == 0
            && self.login.mayBeKept
            // Bytes that were read ahead are a response without a request, unless they are records for TLS alone.
            && !(self.tls?.hasWaiting == true && self.hasArrivals)
    }

    private func keep() {
        self.tls?.readsAhead = false
        self.phase = .idle
        self.freedTurn = self.loop.turn
        self.endOfReuse = self.timeForReuse.map { self.pool.idleTime() + $0 }
        self.waitsForRoom = false
        self.updateInterest()
        guard let number else { preconditionFailure("BUG: a closed connection is kept") }
        self.pool.keep(number, for: self.login.owner)
    }

    private func end(_ failure: CarrierFailure, _ transfer: Transfer) {
        let received = self.machine.received
        self.close()
        transfer.lost(failure, afterUse: self.isKept, received: received)
    }

    /// Closes the connection because of input without a request.
    private func spoil() {
        let phase = self.phase
        self.close()
        // An idle connection has no transfer to notify.
        guard case .taken(let transfer) = phase else { return }
        if self.isKept { return transfer.lostBeforeRequest() }
        // Otherwise an origin that closes, or writes to, each new connection at once would be dialled for ever.
        transfer.lost(.closed, afterUse: false, received: .nothing)
    }

    // MARK: Epoll

    private func updateInterest() {
        switch self.phase {
        case .idle, .taken: self.reading = .watched
        case .asking(let transfer): if !transfer.isReadingPaused { self.reading = .watched }
        case .closed: return
        }
        let needs = self.socket.needs(toRead: self.reading == .watched, toWrite: self.waitsForRoom)
        self.socket.watch(for: needs, by: self, on: self.loop)
    }
}

extension HTTP1Connection: DescriptorWatcher, TurnEndWork {
    func runAtEndOfTurn() {
        switch self.phase {
        case .taken(let transfer): self.start(transfer)
        case .asking(let transfer): self.goOnReading(transfer)
        case .idle, .closed: break
        }
    }

    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        switch self.phase {
        case .idle, .taken:
            if self.tls == nil || self.hasArrivals { self.spoil() }
            return
        case .closed: return
        case .asking: break
        }
        if readiness.contains(.write) || self.tls != nil { self.pump() }
        // There is nothing to read, or sending has ended the exchange.
        guard readiness != .write || self.tls != nil, case .asking(let transfer) = self.phase else { return }
        guard transfer.isReadingPaused else { return self.read() }
        self.reading = .paused
        // Both directions are closed.
        if readiness.isBroken { self.socket.unwatch(on: self.loop) } else { self.updateInterest() }
    }
}
