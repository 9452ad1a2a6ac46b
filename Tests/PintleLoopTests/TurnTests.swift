// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleTesting
import Testing

@testable import PintleLoop

/// The guard against turns that hold a loop up, and the numbers that every loop keeps.
struct TurnTests {
    private let slow = Watched<[SlowTurn]>([])

    private func makeLoop(limit: Duration = .milliseconds(10)) throws -> Loop {
        try Loop(
            name: "guarded",
            turnGuard: LoopStallDetector(limit: limit) { [slow] turn in slow.change { $0.append(turn) } })
    }

    @Test func `a task that takes more of the processor than a turn may is reported with its time`() throws {
        let loop = try self.makeLoop()
        try loop.submit { burn(.milliseconds(100)) }.wait()
        let turn = try self.slow.wait(for: "the report") { !$0.isEmpty }[0]
        #expect(turn.loop == "guarded" && turn.dearest.kind == .task)
        #expect(turn.time >= .milliseconds(30) && turn.dearest.time >= .milliseconds(30))
        #expect(turn.sums[.task]?.count != nil && turn.sums[.descriptor] == nil)
        loop.stop()
        #expect(loop.turnTimes.slow == 1)
    }

    @Test func `a turn is reported with the timer or the work of its end that took longest`() throws {
        let loop = try self.makeLoop()
        try loop.submit {
            loop.arm(LoopTimer(file: "Some/File.swift", line: 7) { burn(.milliseconds(100)) }, at: .now())
        }.wait()
        let timer = try self.slow.wait(for: "the timer") { $0.count == 1 }[0].dearest
        #expect(timer.kind == .timer && timer.name == "Some/File.swift:7")
        try loop.submit { loop.atEndOfTurn(BurningWork()) }.wait()
        let work = try self.slow.wait(for: "the end of a turn") { $0.count == 2 }[1].dearest
        #expect(work.kind == .turnEnd && work.name == "BurningWork")
        loop.stop()
    }

    @Test func `a watcher of a descriptor is reported by its type`() throws {
        let loop = try self.makeLoop()
        let (ours, theirs) = try pair()
        try loop.submit { loop.watch(ours, for: .read, by: BurningWatcher(loop: loop)) }.wait()
        #expect(write(theirs, "x", 1) == 1)
        let dearest = try self.slow.wait(for: "the report") { !$0.isEmpty }[0].dearest
        #expect(dearest.kind == .descriptor && dearest.name == "BurningWatcher")
        loop.stop()
        close(ours)
        close(theirs)
    }

    @Test func `a thread that waits within a turn has not used the processor`() throws {
        let loop = try self.makeLoop()
        let (ours, theirs) = try pair()
        let began = NIODeadline.now()
        let waiting = loop.submit { () -> Int in
            var byte: UInt8 = 0
            return read(ours, &byte, 1)
        }
        while NIODeadline.now() - began < .milliseconds(15) { _ = sched_yield() }
        #expect(write(theirs, "x", 1) == 1)
        #expect(try waiting.wait() == 1)
        loop.stop()
        #expect(self.slow.current.isEmpty && loop.turnTimes.slow == 0)
        // The elapsed time is kept all the same.
        #expect(loop.turnTimes.longest >= 10_000_000 && loop.turnTimes.turns(over: 10_000_000) == 1)
        close(ours)
        close(theirs)
    }

    @Test func `time that a hypervisor stole during a turn is not the turn's`() throws {
        // Every look finds as much more stolen: a turn that is looked at before and after has lost it.
        let looks = Watched(0)
        let (slow, thief) = (self.slow, Watched(Duration.milliseconds(40)))
        let loop = try Loop(
            name: "robbed",
            turnGuard: LoopStallDetector(
                limit: .milliseconds(10),
                stolen: {
                    looks.change { $0 += 1 }; return thief.current * looks.current
                },
                report: { turn in slow.change { $0.append(turn) } }))
        try loop.submit { burn(.milliseconds(30)) }.wait()
        // The turn of the one before is over in the turn of the next.
        try loop.submit {}.wait()
        thief.change { $0 = .zero }
        try loop.submit { burn(.milliseconds(30)) }.wait()
        let turns = try slow.wait(for: "the report") { !$0.isEmpty }
        loop.stop()
        #expect(turns.count == 1 && loop.turnTimes.slow == 1)
    }

    @Test func `what was stolen while a loop was idle excuses no later turn`() throws {
        let (slow, thief) = (self.slow, Watched(Duration.zero))
        let loop = try Loop(
            name: "idle",
            turnGuard: LoopStallDetector(
                limit: .milliseconds(10), stolen: { thief.current },
                report: { turn in slow.change { $0.append(turn) } }))
        try loop.submit {}.wait()
        thief.change { $0 = .seconds(3600) }
        let began = NIODeadline.now()
        while NIODeadline.now() - began < .milliseconds(15) { _ = sched_yield() }
        try loop.submit { burn(.milliseconds(100)) }.wait()
        loop.stop()
        #expect(slow.current.count == 1)
    }

    @Test func `the time that was stolen is the eighth number of all processors`() {
        let line = "cpu  6298687 943639 772640 3650942 23414 0 109683 1769 5 6\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
        #expect(StealTime.total(in: line) == .milliseconds(17_690))
        for other in ["", "cpu", "cpu0 1 1 1 1 1 1 1 1 0 0", "cpu 1 1 1 1 1 1 1", "cpu 1 1 1 1 1 1 1 x"] {
            #expect(StealTime.total(in: other) == .zero)
        }
    }

    @Test func `every loop counts its turns by how long they took`() {
        var times = TurnTimes()
        for nanoseconds in [1, 50_000, 50_001, 10_000_000, 10_000_001, 2_000_000_000] as [Int64] {
            times.record(nanoseconds)
        }
        #expect(times.counts == [2, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1])
        #expect(times.turns == 6 && times.turns(over: 10_000_000) == 2)
        #expect(times.longest == 2_000_000_000 && times.total == 2_020_100_003)
        var sum = times
        sum += times
        #expect(sum.turns == 12 && sum.longest == times.longest && sum.total == 2 * times.total)
    }
}

private func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
        throw TestFailure("socketpair: errno \(errno)")
    }
    return (ends[0], ends[1])
}

/// Uses the processor for the given time, by the thread's own clock. Time that a hypervisor steals meanwhile does not count
/// as a turn's, so most tests use far more than their limits.
private func burn(_ time: Duration) {
    let end = processorTime() + time
    while processorTime() < end {}
}

private func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

private final class BurningWork: TurnEndWork {
    func runAtEndOfTurn() { burn(.milliseconds(100)) }
}

private final class BurningWatcher: DescriptorWatcher {
    private let loop: Loop

    init(loop: Loop) { self.loop = loop }

    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        burn(.milliseconds(100))
        self.loop.unwatch(descriptor)
    }
}
