// SPDX-License-Identifier: Apache-2.0

/// Threads for work that computes for long or blocks, such as name lookups, disk access and password hashes.
///
/// They are neither loops nor threads of Dispatch. On Linux, Dispatch queues and Swift tasks share a pool of threads: if as
/// many blocks are stuck as there are processors, no task of the process can continue.
package final class ThreadPool: Sendable {
    package typealias Work = @Sendable () -> Void

    fileprivate struct State {
        /// Work that no thread has started, in order. The callers limit its amount.
        var waiting: [Work] = []
        var threads = 0
        /// The number of threads that wait for work, or were just woken for it.
        var idle = 0
    }

    /// The pool for work that blocks now and then and needs no pool of its own.
    package static let shared = ThreadPool(most: 64)

    /// The time for which a thread waits for more work before it ends.
    private static let patience = Duration.seconds(2)

    private let most: Int
    private let changed = Condition()
    // Only accessed inside `changed.locked`.
    private nonisolated(unsafe) var state = State()

    /// - Parameter most: the maximum number of threads (1…); work waits in order while all are busy.
    package init(most: Int) { self.most = max(1, most) }

    /// Runs `work` on a thread of the pool.
    ///
    /// - Throws: the system's error if the pool has no thread and cannot create one; `work` never runs then.
    package func run(_ work: @escaping Work) throws(SystemError) {
        try self.changed.locked { () throws(SystemError) in
            self.state.waiting.append(work)
            if self.state.idle >= self.state.waiting.count { return self.changed.signal() }
            // If all are busy, the first thread that becomes free takes the work.
            guard self.state.threads < self.most else { return }
            do throws(SystemError) {
                try SystemThread.start { self.serve() }
                self.state.threads += 1
            } catch {
                // The existing threads will do the work later.
                guard self.state.threads == 0 else { return }
                self.state.waiting.removeLast()
                throw error
            }
        }
    }

    private func serve() {
        while let work = self.next() { work() }
    }

    /// Returns the next work.
    ///
    /// - Returns: nil if no work came for a while; the thread is then no longer counted.
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
    /// Waits for `work` without blocking one of the threads that Swift's tasks share.
    ///
    /// If the system cannot create a thread, the calling thread does the work.
    package func result<Value: Sendable, Failure: Error>(
        of work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // The result passes through a lock instead of the continuation, because ThreadSanitizer cannot see the ordering of
        // that.
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
