// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// A connection of HTTP/1.1 to an origin, or to a proxy that forwards (RFC 9112): one request after another.
///
/// Any input without a request under way makes the connection unusable: bytes that came before a request was sent cannot be its
/// response, and an origin that ends a connection takes no more requests (RFC 9112 §9.2, §9.3). Used only on its loop's thread.
final class HTTP1Connection: KeptConnection, Carrier {
    private enum Phase {
        /// No request is under way.
        case idle
        /// A transfer has it, and its request is sent at the end of the turn.
        case taken(Transfer)
        /// A request is being sent, or its response received.
        case asking(Transfer)
        case closed
    }

    /// The part of the current request that is sent after ``staged``.
    private enum Outgoing: Equatable {
        case nothing
        case length(left: UInt64)
        case chunks
        /// The origin has answered that it does not want the rest.
        case unwanted
    }

    let host: OriginHost
    let made: EstablishedConnection
    /// True if it has carried a complete response before.
    private(set) var isKept = false
    private(set) var keptSince = NIODeadline.uptimeNanoseconds(0)
    var older: (any KeptConnection)?
    var newer: (any KeptConnection)?
    /// The login on the connection, and its owner.
    private(set) var login = ConnectionLogin()
    private let pool: TransferPool
    private let descriptor: Int32
    /// Carries the bytes; nil if they go over the socket in plaintext.
    private let tls: TLSConnection?
    /// True if the pool has got the TLS session.
    private var hasGivenSession = false
    private var phase = Phase.idle
    private var keptInTurn: UInt64 = 0
    private var interest = Readiness()
    /// True if epoll has reported the end of the connection, and so has nothing more to report.
    private var isHungUp = false
    // Sending.
    private var staged = ByteBuffer()
    private var outgoing = Outgoing.nothing
    private var isPumping = false
    private var waitsForRoom = false
    /// The failure after which nothing more can be sent.
    private var sendFailure: (any Error)?
    // Receiving.
    private var response: ResponseReader
    /// Received bytes that could not be parsed yet, or were not wanted yet.
    private var rest = ByteBuffer()
    /// The pipe for bytes of a body that are moved unseen; nil until there were any.
    private var piped: PipedBytes?
    /// The receive buffer that is being parsed; nil if no part of it may be passed on without a copy.
    private var received: ByteBuffer?
    /// True if a part of that buffer was passed on without a copy.
    private var hasShared = false
    private var hasAnswer = false
    private var isConsuming = false
    /// The end of the input, if it came before the transfer took the bytes before it.
    private var heldEnd: StreamOutcome?
    /// The `101 Switching Protocols` that was received.
    private var switching: ResponseHead?

    init(_ made: EstablishedConnection, to host: OriginHost, pool: TransferPool) {
        self.made = made
        self.descriptor = made.descriptor
        self.tls = made.tls
        self.host = host
        self.pool = pool
        self.response = ResponseReader(limits: pool.configuration.responseHead)
        pool.opened(at: host)
        self.setInterest(.read)
    }

    /// A loop that ends only releases its connections, so that they are closed here.
    deinit { if case .closed = self.phase {} else { Glibc.close(self.descriptor) } }

    private var loop: Loop { self.pool.loop }

    // MARK: For the pool

    /// Gives the connection to a transfer; its request is sent at the end of the turn.
    func take(for transfer: Transfer) {
        guard case .idle = self.phase else { preconditionFailure("BUG: a connection that is in use is taken") }
        self.phase = .taken(transfer)
        self.loop.atEndOfTurn(self)
    }

    /// Sends the request.
    private func start(_ transfer: Transfer) {
        if self.isKept {
            // The loop has not polled since the last response, so that input after it would be unnoticed.
            guard self.keptInTurn < self.loop.turn else { return self.loop.atEndOfTurn(self) }
            // With TLS inside TLS, bytes may be waiting that epoll does not see.
            let mayHide = !self.loop.sawAllEvents || self.made.proxyTLS != nil && self.made.isToOrigin
            if mayHide, self.hasArrivals { return self.spoil() }
            precondition(self.rest.readableBytes == 0, "BUG: a connection was kept with bytes of its last response")
        }
        self.phase = .asking(transfer)
        self.response = ResponseReader(limits: self.pool.configuration.responseHead)
        self.hasAnswer = false
        transfer.beganToSend()
        self.stage(transfer)
        self.pump()
    }

