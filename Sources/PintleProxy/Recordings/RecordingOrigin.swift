// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTape
internal import PintleTrust

/// An origin whose exchange is recorded on its way, or compared with its recording. It never delays the bytes; a comparison delays
/// the end. A response that breaks off is not recorded. Used on its event loop's thread only.
final class RecordingOrigin {
    private let tape: RouteTape
    private let loop: Loop
    private let start: NIODeadline
    private var observed: RawRecording
    private var stream: (any OriginStream)?
    private var delegate: (any TransferDelegate)?
    private let isWebSocket: Bool
    /// The differences from the recording; empty before the comparison has ended.
    private(set) var differences: [String] = []
    /// Writes the messages of the connection that the origin has switched to WebSocket.
    private(set) var messageKeeper: (any MessageKeeper)?
    /// Measurements of a stream that has ended.
    private var lastMetrics: TransferMetrics?

    init(
        _ request: TapedRequest, on tape: RouteTape, for delegate: any TransferDelegate, on loop: Loop,
        in memory: RecordingMemory, _ connect: RouteTape.Connect
    ) {
        (self.tape, self.loop, self.delegate, self.start) = (tape, loop, delegate, loop.turnTime)
        self.observed = RawRecording(request, in: memory)
        self.isWebSocket = request.transfer.upgrade?.lowercased() == "websocket"
        switch request.transfer.body {
        case .none: self.observed.isRequestWhole = true
        case .bytes(let bytes):
            self.take(request: bytes.readableBytesView)
            self.observed.isRequestWhole = true
        case .stream: break
        }
        self.stream = connect(request.transfer, self)
    }

    /// The stream until its end.
    private var live: (any OriginStream)? { self.delegate == nil ? nil : self.stream }

    private var elapsed: Int { Int((self.loop.turnTime - self.start).nanoseconds / 1_000_000) }

    // MARK: Copies

    private func take(request bytes: some Collection<UInt8>) {
        let isShort = self.observed.request.body.count + bytes.count <= self.tape.limit
        if !isShort { self.observed.leaveOut(ContentUnpacking.tooLong(self.tape.limit)) }
        // It is too long to be kept, or there is no memory.
        guard isShort, self.observed.hold(self.observed.bytes + bytes.count) else { return }
        self.observed.request.body.append(contentsOf: bytes)
    }

    private func take(response bytes: UnsafeRawBufferPointer) {
        let isShort = self.observed.response.body.count + bytes.count <= self.tape.limit
        if !isShort { self.observed.leaveOutResponse(ContentUnpacking.tooLong(self.tape.limit)) }
        // It is too long to be kept, or there is no memory.
        guard isShort, self.observed.hold(self.observed.bytes + bytes.count) else { return }
        self.observed.response.body.append(contentsOf: bytes)
        let end = self.observed.response.body.count
        let time = self.elapsed
        if let last = self.observed.response.pieces.last, last.time == time {
            self.observed.response.pieces[self.observed.response.pieces.count - 1].end = end
        } else {
            self.observed.response.pieces.append(TapeResponse.Piece(time: time, end: end))
        }
    }

    // MARK: The end

    private func finish(_ metrics: TransferMetrics) {
        self.observed.endTime = self.elapsed
        guard self.tape.rules.mode == .compare else {
            self.tape.write(self.observed)
            return self.end(nil, metrics)
        }
        self.tape.compare(self.observed, on: self.loop) { differences in
            self.differences = differences
            self.end(nil, metrics)
        }
    }

    /// Ends the exchange, unless the client has left.
    private func end(_ error: SessionError?, _ metrics: TransferMetrics) {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.originEnded(error, metrics)
    }
}

extension RecordingOrigin: OriginStream {
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "" }
    var metrics: TransferMetrics { self.lastMetrics ?? self.stream?.metrics ?? TransferMetrics() }
    var clientFault: ClientFault? { self.stream?.clientFault }
    var unsentBodyBytes: Int { self.stream?.unsentBodyBytes ?? 0 }
    var heldBodyBytes: Int { self.stream?.heldBodyBytes ?? 0 }

    func send(_ bytes: ByteBuffer) {
        self.take(request: bytes.readableBytesView)
        self.live?.send(bytes)
    }

    // Pipes would move the bytes past the copy.
    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        self.observed.isKept ? .isUnfit : self.live?.moveBody(from: descriptor, atMost: limit) ?? .isUnfit
    }

    func finishBody(trailers: Fields) {
        self.observed.request.trailers = trailers
        self.observed.isRequestWhole = true
        self.live?.finishBody(trailers: trailers)
    }

    func takePipes() { if !self.observed.isKept { self.live?.takePipes() } }

    func pauseReading() { self.live?.pauseReading() }

    func resumeReading() { self.live?.resumeReading() }

    func cancel() {
        // After its end there is no request to cancel.
        guard let live else { return }
        self.delegate = nil
        if self.tape.rules.mode != .compare { self.tape.giveUp(self.observed) }
        if self.lastMetrics == nil { live.cancel() }
    }
}

extension RecordingOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.delegate?.originSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        self.observed.response.head = head
        self.observed.response.version = self.responseVersion
        self.observed.headTime = self.elapsed
        self.delegate?.originAnswered(head, length: length)
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        self.take(response: bytes)
        self.delegate?.originSent(bytes)
    }

    func originSent(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { self.take(response: $0) }
        self.delegate?.originSent(buffer)
    }

    func originSent(_ piped: PipedBytes) { self.delegate?.originSent(piped) }

    func originSent(trailers fields: Fields) {
        self.observed.response.trailers = fields
        self.delegate?.originSent(trailers: fields)
    }

    func originTookBody(_ count: Int) { self.delegate?.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate?.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        if let head = handoff.head, self.isWebSocket {
            self.observed.response.head = head
            self.observed.response.version = handoff.version
            self.observed.headTime = self.elapsed
            self.messageKeeper = SocketRecorder(self.observed, on: self.tape, on: self.loop)
        }
        let delegate = self.delegate
        self.delegate = nil
        if let delegate { delegate.originHandedOver(handoff, metrics) } else { handoff.connection.close() }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.lastMetrics = metrics
        if let error { self.end(error, metrics) } else { self.finish(metrics) }
    }
}
