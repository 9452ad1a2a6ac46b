// SPDX-License-Identifier: Apache-2.0

/// A histogram of a loop's turns by duration: from the return of one wait to the start of the next, in elapsed time.
package struct TurnTimes: Sendable, Equatable {
    /// The upper bounds of the classes, in nanoseconds, each inclusive; one more class has all longer turns.
    package static let bounds: [Int64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 100_000_000,
        1_000_000_000,
    ]

    /// The number of turns in each class.
    package private(set) var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    /// The sum of all turns, in nanoseconds.
    package private(set) var total: Int64 = 0
    /// The longest turn, in nanoseconds.
    package private(set) var longest: Int64 = 0
    /// The number of turns that a ``LoopStallDetector`` has reported, by the processor time of the thread; 0 without a guard.
    package var slow = 0

    package init() {}

    /// The number of turns.
    package var turns: Int { self.counts.reduce(0, +) }

    /// The number of turns that took longer than `bound`, one of ``bounds``.
    package func turns(over bound: Int64) -> Int {
        zip(Self.bounds, self.counts).reduce(self.turns) { $1.0 <= bound ? $0 - $1.1 : $0 }
    }

    /// Counts one turn, by its duration in nanoseconds.
    package mutating func record(_ nanoseconds: Int64) {
        // Most turns belong to one of the first classes, so a search from the front is fastest.
        self.counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
        self.total &+= nanoseconds
        self.longest = max(self.longest, nanoseconds)
    }

    /// Adds the turns of another loop.
    package static func += (sum: inout TurnTimes, other: TurnTimes) {
        for index in sum.counts.indices { sum.counts[index] += other.counts[index] }
        sum.total &+= other.total
        sum.longest = max(sum.longest, other.longest)
        sum.slow += other.slow
    }
}
