// SPDX-License-Identifier: Apache-2.0

/// Keeps one task from being counted, or released, more than once.
///
/// A task that is suspended and then completes would otherwise lower the count twice and hide activity that another task
/// still causes. Each task owns one value and applies the change that each event returns.
package struct TaskParticipation: Sendable {
    /// What an event does to the activity count.
    package enum Change: Hashable, Sendable {
        /// Raise it by one.
        case started
        /// Lower it by one.
        case ended
        /// Leave it.
        case none
    }

    private enum Phase {
        /// Has no URL, so there is no traffic to show.
        case ignored
        case idle
        case counted
        case completed
    }

    private var phase: Phase

    /// A task that has not been resumed yet.
    ///
    /// - Parameter hasURL: a task whose request has no URL never counts.
    package init(hasURL: Bool) {
        self.phase = hasURL ? .idle : .ignored
    }

    /// The task runs.
    package mutating func resumed() -> Change {
        switch self.phase {
        case .idle:
            self.phase = .counted
            return .started
        case .ignored, .counted, .completed:
            return .none
        }
    }

    /// The task pauses.
    package mutating func suspended() -> Change {
        self.release(to: .idle)
    }

    /// The task is over, however it went.
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
