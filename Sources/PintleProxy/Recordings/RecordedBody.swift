// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleTape

/// The body of a recording as it is played: at once, or with the times at which it arrived.
final class RecordedBody: LocalBody {
    private let bytes: [UInt8]
    /// The parts in which it is sent, each with its time from now.
    private let pieces: [TapeResponse.Piece]
    private let loop: Loop
    private let start: NIODeadline
    private var number = 0
    private var offset = 0
    private var timer: LoopTimer?
    private let headTime: Int
    /// Asks for the next part.
    private var resume: () -> Void = {}

    /// - Parameter timing: `atOnce` sends the parts of a stream one after another without a wait.
    init(_ recording: Recording, at timing: ReplayRules.Timing, on loop: Loop) {
        let response = recording.response
        (self.bytes, self.loop, self.start) = (response.body, loop, loop.turnTime)
        let end = TapeResponse.Piece(time: recording.endTime, end: response.body.count)
        let all = response.pieces + [end]
        self.pieces = timing == .atOnce ? all.map { .init(time: 0, end: $0.end) } : all
        self.headTime = timing == .atOnce ? 0 : recording.headTime
    }

    /// Sends the head when it is due, and then the body.
    func begin(by answer: LocalAnswer, _ head: ResponseHead, length: UInt64?) {
        let send = { answer.send(head, length: length, self) }
        self.resume = { [weak answer] in answer?.resume() }
        guard self.headTime > 0 else { return send() }
        self.wait(for: self.headTime, then: send)
    }

    private func wait(for time: Int, then proceed: @escaping () -> Void) {
        // The timer keeps this body until it has fired, or until the body ends.
        let timer = LoopTimer {
            self.timer = nil
            proceed()
        }
        self.timer = timer
        self.loop.arm(timer, at: self.start + .milliseconds(Int64(time)))
    }

    func next() -> LocalPiece {
        while self.number < self.pieces.count {
            let piece = self.pieces[self.number]
            guard self.start + .milliseconds(Int64(piece.time)) <= self.loop.turnTime else {
                self.wait(for: piece.time, then: self.resume)
                return .later
            }
            // An event is sent as a whole; a long one must not fill the memory of a slow client.
            let end = min(piece.end, self.offset + Self.mostAtOnce)
            let part = Array(self.bytes[self.offset..<end])
            self.offset = end
            if end == piece.end { self.number += 1 }
            if !part.isEmpty { return .bytes(part) }
        }
        return .end
    }

    private static let mostAtOnce = 64 << 10

    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
    }
}
