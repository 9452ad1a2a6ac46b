// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import PintleSystem
import Synchronization

/// What the proxy is doing: counts every exchange and tells when there is activity to show.
///
/// Safe on every thread. An exchange costs a few atomics. The state machine is asked, under a lock, only when the number
/// of open exchanges leaves or reaches zero in a state where that matters, and under steady traffic, where it does so for
/// every request, at most every ``grace``.
package final class Activity: Sendable {
    fileprivate struct Shown: Sendable {
        var machine: ActivityStateMachine
        /// The timer that the machine waits for.
        var wanted: ActivityStateMachine.Timer?
        /// When the scheduled call comes, which may be earlier than the timer.
        var callAt: ContinuousClock.Instant?
        var cancellation: Scheduler.Cancellation?
        /// Takes the last scheduled look at the count back; nothing happens when it was taken.
        var settling: Scheduler.Cancellation?
        /// What the machine asked for and nobody has done yet.
        var actions: [ActivityStateMachine.Action] = []
        /// Whether some thread is doing it. One at a time keeps timers, log lines and callbacks in order.
        var isPerforming = false
    }

    /// How long the count must stay at zero before the end begins to be delayed; part of the completion delay.
    package static let grace = Duration.milliseconds(10)

    private let open = Atomic<Int>(0)
    /// The machine's state, for those who only want to know whether it needs to be asked.
    private let phase = Atomic<Phase>(.other)
    /// Whether a look at the count is scheduled.
    private let isSettling = Atomic<Bool>(false)
    private let settlesAtOnce: Atomic<Bool>
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
    package init(
        counters: Counters,
        settings: ActivitySettings = ActivitySettings(),
        scheduler: Scheduler,
        logger: Logger,
        visibilityChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.settlesAtOnce = Atomic(settings.completionDelay < Self.grace)
        self.shown = Locked(
            Shown(
                machine: ActivityStateMachine(
                    activationDelay: settings.activationDelay, completionDelay: Self.delay(settings))))
        self.report = CounterReport(
            counters, interval: settings.logInterval, scheduler: scheduler, logger: logger)
        self.scheduler = scheduler
        self.logger = logger
        self.visibilityChanged = visibilityChanged
    }

    /// An exchange or tunnel has begun.
    package func started(route: RouteCounters) {
        route.started()
        // Whoever asks the machine reads the count under the lock, notes the new phase, and reads the count again: either
        // it sees this start, or this start sees the phase.
        guard self.open.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue == 0 else { return }
        if self.phase.load(ordering: .sequentiallyConsistent) == .other { self.recount() }
    }

    /// An exchange or tunnel is over. Call it once for each start.
    ///
    /// - Parameters:
    ///   - route: the counters given to ``started(route:)``.
    ///   - outcome: how it ended.
    ///   - bytesUp: body bytes sent upstream and not yet told to ``RouteCounters/moved(bytesUp:bytesDown:)``.
    ///   - bytesDown: body bytes sent to the client and not yet told.
    package func finished(route: RouteCounters, outcome: Outcome, bytesUp: Int, bytesDown: Int) {
        route.finished(outcome, bytesUp: bytesUp, bytesDown: bytesDown)
        guard self.release() == 1 else { return }
        switch self.phase.load(ordering: .sequentiallyConsistent) {
        // While the start is delayed only its timer decides.
        case .delayingStart: break
        case .active: self.settle()
        case .other: self.recount()
        }
    }

    /// How many exchanges are open.
    package var openExchanges: Int { self.open.load(ordering: .relaxed) }

    /// Where the indicator stands.
    package var state: ActivityStateMachine.State { self.shown.withLock { $0.machine.state } }

    /// The table of the configuration in force.
    package var counters: Counters { self.report.counters }

    /// Begins to log the counters at intervals, and to show activity again after ``stop()``, from its next change on.
    package func start() {
        self.shown.withLock { $0.machine.enable() }
        self.report.start()
    }

    /// Stops every timer, and with that hides what is shown. Counting goes on.
    package func stop() {
        self.report.stop()
        self.input { shown, _ in shown.machine.disable() }
        let (cancellation, settling) = self.shown.withLock { shown in
            defer { (shown.cancellation, shown.callAt, shown.settling) = (nil, nil, nil) }
            return (shown.cancellation, shown.settling)
        }
        cancellation?()
        settling?()
        self.isSettling.store(false, ordering: .sequentiallyConsistent)
    }

    /// Logs the counters now: on SIGUSR1 and at exit.
    package func dump() {
        self.report.dump()
    }

    /// Goes on under a new configuration. A timer that runs keeps its delay.
    ///
    /// - Parameters:
    ///   - settings: delays and the interval of logging.
    ///   - counters: the new table, made with `continuing:` the one before.
    package func reload(settings: ActivitySettings, counters: Counters) {
        self.shown.withLock { shown in
            shown.machine.activationDelay = settings.activationDelay
            shown.machine.completionDelay = Self.delay(settings)
        }
        self.settlesAtOnce.store(settings.completionDelay < Self.grace, ordering: .relaxed)
        self.report.reload(counters, interval: settings.logInterval)
    }
}

extension Activity {
    /// Lowers the count, never below zero, and returns what it was.
    private func release() -> Int {
        var count = self.open.load(ordering: .relaxed)
        while count > 0 {
            let (exchanged, original) = self.open.weakCompareExchange(
                expected: count, desired: count - 1, ordering: .sequentiallyConsistent)
            if exchanged { break }
            count = original
        }
        return count
    }

    /// The part of the completion delay that comes after the grace.
    private static func delay(_ settings: ActivitySettings) -> Duration {
        settings.completionDelay < Self.grace ? settings.completionDelay : settings.completionDelay - Self.grace
    }

    /// Looks at the count after the grace, once for all that happens until then.
    private func settle() {
        if self.settlesAtOnce.load(ordering: .relaxed) { return self.recount() }
        guard !self.isSettling.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let cancellation = self.scheduler.schedule(Self.grace) { [weak self] in
            guard let self else { return }
            self.isSettling.store(false, ordering: .sequentiallyConsistent)
            self.recount()
        }
        self.shown.withLock { $0.settling = cancellation }
    }

    private func recount() {
        // Read in there, not passed in: another thread may have crossed zero since.
        self.input { shown, now in shown.machine.counted(self.openExchanges, at: now) }
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
            var action = input(&shown, now)
            self.phase.store(Phase(shown.machine.state), ordering: .sequentiallyConsistent)
            // Who crossed zero in between may have seen the phase before.
            if Phase(shown.machine.state) == .other, self.openExchanges > 0 {
                action = action.followed(by: shown.machine.counted(self.openExchanges, at: now))
                self.phase.store(Phase(shown.machine.state), ordering: .sequentiallyConsistent)
            }
            guard action != .none else { return false }
            shown.actions.append(action)
            defer { shown.isPerforming = true }
            return !shown.isPerforming
        }
        if self.phase.load(ordering: .sequentiallyConsistent) == .active, self.openExchanges == 0 { self.settle() }
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

/// What a crossing of zero means to the machine.
private enum Phase: UInt8, AtomicRepresentable {
    /// Nothing.
    case delayingStart
    /// The end may be near.
    case active
    /// It must be told at once.
    case other

    init(_ state: ActivityStateMachine.State) {
        switch state {
        case .delayingStart: self = .delayingStart
        case .active: self = .active
        case .notActive, .delayingEnd: self = .other
        }
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
