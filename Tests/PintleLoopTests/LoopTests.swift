// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// The loop as an event loop: tasks, timers and the end of its turns.
struct LoopTests {
    let loop: Loop

    init() throws { self.loop = try Loop(name: "test") }

    @Test func `tasks of one thread run in their order, on the loop's thread`() throws {
        let seen = Watched<[Int]>([])
        for number in 0..<1000 {
            self.loop.execute { [loop] in
                loop.preconditionInEventLoop()
                seen.change { $0.append(number) }
            }
        }
        try seen.wait(for: "all tasks") { $0.count == 1000 }
        #expect(seen.current == Array(0..<1000))
        #expect(!self.loop.inEventLoop)
        self.loop.stop()
    }

    @Test func `tasks of many threads all run, once`() throws {
        let seen = Watched<[Int]>([])
        for thread in 0..<8 {
            Thread.detachNewThread { [loop] in
                for number in 0..<500 { loop.execute { seen.change { $0.append(thread * 500 + number) } } }
            }
        }
        try seen.wait(for: "all tasks") { $0.count == 4000 }
        #expect(Set(seen.current).count == 4000)
        for thread in 0..<8 {
            let own = seen.current.filter { $0 / 500 == thread }
            #expect(own == own.sorted(), "each thread's tasks keep their order")
        }
        self.loop.stop()
    }

    @Test func `a task that is sent from a task runs in a later turn, not never`() throws {
        let depth = Watched(0)
        @Sendable func again(_ left: Int) {
            depth.change { $0 += 1 }
            if left > 0 { self.loop.execute { again(left - 1) } }
        }
        self.loop.execute { again(200) }
        try depth.wait(for: "the whole chain") { $0 == 201 }
        self.loop.stop()
    }

    @Test func `submit returns what the task returns and throws what it throws`() throws {
        #expect(try self.loop.submit { 7 }.wait() == 7)
        #expect(throws: TestFailure.self) { try self.loop.submit { throw TestFailure("on purpose") }.wait() }
        self.loop.stop()
    }

    @Test func `timers fire in the order of their deadlines, however they were armed`() throws {
        let seen = Watched<[Int]>([])
        let order = [5, 1, 9, 3, 7, 0, 8, 2, 6, 4]
        try self.loop.submit { [loop] in
            let now = NIODeadline.now()
            for number in order {
                loop.arm(LoopTimer { seen.change { $0.append(number) } }, at: now + .milliseconds(Int64(number)))
            }
        }.wait()
        try seen.wait(for: "all timers") { $0.count == 10 }
        #expect(seen.current == Array(0..<10))
        self.loop.stop()
    }

    @Test func `a timer never fires before its deadline`() throws {
        let early = Watched<[Bool]>([])
        try self.loop.submit { [loop] in
            for number in 1...20 {
                let deadline = NIODeadline.now() + .microseconds(Int64(number * 700))
                loop.arm(LoopTimer { early.change { $0.append(NIODeadline.now() < deadline) } }, at: deadline)
            }
        }.wait()
        try early.wait(for: "all timers") { $0.count == 20 }
        #expect(!early.current.contains(true))
        self.loop.stop()
    }

    @Test func `a timer that was disarmed does not fire, and one that was moved fires once`() throws {
        let seen = Watched<[String]>([])
        try self.loop.submit { [loop] in
            let now = NIODeadline.now()
            let cancelled = LoopTimer { seen.change { $0.append("cancelled") } }
            let moved = LoopTimer { seen.change { $0.append("moved") } }
            loop.arm(cancelled, at: now + .milliseconds(1))
            loop.arm(moved, at: now + .milliseconds(1))
            loop.arm(LoopTimer { seen.change { $0.append("middle") } }, at: now + .milliseconds(2))
            loop.arm(LoopTimer { seen.change { $0.append("end") } }, at: now + .milliseconds(6))
            loop.arm(moved, at: now + .milliseconds(4))
            loop.disarm(cancelled)
            loop.disarm(cancelled)
            #expect(!cancelled.isArmed && moved.isArmed && moved.fires(after: now))
        }.wait()
        try seen.wait(for: "the last timer") { $0.contains("end") }
        #expect(seen.current == ["middle", "moved", "end"])
        self.loop.stop()
    }

    @Test func `a timer may arm itself again and disarm another that is due`() throws {
        let seen = Watched<[String]>([])
        try self.loop.submit { [loop] in
            let now = NIODeadline.now()
            let victim = LoopTimer { seen.change { $0.append("victim") } }
            let ticks = Ticks()
            // Kept alive by `keeper`.
            ticks.timer = LoopTimer { [unowned ticks] in
                seen.change { $0.append("tick") }
                loop.disarm(victim)
                ticks.count += 1
                if ticks.count < 3, let timer = ticks.timer { loop.arm(timer, at: .now()) }
                if ticks.count == 3 { seen.change { $0.append("end") } }
            }
            loop.arm(victim, at: now + .microseconds(2))
            if let timer = ticks.timer { loop.arm(timer, at: now + .microseconds(1)) }
            keeper.change { $0.append(ticks) }
        }.wait()
        try seen.wait(for: "three ticks") { $0.contains("end") }
        #expect(seen.current == ["tick", "tick", "tick", "end"])
        self.loop.stop()
    }

    @Test func `a task that is sent after the end is let go with all that it holds`() throws {
        final class Held: Sendable {}
        var held: Held? = Held()
        weak let left = held
        self.loop.stop()
        self.loop.execute { [held] in _ = held }
        held = nil
        #expect(left == nil)
    }

    @Test func `a scheduled task can be cancelled from another thread`() throws {
        let ran = Watched<[String]>([])
        let cancelled = self.loop.scheduleTask(in: .hours(1)) { ran.change { $0.append("cancelled") } }
        let kept = self.loop.scheduleTask(in: .milliseconds(1)) { ran.change { $0.append("kept") } }
        cancelled.cancel()
        try kept.futureResult.wait()
        #expect(throws: (any Error).self) { try cancelled.futureResult.wait() }
        #expect(ran.current == ["kept"])
        self.loop.stop()
    }

    @Test func `work at the end of a turn runs after every task of that turn, once`() throws {
        let seen = Watched<[String]>([])
        let work = EndWork { seen.change { $0.append("end") } }
        self.loop.execute { [loop] in
            loop.atEndOfTurn(work)
            seen.change { $0.append("first") }
            // Sent while the first runs, so it may or may not be of the same turn; it is never before it.
            loop.execute { seen.change { $0.append("later") } }
        }
        try seen.wait(for: "all three") { $0.count == 3 }
        #expect(seen.current.first == "first" && seen.current.count { $0 == "end" } == 1)
        self.loop.stop()
    }

    @Test func `a loop that was stopped has run what was sent before`() throws {
        let count = Watched(0)
        for _ in 0..<100 { self.loop.execute { count.change { $0 += 1 } } }
        self.loop.stop()
        #expect(count.current == 100)
        self.loop.stop()
    }
}

/// Keeps objects that timers hold weakly, for as long as the tests run.
private let keeper = Watched<[Ticks]>([])

// @unchecked: used on the loop's thread only.
private final class Ticks: @unchecked Sendable {
    var timer: LoopTimer?
    var count = 0
}

private final class EndWork: TurnEndWork, Sendable {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    func runAtEndOfTurn() { self.work() }
}
