// SPDX-License-Identifier: Apache-2.0

public import Logging
import Synchronization

/// What the proxy is doing: counts every exchange and tells when there is activity to show.
///
/// Safe on every thread. An exchange costs a few atomics; only when the number of open ones leaves zero or returns to it
/// is a lock taken and the state machine asked.
public final class Activity: Sendable {
    fileprivate struct Shown: Sendable {
        var machine: ActivityStateMachine
        /// Since when nothing is open; meaningful while nothing is.
        var quietSince: ContinuousClock.Instant
        /// The timer that the machine waits for.
        var wanted: ActivityStateMachine.Timer?
        /// When the scheduled call comes, which may be earlier than the timer.
        var callAt: ContinuousClock.Instant?
        var cancellation: Scheduler.Cancellation?
        /// What the machine asked for and nobody has done yet.
        var actions: [ActivityStateMachine.Action] = []
        /// Whether some thread is doing it. One at a time keeps timers, log lines and callbacks in order.
        var isPerforming = false
    }

    private let open = Atomic<Int>(0)
    private let shown: Locked<Shown>
    private let report: CounterReport
    private let scheduler: Scheduler
    private let logger: Logger
    private let visibilityChanged: (@Sendable (Bool) -> Void)?

    /// Begins quiet. Activity shows from here on; counters are logged by themselves after ``start()``.
    ///
    /// - Parameters:
    ///   - counters: the table of the configuration in force.
    ///   - settings: delays and the interval of logging.
    ///   - scheduler: the clock and the timers.
    ///   - logger: told of every step and of the counters.
    ///   - visibilityChanged: called when activity begins and ceases to be shown, on any thread, one call at a time.
    public init(
        counters: Counters,
        settings: ActivitySettings = ActivitySettings(),
        scheduler: Scheduler,
        logger: Logger,
        visibilityChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.shown = Locked(
            Shown(
                machine: ActivityStateMachine(
                    activationDelay: settings.activationDelay, completionDelay: settings.completionDelay),
                quietSince: scheduler.now()))
        self.report = CounterReport(
            counters, interval: settings.logInterval, scheduler: scheduler, logger: logger)
        self.scheduler = scheduler
        self.logger = logger
        self.visibilityChanged = visibilityChanged
    }

    /// An exchange or tunnel has begun.
    public func started(route: RouteCounters) {
        route.started()
        // Relaxed is enough: whoever crosses zero reads the count again under the lock, and later lockers read later
        // values, so the last of them leaves the machine with the truth.
        if self.open.wrappingAdd(1, ordering: .relaxed).oldValue == 0 { self.recount() }
    }

    /// An exchange or tunnel is over. Call it once for each start.
    ///
    /// - Parameters:
    ///   - route: the counters given to ``started(route:)``.
    ///   - outcome: how it ended.
    ///   - bytesUp: body bytes sent upstream and not yet told to ``RouteCounters/moved(bytesUp:bytesDown:)``.
    ///   - bytesDown: body bytes sent to the client and not yet told.
    public func finished(route: RouteCounters, outcome: Outcome, bytesUp: Int, bytesDown: Int) {
        route.finished(outcome, bytesUp: bytesUp, bytesDown: bytesDown)
        if self.release() == 1 { self.recount() }
    }

    /// How many exchanges are open.
    public var openExchanges: Int { self.open.load(ordering: .relaxed) }

    /// Where the indicator stands.
    public var state: ActivityStateMachine.State { self.shown.withLock { $0.machine.state } }

    /// For how long nothing has been open; nil while something is.
    public var quietTime: Duration? {
        let now = self.scheduler.now()
        return self.shown.withLock { shown in
            guard self.openExchanges == 0 else { return nil }
            return max(.zero, shown.quietSince.duration(to: now))
        }
    }

    /// The table of the configuration in force.
    public var counters: Counters { self.report.counters }

    /// Begins to log the counters at intervals, and to show activity again after ``stop()``, from its next change on.
    public func start() {
        self.shown.withLock { $0.machine.enable() }
        self.report.start()
    }

    /// Stops every timer, and with that hides what is shown. Counting goes on.
    public func stop() {
        self.report.stop()
        self.input { shown, _ in shown.machine.disable() }
        let cancellation = self.shown.withLock { shown in
            defer { (shown.cancellation, shown.callAt) = (nil, nil) }
            return shown.cancellation
        }
        cancellation?()
    }

