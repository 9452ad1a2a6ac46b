// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A lock, and a condition on which threads wait. Deadlines use the monotonic clock.
// Unchecked because both pointers never change, and all threads may use the POSIX objects behind them.
package final class Condition: @unchecked Sendable {
    /// A point in time of the monotonic clock.
    package struct Deadline {
        fileprivate var time = timespec()

        /// Creates the deadline after `duration`.
        package init(in duration: Duration) {
            clock_gettime(CLOCK_MONOTONIC, &self.time)
            let (seconds, attoseconds) = duration.components
            let nanoseconds = Int64(self.time.tv_nsec) + attoseconds / 1_000_000_000
            self.time = timespec(
                tv_sec: self.time.tv_sec + Int(seconds + nanoseconds / 1_000_000_000),
                tv_nsec: Int(nanoseconds % 1_000_000_000))
        }
    }

    // Allocated, so that both keep one address for life, as POSIX requires.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        self.condition = .allocate(capacity: 1)
        self.condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        let codes = (pthread_mutex_init(self.mutex, nil), pthread_cond_init(self.condition, &attributes))
        precondition(codes == (0, 0), "BUG: a mutex or a condition cannot be made: \(codes)")
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(self.condition)
        self.condition.deallocate()
        pthread_mutex_destroy(self.mutex)
        self.mutex.deallocate()
    }

    /// Runs `body` while holding the lock.
    package func locked<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body()
    }

    /// Releases the lock until another thread signals. Only inside ``locked(_:)``; may return without a signal.
    package func wait() { pthread_cond_wait(self.condition, self.mutex) }

    /// Waits like ``wait()``, but not beyond a deadline.
    ///
    /// - Returns: false if the deadline has passed.
    package func wait(until deadline: Deadline) -> Bool {
        var time = deadline.time
        return pthread_cond_timedwait(self.condition, self.mutex, &time) != ETIMEDOUT
    }

    /// Wakes one waiting thread.
    package func signal() { pthread_cond_signal(self.condition) }

    /// Wakes all waiting threads.
    package func broadcast() { pthread_cond_broadcast(self.condition) }
}
