// SPDX-License-Identifier: Apache-2.0

package import Logging
internal import PintleSystem
import Synchronization

/// Counts every exchange of the proxy, and decides when to show that it is active.
///
/// Safe on every thread. An exchange costs a few atomics. The state machine runs, under a lock, only if the number of open
/// exchanges leaves or reaches zero in a state in which that matters. Steady traffic crosses zero with every request; there
/// it runs at most every ``grace``.
package final class Activity: Sendable {
    fileprivate struct Shown: Sendable {
        var machine: ActivityStateMachine
        /// The timer that the machine last asked for.
        var wanted: ActivityStateMachine.Timer?
        /// The time of the scheduled call, which may be earlier than the timer's deadline.
        var callAt: ContinuousClock.Instant?
        var cancellation: Scheduler.Cancellation?
        /// Cancels the last check of the count that was scheduled; does nothing if it has run.
        var settling: Scheduler.Cancellation?
        /// Actions of the machine that are still to be performed.
        var actions: [ActivityStateMachine.Action] = []
        /// True while a thread performs them. Only one does at a time, which keeps timers, log lines and callbacks in
        /// order.
        var isPerforming = false
    }

    /// The time for which the count must stay at zero before the machine begins to delay the end. Part of the completion
    /// delay.
    package static let grace = Duration.milliseconds(10)

    private let open = Atomic<Int>(0)
    /// The phase of the machine, which tells without the lock whether the machine must be called.
    private let phase = Atomic<Phase>(.other)
    /// True while a check of the count is scheduled.
    private let isSettling = Atomic<Bool>(false)
    private let settlesAtOnce: Atomic<Bool>
    private let shown: Locked<Shown>
    private let report: CounterReport
    private let scheduler: Scheduler
    private let logger: Logger
    private let visibilityChanged: (@Sendable (Bool) -> Void)?

    /// Starts in the quiet state. Activity is shown from now on; counters are logged at intervals only after ``start()``.
    ///
    /// - Parameters:
    ///   - counters: the counters of the current configuration.
    ///   - settings: the delays, and the interval at which counters are logged.
    ///   - scheduler: the clock and the timers.
    ///   - logger: logs the machine's transitions and the counters.
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

    /// Counts an exchange or tunnel that begins.
    package func started(route: RouteCounters) {
        route.started()
        // A thread that runs the machine reads the count under the lock, stores the new phase, and reads the count again.
        // So either that thread sees this start, or this start sees the new phase.
        guard self.open.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue == 0 else { return }
        if self.phase.load(ordering: .sequentiallyConsistent) == .other { self.recount() }
    }

    /// Counts the end of an exchange or tunnel. Call it once for each start.
    ///
    /// - Parameters:
    ///   - route: the counters given to ``started(route:)``.
    ///   - outcome: the way in which it ended.
    ///   - bytesUp: body bytes sent upstream and not yet counted by ``RouteCounters/moved(bytesUp:bytesDown:)``.
    ///   - bytesDown: body bytes sent to the client and not yet counted.
    package func finished(route: RouteCounters, outcome: Outcome, bytesUp: Int, bytesDown: Int) {
        route.finished(outcome, bytesUp: bytesUp, bytesDown: bytesDown)
        guard self.release() == 1 else { return }
        switch self.phase.load(ordering: .sequentiallyConsistent) {
        // While the start is delayed, only the timer decides.
        case .delayingStart: break
        case .active: self.settle()
        case .other: self.recount()
        }
    }

    /// The number of open exchanges.
    package var openExchanges: Int { self.open.load(ordering: .relaxed) }

    /// The state of the activity indicator.
    package var state: ActivityStateMachine.State { self.shown.withLock { $0.machine.state } }

    /// The counters of the current configuration.
    package var counters: Counters { self.report.counters }

    /// Starts to log the counters at intervals. After ``stop()`` it also lets activity show again, from the next change on.
    package func start() {
        self.shown.withLock { $0.machine.enable() }
        self.report.start()
    }

    /// Stops every timer and hides the indicator. Exchanges are still counted.
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

    /// Applies a new configuration. A running timer keeps its delay.
    ///
    /// - Parameters:
    ///   - settings: the delays, and the interval at which counters are logged.
    ///   - counters: the new counters, made with `continuing:` the old ones.
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
    /// Decrements the count, but not below zero. Returns the count before.
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

    /// Returns the part of the completion delay that comes after the grace.
    private static func delay(_ settings: ActivitySettings) -> Duration {
        settings.completionDelay < Self.grace ? settings.completionDelay : settings.completionDelay - Self.grace
    }

    /// Checks the count after the grace. All calls until then share one check.
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
        // The count is read inside the lock: another thread may have crossed zero since.
        self.input { shown, now in shown.machine.counted(self.openExchanges, at: now) }
    }

    private func schedule(_ timer: ActivityStateMachine.Timer, after delay: Duration) {
        // Stored before the call of `schedule`, because the timer may fire on another thread before that returns.
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
            // A start that is still waiting for the lock must not find its activity hidden.
            let counted = shown.machine.counted(self.openExchanges, at: now)
            guard counted == .none else { return counted }
            return shown.machine.fired(timer, at: now)
        }
    }

    /// Gives the machine an input. The resulting actions are performed by this thread, or by the thread that already
    /// performs some.
    private func input(_ input: (inout Shown, ContinuousClock.Instant) -> ActivityStateMachine.Action) {
        let now = self.scheduler.now()
        let performs = self.shown.withLock { shown in
            var action = input(&shown, now)
            self.phase.store(Phase(shown.machine.state), ordering: .sequentiallyConsistent)
            // A thread that crossed zero in between may have seen the old phase.
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

    /// Performs an action without holding the lock, because loggers, timers and callbacks are foreign code.
    private func perform(_ action: ActivityStateMachine.Action) {
        for transition in action.transitions { self.logger.log(transition: transition) }
        switch action.timer {
        case .arm(let timer, after: let delay):
            // Steady traffic arms and cancels the timer for every request. A call that is scheduled for an earlier time
            // serves as well: it then looks at the timer that is wanted.
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

/// The effect that a crossing of zero has on the machine.
private enum Phase: UInt8, AtomicRepresentable {
    /// It has no effect.
    case delayingStart
    /// The traffic may be ending.
    case active
    /// The machine must be called at once.
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
