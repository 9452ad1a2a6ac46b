// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleSystem
import Testing

@Suite struct ActivityTests {
    let time = ManualTime()
    let log = CapturedLog()
    let counters = Counters(routes: ["a"])

    private func activity(
        _ settings: ActivitySettings = ActivitySettings(), visible: (@Sendable (Bool) -> Void)? = nil
    ) -> Activity {
        Activity(
            counters: self.counters, settings: settings, scheduler: self.time.scheduler, logger: self.log.logger,
            visibilityChanged: visible)
    }

    private func finish(_ activity: Activity, _ outcome: Outcome = .completed) {
        activity.finished(route: self.counters[0], outcome: outcome, bytesUp: 1, bytesDown: 2)
    }

    @Test(arguments: [Outcome.completed, .failed])
    func `ACT-01 without delays one request shows once and hides once`(outcome: Outcome) {
        let shown = Locked<[Bool]>([])
        let activity = self.activity(
            ActivitySettings(activationDelay: .zero, completionDelay: .zero),
            visible: { visible in shown.withLock { $0.append(visible) } })
        activity.started(route: self.counters[0])
        #expect(activity.state == .active)
        self.finish(activity, outcome)
        #expect(shown.withLock { $0 } == [true, false])
        #expect(self.time.armed == 0)
    }