    /// Logs the counters now: on SIGUSR1 and at exit.
    public func dump() {
        self.report.dump()
    }

    /// Goes on under a new configuration. A timer that runs keeps its delay.
    ///
    /// - Parameters:
    ///   - settings: delays and the interval of logging.
    ///   - counters: the new table, made with `continuing:` the one before.
    public func reload(settings: ActivitySettings, counters: Counters) {
        self.shown.withLock { shown in
            shown.machine.activationDelay = settings.activationDelay
            shown.machine.completionDelay = settings.completionDelay
        }
        self.report.reload(counters, interval: settings.logInterval)
    }
}

extension Activity {
    /// Lowers the count, never below zero, and returns what it was.
    private func release() -> Int {
        var count = self.open.load(ordering: .relaxed)
        while count > 0 {
            let (exchanged, original) = self.open.weakCompareExchange(
                expected: count, desired: count - 1, ordering: .relaxed)
            if exchanged { break }
            count = original
        }
        return count
    }

    private func recount() {
        self.input { shown, now in
            // Read here, not passed in: another thread may have crossed zero since.
            let count = self.openExchanges
            if count == 0 { shown.quietSince = now }
            return shown.machine.counted(count, at: now)
        }
    }

    private func schedule(_ timer: ActivityStateMachine.Timer, after delay: Duration) {
        // Noted first: the call may come on another thread before `schedule` returns.
        let superseded = self.shown.withLock { shown in
            defer { (shown.cancellation, shown.callAt) = (nil, timer.deadline) }
            return shown.cancellation
        }
        superseded?()
        let cancellation = self.scheduler.schedule(delay) { [weak self] in self?.called() }
        self.shown.withLock { shown in
            if shown.callAt == timer.deadline { shown.cancellation = cancellation }
        }
    }

    private func called() {
        let (scheduled, wanted) = self.shown.withLock { shown in
            defer { (shown.callAt, shown.cancellation) = (nil, nil) }
            return (shown.callAt, shown.wanted)
        }
        guard let scheduled, let wanted else { return }
        if wanted.deadline > scheduled {
            self.schedule(wanted, after: scheduled.duration(to: wanted.deadline))
        } else {
            self.fired(wanted)
        }
    }

    private func fired(_ timer: ActivityStateMachine.Timer) {
        self.input { shown, now in
            // An edge that has not reached the lock yet must not find its activity hidden.
            let counted = shown.machine.counted(self.openExchanges, at: now)
            guard counted == .none else { return counted }
            return shown.machine.fired(timer, at: now)
        }
    }

    /// Gives the machine an input and has the outcome performed, by this thread or by the one that is at it.
    private func input(_ input: (inout Shown, ContinuousClock.Instant) -> ActivityStateMachine.Action) {
        let now = self.scheduler.now()
        let performs = self.shown.withLock { shown in
            let action = input(&shown, now)
            guard action != .none else { return false }
            shown.actions.append(action)
            defer { shown.isPerforming = true }
            return !shown.isPerforming
        }
        guard performs else { return }
        while let action = self.shown.withLock({ $0.nextAction() }) { self.perform(action) }
    }

    /// Outside the lock, since loggers, timers and callbacks belong to others.
    private func perform(_ action: ActivityStateMachine.Action) {
        for transition in action.transitions { self.logger.log(transition: transition) }
        switch action.timer {
        case .arm(let timer, after: let delay):
            // Under steady traffic the timer is armed and cancelled for every request. A call that is scheduled for an
            // earlier time serves: it looks at what is wanted then.
            let isScheduled = self.shown.withLock { shown in
                shown.wanted = timer
                return shown.callAt.map { $0 <= timer.deadline } ?? false
            }
            if !isScheduled { self.schedule(timer, after: delay) }
        case .cancel: self.shown.withLock { $0.wanted = nil }
        case nil: break
        }
        if let visible = action.visibility { self.visibilityChanged?(visible) }
    }
}

extension Activity.Shown {
    fileprivate mutating func nextAction() -> ActivityStateMachine.Action? {
        guard !self.actions.isEmpty else {
            self.isPerforming = false
            return nil
        }
        return self.actions.removeFirst()
    }
}
