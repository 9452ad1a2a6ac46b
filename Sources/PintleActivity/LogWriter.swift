// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

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
        let queue = LineQueue(capacity: capacity) { whenLosing(.dropped(capacity: capacity)) }
        self.queue = queue
        do {
            try SystemThread.start {
                var drain = QueueDrain(queue: queue, output: output, whenLosing: whenLosing)
                drain.run()
            }
        } catch {
            preconditionFailure("the system has no thread for a log: \(error)")
        }
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

/// Writes the lines of a queue, on a thread of its own that holds the queue, and not the ``LogWriter``, which ends it.
private struct QueueDrain {
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

    mutating func run() {
        while let pieces = self.queue.take() {
            for piece in pieces {
                if let descriptor = piece.descriptor { self.output.replace(with: descriptor) }
                self.write(piece.lines)
            }
        }
    }

    private mutating func write(_ lines: [UInt8]) {
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
    // Why @unchecked holds: `state` is touched inside `changed.locked` alone.
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
    private let whenDropping: @Sendable () -> Void
    /// Both the writer and those who want to see lines written wait for it.
    private let changed = Condition()
    private var state = State()

    /// How long the writer lets lines gather, and how many bytes are enough: it must not be woken for every line.
    private static let gathering = Duration.milliseconds(2)
    private static let enough = 64 * 1024

    /// - Parameter whenDropping: called at the first loss, on the thread that logs.
    init(capacity: Int, whenDropping: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.whenDropping = whenDropping
    }

    // MARK: For those who log

    var dropped: Int { self.changed.locked { self.state.dropped } }
    var failures: Int { self.changed.locked { self.state.failures } }

    func append(_ lines: [UInt8]) {
        let isFirstLoss = self.changed.locked {
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
        self.changed.locked {
            self.state.pieces.append(Piece(descriptor: descriptor))
            self.wakeWriter()
        }
    }

    func waitUntilDone(within limit: Duration) -> Bool {
        let deadline = Condition.Deadline(in: limit)
        return self.changed.locked {
            let target = self.state.taken
            // Once: two that wait would wake each other for as long as the writer is held up.
            self.state.isUrgent = true
            self.changed.broadcast()
            while self.state.done < target {
                guard self.changed.wait(until: deadline) else { return self.state.done >= target }
            }
            return true
        }
    }

    /// No lines come any more; what is there is still written.
    func end() {
        self.changed.locked {
            self.state.hasEnded = true
            self.changed.broadcast()
        }
    }

    private func wakeWriter() {
        let isEnough = self.state.taken - self.state.done >= Self.enough
        guard self.state.isIdle || isEnough else { return }
        self.state.isIdle = false
        self.changed.broadcast()
    }

    // MARK: For the writer

    /// Waits for lines.
    ///
    /// - Returns: nil when everything is written and no more will come.
    func take() -> [Piece]? {
        self.changed.locked {
            while self.state.pieces.isEmpty {
                if self.state.hasEnded { return nil }
                self.state.isIdle = true
                self.changed.wait()
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
        let deadline = Condition.Deadline(in: Self.gathering)
        while !self.state.isUrgent, !self.state.hasEnded, self.state.taken - self.state.done < Self.enough {
            guard self.changed.wait(until: deadline) else { return }
        }
    }

    func finished(_ bytes: Int, lost: Int = 0) {
        self.changed.locked {
            self.state.done += bytes
            self.state.failures += lost
            self.changed.broadcast()
        }
    }
}
