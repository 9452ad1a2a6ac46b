// SPDX-License-Identifier: Apache-2.0

extension TransferOperation {
    /// The state of an operation.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It can be started. This is the first state.
        case ready
        /// It is running.
        case executing
        /// It waits for ``TransferOperation/resume()``.
        case paused
        /// It is over, with success or failure.
        case finished

        /// The states that may follow each state; a change that is not listed is ignored.
        private static let transitions: [State: Set<State>] = [
            .ready: [.executing, .paused],
            .executing: [.paused, .finished],
            .paused: [.ready],
            .finished: [],
        ]

        /// Moves to `next` if the table allows it. A cancelled operation may finish from any state.
        ///
        /// - Returns: true if the state has changed.
        mutating func move(to next: State, isCancelled: Bool = false) -> Bool {
            let isEnd = isCancelled && next == .finished && self != .finished
            guard isEnd || Self.transitions[self, default: []].contains(next) else { return false }
            self = next
            return true
        }
    }
}
