// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSession
import PintleSystem
import PintleTesting
import PintleTrust
import Testing

@testable import PintleProxy

/// ``SimulatedOrigin`` between a stream and an exchange that do everything in random order.
struct SimulatedOriginTests {
    @Test func `in every order of events the client gets the bytes that the plan lets through, once`() throws {
        let loop = try Loop(name: "simulation")
        defer { loop.stop() }
        for course in 0..<400 {
            let seed = Seed.ofThisRun &+ UInt64(course)
            let stage = try loop.submit { LoopBound(SimulationStage(seed: seed, on: loop), loop: loop) }.wait()
            let isOver = Locked(false)
            try Patience.wait(for: "the end of course \(seed)") {
                stage.runAndWait { stage in
                    stage.step()
                    if stage.isOver { isOver.withLock { $0 = true } }
                }
                return isOver.withLock { $0 }
            }
            stage.runAndWait { stage in
                #expect(stage.faults == [], "PINTLE_SEED=\(seed): \(stage.plan)")
            }
        }
    }
}

/// One course: a plan, a response in pieces, and the next event by chance.
private final class SimulationStage: TransferDelegate {
    let plan: SimulationPlan
    private(set) var faults: [String] = []
    private(set) var isOver = false
    private var chance: SeededGenerator
    private let response: [UInt8]
    private let length: UInt64?
    private let requestBody: [UInt8]
    private var origin: SimulatedOrigin?
    private var stream: PlayedStream?
    private var (given, sentBody) = (0, 0)
    private var (hasHead, isCancelled, hasFinished) = (false, false, false)
    private var received: [UInt8] = []
    private var isPaused = false

    init(seed: UInt64, on loop: Loop) {
        self.chance = SeededGenerator(seed: seed)
        var plan = SimulationPlan()
        self.response = (0..<Int.random(in: 0...3000, using: &self.chance)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        self.length = Bool.random(using: &self.chance) ? UInt64(self.response.count) : nil
        self.requestBody = (0..<Int.random(in: 0...500, using: &self.chance)).map { UInt8(truncatingIfNeeded: $0) }
        switch Int.random(in: 0..<4, using: &self.chance) {
        case 0: plan.cut = .after(Int.random(in: 0...3500, using: &self.chance))
        case 1: plan.cut = .within
        default: break
        }
        if Bool.random(using: &self.chance) { plan.bytesPerSecond = 400_000 }
        if Int.random(in: 0..<8, using: &self.chance) == 0 { plan.answer = .reset }
        if Bool.random(using: &self.chance) { plan.delay = .milliseconds(1) }
        self.plan = plan
        self.origin = SimulatedOrigin(plan, for: self, on: loop) { [weak self] delegate, _ in
            let stream = PlayedStream(for: delegate) { self?.faults.append($0) }
            self?.stream = stream
            return stream
        }
    }

    /// Plays one event that is possible now.
    func step() {
        guard let origin, !self.isOver else { return }
        switch Int.random(in: 0..<12, using: &self.chance) {
        case 0: origin.pauseReading(); self.isPaused = true
        case 1, 2: self.isPaused = false; origin.resumeReading()
        case 3 where Int.random(in: 0..<40, using: &self.chance) == 0:
            self.isCancelled = true
            origin.cancel()
            self.finish()
        case 4,
            5 where self.sentBody < self.requestBody.count:
            let count = min(self.requestBody.count - self.sentBody, Int.random(in: 1...200, using: &self.chance))
            origin.send(ByteBuffer(bytes: self.requestBody[self.sentBody..<(self.sentBody + count)]))
            self.sentBody += count
        case 6 where self.sentBody == self.requestBody.count && !self.hasFinished:
            self.hasFinished = true
            origin.finishBody(trailers: Fields())
        default: self.playStream()
        }
    }

    private func playStream() {
        guard let stream, !stream.isPaused, !stream.isOver else { return }
        if !stream.hasAnswered {
            stream.answer(length: self.length)
        } else if self.given < self.response.count {
            let count = min(self.response.count - self.given, Int.random(in: 1...900, using: &self.chance))
            let piece = Array(self.response[self.given..<(self.given + count)])
            self.given += count
            stream.give(piece)
        } else {
            stream.end()
        }
    }

    /// The number of bytes that the plan lets through.
    private var limit: Int? {
        switch self.plan.cut {
        case nil: nil
        case .after(let count): count
        case .within: self.length.map { Int($0 / 2) } ?? 1
        }
    }

    private func finish() {
        self.isOver = true
        if let stream, stream.isOpen, self.isCancelled || self.origin?.clientFault != nil, !stream.isCancelled {
            self.faults.append("the stream goes on")
        }
        let given = stream?.body ?? []
        if given != Array(self.requestBody.prefix(given.count)) { self.faults.append("the request's body is mixed up") }
        self.origin = nil
    }

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        if self.hasHead || self.isOver { self.faults.append("a second head") }
        self.hasHead = true
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        if !self.hasHead || self.isOver { self.faults.append("bytes without a head, or after the end") }
        if self.isPaused { self.faults.append("bytes while the client reads nothing") }
        self.received += bytes
    }

