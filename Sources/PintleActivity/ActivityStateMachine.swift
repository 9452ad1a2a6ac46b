// SPDX-License-Identifier: Apache-2.0

/// Decides when traffic counts as visible activity.
///
/// Neither a short request nor a short pause between two requests shall make the indicator flicker: showing waits for
/// ``activationDelay``, hiding for ``completionDelay``. The machine is a pure value: the owner passes the time, and
/// performs the actions that the machine returns.
package struct ActivityStateMachine: Sendable {
    /// The state of the indicator. The raw values appear in the log.
    package enum State: String, Sendable, CaseIterable {
        /// There is nothing to show.
        case notActive = "not_active"
        /// Work has begun; it will be shown if it lasts.
        case delayingStart = "delaying_start"
        /// The indicator shows.
        case active = "active"
        /// Work has ended; the indicator still shows, in case more work follows at once.
        case delayingEnd = "delaying_end"
    }

    /// A timer that the owner runs for the machine.
    ///
    /// The deadline also serves as identity: a timer that fires although it was cancelled is recognised and ignored.
    package struct Timer: Hashable, Sendable {
        /// The decision that the timer triggers.
        package enum Kind: Hashable, Sendable {
            /// Work has lasted long enough to be shown.
            case activation
            /// It has been quiet long enough to hide the indicator.
            case completion
        }

        /// The decision that the timer triggers.
        package let kind: Kind
        /// The time at which the timer fires.
        package let deadline: ContinuousClock.Instant
    }

    /// A change to the one timer that may run.
    package enum TimerChange: Hashable, Sendable {
        /// Call ``ActivityStateMachine/fired(_:at:)`` with this timer after the delay.
        case arm(Timer, after: Duration)
        /// Stop this timer. It is harmless if it still fires.
        case cancel(Timer)
    }

    /// A change from one state to another.
    package struct Transition: Hashable, Sendable {
        /// The old state.
        package let from: State
        /// The new state.
        package let to: State

        /// Creates a transition.
        package init(from: State, to: State) {
            self.from = from
            self.to = to
        }
    }

    /// All that the owner has to do after an input.
    package struct Action: Hashable, Sendable {
        /// The transitions made, in order; two if a delay is zero.
        package var transitions: [Transition]
        /// The change to the timer, if any.
        package var timer: TimerChange?
        /// The new visibility; nil if it did not change.
        package var visibility: Bool?

        /// An action with nothing to do.
        package static let none = Action()

        /// Creates an action from its parts.
        package init(transitions: [Transition] = [], timer: TimerChange? = nil, visibility: Bool? = nil) {
            self.transitions = transitions
            self.timer = timer
            self.visibility = visibility
        }

        /// Returns one action that does this one, then the next.
        func followed(by next: Action) -> Action {
            Action(
                transitions: self.transitions + next.transitions, timer: next.timer ?? self.timer,
                visibility: next.visibility ?? self.visibility)
        }
    }

    /// The time that work must last before it is shown. Read when the timer starts; zero or less shows it at once. Default
    /// 1 s.
    package var activationDelay: Duration
    /// The time that must pass without work before the indicator hides. Read when the timer starts; zero or less hides it
    /// at once. Default 170 ms.
    package var completionDelay: Duration

    /// The current state.
    package private(set) var state: State = .notActive
    /// The number of open exchanges; updated even while the machine is disabled, and never negative.
    package private(set) var count = 0
    /// False while the machine ignores activity.
    package private(set) var isEnabled: Bool
    /// True if the indicator shows.
    package private(set) var isVisible = false

    private var armed: Timer?

    /// Creates a machine in the quiet state, with no open exchange.
    package init(
        activationDelay: Duration = .seconds(1),
        completionDelay: Duration = .milliseconds(170),
        isEnabled: Bool = true
    ) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
        self.isEnabled = isEnabled
    }

    /// Counts one more open exchange.
    package mutating func started(at now: ContinuousClock.Instant) -> Action {
        self.counted(self.count + 1, at: now)
    }

    /// Counts one open exchange less, but not below zero.
    package mutating func ended(at now: ContinuousClock.Instant) -> Action {
        self.counted(self.count - 1, at: now)
    }

    /// Sets the number of open exchanges, for owners that count by themselves. A negative count is taken as zero.
    package mutating func counted(_ count: Int, at now: ContinuousClock.Instant) -> Action {
        self.count = max(0, count)
        guard self.isEnabled else { return .none }

        var action = Action.none
        switch (self.state, self.count > 0) {
        case (.notActive, true):
            self.enterDelayingStart(at: now, &action)
        case (.active, false):
            self.enterDelayingEnd(at: now, &action)
        case (.delayingEnd, true):
            self.enterActive(&action)
        case (.notActive, false), (.delayingStart, _), (.active, true), (.delayingEnd, false):
            // While the start is delayed, only the timer decides, so that short requests in a row add up.
            break
        }
        return action
    }

    /// Handles a timer that has fired. Ignores it if it was cancelled or replaced.
    package mutating func fired(_ timer: Timer, at now: ContinuousClock.Instant) -> Action {
        guard timer == self.armed else { return .none }
        self.armed = nil

        var action = Action.none
        switch timer.kind {
        case .activation where self.count > 0:
            self.enterActive(&action)
        case .activation, .completion:
            self.enterNotActive(&action)
        }
        return action
    }

    /// Lets activity change the state again, from the next change of the count on.
    package mutating func enable() {
        self.isEnabled = true
    }

    /// Hides the indicator at once and stops the timer. The count is still updated.
    package mutating func disable() -> Action {
        self.isEnabled = false
        var action = Action.none
        self.enterNotActive(&action)
        return action
    }
}

extension ActivityStateMachine {
    private mutating func enterNotActive(_ action: inout Action) {
        guard self.move(to: .notActive, &action) else { return }
        self.disarm(&action)
        self.show(false, &action)
    }

    private mutating func enterDelayingStart(at now: ContinuousClock.Instant, _ action: inout Action) {
        guard self.move(to: .delayingStart, &action) else { return }
        guard self.activationDelay > .zero else { return self.enterActive(&action) }
        self.arm(.activation, after: self.activationDelay, at: now, &action)
    }

    private mutating func enterActive(_ action: inout Action) {
        guard self.move(to: .active, &action) else { return }
        self.disarm(&action)
        self.show(true, &action)
    }

    private mutating func enterDelayingEnd(at now: ContinuousClock.Instant, _ action: inout Action) {
        guard self.move(to: .delayingEnd, &action) else { return }
        guard self.completionDelay > .zero else { return self.enterNotActive(&action) }
        self.arm(.completion, after: self.completionDelay, at: now, &action)
    }

    private mutating func move(to state: State, _ action: inout Action) -> Bool {
        guard state != self.state else { return false }
        action.transitions.append(Transition(from: self.state, to: state))
        self.state = state
        return true
    }

    private mutating func arm(
        _ kind: Timer.Kind, after delay: Duration, at now: ContinuousClock.Instant, _ action: inout Action
    ) {
        let timer = Timer(kind: kind, deadline: now + delay)
        self.armed = timer
        action.timer = .arm(timer, after: delay)
    }

    private mutating func disarm(_ action: inout Action) {
        guard let timer = self.armed else { return }
        self.armed = nil
        action.timer = .cancel(timer)
    }

    private mutating func show(_ visible: Bool, _ action: inout Action) {
        guard visible != self.isVisible else { return }
        self.isVisible = visible
        action.visibility = visible
    }
}
