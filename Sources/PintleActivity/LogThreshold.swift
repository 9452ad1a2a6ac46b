// SPDX-License-Identifier: Apache-2.0

package import Logging
import Synchronization

/// The lowest level that the loggers of a process write. It can change while they are in use.
package final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases

    /// The index in `levels`: every message asks for it, so it is read without a lock.
    private let index: Atomic<Int>

    package init(_ level: Logger.Level) { self.index = Atomic(Self.index(of: level)) }

    package var level: Logger.Level {
        get { Self.levels[self.index.load(ordering: .relaxed)] }
        set { self.index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int {
        guard let index = self.levels.firstIndex(of: level) else { preconditionFailure("BUG: a level is in no list") }
        return index
    }
}