    func originSent(interim head: ResponseHead) {}
    func originSent(_ piped: PipedBytes) {}
    func originSent(trailers fields: Fields) {}
    func originTookBody(_ count: Int) {}
    func bodyBeginsAgain() {}
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        self.faults.append("handed over")
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        if self.isOver || self.isCancelled { self.faults.append("a second end") }
        let isCut = self.limit.map { $0 < self.response.count } ?? false
        let fault: ClientFault? =
            self.plan.answer == .reset ? .reset : isCut ? (self.plan.cut == .within ? .reset : .cut) : nil
        let found = self.origin?.clientFault
        if "\(String(describing: found))" != "\(String(describing: fault))" || (error != nil) != (fault != nil) {
            self.faults.append("ends by \(String(describing: self.origin?.clientFault)), \(String(describing: error))")
        }
        let expected = self.plan.answer == .reset ? 0 : min(self.limit ?? .max, self.response.count)
        if self.received != Array(self.response.prefix(expected)) {
            self.faults.append("\(self.received.count) bytes of \(expected)")
        }
        self.finish()
    }
}

/// A stream that answers as it is told to, and reports calls after its end.
private final class PlayedStream: OriginStream {
    private let delegate: any TransferDelegate
    private let breach: (String) -> Void
    private(set) var body: [UInt8] = []
    private(set) var (isPaused, isCancelled, hasAnswered, hasEnded) = (false, false, false, false)

    init(for delegate: any TransferDelegate, _ breach: @escaping (String) -> Void) {
        (self.delegate, self.breach) = (delegate, breach)
    }

    var isOver: Bool { self.isCancelled || self.hasEnded }
    var isOpen: Bool { !self.hasEnded }

    func answer(length: UInt64?) {
        self.hasAnswered = true
        self.delegate.originAnswered(ResponseHead(status: 200, reason: "OK"), length: length)
    }

    func give(_ piece: [UInt8]) { piece.withUnsafeBytes { self.delegate.originSent($0) } }

    func end() {
        self.hasEnded = true
        self.delegate.originEnded(nil, TransferMetrics())
    }

    var verdict: Verdict? { nil }
    var proxyVerdict: Verdict? { nil }
    var responseVersion: String { "1.1" }
    var unsentBodyBytes: Int { 0 }
    func send(_ bytes: ByteBuffer) {
        if self.isOver { self.breach("a body for a stream that is over") }
        self.body += bytes.readableBytesView
    }
    func finishBody(trailers: Fields) { if self.isOver { self.breach("the end of a body for a stream that is over") } }
    func pauseReading() { self.isPaused = true }
    func resumeReading() { self.isPaused = false }
    func takePipes() {}
    func cancel() {
        if self.isCancelled { self.breach("cancelled twice") }
        self.isCancelled = true
    }
}
