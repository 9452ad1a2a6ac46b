// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Has lines written by a thread of its own, so that whoever logs waits for neither a reader nor a disk.
///
/// Lines keep their order and stay whole. What does not fit into the queue is dropped and counted: a log that nobody reads
/// must not stop those that are logged about.
package final class LogWriter: Sendable {
    /// Why lines are missing from a log.
    package enum Loss: Sendable, Equatable {
        /// They could not be written; the system's error number.
        case failed(Int32)
        /// The queue of so many bytes was full.
        case dropped(capacity: Int)
    }

    /// As much as some ten thousand exchanges, and little beside what they took.
    package static let standardCapacity = 4 << 20

    private let queue: LineQueue

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - output: where the lines go; nobody else writes there.
    ///   - capacity: the most bytes that wait.
    ///   - whenLosing: called once for each kind of loss, on the thread that logs or on that of the writer.
    init(
        _ output: LineOutput, capacity: Int = LogWriter.standardCapacity,
        whenLosing: @escaping @Sendable (Loss) -> Void
    ) {
        self.queue = LineQueue(capacity: capacity)
        let work = WriterThread(queue: self.queue, output: output, whenLosing: whenLosing)
        work.start()
    }

    /// Writes to a descriptor that somebody else keeps open.
    package convenience init(
        borrowing descriptor: Int32, capacity: Int = LogWriter.standardCapacity,
        whenLosing: @escaping @Sendable (Loss) -> Void = { _ in }
    ) {
        self.init(LineOutput(borrowing: descriptor), capacity: capacity, whenLosing: whenLosing)
    }

    deinit { self.queue.end() }

    /// Takes lines that end with a newline, or drops them all.
    func write(_ lines: [UInt8]) { self.queue.append(lines) }

    /// Goes on in another file; what was taken before goes into the old one.
    func replace(with descriptor: Int32) { self.queue.append(switchingTo: descriptor) }

    /// Waits until everything is written that was taken so far.
    ///
    /// - Returns: whether it was within `limit`.
    @discardableResult
    package func flush(within limit: Duration) -> Bool { self.queue.waitUntilDone(within: limit) }

    /// How many lines were dropped because the queue was full.
    package var dropped: Int { self.queue.dropped }
    /// How many lines could not be written.
    package var failures: Int { self.queue.failures }
}

/// The thread that writes, and what it needs; the thread holds it, and not the ``LogWriter``, which ends it.
private final class WriterThread {
    private let queue: LineQueue
    private let output: LineOutput
    private let whenLosing: @Sendable (LogWriter.Loss) -> Void
    private var hasFailed = false

    /// The most that one write has, unless a line is longer: what a pipe takes in one piece (PIPE_BUF), so that lines of
    /// several processes stay apart.
    private static let piece = 4096

    init(queue: LineQueue, output: LineOutput, whenLosing: @escaping @Sendable (LogWriter.Loss) -> Void) {
        self.queue = queue
        self.output = output
        self.whenLosing = whenLosing
    }

    func start() {
        self.queue.whenDropping = { [whenLosing = self.whenLosing, capacity = self.queue.capacity] in
            whenLosing(.dropped(capacity: capacity))
        }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { preconditionFailure("BUG: the thread has lost its argument") }
                Unmanaged<WriterThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(code == 0, "the system has no thread for a log (errno \(code))")
        pthread_detach(thread)
    }

    private func run() {
        while let pieces = self.queue.take() {
            for piece in pieces {
                if let descriptor = piece.descriptor { self.output.replace(with: descriptor) }
                self.write(piece.lines)
            }
        }
    }

    private func write(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let newline = UInt8(ascii: "\n")
            let end =
                rest.prefix(Self.piece).lastIndex(of: newline) ?? rest.firstIndex(of: newline) ?? rest.endIndex - 1
            let piece = rest[...end]
            rest = rest[(end + 1)...]
            do throws(LineOutput.Failure) {
                try self.output.write(piece)
                self.queue.finished(piece.count)
            } catch {
                if !self.hasFailed { self.whenLosing(.failed(error.code)) }
                self.hasFailed = true
                self.queue.finished(piece.count, lost: piece.count { $0 == newline })
            }
        }
    }
}

/// Lines that wait to be written, between those who log and the one thread that writes.
private final class LineQueue: @unchecked Sendable {
    // Why @unchecked holds: `state` is touched between lock and unlock only; `whenDropping` is set before the object is
    // given to a second thread.
    struct Piece {
        /// To which the writer turns first; nil where it stays with the one that it has.
        var descriptor: Int32?
        var lines: [UInt8] = []
    }

