// SPDX-License-Identifier: Apache-2.0

/// Where a task stands.
public enum TaskState: String, Sendable, Hashable, CaseIterable {
    /// It waits for ``SessionTask/resume()``. Every task begins so.
    case suspended
    /// It is under way.
    case running
    /// It was cancelled and has not ended yet.
    case cancelling
    /// It has ended, well or not.
    case completed

    /// The states that may follow each state; a change that is not listed is ignored.
    static let transitions: [TaskState: Set<TaskState>] = [
        // A connection that breaks, or a hook that refuses, ends a task that is suspended too.
        .suspended: [.running, .cancelling, .completed],
        .running: [.suspended, .cancelling, .completed],
        .cancelling: [.completed],
        .completed: [],
    ]

    /// Moves to `next` where the table allows it.
    ///
    /// - Returns: whether the state has changed.
    mutating func move(to next: TaskState) -> Bool {
        guard Self.transitions[self, default: []].contains(next) else { return false }
        self = next
        return true
    }
}
