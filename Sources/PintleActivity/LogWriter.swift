// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Writes log lines on a thread of its own, so that logging blocks neither on a reader nor on a disk.
///
/// Lines keep their order and stay whole. Lines that do not fit into the queue are dropped and counted: a log without a
/// reader must not stop the proxy.
package final class LogWriter: Sendable {
    /// The reason why lines are missing from a log.
    package enum Loss: Sendable, Equatable {
        /// The lines could not be written; has the system's error number.
        case failed(Int32)
        /// The queue was full; has its capacity in bytes.
        case dropped(capacity: Int)
    }

    /// Bytes of some ten thousand exchange lines: little compared with the memory that those exchanges took.
    package static let standardCapacity = 4 << 20

    private let queue: LineQueue

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - output: the destination of the lines; it must have no other writer.
    ///   - capacity: the maximum of bytes that wait.
    ///   - whenLosing: called once for each kind of loss, on the thread that logs or on the writer's thread.
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

    /// Writes to a descriptor that the caller keeps open.
    package convenience init(
        borrowing descriptor: Int32, capacity: Int = LogWriter.standardCapacity,
        whenLosing: @escaping @Sendable (Loss) -> Void = { _ in }
    ) {
        self.init(LineOutput(borrowing: descriptor), capacity: capacity, whenLosing: whenLosing)
    }

    deinit { self.queue.end() }

    /// Queues lines that end with a newline, or drops them all.
    func write(_ lines: [UInt8]) { self.queue.append(lines) }

    /// Switches to another file. Lines that were queued before go to the old one.
    func replace(with descriptor: Int32) { self.queue.append(switchingTo: descriptor) }

    /// Waits until every line queued so far is written.
    ///
    /// - Returns: true if that happened within `limit`.
    @discardableResult
    package func flush(within limit: Duration) -> Bool { self.queue.waitUntilDone(within: limit) }

    /// The number of lines that were dropped because the queue was full.
    package var dropped: Int { self.queue.dropped }
    /// The number of lines that could not be written.
    package var failures: Int { self.queue.failures }
}

/// Writes the lines of a queue, on a thread of its own. It holds the queue but not the ``LogWriter``, whose end must end
/// the thread.
private struct QueueDrain {
    private let queue: LineQueue
    private let output: LineOutput
    private let whenLosing: @Sendable (LogWriter.Loss) -> Void
    private var hasFailed = false

    /// The maximum of bytes in one write, unless a line is longer: a pipe takes so many in one piece (PIPE_BUF), so that
    /// lines of several processes stay apart.
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

/// The queue of lines between the threads that log and the one thread that writes.
private final class LineQueue: @unchecked Sendable {
    // Why @unchecked holds: `state` is only accessed inside `changed.locked`.
    struct Piece {
        /// The descriptor to which the writer switches before these lines; nil if it keeps the current one.
        var descriptor: Int32?
        var lines: [UInt8] = []
    }

    private struct State {
        var pieces: [Piece] = []
        /// The number of bytes that were queued. `done` counts those of them that were written or lost.
        var taken = 0
        var done = 0
        var dropped = 0
        var failures = 0
        /// True while the writer sleeps until it is woken.
        var isIdle = false
        /// True if a thread waits in `waitUntilDone(within:)`, so that the writer must not gather more lines.
        var isUrgent = false
        var hasEnded = false
    }

    let capacity: Int
    private let whenDropping: @Sendable () -> Void
    /// Signals every change, to the writer and to threads that wait for lines to be written.
    private let changed = Condition()
    private var state = State()

    /// The time for which the writer lets lines gather, and the number of bytes that ends the wait: waking it for every
    /// line would cost too much.
    private static let gathering = Duration.milliseconds(2)
    private static let enough = 64 * 1024

    /// - Parameter whenDropping: called at the first drop, on the thread that logs.
    init(capacity: Int, whenDropping: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.whenDropping = whenDropping
    }

    // MARK: For threads that log

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
            // Set once, not in the loop: two waiting threads would wake each other as long as the writer is blocked.
            self.state.isUrgent = true
            self.changed.broadcast()
            while self.state.done < target {
                guard self.changed.wait(until: deadline) else { return self.state.done >= target }
            }
            return true
        }
    }

    /// Ends the queue: it accepts no more lines, but those in it are still written.
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

    /// Waits for lines, and takes all of them.
    ///
    /// - Returns: nil if the queue has ended and everything is written.
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
