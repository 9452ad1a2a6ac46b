// SPDX-License-Identifier: Apache-2.0

/// Threads for what computes for long or blocks, as names, disks and password hashes do.
///
/// They are neither loops nor those of Dispatch. On Linux Dispatch's queues and Swift's tasks draw their threads from one
/// store: where as many blocks are held up as there are processors, no task of the process goes on.
package final class ThreadPool: Sendable {
    package typealias Work = @Sendable () -> Void

    fileprivate struct State {
        /// Work that no thread has begun, the next one first. Whoever asks bounds it.
        var waiting: [Work] = []
        var threads = 0
        /// Those of the threads that wait for work, or were just woken for it.
        var idle = 0
    }

    /// For what blocks once in a while and has no pool of its own.
    package static let shared = ThreadPool(most: 64)

    /// How long a thread waits for more to do before it ends.
    private static let patience = Duration.seconds(2)

    private let most: Int
    private let changed = Condition()
    // Touched inside `changed.locked` alone.
    private nonisolated(unsafe) var state = State()

    /// - Parameter most: the most threads at a time (1…); what comes while all are busy waits, in order.
    package init(most: Int) { self.most = max(1, most) }

    /// Has `work` done by a thread of the pool.
    ///
    /// - Throws: the system's error where there is no thread and none to be had; `work` is never done then.
    package func run(_ work: @escaping Work) throws(SystemError) {
        try self.changed.locked { () throws(SystemError) in
            self.state.waiting.append(work)
            if self.state.idle >= self.state.waiting.count { return self.changed.signal() }
            // Where all are busy, the first that is done goes on with it.
            guard self.state.threads < self.most else { return }
            do throws(SystemError) {
                try SystemThread.start { self.serve() }
                self.state.threads += 1
            } catch {
                // The threads that there are come to it in the end.
                guard self.state.threads == 0 else { return }
                self.state.waiting.removeLast()
                throw error
            }
        }
    }

    private func serve() {
        while let work = self.next() { work() }
    }

    /// - Returns: nil when there was nothing to do for a while; the thread is counted out then.
    private func next() -> Work? {
        self.changed.locked {
            let end = Condition.Deadline(in: Self.patience)
            while self.state.waiting.isEmpty {
                self.state.idle += 1
                let isInTime = self.changed.wait(until: end)
                self.state.idle -= 1
                if !isInTime, self.state.waiting.isEmpty {
                    self.state.threads -= 1
                    return nil
                }
            }
            return self.state.waiting.removeFirst()
        }
    }
}

extension ThreadPool {
    /// Waits for `work` without holding one of the threads that Swift's tasks share.
    ///
    /// Where the system has no thread left, the caller's does it after all.
    package func result<Value: Sendable, Failure: Error>(
        of work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // The result goes through a lock, not through the continuation, whose ordering ThreadSanitizer cannot see.
        let result = Locked<Result<Value, Failure>?>(nil)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let finish: Work = {
                let value = Result { () throws(Failure) -> Value in try work() }
                result.withLock { $0 = value }
                done.resume()
            }
            do { try self.run(finish) } catch { finish() }
        }
        guard let value = result.withLock({ $0 }) else { preconditionFailure("BUG: work ended without a result") }
        return try value.get()
    }
}