    private struct State {
        var pieces: [Piece] = []
        /// Bytes that were taken, and those of them that were written or lost.
        var taken = 0
        var done = 0
        var dropped = 0
        var failures = 0
        /// Whether the writer sleeps until it is woken.
        var isIdle = false
        /// Whether somebody waits for what is there to be written.
        var isUrgent = false
        var hasEnded = false
    }

    let capacity: Int
    var whenDropping: () -> Void = {}
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let filled: UnsafeMutablePointer<pthread_cond_t>
    private let emptied: UnsafeMutablePointer<pthread_cond_t>
    private var state = State()

    /// How long the writer lets lines gather, and how many bytes are enough: it must not be woken for every line.
    private static let gathering = Duration.milliseconds(2)
    private static let enough = 64 * 1024

    init(capacity: Int) {
        self.capacity = capacity
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        (self.filled, self.emptied) = (Self.makeCondition(), Self.makeCondition())
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "BUG: pthread_mutex_init failed with \(code)")
    }

    deinit {
        for condition in [self.filled, self.emptied] {
            pthread_cond_destroy(condition)
            condition.deallocate()
        }
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    private static func makeCondition() -> UnsafeMutablePointer<pthread_cond_t> {
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let code = pthread_cond_init(condition, &attributes)
        precondition(code == 0, "BUG: pthread_cond_init failed with \(code)")
        pthread_condattr_destroy(&attributes)
        return condition
    }

    // MARK: For those who log

    var dropped: Int { self.locked { self.state.dropped } }
    var failures: Int { self.locked { self.state.failures } }

    func append(_ lines: [UInt8]) {
        let isFirstLoss = self.locked {
            guard self.state.taken - self.state.done + lines.count <= self.capacity else {
                defer { self.state.dropped += lines.count { $0 == UInt8(ascii: "\n") } }
                return self.state.dropped == 0
            }
            self.state.taken += lines.count
            if self.state.pieces.isEmpty { self.state.pieces.append(Piece()) }
            self.state.pieces[self.state.pieces.count - 1].lines += lines
            self.wakeWriter()
            return false
        }
        if isFirstLoss { self.whenDropping() }
    }

    func append(switchingTo descriptor: Int32) {
        self.locked {
            self.state.pieces.append(Piece(descriptor: descriptor))
            self.wakeWriter()
        }
    }

    func waitUntilDone(within limit: Duration) -> Bool {
        var deadline = Self.time(in: limit)
        return self.locked {
            let target = self.state.taken
            while self.state.done < target {
                self.state.isUrgent = true
                pthread_cond_signal(self.filled)
                if pthread_cond_timedwait(self.emptied, self.mutex, &deadline) == ETIMEDOUT {
                    return self.state.done >= target
                }
            }
            return true
        }
    }

    /// No lines come any more; what is there is still written.
    func end() {
        self.locked {
            self.state.hasEnded = true
            pthread_cond_signal(self.filled)
        }
    }

    private func wakeWriter() {
        let isEnough = self.state.taken - self.state.done >= Self.enough
        guard self.state.isIdle || isEnough else { return }
        self.state.isIdle = false
        pthread_cond_signal(self.filled)
    }

    // MARK: For the writer

    /// Waits for lines.
    ///
    /// - Returns: nil when everything is written and no more will come.
    func take() -> [Piece]? {
        self.locked {
            while self.state.pieces.isEmpty {
                if self.state.hasEnded { return nil }
                self.state.isIdle = true
                pthread_cond_wait(self.filled, self.mutex)
            }
            self.state.isIdle = false
            self.gather()
            self.state.isUrgent = false
            let pieces = self.state.pieces
            self.state.pieces = []
            return pieces
        }
    }

    private func gather() {
        var deadline = Self.time(in: Self.gathering)
        while !self.state.isUrgent, !self.state.hasEnded, self.state.taken - self.state.done < Self.enough {
            if pthread_cond_timedwait(self.filled, self.mutex, &deadline) == ETIMEDOUT { return }
        }
    }

    func finished(_ bytes: Int, lost: Int = 0) {
        self.locked {
            self.state.done += bytes
            self.state.failures += lost
            pthread_cond_broadcast(self.emptied)
        }
    }

    // MARK: Inside

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return body()
    }

    /// The time after `duration`, by the clock of the conditions.
    private static func time(in duration: Duration) -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int64(time.tv_nsec) + attoseconds / 1_000_000_000
        return timespec(
            tv_sec: time.tv_sec + Int(seconds) + Int(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
