// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers

/// The memory that bodies take beside those that are kept: such as are under way, and such as are still read after they have gone.
final class BodyBudget: Sendable {
    /// Memory that is set apart, in bytes, until the last reference goes.
    final class Share: Sendable {
        let count: Int
        private let budget: BodyBudget
        private let left: NIOLockedValueBox<Int>

        fileprivate init(_ count: Int, of budget: BodyBudget) {
            (self.count, self.budget, self.left) = (count, budget, NIOLockedValueBox(count))
        }

        deinit { self.shrink(to: 0) }

        /// Gives back what is more than is needed.
        func shrink(to needed: Int) {
            let surplus = self.left.withLockedValue { left in
                defer { left = min(left, needed) }
                return max(0, left - needed)
            }
            self.budget.used.withLockedValue { $0 -= surplus }
        }
    }

    /// The most bytes that are set apart.
    let most: Int
    private let used = NIOLockedValueBox(0)

    init(most: Int) { self.most = most }

    /// The bytes that are set apart, or taken in any case.
    var usage: Int { self.used.withLockedValue { $0 } }

    /// Sets memory apart.
    ///
    /// - Parameter most: the most that is set apart for such purposes.
    /// - Returns: nil where there is not as much.
    func share(_ count: Int, of most: Int) -> Share? {
        let hasRoom = self.used.withLockedValue { used in
            guard used + count <= most else { return false }
            used += count
            return true
        }
        return hasRoom ? Share(count, of: self) : nil
    }

    /// Counts memory that is taken already, though it be more than may be: until it is given back nothing is set apart.
    func taken(_ count: Int) -> Share {
        self.used.withLockedValue { $0 += count }
        return Share(count, of: self)
    }
}
