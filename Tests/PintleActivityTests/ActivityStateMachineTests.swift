// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@Suite struct ActivityStateMachineTests {
    typealias Machine = ActivityStateMachine
    typealias Transition = ActivityStateMachine.Transition

    let start = ContinuousClock.now

    private func after(_ seconds: Double) -> ContinuousClock.Instant { self.start + .seconds(seconds) }

    private func timer(_ kind: Machine.Timer.Kind, _ action: Machine.Action) throws -> Machine.Timer {
        guard case .arm(let timer, after: _) = action.timer else {
            Issue.record("no timer in \(action)")
            throw NoTimer()
        }
        #expect(timer.kind == kind)
        return timer
    }

    private struct NoTimer: Error {}

    @Test func `ACT-01 without delays one request shows once and hides once`() {
        var machine = Machine(activationDelay: .zero, completionDelay: .zero)
        #expect(
            machine.started(at: self.start)
                == Machine.Action(
                    transitions: [
                        Transition(from: .notActive, to: .delayingStart), Transition(from: .delayingStart, to: .active),
                    ], visibility: true))
        #expect(
            machine.ended(at: self.start)
                == Machine.Action(
                    transitions: [
                        Transition(from: .active, to: .delayingEnd), Transition(from: .delayingEnd, to: .notActive),
                    ], visibility: false))
    }

    @Test func `ACT-02 a long request shows after the activation delay and hides after the completion delay`() throws {
        var machine = Machine(activationDelay: .seconds(1), completionDelay: .seconds(1))
        let begun = machine.started(at: self.start)
        let activation = try self.timer(.activation, begun)
        #expect(
            begun
                == Machine.Action(
                    transitions: [Transition(from: .notActive, to: .delayingStart)],
                    timer: .arm(activation, after: .seconds(1))))
        #expect(activation.deadline == self.after(1))
        #expect(
            machine.fired(activation, at: self.after(1))
                == Machine.Action(transitions: [Transition(from: .delayingStart, to: .active)], visibility: true))

        let ended = machine.ended(at: self.after(2))
        let completion = try self.timer(.completion, ended)
        #expect(
            ended
                == Machine.Action(
                    transitions: [Transition(from: .active, to: .delayingEnd)],
                    timer: .arm(completion, after: .seconds(1))))
        #expect(completion.deadline == self.after(3))
        #expect(machine.isVisible)
        #expect(
            machine.fired(completion, at: self.after(3))
                == Machine.Action(transitions: [Transition(from: .delayingEnd, to: .notActive)], visibility: false))
    }

    @Test func `ACT-03 overlapping requests show once and hide once`() throws {
        var machine = Machine(activationDelay: .seconds(1), completionDelay: .seconds(1))
        let activation = try self.timer(.activation, machine.started(at: self.start))
        #expect(machine.started(at: self.start) == .none)
        #expect(machine.fired(activation, at: self.after(1)).visibility == true)
        #expect(machine.ended(at: self.after(2)) == .none)
        let completion = try self.timer(.completion, machine.ended(at: self.after(4)))
        #expect(machine.fired(completion, at: self.after(5)).visibility == false)
    }

    @Test func `ACT-04 one start raises the count of a fresh machine to one`() {
        var machine = Machine()
        #expect(machine.count == 0)
        _ = machine.started(at: self.start)
        #expect(machine.count == 1)
    }

    @Test func `ACT-05 a request shorter than the activation delay never shows`() throws {
        var machine = Machine()
        let activation = try self.timer(.activation, machine.started(at: self.start))
        #expect(machine.ended(at: self.after(0.5)) == .none)
        #expect(machine.state == .delayingStart)
        #expect(
            machine.fired(activation, at: self.after(1))
                == Machine.Action(transitions: [Transition(from: .delayingStart, to: .notActive)]))
    }

    @Test func `ACT-06 a request within the completion delay keeps the indicator without flicker`() throws {
        var machine = Machine()
        let activation = try self.timer(.activation, machine.started(at: self.start))
        _ = machine.fired(activation, at: self.after(1))
        let completion = try self.timer(.completion, machine.ended(at: self.after(2)))
        #expect(completion.deadline == self.after(2) + .milliseconds(170))
        #expect(
            machine.started(at: self.after(2.1))
                == Machine.Action(
                    transitions: [Transition(from: .delayingEnd, to: .active)], timer: .cancel(completion)))
        #expect(machine.isVisible)
        // The cancellation came too late.
        #expect(machine.fired(completion, at: self.after(2.17)) == .none)
        #expect(machine.state == .active)
    }

    @Test func `ACT-07 an end at zero stays at zero`() {
        var machine = Machine()
        #expect(machine.ended(at: self.start) == .none)
        #expect(machine.counted(-3, at: self.start) == .none)
        #expect(machine.count == 0)
        _ = machine.started(at: self.start)
        #expect(machine.count == 1)
    }

    @Test func `ACT-08 a disabled machine counts and does not move`() {
        var machine = Machine(isEnabled: false)
        #expect(machine.started(at: self.start) == .none)
        #expect(machine.started(at: self.start) == .none)
        #expect(machine.ended(at: self.start) == .none)
        #expect(machine.count == 1)
        #expect(machine.state == .notActive)
    }

    @Test func `ACT-09 disabling hides at once and cancels the timer`() throws {
        var machine = Machine()
        let activation = try self.timer(.activation, machine.started(at: self.start))
        #expect(
            machine.disable()
                == Machine.Action(
                    transitions: [Transition(from: .delayingStart, to: .notActive)], timer: .cancel(activation)))
        #expect(machine.fired(activation, at: self.after(1)) == .none)
        #expect(machine.disable() == .none)

        var shown = Machine(activationDelay: .zero)
        _ = shown.started(at: self.start)
        #expect(
            shown.disable()
                == Machine.Action(transitions: [Transition(from: .active, to: .notActive)], visibility: false))

        var hiding = Machine(activationDelay: .zero)
        _ = hiding.started(at: self.start)
        let completion = try self.timer(.completion, hiding.ended(at: self.after(1)))
        #expect(
            hiding.disable()
                == Machine.Action(
                    transitions: [Transition(from: .delayingEnd, to: .notActive)], timer: .cancel(completion),
                    visibility: false))
    }

    @Test func `ACT-10 enabling with work open waits for the next change of the count`() {
        var machine = Machine(activationDelay: .zero, isEnabled: false)
        _ = machine.started(at: self.start)
        machine.enable()
        #expect(machine.state == .notActive)
        #expect(machine.started(at: self.after(1)).visibility == true)
    }

    @Test func `ACT-13 delays are read when a timer starts`() throws {
        var machine = Machine()
        let activation = try self.timer(.activation, machine.started(at: self.start))
        machine.activationDelay = .seconds(9)
        #expect(activation.deadline == self.after(1))
        #expect(machine.fired(activation, at: self.after(1)).visibility == true)
        machine.completionDelay = .seconds(5)
        #expect(try self.timer(.completion, machine.ended(at: self.after(2))).deadline == self.after(7))
    }

    @Test func `requests that follow each other add up to activity`() throws {
        var machine = Machine()
        let activation = try self.timer(.activation, machine.started(at: self.start))
        #expect(machine.ended(at: self.after(0.6)) == .none)
        #expect(machine.started(at: self.after(0.7)) == .none)
        #expect(machine.fired(activation, at: self.after(1)).visibility == true)
    }

    @Test func `states are logged under the names of the contract`() {
        #expect(Machine.State.allCases.map(\.rawValue) == ["not_active", "delaying_start", "active", "delaying_end"])
    }
}