    @Test func `ACT-02 a long request walks through all four states`() {
        let activity = self.activity()
        activity.started(route: self.counters[0])
        self.time.advance(by: .milliseconds(999))
        #expect(activity.state == .delayingStart)
        self.time.advance(by: .milliseconds(1))
        #expect(activity.state == .active)
        self.time.advance(by: .seconds(1))
        self.finish(activity)
        self.time.advance(by: .milliseconds(169))
        #expect(activity.state == .delayingEnd)
        self.time.advance(by: .milliseconds(1))
        #expect(activity.state == .notActive)
        #expect(
            self.log.steps == [
                "not_active>delaying_start", "delaying_start>active", "active>delaying_end",
                "delaying_end>not_active",
            ])
    }

    @Test func `ACT-03 overlapping requests show once and hide once`() {
        let shown = Locked<[Bool]>([])
        let activity = self.activity(visible: { visible in shown.withLock { $0.append(visible) } })
        activity.started(route: self.counters[0])
        activity.started(route: self.counters[nil])
        #expect(activity.openExchanges == 2)
        self.time.advance(by: .seconds(2))
        self.finish(activity)
        self.time.advance(by: .seconds(2))
        #expect(activity.state == .active)
        activity.finished(route: self.counters[nil], outcome: .cancelled, bytesUp: 0, bytesDown: 0)
        self.time.advance(by: .seconds(2))
        #expect(shown.withLock { $0 } == [true, false])
        #expect(self.counters.snapshot().overall.cancelled == 1)
    }

    @Test func `ACT-05 a request shorter than the activation delay never shows`() {
        let activity = self.activity(visible: { _ in Issue.record("shown") })
        activity.started(route: self.counters[0])
        self.time.advance(by: .milliseconds(300))
        self.finish(activity)
        self.time.advance(by: .seconds(2))
        #expect(self.log.steps == ["not_active>delaying_start", "delaying_start>not_active"])
        #expect(self.time.armed == 0)
    }

    @Test func `ACT-06 a request within the completion delay keeps the indicator and two timers at most`() {
        let activity = self.activity(ActivitySettings(activationDelay: .zero))
        for _ in 0..<3 {
            activity.started(route: self.counters[0])
            self.finish(activity)
            #expect((1...2).contains(self.time.armed))
            self.time.advance(by: .milliseconds(100))
        }
        #expect(activity.state == .delayingEnd)
        self.time.advance(by: .milliseconds(70))
        #expect(activity.state == .notActive)
    }

    @Test func `ACT-07 a finish without a start does not hide the next one`() {
        let activity = self.activity(ActivitySettings(activationDelay: .zero))
        self.finish(activity)
        #expect(activity.openExchanges == 0)
        activity.started(route: self.counters[0])
        #expect(activity.state == .active)
    }

    @Test func `ACT-09 stopping hides at once and leaves no timer`() {
        let shown = Locked<[Bool]>([])
        let activity = self.activity(visible: { visible in shown.withLock { $0.append(visible) } })
        activity.start()
        activity.started(route: self.counters[0])
        self.time.advance(by: .seconds(1))
        self.finish(activity)
        #expect(self.time.armed == 2)
        activity.stop()
        #expect(self.time.armed == 0)
        #expect(activity.state == .notActive)
        #expect(shown.withLock { $0 } == [true, false])
        activity.started(route: self.counters[0])
        #expect(self.time.armed == 0)
        #expect(activity.openExchanges == 1)
    }

    @Test func `ACT-13 a reload changes the delays of timers to come`() {
        let activity = self.activity()
        activity.started(route: self.counters[0])
        let next = Counters(routes: ["a", "b"], continuing: self.counters)
        activity.reload(
            settings: ActivitySettings(activationDelay: .seconds(9), completionDelay: .seconds(3)), counters: next)
        self.time.advance(by: .seconds(1))
        #expect(activity.state == .active)
        self.finish(activity)
        self.time.advance(by: .seconds(2))
        #expect(activity.state == .delayingEnd)
        #expect(activity.counters === next)
        #expect(next.snapshot()[route: "a"]?.completed == 1)
    }

    @Test func `counters are logged at intervals while they change`() {
        let activity = self.activity()
        self.time.advance(by: .seconds(120))
        activity.start()
        self.time.advance(by: .seconds(60))
        #expect(self.log.reports == [])
        activity.started(route: self.counters[0])
        self.time.advance(by: .seconds(60))
        #expect(self.log.reports == ["1"])
        self.time.advance(by: .seconds(600))
        #expect(self.log.reports == ["1"])
        self.finish(activity)
        self.time.advance(by: .seconds(60))
        #expect(self.log.reports == ["1", "1"])
        activity.stop()
        activity.started(route: self.counters[0])
        self.time.advance(by: .seconds(600))
        #expect(self.log.reports.count == 2)
    }

    @Test func `a dump logs the counters whether they changed or not`() {
        let activity = self.activity()
        activity.start()
        activity.dump()
        activity.started(route: self.counters[0])
        activity.dump()
        #expect(self.log.reports == ["0", "1"])
        self.time.advance(by: .seconds(60))
        #expect(self.log.reports == ["0", "1"])
    }

    @Test func `a log interval of zero logs on demand only, and a reload can begin it`() {
        let activity = self.activity(ActivitySettings(logInterval: .zero))
        activity.start()
        #expect(self.time.armed == 0)
        self.counters[0].started()
        activity.reload(settings: ActivitySettings(logInterval: .seconds(5)), counters: self.counters)
        self.time.advance(by: .seconds(5))
        #expect(self.log.reports == ["1"])
    }

    @Test func `an activity that is dropped leaves nothing behind`() {
        weak var dropped: Activity?
        do {
            let activity = self.activity()
            activity.start()
            activity.started(route: self.counters[0])
            dropped = activity
        }
        #expect(dropped == nil)
        self.time.advance(by: .seconds(100))
        #expect(self.log.reports == [])
    }

    @Test func `a timer that fires while it is being armed is obeyed`() {
        let scheduler = Scheduler(schedule: { _, run in
            run()
            return {}
        })
        let activity = Activity(counters: self.counters, scheduler: scheduler, logger: self.log.logger)
        activity.started(route: self.counters[0])
        #expect(activity.state == .active)
        self.finish(activity)
        #expect(activity.state == .notActive)
    }

    @Test func `eight threads crossing zero leave the machine with the truth`() {
        let activity = self.activity(ActivitySettings(activationDelay: .zero, completionDelay: .zero))
        let counters = self.counters
        for round in 0..<20 {
            let stays = round % 2
            onThreads(8) { thread in
                for _ in 0..<500 {
                    activity.started(route: counters[0])
                    activity.finished(route: counters[0], outcome: .completed, bytesUp: 0, bytesDown: 0)
                }
                if thread < stays { activity.started(route: counters[0]) }
            }
            #expect(activity.openExchanges == stays)
            #expect(activity.state == (stays == 0 ? .notActive : .active))
            if stays == 1 { self.finish(activity) }
            #expect(activity.state == .notActive)
        }
        // In order: each step begins in the state in which the previous one ended.
        var state = "not_active"
        for step in self.log.steps {
            let ends = step.split(separator: ">").map(String.init)
            #expect(ends.first == state)
            state = ends.last ?? ""
        }
        #expect(state == "not_active")
    }
}
