// SPDX-License-Identifier: Apache-2.0

public import Glibc

/// A value behind a mutex: the lock of this house.
///
/// Not `Synchronization.Mutex`: its futex is invisible to ThreadSanitizer on Linux, which then reports false races.
/// The closure of ``withLock(_:)`` must never call code of other modules.
// Unchecked because the compiler cannot see that the value is only accessed between lock and unlock. `@usableFromInline` because
// other rooms get no inlinable members of a type that is only `package`.
@usableFromInline package struct Locked<Value: Sendable>: @unchecked Sendable {
    @usableFromInline let storage: LockedStorage<Value>

    /// Creates an unlocked mutex that guards `value`.
    @inlinable package init(_ value: Value) { self.storage = .make(value) }

    /// Runs `body` with exclusive access to the value.
    @inlinable @inline(__always) package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.storage.withLock(body)
    }
}

/// The mutex and the value, which keep one address for life, as POSIX requires of the mutex.
@usableFromInline final class LockedStorage<Value: Sendable>: ManagedBuffer<Value, pthread_mutex_t> {
    @inlinable static func make(_ value: Value) -> Self {
        let made = self.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                var attributes = pthread_mutexattr_t()
                pthread_mutexattr_init(&attributes)
                defer { pthread_mutexattr_destroy(&attributes) }
                #if DEBUG
                // A thread that locks twice then hears so, and does not hang.
                pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
                #endif
                let code = pthread_mutex_init(mutex, &attributes)
                precondition(code == 0, "BUG: pthread_mutex_init failed with \(code)")
            }
            return value
        }
        return unsafeDowncast(made, to: Self.self)
    }

    @inlinable @inline(__always) func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try self.withUnsafeMutablePointers { (value, mutex) throws(Failure) in
            let code = pthread_mutex_lock(mutex)
            // EDEADLK, 35, if the thread has the lock already.
            assert(code == 0, "BUG: pthread_mutex_lock failed with \(code)")
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }

    @inlinable deinit {
        self.withUnsafeMutablePointerToElements { mutex in
            _ = pthread_mutex_destroy(mutex)
        }
    }
}
