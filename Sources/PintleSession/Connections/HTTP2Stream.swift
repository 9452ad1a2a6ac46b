// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleLoop
internal import PintleMessage

/// One transfer on a connection of HTTP/2.
final class HTTP2Stream: ChannelInboundHandler, Carrier {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// The parts of the request that were passed to the codec.
    private enum Sent {
        case nothing
        case head
        case all
        /// All was sent to the peer, too: nothing waits for a window or in a queue.
        case toPeer
    }

    /// Nil when the transfer is over.
    private(set) var transfer: Transfer?
    private let connection: HTTP2Connection
    private let limits: HeadLimits
    private var channel: (any Channel)?
    /// The number of the stream on its connection; nil before it has begun.
    private(set) var number: Int?
    /// The cost of frames that have arrived and were not taken, in bytes; the connection counts it, too.
    var untaken = 0
    private var sent = Sent.nothing
    private var received = ResponsePart.nothing
    /// The unsent bytes of a body with a declared length.
    private var owedBytes: UInt64?
    /// The missing bytes of the response's body; nil if unknown.
    private var awaitedBytes: UInt64?
    private var interim = InterimHeads()
    private var isPumping = false
    /// The frames that have arrived and were not taken.
    private var waiting: CircularBuffer<HTTP2Frame.FramePayload> = []
    /// True while waiting frames are processed.
    private var isTaking = false
    /// True while the codec delivers frames that have arrived together.
    private var isReading = false
    /// True if there was something to send while frames arrived or were processed.
    private var wantsToSend = false
    /// The reason why the stream was closed after the waiting frames; nil if it was not.
    private var ending: CarrierFailure?

    private static let pieceLimit = 16 * 1024
    /// The most times that a full buffer is flushed in a turn.
    private static let mostRounds = 4

    init(_ transfer: Transfer, on connection: HTTP2Connection, limits: HeadLimits) {
        self.transfer = transfer
        self.connection = connection
        self.limits = limits
    }

    var isOver: Bool { self.transfer == nil }

    func begin(on channel: any Channel) {
        guard self.transfer != nil else { return channel.close(promise: nil) }
        self.channel = channel
        do {
            try channel.syncOptions?.setOption(ChannelOptions.autoRead, value: false)
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            self.failed(.closed)
        }
    }

    // MARK: Sending

