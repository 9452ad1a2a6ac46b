// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// A connection to an origin, or to a proxy that forwards, on which HTTP/1.1 is spoken (RFC 9112): one request after another.
///
/// Whatever comes while nothing is asked spoils the connection: bytes that wait before a request was sent are no answer to
/// it, and an origin that ends a connection takes no more of them (RFC 9112 §9.2, §9.3). Used on its loop's thread only.
final class HTTP1Connection: KeptConnection, Carrier {
    private enum Phase {
        /// Nothing is asked.
        case idle
        /// A transfer has it, whose request is sent at the end of the turn.
        case taken(Transfer)
        /// A request is on its way, or its response.
        case asking(Transfer)
        case closed
    }

    /// The rest of the request under way that is to be sent behind ``staged``.
    private enum Outgoing: Equatable {
        case nothing
        case length(left: UInt64)
        case chunks
        /// The origin has answered that it does not want the rest.
        case unwanted
    }

    let host: OriginHost
    let made: MadeConnection
    /// True where a request was answered over it before.
    private(set) var isKept = false
    private(set) var keptSince = NIODeadline.uptimeNanoseconds(0)
    var older: (any KeptConnection)?
    var newer: (any KeptConnection)?
    /// Tells whose connection it is, once somebody logs in on it.
    private(set) var login = ConnectionLogin()
    private let pool: TransferPool
    private let descriptor: Int32
    /// Carries the bytes; nil where they go over the socket as they are.
    private let tls: TLSConnection?
    /// True where the pool has the session of TLS.
    private var hasGivenSession = false
    private var phase = Phase.idle
    private var keptInTurn: UInt64 = 0
    private var interest = Readiness()
    /// Epoll has nothing more to say about the descriptor.
    private var isHungUp = false
    // What is sent.
    private var staged = ByteBuffer()
    private var outgoing = Outgoing.nothing
    private var isPumping = false
    private var waitsForRoom = false
    /// The failure after which nothing more can be sent.
    private var sendFailure: (any Error)?
    // What is received.
    private var response: ResponseReader
    /// The bytes that were received and could not be understood yet, or were not wanted.
    private var rest = ByteBuffer()
    /// Bytes of a body that nobody looks at; nil until there were any.
    private var piped: PipedBytes?
    /// The buffer that is being understood; nil where it is none that a part of can be given away.
    private var received: ByteBuffer?
    /// True where a part of it was given away.
    private var hasShared = false
    private var hasAnswer = false
    private var isConsuming = false
    /// The end of the input, where it came before the transfer took what is before it.
    private var heldEnd: StreamOutcome?
    /// The `101 Switching Protocols` that has come.
    private var switching: ResponseHead?

    init(_ made: MadeConnection, to host: OriginHost, pool: TransferPool) {
        self.made = made
        self.descriptor = made.descriptor
        self.tls = made.tls
        self.host = host
        self.pool = pool
        self.response = ResponseReader(limits: pool.configuration.responseHead)
        pool.opened(at: host)
        self.setInterest(.read)
    }

    /// A loop that has ended closes nothing.
    deinit { if case .closed = self.phase {} else { Glibc.close(self.descriptor) } }

    private var loop: Loop { self.pool.loop }

    // MARK: For the pool

    /// Gives the connection to a transfer, whose request leaves at the end of the turn.
    func take(for transfer: Transfer) {
        guard case .idle = self.phase else { preconditionFailure("BUG: a connection that is in use is taken") }
        self.phase = .taken(transfer)
        self.loop.atEndOfTurn(self)
    }

