// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSystem

/// The memory of the copies that one recording needs: a share of `limits.held_bytes`, from the first copy until the recording is
/// written, or lost.
final class RecordingMemory: Sendable {
    private let budget: MemoryBudget
    private let limit: Int
    private let share = Locked(MemoryReservation())

    init(of budget: MemoryBudget, limit: Int) { (self.budget, self.limit) = (budget, limit) }

    deinit { self.share.withLock { $0.resize(to: 0, of: self.budget) } }

    /// - Parameter bytes: all bytes that are held from now on.
    /// - Returns: false if there is no room for so many; then the share is unchanged.
    func hold(_ bytes: Int) -> Bool {
        self.share.withLock { $0.resize(to: bytes, of: self.budget, limit: self.limit) }
    }
}
