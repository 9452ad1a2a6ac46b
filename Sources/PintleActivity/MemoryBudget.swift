// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the bytes that the proxy buffers, over all threads: bodies that are held back and their unpacked and parsed
/// forms, requests that came too early, and bytes that peers have not read yet.
///
/// The budget has no limit of its own, because a reload may change it: each caller passes the limit. Amounts below ``unit``
/// are not counted: the number of connections bounds them, and so they cost nothing.
package final class MemoryBudget: Sendable {
    /// The values of the budget at one moment.
    package struct Reading: Hashable, Sendable {
        /// The number of bytes that are held.
        package var held = 0
        /// The highest number of bytes that were ever held.
        package var peak = 0
        /// The number of requests for memory that were refused.
        package var refusals = 0

        /// Creates values of zero.
        package init() {}
    }

    /// The unit to which amounts are rounded down, in bytes: a page.
    package static let unit = 4096

    private let held = Atomic<Int>(0)
    private let peak = Atomic<Int>(0)
    private let refusals = Atomic<Int>(0)

    /// Creates a budget of which nothing is held.
    package init() {}

    /// Adds `bytes` to those held, unless the sum would exceed `limit`. Returns false if it would.
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

    /// Counts bytes that are already held and cannot be refused any more, or returns bytes if `change` is negative.
    package func change(by change: Int) {
        let sum = self.held.wrappingAdd(change, ordering: .relaxed).newValue
        if change > 0 { self.note(sum) }
    }

    /// True if more than `limit` bytes are held; this counts as a refusal.
    package func isOver(_ limit: Int) -> Bool {
        guard self.held.load(ordering: .relaxed) > limit else { return false }
        self.refusals.wrappingAdd(1, ordering: .relaxed)
        return true
    }

    /// Returns the current values.
    package func read() -> Reading {
        var reading = Reading()
        reading.held = self.held.load(ordering: .relaxed)
        reading.peak = self.peak.load(ordering: .relaxed)
        reading.refusals = self.refusals.load(ordering: .relaxed)
        return reading
    }

    private func note(_ sum: Int) { self.peak.max(sum, ordering: .relaxed) }
}

/// The bytes of a ``MemoryBudget`` that one holder has taken, in whole units. The holder must return them by itself: there
/// is no `deinit` that does, so that a share is no larger than a number.
package struct MemoryReservation: Sendable {
    /// The bytes that are taken.
    package private(set) var bytes = 0

    /// Creates a share that has taken nothing.
    package init() {}

    /// Takes or returns the difference, so that the share holds `bytes`, rounded down.
    ///
    /// - Returns: false if that would exceed `limit`; then the share is unchanged.
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

    /// Holds `bytes` without a limit: for bytes that exist already and are bounded by other means.
    package mutating func resize(to bytes: Int, of budget: MemoryBudget) {
        let wanted = bytes & ~(MemoryBudget.unit - 1)
        guard wanted != self.bytes else { return }
        budget.change(by: wanted - self.bytes)
        self.bytes = wanted
    }
}
