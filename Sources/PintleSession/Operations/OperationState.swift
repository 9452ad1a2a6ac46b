// SPDX-License-Identifier: Apache-2.0

extension TransferOperation {
    /// Where an operation stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It can be started. Every operation begins so.
        case ready
        /// It is under way.
        case executing
        /// It waits for ``TransferOperation/resume()``.
        case paused
        /// It is over, well or not.
        case finished

        /// The states that may follow each state; a change that is not listed is ignored.
        private static let transitions: [State: Set<State>] = [
            .ready: [.executing, .paused],
            .executing: [.paused, .finished],
            .paused: [.ready],
            .finished: [],
        ]

        /// Moves to `next` where the table allows it. What is cancelled may finish from anywhere.
        ///
        /// - Returns: whether the state has changed.
        mutating func move(to next: State, isCancelled: Bool = false) -> Bool {
            let isEnd = isCancelled && next == .finished && self != .finished
            guard isEnd || Self.transitions[self, default: []].contains(next) else { return false }
            self = next
            return true
        }
    }
}
