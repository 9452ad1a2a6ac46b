// SPDX-License-Identifier: Apache-2.0

/// The common facts of the exchanges that are kept: one object for all that have the same.
///
/// Facts leave when the last exchange that has them is gone. That is asked seldom: an exchange that leaves is not looked at, as this
/// would bring memory into the cache that was not touched for long.
struct CommonFactsTable: Sendable {
    private struct Entry {
        let facts: CommonFacts
        /// The number of the last exchange that has them.
        var last: UInt64
    }

    /// The places in a table that facts with one hash have.
    private typealias Ways = InlineArray<4, Int32>

    private var entries: [Entry] = []
    /// The places in `entries` of the facts that were used last among those with the same hash; -1 for none.
    private var ways = [Ways](repeating: Ways(repeating: -1), count: Self.setCount)
    /// The number of entries at which those that no exchange has leave.
    private var threshold = Self.leastThreshold
    /// The way that facts with a full set take next.
    private var turn = 0

    private static let setCount = 64
    private static let leastThreshold = 512

    /// The facts of an exchange.
    ///
    /// - Parameters:
    ///   - number: that of the exchange; greater than in earlier calls.
    ///   - oldest: the number of the oldest exchange that is kept.
    ///   - areSame: true for the facts of the exchange.
    ///   - make: makes them.
    /// - Returns: the facts, which live as long as the exchange is kept, and true if they are new.
    mutating func facts(
        of number: UInt64, oldest: UInt64, hash: UInt, areSame: (CommonFacts) -> Bool, make: () -> CommonFacts
    ) -> (facts: Unmanaged<CommonFacts>, areNew: Bool) {
        let set = Int(hash % UInt(Self.setCount))
        for way in 0..<4 {
            let place = Int(self.ways[set][way])
            // Sets fill from their first way.
            guard place >= 0 else { break }
            guard areSame(self.entries[place].facts) else { continue }
            self.entries[place].last = number
            return (.passUnretained(self.entries[place].facts), false)
        }
        if self.entries.count >= self.threshold { self.sweep(oldest) }
        let facts = make()
        let free = (0..<4).first { self.ways[set][$0] < 0 }
        self.ways[set][free ?? self.turn] = Int32(self.entries.count)
        if free == nil { self.turn = (self.turn + 1) % 4 }
        self.entries.append(Entry(facts: facts, last: number))
        return (.passUnretained(facts), true)
    }

    private mutating func sweep(_ oldest: UInt64) {
        self.entries.removeAll { $0.last < oldest }
        self.threshold = max(Self.leastThreshold, 2 * self.entries.count)
        for set in self.ways.indices { self.ways[set] = Ways(repeating: -1) }
    }
}
