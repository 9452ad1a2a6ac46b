// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Reports turns that hold up a loop: those that take more than `limit` of the thread's processor time.
///
/// Processor time is measured, because a busy machine may suspend a thread in the middle of any turn. Time that a
/// hypervisor has stolen meanwhile is subtracted, since the clock of a thread may count it. Reading the clock is a system
/// call, so guards are used to look for stalls, not in production.
package struct LoopStallDetector: Sendable {
    /// The most processor time that a turn may take.
    package let limit: Duration
    /// Returns the processor time that was stolen from the machine so far.
    let stolen: @Sendable () -> Duration
    /// Called on the loop's thread, after the turn.
    let report: @Sendable (SlowTurn) -> Void

    /// Makes a guard; `report` is called on the loop's thread, and its own time counts for no turn.
    package init(
        limit: Duration, stolen: @escaping @Sendable () -> Duration = StealTime.total,
        report: @escaping @Sendable (SlowTurn) -> Void
    ) {
        self.limit = limit
        self.stolen = stolen
        self.report = report
    }
}

/// A turn that took too long, and the callbacks that it spent its time on.
package struct SlowTurn: Sendable {
    /// A callback that ran during a turn, or all of one kind.
    package struct Part: Sendable {
        /// The kind of callback, by its place in the turn.
        package enum Kind: String, Sendable, CaseIterable {
            case descriptor
            case task
            case timer
            case turnEnd = "turn_end"
        }

        package let kind: Kind
        /// The watcher's or worker's type, or the file and line that made the timer; empty for a task.
        package let name: String
        /// The thread's processor time for it.
        package let time: Duration
    }

    /// The name of the loop.
    package let loop: String
    /// The thread's processor time for the whole turn.
    package let time: Duration
    /// The part that took the longest.
    package let dearest: Part
    /// The number of callbacks of each kind, and their total processor time.
    package let sums: [Part.Kind: (count: Int, time: Duration)]
}

/// Measures one turn after another, on the loop's thread.
struct TurnMeter {
    /// The origin of a part; turned into text only if the turn proves to be slow.
    enum Source {
        case type(Any.Type)
        case place(StaticString, UInt)
        case unknown
    }

    private struct Sum {
        var count = 0
        var time: Int64 = 0
    }

    private let guardian: LoopStallDetector
    /// Nanoseconds.
    private let limit: Int64
    private let loop: String
    private var began: Int64 = 0
    private var last: Int64 = 0
    private var sums = [Sum](repeating: Sum(), count: SlowTurn.Part.Kind.allCases.count)
    private var dearest: Int64 = -1
    private var dearestKind = SlowTurn.Part.Kind.task
    private var dearestSource = Source.unknown
    /// The stolen time at the last look, and the monotonic time of that look: theft from a thread that was idle excuses no
    /// later turn.
    private var stolen: (time: Duration, at: Int64)

    init(_ guardian: LoopStallDetector, loop: String) {
        self.guardian = guardian
        self.limit = guardian.limit.wholeNanoseconds
        self.loop = loop
        self.stolen = (guardian.stolen(), Self.time(CLOCK_MONOTONIC))
    }

    /// Begins a turn: the wait is over.
    mutating func begin() {
        // Not in every turn: reading the stolen time costs more than most turns. It advances in ticks of 10 ms.
        let now = Self.time(CLOCK_MONOTONIC)
        if now - self.stolen.at > 10_000_000 { self.stolen = (self.guardian.stolen(), now) }
        self.began = Self.processorTime()
        self.last = self.began
        self.dearest = -1
        for index in self.sums.indices { self.sums[index] = Sum() }
    }

    /// Adds the time of a callback that has just returned.
    mutating func note(_ kind: SlowTurn.Part.Kind, _ source: Source = .unknown) {
        let now = Self.processorTime()
        let time = now - self.last
        self.last = now
        self.sums[kind.index].count += 1
        self.sums[kind.index].time += time
        // Reports name the dearest callback.
        guard time > self.dearest else { return }
        (self.dearest, self.dearestKind, self.dearestSource) = (time, kind, source)
    }

    /// Ends a turn: the next wait is about to begin.
    ///
    /// - Returns: true if the turn was too long; it has been reported then.
    mutating func end() -> Bool {
        var time = Self.processorTime() - self.began
        guard time > self.limit else { return false }
        time -= (self.guardian.stolen() - self.stolen.time).wholeNanoseconds
        guard time > self.limit else { return false }
        let dearest = SlowTurn.Part(
            kind: self.dearestKind, name: self.dearestSource.description, time: .nanoseconds(max(0, self.dearest)))
        var sums: [SlowTurn.Part.Kind: (count: Int, time: Duration)] = [:]
        for kind in SlowTurn.Part.Kind.allCases where self.sums[kind.index].count > 0 {
            let sum = self.sums[kind.index]
            sums[kind] = (sum.count, .nanoseconds(sum.time))
        }
        self.guardian.report(SlowTurn(loop: self.loop, time: .nanoseconds(time), dearest: dearest, sums: sums))
        return true
    }

    /// The processor time of this thread, in nanoseconds.
    private static func processorTime() -> Int64 { Self.time(CLOCK_THREAD_CPUTIME_ID) }

    /// The time of a kernel clock, in nanoseconds.
    private static func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else {
            preconditionFailure("BUG: the kernel has no clock \(clock) (errno \(errno))")
        }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension TurnMeter.Source: CustomStringConvertible {
    var description: String {
        switch self {
        case .type(let type): "\(type)"
        case .place(let file, let line): "\(file):\(line)"
        case .unknown: ""
        }
    }
}

extension SlowTurn.Part.Kind {
    fileprivate var index: Int {
        switch self {
        case .descriptor: 0
        case .task: 1
        case .timer: 2
        case .turnEnd: 3
        }
    }
}
