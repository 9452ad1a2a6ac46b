// SPDX-License-Identifier: Apache-2.0

import Logging
internal import PintleSystem

/// Logs the counters at intervals if they have changed.
final class CounterReport: Sendable {
    fileprivate struct State: Sendable {
        var counters: Counters
        var interval: Duration
        var last: Counters.Snapshot
        var isRunning = false
        /// Tells the current timer from those that a restart has replaced.
        var generation = 0
        var cancellation: Scheduler.Cancellation?
    }

    private let state: Locked<State>
    private let scheduler: Scheduler
    private let logger: Logger

    init(_ counters: Counters, interval: Duration, scheduler: Scheduler, logger: Logger) {
        self.state = Locked(State(counters: counters, interval: interval, last: counters.snapshot()))
        self.scheduler = scheduler
        self.logger = logger
    }

    var counters: Counters { self.state.withLock { $0.counters } }

    /// Starts a new interval. If the interval is zero or less, counters are logged on demand only.
    func start() {
        let (interval, next) = self.state.withLock { state in
            state.isRunning = true
            return (state.interval, state.supersede())
        }
        next.cancellation?()
        self.arm(next.generation, after: interval)
    }

    /// Reports other counters from now on. A running timer is replaced only if the interval changes.
    func reload(_ counters: Counters, interval: Duration) {
        let restarts = self.state.withLock { state in
            state.counters = counters
            defer { state.interval = interval }
            return state.isRunning && state.interval != interval
        }
        if restarts { self.start() }
    }

    func stop() {
        let cancellation = self.state.withLock { state in
            state.isRunning = false
            return state.supersede().cancellation
        }
        cancellation?()
    }

    /// Logs the counters now, even if they have not changed.
    func dump() {
        self.logger.log(counters: self.state.withLock { $0.take() })
    }

    private func arm(_ generation: Int, after interval: Duration) {
        guard interval > .zero else { return }
        let cancellation = self.scheduler.schedule(interval) { [weak self] in self?.fired(generation) }
        let isCurrent = self.state.withLock { state in
            guard state.generation == generation else { return false }
            state.cancellation = cancellation
            return true
        }
        if !isCurrent { cancellation() }
    }

    private func fired(_ generation: Int) {
        let (interval, report): (Duration?, Counters.Snapshot?) = self.state.withLock { state in
            guard state.generation == generation else { return (nil, nil) }
            let last = state.last
            let current = state.take()
            return (state.interval, current == last ? nil : current)
        }
        if let report { self.logger.log(counters: report) }
        if let interval { self.arm(generation, after: interval) }
    }
}

extension CounterReport.State {
    /// Makes the running timer outdated. Returns the new generation, and the cancellation of the old timer.
    fileprivate mutating func supersede() -> (generation: Int, cancellation: Scheduler.Cancellation?) {
        self.generation += 1
        let cancellation = self.cancellation
        self.cancellation = nil
        return (self.generation, cancellation)
    }

    fileprivate mutating func take() -> Counters.Snapshot {
        self.last = self.counters.snapshot()
        return self.last
    }
}
