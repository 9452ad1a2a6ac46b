// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleSystem

/// A clock and timers that move when a test says so.
final class ManualTime: Sendable {
    fileprivate struct State: Sendable {
        var now: ContinuousClock.Instant
        var nextID = 0
        var timers: [Timer] = []
    }

    fileprivate struct Timer: Sendable {
        let id: Int
        let deadline: ContinuousClock.Instant
        let run: @Sendable () -> Void
    }

    private let state = Locked(State(now: ContinuousClock.now))

    /// The number of waiting timers.
    var armed: Int { self.state.withLock { $0.timers.count } }

    var scheduler: Scheduler {
        Scheduler(
            now: { self.state.withLock { $0.now } },
            schedule: { delay, run in
                let id = self.state.withLock { state in
                    state.nextID += 1
                    state.timers.append(Timer(id: state.nextID, deadline: state.now + delay, run: run))
                    return state.nextID
                }
                return { self.state.withLock { state in state.timers.removeAll { $0.id == id } } }
            })
    }

    /// Lets time pass, and runs the timers that become due, in the order of their deadlines.
    func advance(by duration: Duration) {
        let end = self.state.withLock { $0.now + duration }
        while let run = self.state.withLock({ $0.due(by: end) }) { run() }
        self.state.withLock { $0.now = end }
    }
}

extension ManualTime.State {
    fileprivate mutating func due(by end: ContinuousClock.Instant) -> (@Sendable () -> Void)? {
        guard let next = self.timers.filter({ $0.deadline <= end }).min(by: { $0.deadline < $1.deadline }) else {
            return nil
        }
        self.timers.removeAll { $0.id == next.id }
        self.now = max(self.now, next.deadline)
        return next.run
    }
}
