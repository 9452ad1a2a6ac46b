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
/// It stands between an exchange and the stream that answers. It holds the request back, with the part of its body that comes
/// meanwhile, until the delay is over, and until an answer that a contract makes is there. Used on its loop's thread only.
final class SimulatedOrigin {
    private enum State {
        /// The stream is not open yet.
        case waiting
        case open(any OriginStream)
        /// The stream has ended. Some of the response may wait for its time.
        case ended(SessionError?, TransferMetrics)
        case over
    }

    private let plan: SimulationPlan
    private let loop: Loop
    private let delegate: any TransferDelegate
    private var makeStream: ((any TransferDelegate, MadeAnswer?) -> any OriginStream)?
    /// Gives up the answer that another thread makes; nil if none is being made.
    private var stopMaking: (() -> Void)?
    private var made: MadeAnswer?
    private var state = State.waiting
    /// The body of the request so far, and its trailers once it has ended, while the stream is not open.
    private var body = ByteBuffer()
    private var bodyEnd: Fields?
    /// The stream that answers. The exchange asks for its verdicts when it ends; afterwards the two must not keep each other.
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
    private var ownFault: ClientFault?
    /// False while the client reads more slowly than the response comes.
    private var hasRoom = true

    /// The time between two pieces of a response with a pace.
    private static let pause = TimeAmount.milliseconds(50)
    /// The bytes of a body of unknown length after which it breaks off within.
    private static let beginning = 1

    /// - Parameter open: opens the stream that answers, with the answer that ``await(_:)`` has brought; not called if the plan resets.
    init(
        _ plan: SimulationPlan, for delegate: any TransferDelegate, on loop: Loop,
        _ open: @escaping (any TransferDelegate, MadeAnswer?) -> any OriginStream
    ) {
        (self.plan, self.delegate, self.loop, self.makeStream) = (plan, delegate, loop, open)
        if case .after(let count) = plan.cut { self.rest = count }
        let timer = LoopTimer { [weak self] in self?.proceed() }
        self.timer = timer
        loop.arm(timer, at: loop.turnTime + TimeAmount(plan.delay))
    }

    /// Waits for an answer that another thread makes.
    ///
    /// - Parameter make: begins to make it, calls back with it in a later turn, or with nil if there is none, and returns a
    ///   function that gives it up.
    func await(_ make: (@escaping (MadeAnswer?) -> Void) -> () -> Void) {
        self.stopMaking = make { [weak self] answer in
            guard let self else { return }
            (self.stopMaking, self.made) = (nil, answer)
            if self.timer?.isArmed == false { self.proceed() }
        }
    }

    private func proceed() {
        switch self.state {
        case .waiting: if self.stopMaking == nil { self.begin() }
        case .open, .ended: self.release()
        case .over: break
        }
    }

    private func begin() {
        guard self.plan.answer != .reset else { return self.breakOff(.reset) }
        guard let stream = self.makeStream.take()?(self, self.made) else {
            preconditionFailure("BUG: a stream is opened twice")
        }
        (self.stream, self.state) = (stream, .open(stream))
        if !self.hasRoom { stream.pauseReading() }
        let (body, end) = (self.body, self.bodyEnd)
        self.body = ByteBuffer()
        if body.readableBytes > 0 { stream.send(body) }
        if let end { stream.finishBody(trailers: end) }
    }

    // MARK: The response

    /// Sends what is due, and comes back for the rest.
    private func release() {
        // The client reads on, or the timer fires.
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
        case .waiting, .ended, .over: break
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
        (self.ownFault, self.lastMetrics) = (fault, metrics)
        self.stop()
        stream?.cancel()
        let rules = self.plan.rules.joined(separator: ", ")
        self.delegate.originEnded(SessionError(.truncated, "broken off by \(rules) of the route"), metrics)
        self.stream = nil
    }

    private func end(_ error: SessionError?, _ metrics: TransferMetrics) {
        let trailers = self.trailers
        self.stop()
        if let trailers { self.delegate.originSent(trailers: trailers) }
        self.delegate.originEnded(error, metrics)
        self.stream = nil
    }

    private func stop() {
        self.state = .over
        self.stopMaking.take()?()
        (self.waiting, self.body) = (ByteBuffer(), ByteBuffer())
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
        self.stream = nil
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        (self.state, self.lastMetrics) = (.ended(error, metrics), metrics)
        if self.waiting.readableBytes > 0 || self.timer?.isArmed == true { return self.release() }
        self.end(error, metrics)
    }
}

extension SimulatedOrigin: OriginStream {
    var simulation: Simulation? {
        if self.plan.isChanged { return .fault }
        if let made { return made.attempt.kind.simulation }
        return self.plan.isFaulty ? .fault : self.stream?.simulation
    }

    var isUnjudged: Bool {
        if self.plan.cut != nil { return true }
        if let made { return made.attempt.kind.simulation == .fault }
        return self.plan.isFaulty && self.plan.answer != nil
    }

    /// A mock by the contract needs no word: it is as the client expects it.
    var simulationNote: String? {
        guard let made, made.attempt.kind.simulation == .fault else { return nil }
        return "\(made.attempt.rule) of the route: \(made.answer.note)"
    }

    var clientFault: ClientFault? { self.ownFault ?? self.stream?.clientFault }
    var differences: [String] { self.stream?.differences ?? [] }
    var messageKeeper: (any MessageKeeper)? { self.stream?.messageKeeper }
    var verdict: Verdict? { self.stream?.verdict }
    var proxyVerdict: Verdict? { self.stream?.proxyVerdict }
    var responseVersion: String { self.stream?.responseVersion ?? "1.1" }
    var metrics: TransferMetrics { self.lastMetrics ?? self.stream?.metrics ?? TransferMetrics() }

    var unsentBodyBytes: Int {
        switch self.state {
        case .waiting: self.body.readableBytes
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
        case .waiting: self.body.writeImmutableBuffer(bytes)
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
        case .waiting: self.bodyEnd = trailers
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
        self.stream = nil
    }
}

/// A way in which a fault ends a response, which the client is meant to see.
enum ClientFault {
    /// The response breaks off.
    case cut
    /// The client's connection is reset, or its stream.
    case reset
    /// The client is refused, because nothing may answer it.
    case refusal(Problem)
}
