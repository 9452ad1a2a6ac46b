// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@Suite struct TaskParticipationTests {
    @Test func `ACT-11 suspension followed by completion lowers the count once`() {
        var task = TaskParticipation(hasURL: true)
        #expect(task.resumed() == .started)
        #expect(task.suspended() == .ended)
        #expect(task.completed() == .none)
    }

    @Test func `ACT-11 another running task keeps the count above zero`() {
        let now = ContinuousClock.now
        var machine = ActivityStateMachine(activationDelay: .zero, completionDelay: .zero)
        var first = TaskParticipation(hasURL: true)
        var second = TaskParticipation(hasURL: true)
        for change in [first.resumed(), second.resumed(), first.suspended(), first.completed()] {
            switch change {
            case .started: _ = machine.started(at: now)
            case .ended: _ = machine.ended(at: now)
            case .none: break
            }
        }
        #expect(machine.count == 1)
        #expect(machine.isVisible)
    }

    @Test func `ACT-12 a task without a URL never counts`() {
        var task = TaskParticipation(hasURL: false)
        #expect(task.resumed() == .none)
        #expect(task.suspended() == .none)
        #expect(task.completed() == .none)
        #expect(task.resumed() == .none)
    }

    @Test func `a task counts again after each pause and never after its end`() {
        var task = TaskParticipation(hasURL: true)
        #expect(task.suspended() == .none)
        #expect(task.resumed() == .started)
        #expect(task.resumed() == .none)
        #expect(task.suspended() == .ended)
        #expect(task.suspended() == .none)
        #expect(task.resumed() == .started)
        #expect(task.completed() == .ended)
        #expect(task.completed() == .none)
        #expect(task.resumed() == .none)
        #expect(task.suspended() == .none)
    }
}
