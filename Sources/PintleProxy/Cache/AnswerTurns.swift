// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// Has answers of the cache go on, so many in a turn of the loop: thousands of clients may wait for one, and others want their turn.
///
/// Used on the loop's thread only.
final class AnswerTurns: TurnEndWork {
    private let loop: Loop
    private var waiting: CircularBuffer<CachedOrigin> = []
    private var isAwaited = false
    /// The answers that went on in a turn.
    private var (turn, count) = (UInt64(0), 0)
    /// The most in a turn: each may give four pieces of a body.
    private static let most = 32

    init(loop: Loop) { self.loop = loop }

    /// Has an answer go on at the end of this turn, or of a later one.
    func add(_ answer: CachedOrigin) {
        self.waiting.append(answer)
        if !self.isAwaited { self.loop.atEndOfTurn(self) }
        self.isAwaited = true
    }

    func runAtEndOfTurn() {
        if self.turn != self.loop.turn { (self.turn, self.count) = (self.loop.turn, 0) }
        while self.count < Self.most, let answer = self.waiting.popFirst() {
            self.count += 1
            answer.goOn()
        }
        self.isAwaited = !self.waiting.isEmpty
        if self.isAwaited { LoopBound(self, loop: self.loop).run { $0.loop.atEndOfTurn($0) } }
    }
}
