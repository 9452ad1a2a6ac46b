// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// An origin whose answer is late, slow, changed or broken off by a ``SimulationPlan``.
///
/// It stands between an exchange and the stream that answers. Used on its loop's thread only.
final class SimulatedOrigin {
    private enum State {
        /// The delay is not over; with the body of the request so far, and its trailers once it has ended.
        case delayed([ByteBuffer], end: Fields?)
        case open(any OriginStream)
        /// The stream has ended. Some of the response may wait for its time.
        case ended(SessionError?, TransferMetrics)
        case over
    }

    private let plan: SimulationPlan
    private let loop: Loop
    private let delegate: any TransferDelegate
    private var makeStream: ((any TransferDelegate) -> any OriginStream)?
    private var state = State.delayed([], end: nil)
    /// The stream that answers, whose verdicts outlive it.
    private var stream: (any OriginStream)?
    /// Measurements of a stream that has ended.
    private var lastMetrics: TransferMetrics?
    private var timer: LoopTimer?
    /// The part of the response that waits for its time, and its trailers.
    private var waiting = ByteBuffer()
    private var trailers: Fields?
    /// The bytes of the body that may still be sent; nil for all.
    private var rest: Int?
    /// True once there were more bytes than may be sent.
    private var isCut = false
    private(set) var clientFault: ClientFault?
    /// False while the client reads more slowly than the response comes.
    private var hasRoom = true

    /// The time between two pieces of a response with a pace.
    private static let pause = TimeAmount.milliseconds(50)
    /// The bytes of a body of unknown length after which it breaks off within.
    private static let beginning = 1

    /// - Parameter open: opens the stream that answers, once the delay is over; not called if the plan resets.
    init(
        _ plan: SimulationPlan, for delegate: any TransferDelegate, on loop: Loop,
        _ open: @escaping (any TransferDelegate) -> any OriginStream
    ) {
        (self.plan, self.delegate, self.loop, self.makeStream) = (plan, delegate, loop, open)
        if case .after(let count) = plan.cut { self.rest = count }
        let timer = LoopTimer { [weak self] in self?.proceed() }
        self.timer = timer
        loop.arm(timer, at: loop.turnTime + TimeAmount(plan.delay))
    }

    private func proceed() {
        switch self.state {
        case .delayed(let pieces, let end): self.begin(pieces, end)
        case .open, .ended: self.release()
        case .over: break
        }
    }

    private func begin(_ pieces: [ByteBuffer], _ end: Fields?) {
        guard self.plan.answer != .reset else { return self.breakOff(.reset) }
        guard let stream = self.makeStream.take()?(self) else { preconditionFailure("BUG: a stream is opened twice") }
        (self.stream, self.state) = (stream, .open(stream))
        if !self.hasRoom { stream.pauseReading() }
        for piece in pieces { stream.send(piece) }
        if let end { stream.finishBody(trailers: end) }
    }

    // MARK: The response

    /// Sends what is due, and comes back for the rest.
    private func release() {
        guard self.hasRoom, self.timer?.isArmed == false else { return }
        var count = self.waiting.readableBytes
        if let pace = self.plan.bytesPerSecond {
            count = min(count, max(1, pace * Int(Self.pause.nanoseconds / 1_000_000) / 1000))
        }
        if count > 0, let piece = self.waiting.readSlice(length: count) {
            if let timer, self.plan.bytesPerSecond != nil {
                self.loop.arm(timer, at: self.loop.turnTime + self.wait(count))
            }
            piece.withUnsafeReadableBytes { self.delegate.originSent($0) }
        }
        // The client has left within this call, or fell behind.
        guard self.hasRoom, self.waiting.readableBytes == 0 else { return }
        switch self.state {
        case .open where self.isCut, .ended where self.isCut: self.breakOff(self.cutFault)
        case .open(let stream): stream.resumeReading()
        case .ended(let error, let metrics) where self.timer?.isArmed == false: self.end(error, metrics)
        case .delayed, .ended, .over: break
        }
    }

    /// The time that so many bytes take at the pace of the plan.
    private func wait(_ count: Int) -> TimeAmount {
        guard let pace = self.plan.bytesPerSecond else { return .zero }
        return .nanoseconds(Int64(Double(count) / Double(pace) * 1e9))
    }

    /// The way in which a cut shows: a truncated body ends the connection, a reset resets it.
    private var cutFault: ClientFault { self.plan.cut == .within ? .reset : .cut }

    private func breakOff(_ fault: ClientFault) {
        let stream: (any OriginStream)? = if case .open(let stream) = self.state { stream } else { nil }
        let metrics = self.metrics
        (self.clientFault, self.lastMetrics) = (fault, metrics)
        self.stop()
        stream?.cancel()
        let rules = self.plan.rules.joined(separator: ", ")
        self.delegate.originEnded(SessionError(.truncated, "broken off by \(rules) of the route"), metrics)
    }

    private func end(_ error: SessionError?, _ metrics: TransferMetrics) {
        let trailers = self.trailers
        self.stop()
        if let trailers { self.delegate.originSent(trailers: trailers) }
        self.delegate.originEnded(error, metrics)
    }

