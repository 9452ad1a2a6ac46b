// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleLoop
internal import PintleMessage

/// One transfer on a connection of HTTP/2.
final class HTTP2Stream: ChannelInboundHandler, Carrier {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// Nil when it is over.
    private(set) var transfer: Transfer?
    private let connection: HTTP2Connection
    private let limits: HeadLimits
    private var channel: (any Channel)?
    /// Names the stream on its connection; nil before it has begun.
    private(set) var number: Int?
    /// What has come and was not taken, by what it costs to hold it, in bytes; the connection counts it, too.
    var untaken = 0
    /// True once the head of the request was given to the codec.
    private var hasBegun = false
    private var hasHead = false
    private var hasAnswer = false
    private var hasSentAll = false
    /// True once the end of the request is on its way to the peer, and no window or queue holds it.
    private var isEndWritten = false
    /// The bytes of a body with a length that were not sent.
    private var owedBytes: UInt64?
    /// The bytes of the response's body that are still to come; nil where nobody knows.
    private var awaitedBytes: UInt64?
    private var interim = InterimHeads()
    private var isPumping = false
    /// The frames that have come and were not taken.
    private var waiting: CircularBuffer<HTTP2Frame.FramePayload> = []
    /// True while frames that wait are taken.
    private var isTaking = false
    /// True while the codec tells of frames that have come together.
    private var isReading = false
    /// True if something was to be sent while frames came or were taken.
    private var wantsToSend = false
    /// How the stream was closed behind what waits; nil if it was not.
    private var ending: CarrierFailure?

    private static let pieceLimit = 16 * 1024
    /// The most times that a buffer's worth is flushed in a turn.
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
        guard let transfer, let channel else { return }
        // A stream that is begun now would be an error of the connection, and take the others with it.
        guard !self.connection.takesNoMore else { return self.failed(.unseen) }
        self.hasBegun = true
        transfer.beganToSend()
        let request = transfer.asked.request
        let isStreamed = if case .stream = request.body { true } else { false }
        let endsHere = !isStreamed && (request.body.length ?? 0) == 0
        self.hasSentAll = endsHere
        self.owedBytes = request.body.length
        let head = HTTP2Frame.FramePayload.headers(.init(headers: .init(request), endStream: endsHere))
        let written = self.writtenPromise(on: channel, endsRequest: endsHere)
        // A head that does not leave as a whole is no request for the peer. The codec may keep it until the peer has room.
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

