// SPDX-License-Identifier: Apache-2.0

internal import PintleProxy

/// The place of one reader in the recent exchanges, which it follows a bounded number at a time.
///
/// There is no queue: a slow reader costs nothing, and is told the number of exchanges that it has missed.
struct ExchangeFollower {
    /// The most exchanges at a time; a person reads no more, and encoding takes a processor's time.
    private static let mostAtOnce = 100
    /// The most exchanges that wait, before some are left out.
    private static let mostWaiting: UInt64 = 1000

    /// The number of the next exchange.
    private(set) var number: UInt64

    init(from number: UInt64) { self.number = number }

    /// Begins with some of the latest exchanges.
    init(withLatest count: UInt64, of recent: RecentExchanges) {
        let numbers = recent.numbers
        self.number = max(numbers.lowerBound, numbers.upperBound - min(numbers.upperBound, count))
    }

    /// Takes the next exchanges, the oldest first.
    ///
    /// - Returns: the exchanges, and the number of those before them that are left out or forgotten.
    mutating func next(of recent: RecentExchanges) -> (lost: UInt64, kept: [RecentExchanges.Kept]) {
        let numbers = recent.numbers
        var lost = numbers.lowerBound - min(numbers.lowerBound, self.number)
        var start = self.number + lost
        if numbers.upperBound - start > Self.mostWaiting {
            lost += numbers.upperBound - start - UInt64(Self.mostAtOnce)
            start = numbers.upperBound - UInt64(Self.mostAtOnce)
        }
        let kept = recent.numbers(start..<min(numbers.upperBound, start + UInt64(Self.mostAtOnce)))
        self.number = (kept.last?.number).map { $0 + 1 } ?? start
        return (lost, kept)
    }
}