    private func stop() {
        self.state = .over
        self.waiting = ByteBuffer()
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
    }

    /// True if the pieces of the response pass as they come.
    private var passesPieces: Bool { self.plan.bytesPerSecond == nil && self.plan.cut == nil }
}

extension SimulatedOrigin: TransferDelegate {
    func originSent(interim head: ResponseHead) { self.delegate.originSent(interim: head) }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        if self.plan.cut == .within { self.rest = length.map { Int(clamping: $0 / 2) } ?? Self.beginning }
        var head = head
        for field in self.plan.fields where !head.fields.contains(field.name) {
            head.fields.append(field.name, field.value)
        }
        self.delegate.originAnswered(head, length: length)
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        if self.passesPieces { return self.delegate.originSent(bytes) }
        let count = min(bytes.count, self.rest ?? bytes.count)
        if count < bytes.count { self.isCut = true }
        if let rest { self.rest = rest - count }
        self.waiting.writeBytes(bytes.prefix(count))
        if case .open(let stream) = self.state { stream.pauseReading() }
        self.release()
    }

    func originSent(_ piped: PipedBytes) { self.delegate.originSent(piped) }

    func originSent(trailers fields: Fields) { self.trailers = fields }

    func originTookBody(_ count: Int) { self.delegate.originTookBody(count) }

    func bodyBeginsAgain() { self.delegate.bodyBeginsAgain() }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        self.stop()
        self.delegate.originHandedOver(handoff, metrics)
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        (self.state, self.lastMetrics) = (.ended(error, metrics), metrics)
        if self.waiting.readableBytes > 0 || self.timer?.isArmed == true { return self.release() }
        self.end(error, metrics)
    }
}

extension SimulatedOrigin: OriginStream {
    var simulation: Simulation? { self.plan.isFaulty ? .fault : self.stream?.simulation }
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "1.1" }
    var metrics: TransferMetrics { self.lastMetrics ?? self.stream?.metrics ?? TransferMetrics() }

    var unsentBodyBytes: Int {
        switch self.state {
        case .delayed(let pieces, _): pieces.reduce(0) { $0 + $1.readableBytes }
        case .open(let stream): stream.unsentBodyBytes
        case .ended, .over: 0
        }
    }

    var heldBodyBytes: Int {
        let held = self.waiting.readableBytes
        if case .open(let stream) = self.state { return held + stream.heldBodyBytes }
        return held + self.unsentBodyBytes
    }

    func send(_ bytes: ByteBuffer) {
        switch self.state {
        case .delayed(let pieces, let end): self.state = .delayed(pieces + [bytes], end: end)
        case .open(let stream): stream.send(bytes)
        case .ended, .over: break
        }
    }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
        if case .open(let stream) = self.state { return stream.moveBody(from: descriptor, atMost: limit) }
        return .isUnfit
    }

    func finishBody(trailers: Fields) {
        switch self.state {
        case .delayed(let pieces, _): self.state = .delayed(pieces, end: trailers)
        case .open(let stream): stream.finishBody(trailers: trailers)
        case .ended, .over: break
        }
    }

    func pauseReading() {
        self.hasRoom = false
        if case .open(let stream) = self.state { stream.pauseReading() }
    }

    func resumeReading() {
        self.hasRoom = true
        if self.passesPieces {
            if case .open(let stream) = self.state { stream.resumeReading() }
        } else {
            self.release()
        }
    }

    func takePipes() { if self.passesPieces, case .open(let stream) = self.state { stream.takePipes() } }

    func cancel() {
        let stream: (any OriginStream)? = if case .open(let stream) = self.state { stream } else { nil }
        self.stop()
        stream?.cancel()
    }
}

/// A way in which a fault ends a response, which the client is meant to see.
enum ClientFault {
    /// The response breaks off.
    case cut
    /// The client's connection is reset, or its stream.
    case reset
}

extension Worker {
    /// Opens the stream of a request that is answered, or changed, by a plan.
    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate,
        by plan: SimulationPlan
    ) -> any OriginStream {
        let request = consume request
        let loop = self.loop
        let open: (any TransferDelegate) -> any OriginStream =
            switch plan.answer {
            case .mock(let answer): { LocalAnswer(answer, as: .mock, to: request, for: $0, on: loop) }
            case .fault(let answer): { LocalAnswer(answer, as: .fault, to: request, for: $0, on: loop) }
            case .reset, nil: { self.connect(request, in: session, for: $0) }
            }
        return plan.isUnchanged ? open(delegate) : SimulatedOrigin(plan, for: delegate, on: loop, open)
    }
}

extension LocalAnswer {
    /// Answers a request in the place of its origin, once it has arrived whole.
    convenience init(
        _ answer: FixedAnswer, as simulation: Simulation, to request: TransferRequest,
        for delegate: any TransferDelegate, on loop: Loop
    ) {
        var head = ResponseHead(status: answer.status, reason: "")
        head.fields.append("Date", HTTPDate.text(UnixTime.now.seconds))
        for line in answer.fields { head.fields.append(line.name, line.value) }
        self.init(as: simulation, to: request, for: delegate, on: loop) { $0.send(head, answer.body) }
    }
}
