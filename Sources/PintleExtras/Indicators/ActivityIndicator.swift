// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PintleActivity
public import PintleSession
internal import PintleSystem

/// Notifies a program when its sessions are busy for long enough that a person should see it: AFNetworking's activity
/// indicator, for any kind of display.
///
///     let indicator = ActivityIndicator { isVisible in statusLine.show(isVisible ? "loading" : "") }
///     indicator.observe(session)
///
/// It counts the running tasks, each once however often it is suspended and resumed. Work that is over within the
/// activation delay never shows, and pauses shorter than the completion delay do not hide the indicator.
public final class ActivityIndicator: Sendable {
    fileprivate struct State: Sendable {
        var machine: ActivityStateMachine
        /// Changes of the visibility that were not reported yet.
        var untold: [Bool] = []
        /// True while a thread reports them: one thread at a time keeps them in order.
        var isTelling = false
    }

    private let state: Locked<State>
    private let visibilityChanged: @Sendable (Bool) -> Void

    /// Makes an indicator that is hidden.
    ///
    /// - Parameters:
    ///   - activationDelay: the time for which work must last before the indicator shows; zero or less shows it at once.
    ///   - completionDelay: the time without work before the indicator hides; zero or less hides it at once.
    ///   - visibilityChanged: called on any thread, one call at a time. It must not block.
    public init(
        activationDelay: Duration = .seconds(1), completionDelay: Duration = .milliseconds(170),
        visibilityChanged: @escaping @Sendable (Bool) -> Void
    ) {
        let machine = ActivityStateMachine(activationDelay: activationDelay, completionDelay: completionDelay)
        self.state = Locked(State(machine: machine))
        self.visibilityChanged = visibilityChanged
    }

    // MARK: Asking

    /// True while activity shows.
    public var isVisible: Bool { self.state.withLock { $0.machine.isVisible } }
    /// The number of running tasks.
    public var count: Int { self.state.withLock { $0.machine.count } }

    /// True if activity moves the indicator. Turning it off hides the indicator at once. After it is turned on, the
    /// indicator follows from the next change of the count; the count itself is kept all the time.
    public var isEnabled: Bool {
        get { self.state.withLock { $0.machine.isEnabled } }
        set {
            self.input { machine, _ in
                guard newValue else { return machine.disable() }
                machine.enable()
                return .none
            }
        }
    }

    // MARK: Counting

    /// Follows the tasks that a session resumes from now on, until the session is invalid or released, or the indicator
    /// is released.
    public func observe(_ session: Session) {
        // Unbounded, as a lost event would leave the count wrong for ever; each is a few words, and taken at once.
        let events = session.events.subscribe(policy: .unbounded)
        Task { [weak self] in
            var tasks: [Int: TaskParticipation] = [:]
            for await event in events {
                // The indicator was released, so no one sees its count.
                guard let self else { return }
                self.follow(event, &tasks)
            }
            for var task in tasks.values where task.completed() == .ended { self?.ended() }
        }
    }

    /// Counts work outside of sessions.
    public func started() { self.input { $0.started(at: $1) } }

    /// Ends work that ``started()`` has counted. A count of zero stays zero.
    public func ended() { self.input { $0.ended(at: $1) } }

    private func follow(_ event: SessionEvent, _ tasks: inout [Int: TaskParticipation]) {
        let change: TaskParticipation.Change
        switch event {
        case .taskResumed(let task):
            change = tasks[task.id, default: TaskParticipation(hasURL: true)].resumed()
        case .taskSuspended(let task): change = tasks[task.id]?.suspended() ?? .none
        case .taskCompleted(let task):
            change = tasks[task.id]?.completed() ?? .none
            tasks[task.id] = nil
        case .downloadMoved, .downloadMoveFailed, .operationStarted, .operationStopped, .sessionInvalidated:
            change = .none
        }
        switch change {
        case .started: self.started()
        case .ended: self.ended()
        case .none: break
        }
    }

    // MARK: The machine

    private func input(
        _ input: (inout ActivityStateMachine, ContinuousClock.Instant) -> ActivityStateMachine.Action
    ) {
        let tells = self.state.withLock { state in
            let action = input(&state.machine, .now)
            if case .arm(let timer, let delay) = action.timer { self.arm(timer, after: delay) }
            guard let visibility = action.visibility else { return false }
            state.untold.append(visibility)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        // Outside of the lock: the callback may ask the indicator.
        while tells, let visibility = self.state.withLock({ $0.nextToTell() }) {
            self.visibilityChanged(visibility)
        }
    }

    /// Arms a timer. It is never stopped: the machine knows which timer it waits for, and ignores the others.
    private func arm(_ timer: ActivityStateMachine.Timer, after delay: Duration) {
        let deadline = DispatchTime.now() + .nanoseconds(Int(delay.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
            self?.input { $0.fired(timer, at: $1) }
        }
    }
}

extension ActivityIndicator.State {
    fileprivate mutating func nextToTell() -> Bool? {
        guard !self.untold.isEmpty else {
            self.isTelling = false
            return nil
        }
        return self.untold.removeFirst()
    }
}