    /// A promise for a frame, by which the end of the request is noted as written.
    private func writtenPromise(on channel: any Channel, endsRequest: Bool) -> EventLoopPromise<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        guard endsRequest else { return promise }
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        promise.futureResult.whenSuccess { box.value.isEndWritten = true }
        return promise
    }

    func sendMore() {
        // The stream may have ended with what is told of next, and nothing is to be written on it then.
        guard !self.isReading, !self.isTaking else { return self.wantsToSend = true }
        guard let channel, channel.isActive, !self.isPumping else { return }
        self.isPumping = true
        // Flushing may make room again, of which nothing else is heard meanwhile. Others want their share of a turn.
        var rounds = 0
        while rounds < Self.mostRounds, self.writePieces(to: channel) {
            channel.flush()
            rounds += 1
        }
        self.isPumping = false
        guard rounds == Self.mostRounds else { return }
        let box = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.execute { box.value.sendMore() }
    }

    /// - Returns: whether there is something to be flushed.
    private func writePieces(to channel: any Channel) -> Bool {
        // Content that the codec keeps behind a head is lost with it, and a long body cannot be sent twice.
        guard self.connection.hasSentHead(of: self) else { return false }
        var hasWritten = false
        while let transfer, channel.isWritable, !self.hasSentAll {
            switch transfer.nextStep {
            case .wait: return hasWritten
            case .bytes:
                var piece = ByteBuffer()
                let count = transfer.takeBody { bytes in
                    let taken = min(bytes.count, Self.pieceLimit, self.owedBytes.map(Int.init(clamping:)) ?? .max)
                    piece.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
                    return taken
                }
                // More than was promised is not sent, and what was is all that there is.
                guard count > 0 else { return hasWritten }
                if let owedBytes { self.owedBytes = owedBytes - UInt64(count) }
                channel.write(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(piece))), promise: nil)
                transfer.sent(count)
            case .end where self.owedBytes ?? 0 > 0:
                self.leave()
                transfer.fail(.cannotSend, "the body for \(transfer.asked.request.authority) ended before its length")
                return false
            case .end:
                self.hasSentAll = true
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
        // The loop tells of the frames that wait, and not the call that resumes.
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
        // Frames that cross the end of a stream are of no use to any transfer.
        guard self.transfer != nil else { return }
        self.isReading = true
        self.waiting.append(self.unwrapInboundIn(data))
        self.takeWaiting()
    }

    /// Takes the frames that wait, one after the other: if the transfer sends something when it is told of one, the codec may tell
    /// of the next from within that call.
    private func takeWaiting() {
        guard !self.isTaking else { return }
        self.isTaking = true
        while let transfer, !transfer.isReadingPaused, let frame = self.waiting.popFirst() {
            self.take(frame, transfer)
        }
        self.isTaking = false
        if let ending, let transfer, !transfer.isReadingPaused { self.failed(ending) }
    }

    /// Sends what was given while frames were taken.
    private func sendOn() {
        guard self.wantsToSend, !self.isReading else { return }
        self.wantsToSend = false
        self.sendMore()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReading = false
        self.sendOn()
        // The codec has told of everything.
        if self.waiting.isEmpty { self.took(self.untaken) }
        if let transfer, !transfer.isReadingPaused { context.read() }
    }

    private func take(_ frame: HTTP2Frame.FramePayload, _ transfer: Transfer) {
        switch frame {
        case .headers(let headers):
            self.hasAnswer = true
            do throws(WireError) {
                try self.take(headers, transfer)
            } catch {
                self.failed(.malformed(error))
            }
        case .data(let data):
            guard self.hasHead, case .byteBuffer(let bytes) = data.data else { return self.failed(.brokenFrames) }
            self.took(HTTP2FrameHead.cost + bytes.readableBytes)
            let count = UInt64(bytes.readableBytes)
            if let awaitedBytes {
                guard count <= awaitedBytes else { return self.failed(.brokenFrames) }
                self.awaitedBytes = awaitedBytes - count
            }
            if count > 0 { bytes.withUnsafeReadableBytes { transfer.received($0) } }
            if data.endStream { self.finish(trailers: Fields()) }
        case .rstStream(let code): self.failed(code == .refusedStream ? .refused : .reset)
        case .priority, .windowUpdate: self.took(HTTP2FrameHead.cost)
        case .alternativeService, .goAway, .origin, .ping, .pushPromise, .settings: break
        }
    }

    /// What had come is held elsewhere now, or nowhere.
    private func took(_ cost: Int) {
        let taken = min(cost, self.untaken)
        self.untaken -= taken
        self.connection.untaken(changedBy: -taken)
    }

    private func take(_ headers: HTTP2Frame.FramePayload.Headers, _ transfer: Transfer) throws(WireError) {
        if self.hasHead {
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
        self.hasHead = true
        let forbidsBody = head.forbidsBody(to: transfer.asked.request.method)
        let length = forbidsBody ? nil : try head.fields.declaredLength()
        self.awaitedBytes = forbidsBody ? 0 : length
        head.endsUnmeasured = headers.endStream && !forbidsBody && length == nil
        transfer.received(head, length: head.endsUnmeasured ? 0 : length, version: "2")
        if headers.endStream { self.finish(trailers: Fields()) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.closed(self.endOfConnection) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The codec closes the streams above the last one of a GOAWAY so. Of one that its peer resets the frame has come before,
        // and one whose frames break the rules has another code.
        let isAboveLast = (error as? NIOHTTP2Errors.StreamClosed)?.errorCode == .cancel
        let isTurnedAway = isAboveLast || error is NIOHTTP2Errors.CreatedStreamAfterGoaway
        self.closed(isTurnedAway ? .unseen : .reset)
    }

    private func closed(_ ending: CarrierFailure) {
        guard !self.waiting.isEmpty || self.isTaking else { return self.failed(ending) }
        // The frames that wait may be all of the response. The connection has done its part, and may end before they are taken.
        if self.ending == nil { self.ending = ending }
        self.connection.ended(self)
    }

    // MARK: The end

    private func finish(trailers: Fields) {
        guard let transfer else { return }
        guard self.awaitedBytes ?? 0 == 0 else { return self.failed(.closed) }
        self.connection.served()
        // A stream that has ended both ways is closed (RFC 9113 §5.1). Servers count resets against their clients.
        self.leave(resetting: !self.isEndWritten)
        transfer.finished(trailers: trailers)
    }

    /// The connection is over, and the stream with it.
    func connectionEnded() { self.failed(self.hasBegun ? self.endOfConnection : .unseen) }

    private var endOfConnection: CarrierFailure { self.connection.isBroken ? .brokenFrames : .closed }

    func failed(_ failure: CarrierFailure) {
        guard let transfer else { return }
        let (hasAnswer, hasHead, wasKept) = (self.hasAnswer, self.hasHead, self.connection.hasServed)
        self.leave()
        transfer.lost(failure, afterUse: wasKept, hasAnswer: hasAnswer, hasHead: hasHead, lacksChunks: false)
    }

    func abandon() { self.leave() }

    /// Lets the transfer go, and ends the stream where it has not ended.
    private func leave(resetting: Bool = true) {
        self.transfer = nil
        self.waiting.removeAll()
        self.took(self.untaken)
        if resetting, let channel {
            // Else the codec sends a head that it keeps when the peer has room for it, and the stream never ends.
            if self.hasBegun, !self.connection.hasSentHead(of: self) {
                channel.writeAndFlush(HTTP2Frame.FramePayload.rstStream(.cancel), promise: nil)
            }
            channel.close(promise: nil)
        }
        self.connection.ended(self)
    }
}
