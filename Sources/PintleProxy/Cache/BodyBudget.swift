// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The memory budget for bodies outside of the cache: those in flight, and those still read after their eviction.
final class BodyBudget: Sendable {
    /// Reserved memory, in bytes; released with the last reference.
    final class Share: Sendable {
        let count: Int
        private let budget: BodyBudget
        private let left: Locked<Int>

        fileprivate init(_ count: Int, of budget: BodyBudget) {
            (self.count, self.budget, self.left) = (count, budget, Locked(count))
        }

        deinit { self.shrink(to: 0) }

        /// Releases the memory that is not needed.
        func shrink(to needed: Int) {
            let surplus = self.left.withLock { left in
                defer { left = min(left, needed) }
                return max(0, left - needed)
            }
            self.budget.used.withLock { $0 -= surplus }
        }
    }

    /// The most bytes that can be reserved.
    let most: Int
    private let used = Locked(0)

    init(most: Int) { self.most = most }

    /// The bytes that are reserved or taken.
    var usage: Int { self.used.withLock { $0 } }

    /// Reserves memory.
    ///
    /// - Parameter most: the limit for reservations of this kind.
    /// - Returns: nil if there is not enough memory.
    func share(_ count: Int, of most: Int) -> Share? {
        let hasRoom = self.used.withLock { used in
            guard used + count <= most else { return false }
            used += count
            return true
        }
        return hasRoom ? Share(count, of: self) : nil
    }

    /// Counts memory that is in use already, even beyond the budget. Nothing is reserved until the usage is below the budget
    /// again.
    func taken(_ count: Int) -> Share {
        self.used.withLock { $0 += count }
        return Share(count, of: self)
    }
}
