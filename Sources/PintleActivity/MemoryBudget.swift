// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the bytes that are held for others, over all threads: bodies that are kept back, what they are unpacked and parsed
/// to, requests that came too early, and what peers have not taken yet.
///
/// It has no limit of its own, because a reload may change it: who draws from it says how far it may go. Amounts below
/// ``unit`` are not drawn: they are bounded by the number of connections, and cost nothing so.
package final class MemoryBudget: Sendable {
    /// One moment of the count.
    package struct Reading: Hashable, Sendable {
        /// Bytes that are held.
        package var held = 0
        /// The most that ever were.
        package var peak = 0
        /// How often there was not enough left.
        package var refusals = 0

        /// Nothing held yet.
        package init() {}
    }

    /// What amounts are rounded down to, in bytes: a page.
    package static let unit = 4096

    private let held = Atomic<Int>(0)
    private let peak = Atomic<Int>(0)
    private let refusals = Atomic<Int>(0)

    /// Nothing held yet.
    package init() {}

    /// Draws `bytes`, unless more than `limit` would be held then.
    package func take(_ bytes: Int, limit: Int) -> Bool {
        let sum = self.held.wrappingAdd(bytes, ordering: .relaxed).newValue
        guard sum <= limit else {
            self.held.wrappingSubtract(bytes, ordering: .relaxed)
            self.refusals.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        self.note(sum)
        return true
    }

    /// Counts bytes that are there already and cannot be refused any more, or gives bytes back where `change` is negative.
    package func change(by change: Int) {
        let sum = self.held.wrappingAdd(change, ordering: .relaxed).newValue
        if change > 0 { self.note(sum) }
    }

    /// Whether more than `limit` bytes are held; if so, something will be refused.
    package func isOver(_ limit: Int) -> Bool {
        guard self.held.load(ordering: .relaxed) > limit else { return false }
        self.refusals.wrappingAdd(1, ordering: .relaxed)
        return true
    }

    /// Reads the count.
    package func read() -> Reading {
        var reading = Reading()
        reading.held = self.held.load(ordering: .relaxed)
        reading.peak = self.peak.load(ordering: .relaxed)
        reading.refusals = self.refusals.load(ordering: .relaxed)
        return reading
    }

    private func note(_ sum: Int) { self.peak.max(sum, ordering: .relaxed) }
}

/// The part of a ``MemoryBudget`` that one holder has drawn, in whole units. The holder gives it back; what is drawn is not
/// given back by itself, so that a holder takes no more room than a number.
package struct MemoryShare {
    /// Bytes drawn.
    package private(set) var bytes = 0

    /// Nothing drawn yet.
    package init() {}

    /// Draws or gives back what is missing to hold `bytes`.
    ///
    /// - Returns: false where that would exceed `limit`; then the share stays as it was.
    package mutating func resize(to bytes: Int, of budget: MemoryBudget, limit: Int) -> Bool {
        let wanted = bytes & ~(MemoryBudget.unit - 1)
        guard wanted != self.bytes else { return true }
        if wanted > self.bytes {
            guard budget.take(wanted - self.bytes, limit: limit) else { return false }
        } else {
            budget.change(by: wanted - self.bytes)
        }
        self.bytes = wanted
        return true
    }

    /// Holds `bytes`, whatever the limit is: for what is there already, and is bounded by other means.
    package mutating func resize(to bytes: Int, of budget: MemoryBudget) {
        let wanted = bytes & ~(MemoryBudget.unit - 1)
        guard wanted != self.bytes else { return }
        budget.change(by: wanted - self.bytes)
        self.bytes = wanted
    }
}