    /// Closes the connection without notifying its transfer.
    func close() {
        if case .closed = self.phase { return }
        // Sends the closing alert (RFC 8446 §6.1), if that can be done at once.
        _ = self.tls?.finishOutput()
        self.leave()
        Glibc.close(self.descriptor)
    }

    /// Closes the connection if it is idle; called when its owner has ended.
    func closeIfIdle() { if case .idle = self.phase { self.close() } }

    /// Detaches this object from the connection, which stays open.
    private func leave() {
        self.login.end(on: self)
        let wasIdle = if case .idle = self.phase { true } else { false }
        self.phase = .closed
        self.loop.unwatch(self.descriptor)
        self.rest = ByteBuffer()
        self.staged = ByteBuffer()
        self.piped?.drop()
        if wasIdle { self.pool.unkeep(self) }
        self.host.idle.removeAll { $0 === self }
        self.pool.closed(at: self.host)
    }

    /// Hands the connection over, with the bytes that came after the head.
    private func handOff(_ head: ResponseHead, to transfer: Transfer) {
        let early = self.rest
        self.leave()
        transfer.switched(head, to: self.made, version: self.response.version, early: early)
    }

    // MARK: For the transfer

    func sendMore() { self.pump() }

    func abandon() { self.close() }

    var takesPipes: Bool {
        guard case .length(1...) = self.outgoing, self.tls == nil, self.sendFailure == nil else { return false }
        return self.staged.readableBytes == 0
    }

    /// Does nothing: most pauses are over before epoll reports anything. Only then is epoll told of the pause.
    func pauseReading() {}

    func resumeReading() {
        self.updateInterest()
        // The bytes that are here may be the last ones; epoll knows neither of them nor of a descriptor that hung up.
        let isHere = self.rest.readableBytes > 0 || self.isPiping
        guard isHere || self.isHungUp || self.tls != nil, !self.isConsuming else { return }
        self.loop.atEndOfTurn(self)
    }

    private func goOnReading(_ transfer: Transfer) {
        guard !transfer.isReadingPaused else { return }
        if !self.isPiping { self.consumeRest() }
        guard self.isAsking(transfer), !transfer.isReadingPaused else { return }
        if let heldEnd { return self.ended(heldEnd, transfer) }
        if self.isHungUp || self.tls != nil || self.isPiping { self.read() }
    }

    /// True if bytes are on their way to the client in a pipe.
    private var isPiping: Bool { self.piped.map { $0.count > 0 } ?? false }

    // MARK: Sending

    private func stage(_ transfer: Transfer) {
        self.staged.clear()
        self.outgoing = .nothing
        self.sendFailure = nil
        self.staged.writeRequest(transfer.asked, to: transfer.asked.request.forwarder(self.host.proxy))
        switch transfer.asked.request.body {
        case .none: break
        case .bytes(let bytes): self.outgoing = .length(left: UInt64(bytes.readableBytes))
        case .stream(.some(let length)): self.outgoing = .length(left: length)
        case .stream(nil): self.outgoing = .chunks
        }
        if case .length(let left) = self.outgoing, left <= UInt64(HTTP1Amounts.togetherLimit),
            transfer.nextStep == .bytes
        {
            self.stagePiece(of: transfer)
        }
    }

    /// Sends as many bytes as there are and the socket takes.
    private func pump() {
        guard case .asking(let transfer) = self.phase, !self.isPumping, self.sendFailure == nil else { return }
        self.isPumping = true
        defer { self.isPumping = false }
        self.waitsForRoom = false
        var pieces = 0
        while self.isAsking(transfer) {
            if self.staged.readableBytes > 0 {
                guard self.sendStaged(holdingBack: self.hasBodyBehind(transfer)) else { break }
                continue
            }
            guard self.mayGoOn(transfer) else { break }
            guard pieces < HTTP1Amounts.mostInTurn else {
                self.waitsForRoom = true
                break
            }
            pieces += 1
            guard self.sendPiece(of: transfer) else { break }
        }
        guard self.isAsking(transfer) else { return }
        self.updateInterest()
        // While received bytes are being parsed, the rest of them comes first.
        if !self.isConsuming, self.isSent, self.response.isBodyOver, !self.isPiping { self.finish(transfer) }
    }

