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
                let code = pthread_mutex_init(mutex, nil)
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
            pthread_mutex_lock(mutex)
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
