// SPDX-License-Identifier: Apache-2.0

/// Decides when traffic counts as visible activity.
///
/// A short request must not make the indicator flicker, nor may a short pause between two requests; so showing waits for
/// ``activationDelay`` and hiding for ``completionDelay``. The machine is a pure value: it is told the time, and returns
/// what its owner has to do.
package struct ActivityStateMachine: Sendable {
    /// Where the indicator stands. Raw values are what the log says.
    package enum State: String, Sendable, CaseIterable {
        /// Nothing to show.
        case notActive = "not_active"
        /// Work has begun; it shows if it lasts.
        case delayingStart = "delaying_start"
        /// Shown.
        case active = "active"
        /// Work has ended; still shown, in case more follows at once.
        case delayingEnd = "delaying_end"
    }

    /// A timer that the owner runs for the machine.
    ///
    /// The deadline doubles as identity: a timer that fires although it was cancelled is recognised and ignored.
    package struct Timer: Hashable, Sendable {
        /// What the timer decides.
        package enum Kind: Hashable, Sendable {
            /// Whether work has lasted long enough to be shown.
            case activation
            /// Whether it has been quiet long enough to hide.
            case completion
        }

        /// What the timer decides.
        package let kind: Kind
        /// When it is due.
        package let deadline: ContinuousClock.Instant
    }

    /// What to do with the one timer that may run.
    package enum TimerChange: Hashable, Sendable {
        /// Call ``ActivityStateMachine/fired(_:at:)`` with this timer after the delay.
        case arm(Timer, after: Duration)
        /// Stop this timer. Being late is harmless.
        case cancel(Timer)
    }

    /// A step from one state to another.
    package struct Transition: Hashable, Sendable {
        /// The state that was left.
        package let from: State
        /// The state that was entered.
        package let to: State

        /// Names a step.
        package init(from: State, to: State) {
            self.from = from
            self.to = to
        }
    }

    /// What the owner has to do after an input, all of it in one value.
    package struct Action: Hashable, Sendable {
        /// The steps taken, in order; two when a delay is zero.
        package var transitions: [Transition]
        /// What to do with the timer, if anything.
        package var timer: TimerChange?
        /// The new visibility, only when it changed.
        package var visibility: Bool?

        /// Nothing to do.
        package static let none = Action()

        /// Spells out an action.
        package init(transitions: [Transition] = [], timer: TimerChange? = nil, visibility: Bool? = nil) {
            self.transitions = transitions
            self.timer = timer
            self.visibility = visibility
        }

        /// This action and then another one, as one.
        func followed(by next: Action) -> Action {
            Action(
                transitions: self.transitions + next.transitions, timer: next.timer ?? self.timer,
                visibility: next.visibility ?? self.visibility)
        }
    }

    /// How long work must last before it shows. Read when the timer starts; zero or less shows at once. Default 1 s.
    package var activationDelay: Duration
    /// How long it must be quiet before it hides. Read when the timer starts; zero or less hides at once. Default 170 ms.
    package var completionDelay: Duration

    /// Where the machine stands.
    package private(set) var state: State = .notActive
    /// How many exchanges are open; followed even while disabled, and never negative.
    package private(set) var count = 0
    /// Whether activity moves the state at all.
    package private(set) var isEnabled: Bool
    /// Whether the indicator shows.
    package private(set) var isVisible = false

    private var armed: Timer?

    /// Starts quiet, with nothing open.
    package init(
        activationDelay: Duration = .seconds(1),
        completionDelay: Duration = .milliseconds(170),
        isEnabled: Bool = true
    ) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
        self.isEnabled = isEnabled
    }

    /// One more exchange is open.
    package mutating func started(at now: ContinuousClock.Instant) -> Action {
        self.counted(self.count + 1, at: now)
    }

    /// One exchange fewer is open. At zero it stays zero.
    package mutating func ended(at now: ContinuousClock.Instant) -> Action {
        self.counted(self.count - 1, at: now)
    }

    /// So many exchanges are open now, for owners that count by themselves. A negative count is taken as zero.
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
            // While the start is delayed only its timer decides, so that back-to-back short requests add up.
            break
        }
        return action
    }

    /// A timer has run out. One that was cancelled or replaced is ignored.
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

    /// Lets activity move the state again, from the next change of the count on.
    package mutating func enable() {
        self.isEnabled = true
    }

    /// Falls silent at once: hidden, no timer. The count is still followed.
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
