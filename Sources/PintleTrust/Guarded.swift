// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Guards a value with a mutex.
///
/// Not `Synchronization.Mutex`: ThreadSanitizer does not see its futex on Linux, and reports races that are none. The
/// twin in PintleActivity cannot be used, because this room imports no other.
// Unchecked because the compiler cannot see that `value` is only touched between lock and unlock.
final class Guarded<Value>: @unchecked Sendable {
    // Allocated, so that the mutex keeps one address for life, as POSIX demands.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
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

    /// Runs `body` alone with the value.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(self.mutex)
        defer { pthread_mutex_unlock(self.mutex) }
        return try body(&self.value)
    }
}