    func channelActive(context: ChannelHandlerContext) {
        // The transfer was cancelled before its channel became active.
        guard let transfer, let channel else { return }
        // Beginning a stream now would be an error of the connection, and would end the other streams too.
        guard !self.connection.takesNoMore else { return self.failed(.unseen) }
        transfer.beganToSend()
        let request = transfer.asked.request
        let isStreamed = if case .stream = request.body { true } else { false }
        let endsHere = !isStreamed && (request.body.length ?? 0) == 0
        self.sent = endsHere ? .all : .head
        self.owedBytes = request.body.length
        let head = HTTP2Frame.FramePayload.headers(.init(headers: .init(request), endStream: endsHere))
        let written = self.writtenPromise(on: channel, endsRequest: endsHere)
        // If its head is not sent completely, the peer has no request. The codec may keep the head until the peer has room.
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        written.futureResult.whenComplete { result in
            switch result {
            case .success: box.value.sendMore()
            case .failure: box.value.failed(.unseen)
            }
        }
        channel.writeAndFlush(head, promise: written)
        if let number = try? channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID), !self.isOver {
            self.number = Int(number)
            self.connection.began(self, as: Int(number))
        }
        self.sendMore()
        channel.read()
    }

    /// Makes a promise for a frame, which notes that the end of the request was written.
    private func writtenPromise(on channel: any Channel, endsRequest: Bool) -> EventLoopPromise<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        guard endsRequest else { return promise }
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        promise.futureResult.whenSuccess { box.value.sent = .toPeer }
        return promise
    }

    func sendMore() {
        // A frame that is still to be processed may have ended the stream; then nothing may be written on it.
        guard !self.isReading, !self.isTaking else { return self.wantsToSend = true }
        guard let channel, channel.isActive, !self.isPumping else { return }
        self.isPumping = true
        // Flushing may make room, which is not reported meanwhile. The rounds are limited, as other streams need their share of
        // a turn.
        var rounds = 0
        while rounds < Self.mostRounds, self.writePieces(to: channel) {
            channel.flush()
            rounds += 1
        }
        self.isPumping = false
        // Nothing more can be sent now: the body is sent or has to come, or a full channel will report its room.
        guard rounds == Self.mostRounds else { return }
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.execute { box.value.sendMore() }
    }

    /// - Returns: true if there is something to flush.
    private func writePieces(to channel: any Channel) -> Bool {
        // The codec would lose content that it keeps after an unsent head, and a long body cannot be sent twice.
        guard self.connection.hasSentHead(of: self) else { return false }
        var hasWritten = false
        while let transfer, channel.isWritable, self.sent == .head {
            switch transfer.nextStep {
            case .wait: return hasWritten
            case .bytes:
                var piece = ByteBuffer()
                let count = transfer.takeBody { bytes in
                    let taken = min(bytes.count, Self.pieceLimit, self.owedBytes.map(Int.init(clamping:)) ?? .max)
                    piece.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
                    return taken
                }
                // Bytes beyond the declared length are not sent.
                guard count > 0 else { return hasWritten }
                if let owedBytes { self.owedBytes = owedBytes - UInt64(count) }
                channel.write(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(piece))), promise: nil)
                transfer.sent(count)
            case .end where self.owedBytes ?? 0 > 0:
                self.leave()
                transfer.fail(.cannotSend, "the body for \(transfer.asked.request.authority) ended before its length")
                return false
            case .end:
                self.sent = .all
                let trailers = transfer.trailersToSend
                let last: HTTP2Frame.FramePayload =
                    trailers.isEmpty
                    ? .end : .headers(.init(headers: .init(trailers: trailers), endStream: true))
                channel.write(last, promise: self.writtenPromise(on: channel, endsRequest: true))
            }
            hasWritten = true
        }
        return hasWritten
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) { self.sendMore() }

    // MARK: Receiving

    func pauseReading() {}

    func resumeReading() {
        // Waiting frames are processed in a later turn, not within the call that resumes.
        guard let channel else { return }
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.execute { box.value.goOn() }
    }

    private func goOn() {
        self.takeWaiting()
        self.sendOn()
        if let transfer, !transfer.isReadingPaused { self.channel?.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames that arrive after the end of a transfer are of no use.
        guard self.transfer != nil else { return }
        self.isReading = true
        self.waiting.append(self.unwrapInboundIn(data))
        self.takeWaiting()
    }

    /// Processes waiting frames one after the other: if the transfer sends something in response to one, the codec may deliver
    /// the next from within that call.
    private func takeWaiting() {
        // The outer call takes the next frames.
        guard !self.isTaking else { return }
        self.isTaking = true
        while let transfer, !transfer.isReadingPaused, let frame = self.waiting.popFirst() {
            self.take(frame, transfer)
        }
        self.isTaking = false
        if let ending, let transfer, !transfer.isReadingPaused { self.failed(ending) }
    }

    /// Sends what was passed in while frames were processed.
    private func sendOn() {
        // Nothing waits, or more frames come first, which may end the stream.
        guard self.wantsToSend, !self.isReading else { return }
        self.wantsToSend = false
        self.sendMore()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReading = false
        self.sendOn()
        // All frames have been delivered and taken.
        if self.waiting.isEmpty { self.took(self.untaken) }
        if let transfer, !transfer.isReadingPaused { context.read() }
    }

    private func take(_ frame: HTTP2Frame.FramePayload, _ transfer: Transfer) {
        switch frame {
        case .headers(let headers):
            if self.received == .nothing { self.received = .bytes }
            do throws(WireError) {
                try self.take(headers, transfer)
            } catch {
                self.failed(.malformed(error))
            }
        case .data(let data):
            guard self.received == .head, case .byteBuffer(let bytes) = data.data else {
                return self.failed(.brokenFrames)
            }
            self.took(HTTP2FrameHead.cost + bytes.readableBytes)
            let count = UInt64(bytes.readableBytes)
            if let awaitedBytes {
                guard count <= awaitedBytes else { return self.failed(.brokenFrames) }
                self.awaitedBytes = awaitedBytes - count
            }
            if count > 0 { bytes.withUnsafeReadableBytes { transfer.received($0) } }
            if data.endStream { self.finish(trailers: Fields()) }
        case .rstStream(let code): self.failed(self.failure(by: code))
        case .windowUpdate: self.took(HTTP2FrameHead.cost)
        case .alternativeService, .goAway, .origin, .ping, .priority, .pushPromise, .settings: break
        }
    }

    private func failure(by code: HTTP2ErrorCode) -> CarrierFailure {
        switch code {
        case .refusedStream: .refused
        case .http11Required where self.connection.hasAlternative: .http1Required
        default: .reset
        }
    }

    /// Subtracts the cost of frames that were taken or dropped.
    private func took(_ cost: Int) {
        let taken = min(cost, self.untaken)
        self.untaken -= taken
        self.connection.untaken(changedBy: -taken)
    }

    private func take(_ headers: HTTP2Frame.FramePayload.Headers, _ transfer: Transfer) throws(WireError) {
        if self.received == .head {
            let trailers = try headers.headers.fields(within: self.limits)
            return self.finish(trailers: trailers)
        }
        var head = try headers.headers.responseHead(within: self.limits)
        guard head.status >= 200 else {
            guard head.status != 101, !headers.endStream else {
                throw WireError(.malformed, "it switches protocols, which HTTP/2 has not")
            }
            try self.interim.count(headers.headers, within: self.limits)
            return transfer.received(interim: head)
        }
        self.received = .head
        let forbidsBody = head.forbidsBody(to: transfer.asked.request.method)
        let length = forbidsBody ? nil : try head.fields.declaredLength()
        self.awaitedBytes = forbidsBody ? 0 : length
        head.endsUnmeasured = headers.endStream && !forbidsBody && length == nil
        transfer.received(head, length: head.endsUnmeasured ? 0 : length, version: "2")
        if headers.endStream { self.finish(trailers: Fields()) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.closed(self.endOfConnection) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The codec closes streams above the last one of a GOAWAY with this code. If the peer resets a stream, its frame has
        // come before this; a stream with invalid frames gets another code.
        let isAboveLast = (error as? NIOHTTP2Errors.StreamClosed)?.errorCode == .cancel
        let isTurnedAway = isAboveLast || error is NIOHTTP2Errors.CreatedStreamAfterGoaway
        self.closed(isTurnedAway ? .unseen : .reset)
    }

    private func closed(_ ending: CarrierFailure) {
        guard !self.waiting.isEmpty || self.isTaking else { return self.failed(ending) }
        // The waiting frames may complete the response. The connection has delivered them, and may end before they are
        // processed.
        if self.ending == nil { self.ending = ending }
        self.connection.ended(self)
    }

    // MARK: The end

    private func finish(trailers: Fields) {
        // The transfer was cancelled by the delegate that got its last bytes.
        guard let transfer else { return }
        guard self.awaitedBytes ?? 0 == 0 else { return self.failed(.closed) }
        self.connection.served(transfer.asked.request.authority)
        // A stream that has ended in both directions is closed (RFC 9113 §5.1). Servers count resets against their clients.
        self.leave(resetting: self.sent != .toPeer)
        transfer.finished(trailers: trailers)
    }

    /// Called when the connection is over, and the stream with it.
    func connectionEnded() { self.failed(self.sent == .nothing ? .unseen : self.endOfConnection) }

    private var endOfConnection: CarrierFailure { self.connection.isBroken ? .brokenFrames : .closed }

    func failed(_ failure: CarrierFailure) {
        // An end has several signs, and the transfer has heard of the first.
        guard let transfer else { return }
        let (received, wasKept) = (self.received, self.connection.hasServed)
        self.leave()
        transfer.lost(failure, afterUse: wasKept, received: received)
    }

    func abandon(after silence: NIODeadline?) {
        self.leave()
        if let silence { self.connection.leaveIfSilent(since: silence) }
    }

    /// Releases the transfer, and ends the stream if it has not ended.
    private func leave(resetting: Bool = true) {
        self.transfer = nil
        self.waiting.removeAll()
        self.took(self.untaken)
        if resetting, let channel {
            // Otherwise the codec sends a kept head when the peer has room for it, and the stream never ends.
            if self.sent != .nothing, !self.connection.hasSentHead(of: self) {
                channel.writeAndFlush(HTTP2Frame.FramePayload.rstStream(.cancel), promise: nil)
            }
            channel.close(promise: nil)
        }
        self.connection.ended(self)
    }
}
