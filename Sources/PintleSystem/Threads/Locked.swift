// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Guards a value with a mutex.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer on Linux, which then reports false races.
/// The closure of ``withLock(_:)`` must never call code of other modules.
// Unchecked because the compiler cannot see that `value` is only accessed between lock and unlock.
package final class Locked<Value: Sendable>: @unchecked Sendable {
    // Allocated, so that the mutex keeps one address for life, as POSIX requires.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Creates an unlocked mutex that guards `value`.
    package init(_ value: Value) {
        self.value = value
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(self.mutex, nil)
        precondition(code == 0, "BUG: pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(self.mutex)
        self.mutex.deinitialize(count: 1)
        self.mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.value)
    }
}