    private func isAsking(_ transfer: Transfer) -> Bool {
        if case .asking(let current) = self.phase { current === transfer } else { false }
    }

    /// True if the whole request was sent, or no more of it will be.
    private var isSent: Bool {
        if self.sendFailure != nil { return true }
        return self.staged.readableBytes == 0 && (self.outgoing == .nothing || self.outgoing == .unwanted)
    }

    /// Returns true if a piece of the body is sent next.
    private func hasBodyBehind(_ transfer: Transfer) -> Bool {
        guard case .length = self.outgoing else { return false }
        return transfer.nextStep == .bytes
    }

    /// Returns true if there is something of the body to send; stages the last chunk if that is what is left.
    private func mayGoOn(_ transfer: Transfer) -> Bool {
        switch self.outgoing {
        case .nothing, .unwanted: return false
        case .length(left: 0):
            self.outgoing = .nothing
            return false
        case .length, .chunks: break
        }
        switch transfer.nextStep {
        case .bytes: return true
        case .wait: return false
        case .end:
            guard case .chunks = self.outgoing else {
                // The promised length cannot be kept.
                self.close()
                transfer.fail(.cannotSend, "the body for \(transfer.asked.request.authority) ended before its length")
                return false
            }
            self.staged.clear()
            self.staged.writeLastChunk(transfer.trailersToSend)
            self.outgoing = .nothing
            return true
        }
    }

