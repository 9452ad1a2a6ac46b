// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage

@testable import PintleProxy

/// Takes the body of a request, or lets it wait.
final class BodyTaker {
    let name: String
    var wantsBody = true
    var wantsEndOfBody = true

    init(_ name: String) { self.name = name }
}

/// A ``RequestStream`` with a connection that carries its actions out and writes them down.
struct RequestStreamStage {
    let stream = RequestStream<BodyTaker>(limits: HeadLimits(bytes: 1024, line: 512, count: 16))
    /// The actions so far. Adjoining pieces of a body are one.
    private(set) var transcript: [String] = []
    var turn: UInt64 = 1
    var isWritable = true
    /// True if each request is answered at once when it is complete.
    var answersAtOnce = false
    /// True if bodies wait until the test lets them come.
    var holdsBodies = false
    private(set) var takers: [BodyTaker] = []
    private var recurrent = RecurrentRequests()

    // MARK: Events

    mutating func receive(_ bytes: some Sequence<UInt8>) {
        switch self.stream.phase {
        case .lingering, .closed, .abandoned: return
        case .opening, .head, .body, .answering, .entering: break
        }
        var buffer = ByteBuffer(bytes: Array(bytes))
        if self.stream.waitingBytes == 0 {
            self.stream.borrow(&buffer)
            self.run()
            self.stream.giveBack(&buffer)
        } else {
            self.stream.append(&buffer)
            self.run()
        }
    }

    mutating func receive(_ text: String) { self.receive(text.utf8) }

    mutating func endInput() {
        self.stream.endInput()
        self.run()
    }

    mutating func answer(keepsConnection: Bool = true) {
        if self.stream.answered(keepsConnection: keepsConnection) {
            self.run()
        } else if self.stream.linger() {
            self.note("lingers")
        }
    }

    mutating func end() { if let taker = self.stream.end() { self.note("\(taker.name) hears of the end") } }

    mutating func moveBody() {
        guard let (taker, missing) = self.stream.startMoving() else { return self.note("nothing to move") }
        self.note("\(taker.name) moves \(missing)")
        if self.stream.endMoving(Int(missing)) { self.run() }
    }

    // MARK: The run

    mutating func run() {
        self.stream.startRun()
        while self.step() {}
        self.stream.endRun()
    }

    private mutating func step() -> Bool {
        let takesPiece =
            switch self.stream.nextPiece {
            case .bytes(let taker): taker.wantsBody
            case .end(let taker): taker.wantsEndOfBody
            case nil: false
            }
        switch self.stream.next(
            in: self.turn, isWritable: self.isWritable, takesPiece: takesPiece,
            limits: HeadLimits(bytes: 1024, line: 512, count: 16), &self.recurrent)
        {
        case .wait: return false
        case .awaitHead: self.note("awaits the rest", isRepeatable: true)
        case .awaitRoom: self.note("awaits room", isRepeatable: true)
        case .rest: self.note("rests")
        case .begin(let request):
            self.begin(request)
            return true
        case .refuse(let error):
            self.note("refuses \(error.code)")
            self.stream.begin(.none, limits: HeadLimits(), for: BodyTaker("refusal"))
            self.answer(keepsConnection: false)
        case .deliver(let piece, let taker):
            self.note(body: String(buffer: piece), to: taker)
            return true
        case .finish(let trailers, let taker):
            self.note("\(taker.name) ends\(trailers.isEmpty ? "" : " with trailers")")
            self.goOn()
            return true
        case .fail(let error, let taker):
            self.note("\(taker.name) fails: \(error.code)")
            self.answer(keepsConnection: false)
        case .close:
            self.note("closes")
            _ = self.stream.linger()
        case .breakOff:
            self.note("breaks off")
            self.end()
        }
        return false
    }

    private mutating func begin(_ request: ReceivedRequest) {
        let taker = BodyTaker("\(request.head.method)\(self.takers.count + 1)")
        taker.wantsBody = !self.holdsBodies
        self.takers.append(taker)
        self.note("\(taker.name) begins, \(request.framing)")
        self.stream.begin(request.framing, limits: HeadLimits(), for: taker)
        if request.framing == .none { self.goOn() }
    }

    /// The answer of an exchange within its call; the run goes on.
    private mutating func goOn() {
        guard self.answersAtOnce else { return }
        if !self.stream.answered(keepsConnection: true), self.stream.linger() { self.note("lingers") }
    }

    // MARK: The transcript

    private mutating func note(_ line: String, isRepeatable: Bool = false) {
        if !isRepeatable || self.transcript.last != line { self.transcript.append(line) }
    }

    private mutating func note(body: String, to taker: BodyTaker) {
        let prefix = "\(taker.name) takes "
        if let last = self.transcript.last, last.hasPrefix(prefix) {
            self.transcript[self.transcript.count - 1] = last + body
        } else {
            self.transcript.append(prefix + body)
        }
    }

    /// The actions since the last call.
    mutating func takeTranscript() -> [String] {
        let taken = self.transcript
        self.transcript = []
        return taken
    }

    /// The transcript without the waiting for the rest of heads, which depends on the pieces.
    var outcome: [String] { self.transcript.filter { $0 != "awaits the rest" } }

    var phase: String {
        switch self.stream.phase {
        case .opening: "opening"
        case .head: "head"
        case .body: "body"
        case .answering: "answering"
        case .lingering: "lingering"
        case .entering: "entering"
        case .closed: "closed"
        case .abandoned: "abandoned"
        }
    }
}
