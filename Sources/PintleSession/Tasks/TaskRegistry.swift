// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The tasks of a session that have not ended, and the phase of the session.
final class TaskRegistry: Sendable {
    private enum Phase: Sendable {
        case open
        /// No more tasks are accepted; `resets` is true if the session is reset when the last one has ended, and not
        /// invalidated.
        case draining(resets: Bool)
        /// The last task has ended; connections are being closed, for a reset or for good.
        case closing(endsAfterwards: Bool)
        case invalid
    }

    /// The action that the end of a session's last task demands.
    enum Ending {
        case none, reset, invalidate
    }

    private struct State: Sendable {
        var phase = Phase.open
        var lastID = 0
        var tasks: [Int: (task: SessionTask, loop: Int)] = [:]
        /// The number of listed tasks on each loop.
        var loads: [Int]
        /// The number of tasks that are no longer listed, but whose end was not reported yet.
        var ending = 0
        /// Happens when the closing that has begun is over; nil if no caller waits for that.
        var settled: Latch?
    }

    private let state: Locked<State>

    /// - Parameter loops: the number of loops over which tasks are spread, at least 1.
    init(loops: Int) { self.state = Locked(State(loads: Array(repeating: 0, count: loops))) }

    /// Lists the task that `make` makes of a new number and the index of a loop.
    ///
    /// The loop is the first of those with the fewest tasks: so requests one after another find their connection again,
    /// and concurrent ones use all processors.
    ///
    /// - Throws: ``SessionError`` with `invalidated` if no more tasks are accepted.
    func add(_ make: (_ id: Int, _ loop: Int) -> SessionTask) throws(SessionError) -> SessionTask {
        let task = self.state.withLock { state -> SessionTask? in
            guard case .open = state.phase else { return nil }
            state.lastID += 1
            var loop = 0
            for other in state.loads.indices where state.loads[other] < state.loads[loop] { loop = other }
            let task = make(state.lastID, loop)
            state.tasks[task.id] = (task, loop)
            state.loads[loop] += 1
            return task
        }
        guard let task else { throw SessionError(.invalidated, "the session takes no more tasks") }
        return task
    }

    func remove(_ task: SessionTask) {
        self.state.withLock { state in
            guard let listed = state.tasks.removeValue(forKey: task.id) else {
                preconditionFailure("BUG: a task is removed that is not listed")
            }
            state.loads[listed.loop] -= 1
            state.ending += 1
        }
    }

    /// Returns the tasks of a kind, in the order in which they were made.
    func tasks(of kind: SessionTask.Kind) -> [SessionTask] {
        self.all.filter { $0.kind == kind }.sorted { $0.id < $1.id }
    }

    var all: [SessionTask] { self.state.withLock { $0.tasks.values.map(\.task) } }

    // MARK: Ending

    /// Accepts no more tasks. An invalid session stays invalid.
    func close(resetting: Bool) -> Ending {
        self.state.withLock { state in
            switch state.phase {
            // A session that is being reset cannot stop that, so it is invalidated afterwards.
            case .closing where !resetting:
                state.phase = .closing(endsAfterwards: true)
                return .none
            case .closing, .invalid: return .none
            case .draining(let resets): state.phase = .draining(resets: resets && resetting)
            case .open: state.phase = .draining(resets: resetting)
            }
            return Self.ending(of: &state)
        }
    }

    /// Notes that the end of a task was reported.
    func taskEnded() -> Ending {
        self.state.withLock { state in
            state.ending -= 1
            return Self.ending(of: &state)
        }
    }

    /// Notes that a reset is done, so that tasks are accepted again; or that the session's end was reported.
    ///
    /// - Returns: the action that is still to be done.
    func settle(isOpen: Bool) -> Ending {
        let (ending, settled) = self.state.withLock { state -> (Ending, Latch?) in
            if isOpen, case .closing(endsAfterwards: true) = state.phase {
                state.phase = .closing(endsAfterwards: false)
                return (.invalidate, nil)
            }
            state.phase = isOpen ? .open : .invalid
            defer { state.settled = nil }
            return (.none, state.settled)
        }
        settled?.happen()
        return ending
    }

    /// Waits until the closing that has begun is over.
    func waitUntilSettled() async {
        let settled = self.state.withLock { state -> Latch? in
            switch state.phase {
            case .open, .invalid: return nil
            case .draining, .closing:
                let settled = state.settled ?? Latch()
                state.settled = settled
                return settled
            }
        }
        await settled?.wait()
    }

    private static func ending(of state: inout State) -> Ending {
        guard case .draining(let resets) = state.phase, state.tasks.isEmpty, state.ending == 0 else { return .none }
        state.phase = .closing(endsAfterwards: false)
        return resets ? .reset : .invalidate
    }
}