    /// Sends the request.
    private func start(_ transfer: Transfer) {
        if self.isKept {
            // No wait of the loop has looked yet whether something came behind the last response.
            guard self.keptInTurn < self.loop.turn else { return self.loop.atEndOfTurn(self) }
            // In TLS inside of TLS bytes may wait that no descriptor tells of.
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

    /// Closes the connection; whoever has it is not told.
    func close() {
        if case .closed = self.phase { return }
        // Says that nothing more comes (RFC 8446 §6.1), where that can be said at once.
        _ = self.tls?.finishOutput()
        self.leave()
        Glibc.close(self.descriptor)
    }

    /// Closes the connection of an owner that has ended, unless it is in use.
    func closeIfIdle() { if case .idle = self.phase { self.close() } }

    /// Ends the part of this object in the connection, which stays as it is.
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

    /// Gives the connection away, with what came behind the head.
    private func handOver(_ head: ResponseHead, to transfer: Transfer) {
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

    /// Epoll is told of a pause when it reports something during it: most are over before.
    func pauseReading() {}

    func resumeReading() {
        self.updateInterest()
        // The bytes that are here may be all that comes; epoll knows nothing of it, nor of a descriptor that hung up.
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

    /// True where bytes are on their way to the client in a pipe.
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

    /// Sends as much as there is and the socket takes.
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
        // Where bytes are being understood, what is left of them comes first.
        if !self.isConsuming, self.isSent, self.response.isBodyOver, !self.isPiping { self.finish(transfer) }
    }

    private func isAsking(_ transfer: Transfer) -> Bool {
        if case .asking(let current) = self.phase { current === transfer } else { false }
    }

    /// True where the whole request has left, or no more of it will.
    private var isSent: Bool {
        if self.sendFailure != nil { return true }
        return self.staged.readableBytes == 0 && (self.outgoing == .nothing || self.outgoing == .unwanted)
    }

    /// Tells whether a piece of the body leaves next.
    private func hasBodyBehind(_ transfer: Transfer) -> Bool {
        guard case .length = self.outgoing else { return false }
        return transfer.nextStep == .bytes
    }

    /// Tells whether there is a piece of the body to be sent; stages the end of one that has none.
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
                // Framing was promised that cannot be kept.
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

    /// - Returns: whether to go on.
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

    /// Moves bytes of the body that nobody here has seen.
    private func move(_ piped: PipedBytes, of transfer: Transfer, left: UInt64) -> Bool {
        let outcome = piped.drain(into: self.descriptor)
        if case .bytes(let count) = outcome {
            self.outgoing = .length(left: left - UInt64(count))
            transfer.sent(piped: count)
        }
        return self.accepted(outcome)
    }

    /// Puts the next piece of the body behind what is staged.
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

    /// - Returns: whether all of it has left.
    private func sendStaged(holdingBack: Bool) -> Bool {
        let outcome = self.staged.withUnsafeReadableBytes { self.transmit($0, holdingBack: holdingBack) }
        if case .bytes(let count) = outcome { self.staged.moveReaderIndex(forwardBy: count) }
        return self.accepted(outcome)
    }

    /// - Returns: whether more can be sent now.
    private func accepted(_ outcome: StreamOutcome) -> Bool {
        switch outcome {
        case .bytes: return true
        case .wouldBlock:
            self.waitsForRoom = true
            return false
        case .end:
            // TLS tells so of a peer that has said its last word and broken the connection behind it.
            self.sendFailure = IOError(errnoCode: ECONNRESET, reason: "send")
            return false
        case .failed(let error):
            // The bytes that the origin has sent before it stopped listening may be its answer (RFC 9112 §9.5).
            self.sendFailure = error
            return false
        }
    }

    /// - Parameter holdingBack: whether more follows at once, with which it should share a packet.
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
                // It has something to say after all.
                if self.isHungUp { self.isHungUp = false }
                return self.updateInterest()
            case .end, .failed:
                guard transfer.isReadingPaused, self.rest.readableBytes > 0 else {
                    return self.ended(outcome, transfer)
                }
                // The bytes before the end are still to be understood.
                self.heldEnd = outcome
                return self.updateInterest()
            }
        }
        // Of what TLS has deciphered already epoll knows nothing.
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

    /// Moves bytes of a body that nobody looks at.
    ///
    /// - Returns: `bytes` where some were moved; nil where they have to be received.
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

    /// The end came with the last bytes of a response: whoever has the connection by now gets nothing from it.
    private func noteEnd(_ outcome: StreamOutcome) {
        switch (outcome, self.phase) {
        case (.end, .idle), (.end, .taken), (.failed, .idle), (.failed, .taken): self.spoil()
        case (.bytes, _), (.wouldBlock, _), (_, .asking), (_, .closed): break
        }
    }

    /// Fills a buffer.
    ///
    /// - Returns: `bytes` where there may be more; otherwise why there is not, also where some came before.
    private func receive(_ buffer: inout ByteBuffer) -> StreamOutcome {
        var outcome = StreamOutcome.end
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
            guard let tls else {
                let count = recv(self.descriptor, space.baseAddress, space.count, 0)
                outcome = StreamOutcome(count, of: "recv", until: .read)
                // Less than there is room for was all that there was, but for the end.
                if 0 < count, count < space.count, !self.isHungUp { outcome = .wouldBlock(until: .read) }
                return max(0, count)
            }
            // For the end of a body it is not worth the buffer.
            tls.readsAhead = self.response.isComplete && (self.response.missingBytes ?? .max) >= HTTP1Amounts.leastAhead
            let (count, end) = tls.fill(space)
            outcome = StreamOutcome(end)
            return count
        }
        return outcome
    }

