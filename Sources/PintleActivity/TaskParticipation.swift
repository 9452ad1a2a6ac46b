// SPDX-License-Identifier: Apache-2.0

/// Ensures that one task is counted and released at most once at a time.
///
/// A task that is suspended and then completes would otherwise decrement the count twice, and hide activity that another
/// task still causes. Each task owns one value, and applies the change that each event returns.
package struct TaskParticipation: Sendable {
    /// The change that an event makes to the activity count.
    package enum Change: Hashable, Sendable {
        /// Increment the count.
        case started
        /// Decrement the count.
        case ended
        /// Leave the count unchanged.
        case none
    }

    private enum Phase {
        /// The task's request has no URL, so there is no traffic to show.
        case ignored
        case idle
        case counted
        case completed
    }

    private var phase: Phase

    /// Creates the value for a task that has not been resumed yet.
    ///
    /// - Parameter hasURL: false if the task's request has no URL; such a task is never counted.
    package init(hasURL: Bool) {
        self.phase = hasURL ? .idle : .ignored
    }

    /// Handles that the task runs.
    package mutating func resumed() -> Change {
        switch self.phase {
        case .idle:
            self.phase = .counted
            return .started
        case .ignored, .counted, .completed:
            return .none
        }
    }

    /// Handles that the task is suspended.
    package mutating func suspended() -> Change {
        self.release(to: .idle)
    }

    /// Handles the end of the task, successful or not.
    package mutating func completed() -> Change {
        self.release(to: .completed)
    }

    private mutating func release(to next: Phase) -> Change {
        switch self.phase {
        case .counted:
            self.phase = next
            return .ended
        case .idle:
            self.phase = next
            return .none
        case .ignored, .completed:
            return .none
        }
    }
}
