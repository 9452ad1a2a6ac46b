// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// Delivers cached responses in batches, one batch per turn of the event loop, so that thousands of waiting clients do not
/// starve other work.
///
/// Used on the loop's thread only.
final class ReaderTurns: TurnEndWork {
    private let loop: Loop
    private var waiting: CircularBuffer<CachedOrigin> = []
    private var isAwaited = false
    /// The number of responses continued in the turn with the given number.
    private var (turn, count) = (UInt64(0), 0)
    /// The most responses per turn; each may deliver four pieces of a body.
    private static let most = 32

    init(loop: Loop) { self.loop = loop }

    /// Continues the delivery of a response at the end of this turn, or of a later one.
    func add(_ reader: CachedOrigin) {
        self.waiting.append(reader)
        if !self.isAwaited { self.loop.atEndOfTurn(self) }
        self.isAwaited = true
    }

    func runAtEndOfTurn() {
        if self.turn != self.loop.turn { (self.turn, self.count) = (self.loop.turn, 0) }
        while self.count < Self.most, let reader = self.waiting.popFirst() {
            self.count += 1
            reader.takeTurn()
        }
        self.isAwaited = !self.waiting.isEmpty
        if self.isAwaited { LoopBound(self, loop: self.loop).run { $0.loop.atEndOfTurn($0) } }
    }
}