    /// True where something came that nobody has asked for: the end, or bytes. Records that are for TLS alone are taken in.
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
        // The common case: the bytes are understood where they were received.
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

    /// Has `feed` give bytes to the step that understands them, and ends what they bring to an end.
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
        if let switching { return self.handOver(switching, to: transfer) }
        if self.response.isBodyOver, self.isSent { self.finish(transfer) }
    }

    /// Understands as much of `bytes` as can be, and is wanted.
    ///
    /// - Returns: how many that were.
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
            // Behind a request that is not complete there would be no telling its body from the other protocol.
            guard transfer.asked.request.upgrade != nil, self.isSent else {
                throw WireError(.malformed, "it switches protocols without being asked, or before it has the request")
            }
            self.switching = head
        case .head(let head, let length):
            self.login.look(at: head, to: transfer.asked, on: self)
            // An origin that answers so has no use for the rest of the body (RFC 9112 §9.5).
            if head.status >= 300, !self.isSent {
                self.outgoing = .unwanted
                self.staged.clear()
            }
            transfer.received(head, length: length, version: self.response.version)
        }
    }

    /// - Parameter isCut: whether the peer has not said that this was all, as it has to in TLS.
    private func inputEnded(_ transfer: Transfer, isCut: Bool) {
        if self.response.isBodyOver || self.response.isBodyUnlimited && !isCut {
            return self.finish(transfer, endedByPeer: true)
        }
        self.end(.closed, transfer)
    }

    // MARK: The end

    /// The response is complete.
    private func finish(_ transfer: Transfer, endedByPeer: Bool = false) {
        let isWhole = self.staged.readableBytes == 0 && self.outgoing == .nothing && self.sendFailure == nil
        let trailers = self.response.trailers
        // Tickets of TLS 1.3 come behind the handshake; by now they are there.
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

    /// True where records were read ahead behind the response; those that are for TLS alone are taken in.
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
        // The reason is in the failure that came first.
        if case .closed = end, let sendFailure, !self.hasAnswer {
            end = .broken(CarrierFailure.words(for: sendFailure))
        }
        let (hasAnswer, hasHead, lacksChunks) = (
            self.hasAnswer, self.response.isComplete, self.response.lacksChunks
        )
        self.close()
        transfer.lost(end, afterUse: self.isKept, hasAnswer: hasAnswer, hasHead: hasHead, lacksChunks: lacksChunks)
    }

    /// Something came that nobody has asked for.
    private func spoil() {
        let phase = self.phase
        self.close()
        guard case .taken(let transfer) = phase else { return }
        if self.isKept { return transfer.lostBeforeRequest() }
        // An origin that ends or fills each connection at once would be dialled for ever.
        transfer.lost(.closed, afterUse: false, hasAnswer: false, hasHead: false, lacksChunks: false)
    }

    // MARK: Epoll

    /// - Parameter hasReport: whether epoll has just told of something to read.
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
            // Both directions are closed: what is left is read up to its end. Epoll would report this for ever.
            self.isHungUp = true
            self.interest = Readiness()
            self.loop.unwatch(self.descriptor)
        }
        if readiness.contains(.write) || self.tls != nil { self.pump() }
        if readiness != .write || self.tls != nil { self.readReported() }
    }
}
