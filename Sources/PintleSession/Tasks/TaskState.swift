// SPDX-License-Identifier: Apache-2.0

/// The state of a task.
public enum TaskState: String, Sendable, Hashable, CaseIterable {
    /// It waits for ``SessionTask/resume()``. This is the first state.
    case suspended
    /// It is running.
    case running
    /// It was cancelled and has not ended yet.
    case cancelling
    /// It has ended, with success or failure.
    case completed

    /// The states that may follow each state; a change that is not listed is ignored.
    static let transitions: [TaskState: Set<TaskState>] = [
        // A broken connection, or a hook that refuses, also ends a suspended task.
        .suspended: [.running, .cancelling, .completed],
        .running: [.suspended, .cancelling, .completed],
        .cancelling: [.completed],
        .completed: [],
    ]

    /// Moves to `next` if the table allows it.
    ///
    /// - Returns: true if the state has changed.
    mutating func move(to next: TaskState) -> Bool {
        guard Self.transitions[self, default: []].contains(next) else { return false }
        self = next
        return true
    }
}