    /// Sends a piece of the body.
    ///
    /// - Returns: true if sending can continue.
    private func sendPiece(of transfer: Transfer) -> Bool {
        // The last chunk was staged.
        if self.staged.readableBytes > 0 { return true }
        guard case .length(let left) = self.outgoing else {
            self.stagePiece(of: transfer)
            return true
        }
        if let piped = transfer.pipedBody { return self.move(piped, of: transfer, left: left) }
        var outcome = StreamOutcome.end
        let count = transfer.takeBody { bytes in
            let wanted = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: left)))
            outcome = self.transmit(wanted)
            guard case .bytes(let count) = outcome else { return 0 }
            return count
        }
        self.outgoing = .length(left: left - UInt64(count))
        guard self.accepted(outcome) else { return false }
        transfer.sent(count)
        return true
    }

    /// Moves bytes of the body from a pipe to the socket, unseen.
    private func move(_ piped: PipedBytes, of transfer: Transfer, left: UInt64) -> Bool {
        let outcome = piped.drain(into: self.descriptor)
        if case .bytes(let count) = outcome {
            self.outgoing = .length(left: left - UInt64(count))
            transfer.sent(piped: count)
        }
        return self.accepted(outcome)
    }

    /// Appends the next piece of the body to ``staged``.
    private func stagePiece(of transfer: Transfer) {
        let count: Int
        switch self.outgoing {
        case .length(let left):
            count = transfer.takeBody { bytes in
                let taken = min(bytes.count, Int(clamping: left), HTTP1Amounts.togetherLimit)
                self.staged.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
                return taken
            }
            self.outgoing = .length(left: left - UInt64(count))
        case .chunks:
            self.staged.clear()
            count = transfer.takeBody { bytes in
                let taken = min(bytes.count, HTTP1Amounts.chunkLimit)
                self.staged.writeChunk(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
                return taken
            }
        case .nothing, .unwanted: preconditionFailure("BUG: a body is sent that is not expected")
        }
        transfer.sent(count)
    }

    /// Sends the staged bytes.
    ///
    /// - Returns: true if the socket can take more.
    private func sendStaged(holdingBack: Bool) -> Bool {
        let outcome = self.staged.withUnsafeReadableBytes { self.transmit($0, holdingBack: holdingBack) }
        if case .bytes(let count) = outcome { self.staged.moveReaderIndex(forwardBy: count) }
        return self.accepted(outcome)
    }

    /// - Returns: true if more can be sent now.
    private func accepted(_ outcome: StreamOutcome) -> Bool {
        switch outcome {
        case .bytes: return true
        case .wouldBlock:
            self.waitsForRoom = true
            return false
        case .end:
            // TLS reports this for a peer that has closed its output and then broken the connection.
            self.sendFailure = IOError(errnoCode: ECONNRESET, reason: "send")
            return false
        case .failed(let error):
            // The bytes that the origin sent before it stopped reading may be its response (RFC 9112 §9.5).
            self.sendFailure = error
            return false
        }
    }

    /// - Parameter holdingBack: true if more bytes follow at once, which should share a packet with these.
    private func transmit(_ bytes: UnsafeRawBufferPointer, holdingBack: Bool = false) -> StreamOutcome {
        if let tls { return StreamOutcome(tls.write(bytes)) }
        let flags = holdingBack ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL
        let count = send(self.descriptor, bytes.baseAddress, bytes.count, Int32(flags))
        return StreamOutcome(count, of: "send", until: .write)
    }

    // MARK: Receiving

    private func readReported() {
        guard case .asking(let transfer) = self.phase else { return }
        if transfer.isReadingPaused { self.updateInterest(hasReport: true) } else { self.read() }
    }

    private func read() {
        for _ in 0..<HTTP1Amounts.mostInTurn {
            guard case .asking(let transfer) = self.phase, !transfer.isReadingPaused else { return }
            let outcome = self.move(transfer) ?? self.copy(transfer)
            guard self.isAsking(transfer) else { return self.noteEnd(outcome) }
            switch outcome {
            case .bytes: continue
            case .wouldBlock(.write):
                self.waitsForRoom = true
                return self.updateInterest()
            case .wouldBlock:
                // The descriptor can still report something, so it is watched again.
                if self.isHungUp { self.isHungUp = false }
                return self.updateInterest()
            case .end, .failed:
                guard transfer.isReadingPaused, self.rest.readableBytes > 0 else {
                    return self.ended(outcome, transfer)
                }
                // The bytes before the end must still be parsed.
                self.heldEnd = outcome
                return self.updateInterest()
            }
        }
        // Epoll does not know of bytes that TLS has already decrypted.
        if self.tls != nil || self.isHungUp { self.loop.atEndOfTurn(self) }
    }

    private func copy(_ transfer: Transfer) -> StreamOutcome {
        var buffer = self.loop.takeReceiveBuffer()
        let outcome = self.receive(&buffer)
        self.hasShared = false
        if buffer.readableBytes > 0 { self.consume(buffer, transfer) }
        self.loop.giveBack(buffer, isShared: self.hasShared)
        return outcome
    }

    /// Moves bytes of a body through a pipe, unseen.
    ///
    /// - Returns: `bytes` if some were moved; nil if they must be received instead.
    private func move(_ transfer: Transfer) -> StreamOutcome? {
        if !self.isPiping {
            guard transfer.takesPipes, self.tls == nil, self.rest.readableBytes == 0,
                let missing = self.response.missingBytes, missing >= PipedBytes.leastBody
            else { return nil }
            let piped = self.piped ?? PipedBytes(on: self.loop)
            self.piped = piped
            guard
                case .outcome(let outcome) = piped.fill(
                    from: self.descriptor, atMost: min(missing, PipedBytes.mostAtOnce))
            else { return nil }
            guard case .bytes(let count) = outcome else { return outcome }
            self.response.skip(count)
        }
        guard let piped else { preconditionFailure("BUG: bytes are moved in no pipe") }
        let count = piped.count
        transfer.received(piped)
        if self.isAsking(transfer), self.isSent, self.response.isBodyOver, !self.isPiping { self.finish(transfer) }
        return .bytes(count)
    }

    private func ended(_ outcome: StreamOutcome, _ transfer: Transfer) {
        switch outcome {
        case .bytes, .wouldBlock: preconditionFailure("BUG: the input has not ended")
        case .end: self.inputEnded(transfer, isCut: false)
        case .failed(let error):
            if let failure = error as? TLSFailure, failure.reason == .cutOff {
                return self.inputEnded(transfer, isCut: true)
            }
            if self.response.isBodyOver { return self.finish(transfer, endedByPeer: true) }
            self.end(.broken(CarrierFailure.words(for: error)), transfer)
        }
    }

    /// Handles an end that came with the last bytes of a response: the transfer that has the connection by now cannot use it.
    private func noteEnd(_ outcome: StreamOutcome) {
        switch (outcome, self.phase) {
        case (.end, .idle), (.end, .taken), (.failed, .idle), (.failed, .taken): self.spoil()
        case (.bytes, _), (.wouldBlock, _), (_, .asking), (_, .closed): break
        }
    }

    /// Fills a receive buffer.
    ///
    /// - Returns: `bytes` if there may be more; otherwise the reason why not, even if some were received.
    private func receive(_ buffer: inout ByteBuffer) -> StreamOutcome {
        var outcome = StreamOutcome.end
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
            guard let tls else {
                let count = recv(self.descriptor, space.baseAddress, space.count, 0)
                outcome = StreamOutcome(count, of: "recv", until: .read)
                // A short read means that no more is there, except perhaps the end.
                if 0 < count, count < space.count, !self.isHungUp { outcome = .wouldBlock(until: .read) }
                return max(0, count)
            }
            // For the short rest of a body, reading ahead is not worth its buffer.
            tls.readsAhead = self.response.isComplete && (self.response.missingBytes ?? .max) >= HTTP1Amounts.leastAhead
            let (count, end) = tls.fill(space)
            outcome = StreamOutcome(end)
            return count
        }
        return outcome
    }

    /// True if there is input without a request: the end, or bytes. Records that are for TLS alone are processed.
    private var hasArrivals: Bool {
        var byte: UInt8 = 0
        guard let tls else {
            let count = recv(self.descriptor, &byte, 1, Int32(MSG_PEEK))
            return count >= 0 || (errno != EAGAIN && errno != EINTR)
        }
        return withUnsafeMutableBytes(of: &byte) { tls.peek(into: $0) } != .wantsRead
    }

    private func consume(_ buffer: ByteBuffer, _ transfer: Transfer) {
        self.hasAnswer = true
        guard self.rest.readableBytes == 0 else {
            self.rest.writeImmutableBuffer(buffer)
            return self.consumeRest()
        }
        // The common case: the bytes are parsed in the receive buffer.
        self.received = buffer
        self.understand(transfer) { step in
            let used = buffer.withUnsafeReadableBytes(step)
            if used < buffer.readableBytes { self.rest.writeBytes(buffer.readableBytesView.dropFirst(used)) }
        }
        self.received = nil
    }

    private func consumeRest() {
        guard case .asking(let transfer) = self.phase, !self.isConsuming else { return }
        self.understand(transfer) { step in
            var bytes = ByteBuffer()
            swap(&bytes, &self.rest)
            bytes.readWithUnsafeReadableBytes(step)
            if bytes.readableBytes > 0 {
                bytes.discardReadBytes()
                self.rest = bytes
            }
        }
    }

    /// Parses the bytes that `feed` passes to the parsing step, and then ends the exchange if they complete or break it.
    private func understand(_ transfer: Transfer, _ feed: ((UnsafeRawBufferPointer) -> Int) -> Void) {
        self.isConsuming = true
        var failure: WireError?
        feed { bytes in
            do throws(WireError) {
                return try self.step(bytes, transfer)
            } catch {
                failure = error
                return bytes.count
            }
        }
        self.isConsuming = false
        guard self.isAsking(transfer) else { return }
        if let failure { return self.end(.malformed(failure), transfer) }
        if let switching { return self.handOff(switching, to: transfer) }
        if self.response.isBodyOver, self.isSent { self.finish(transfer) }
    }

    /// Parses as many of `bytes` as are complete and wanted.
    ///
    /// - Returns: the number of parsed bytes.
    private func step(_ bytes: UnsafeRawBufferPointer, _ transfer: Transfer) throws(WireError) -> Int {
        var offset = 0
        while self.isAsking(transfer), !transfer.isReadingPaused || !self.response.isComplete, self.switching == nil {
            guard self.response.isComplete else {
                let found = try self.response.head(bytes, from: &offset, method: transfer.asked.request.method)
                if case .more = found { return offset }
                try self.take(found, transfer)
                continue
            }
            guard let piece = try self.response.nextBody(bytes, from: &offset) else { return bytes.count }
            let shared = piece.count >= HTTP1Amounts.leastShared ? self.received?.slice(piece) : nil
            self.hasShared = self.hasShared || shared != nil
            if let shared { transfer.received(shared) } else { transfer.received(.init(rebasing: bytes[piece])) }
        }
        return offset
    }

    private func take(_ found: ResponseReader.Found, _ transfer: Transfer) throws(WireError) {
        switch found {
        case .more: break
        case .interim(let head): transfer.received(interim: head)
        case .head(let head, _) where head.status == 101:
            // After an incomplete request, the rest of its body could not be told from bytes of the new protocol.
            guard transfer.asked.request.upgrade != nil, self.isSent else {
                throw WireError(.malformed, "it switches protocols without being asked, or before it has the request")
            }
            self.switching = head
        case .head(let head, let length):
            self.login.look(at: head, to: transfer.asked, on: self)
            // An origin that answers so does not need the rest of the body (RFC 9112 §9.5).
            if head.status >= 300, !self.isSent {
                self.outgoing = .unwanted
                self.staged.clear()
            }
            transfer.received(head, length: length, version: self.response.version)
        }
    }

    /// - Parameter isCut: true if the peer has not sent the closing alert that TLS demands.
    private func inputEnded(_ transfer: Transfer, isCut: Bool) {
        if self.response.isBodyOver || self.response.isBodyUnlimited && !isCut {
            return self.finish(transfer, endedByPeer: true)
        }
        self.end(.closed, transfer)
    }

    // MARK: The end

    /// Ends a complete response.
    private func finish(_ transfer: Transfer, endedByPeer: Bool = false) {
        let isWhole = self.staged.readableBytes == 0 && self.outgoing == .nothing && self.sendFailure == nil
        let trailers = self.response.trailers
        // TLS 1.3 sends tickets after the handshake; by now they have arrived.
        if !self.hasGivenSession, self.made.isToOrigin, let session = self.tls?.session {
            self.hasGivenSession = true
            self.pool.remember(session, self.made.verdict, for: self.host.key.authority)
        }
        if isWhole, !endedByPeer, self.heldEnd == nil, self.response.keepsConnection, !self.response.hasExcess,
            self.rest.readableBytes == 0, !self.isHungUp, transfer.asked.request.upgrade == nil, !self.hasReadTooMuch,
            self.login.mayBeKept
        {
            self.keep()
        } else {
            self.close()
        }
        transfer.finished(trailers: trailers)
    }

    /// True if bytes were read ahead after the response; records that are for TLS alone are processed.
    private var hasReadTooMuch: Bool { self.tls?.hasWaiting == true && self.hasArrivals }

    private func keep() {
        self.tls?.readsAhead = false
        self.phase = .idle
        self.isKept = true
        self.keptInTurn = self.loop.turn
        self.keptSince = self.loop.turnTime
        self.waitsForRoom = false
        self.updateInterest()
        self.host.idle.append(self)
        self.pool.keep(self)
    }

    private func end(_ end: CarrierFailure, _ transfer: Transfer) {
        var end = end
        // The earlier failure has the reason.
        if case .closed = end, let sendFailure, !self.hasAnswer {
            end = .broken(CarrierFailure.words(for: sendFailure))
        }
        let (hasAnswer, hasHead, lacksChunks) = (
            self.hasAnswer, self.response.isComplete, self.response.lacksChunks
        )
        self.close()
        transfer.lost(end, afterUse: self.isKept, hasAnswer: hasAnswer, hasHead: hasHead, lacksChunks: lacksChunks)
    }

    /// Closes the connection because of input without a request.
    private func spoil() {
        let phase = self.phase
        self.close()
        guard case .taken(let transfer) = phase else { return }
        if self.isKept { return transfer.lostBeforeRequest() }
        // Otherwise an origin that closes, or writes to, each new connection at once would be dialled for ever.
        transfer.lost(.closed, afterUse: false, hasAnswer: false, hasHead: false, lacksChunks: false)
    }

    // MARK: Epoll

    /// - Parameter hasReport: true if epoll has just reported input.
    private func updateInterest(hasReport: Bool = false) {
        guard !self.isHungUp else { return }
        switch self.phase {
        case .idle, .taken: self.setInterest(.read)
        case .asking(let transfer):
            let isWatching = self.interest.contains(.read) && !hasReport
            var interest = transfer.isReadingPaused && !isWatching ? Readiness() : .read
            if self.waitsForRoom { interest.insert(.write) }
            self.setInterest(interest)
        case .closed: break
        }
    }

    private func setInterest(_ interest: Readiness) {
        guard interest != self.interest else { return }
        self.interest = interest
        self.loop.watch(self.descriptor, for: interest, by: self)
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
        if readiness.isBroken {
            // Both directions are closed: what is left is read up to the end. Epoll would report this again and again.
            self.isHungUp = true
            self.interest = Readiness()
            self.loop.unwatch(self.descriptor)
        }
        if readiness.contains(.write) || self.tls != nil { self.pump() }
        if readiness != .write || self.tls != nil { self.readReported() }
    }
}
