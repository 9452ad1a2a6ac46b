// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A value that threads change and that a test waits for, without polling.
package final class Watched<Value: Sendable>: @unchecked Sendable {
    // Why @unchecked holds: `value` is touched under the condition's lock only.
    private let condition = NSCondition()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    /// The present value.
    package var current: Value {
        self.condition.lock()
        defer { self.condition.unlock() }
        return self.value
    }

    /// Changes the value and wakes all waiting threads.
    @discardableResult
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        self.condition.lock()
        defer { self.condition.unlock() }
        let result = body(&self.value)
        self.condition.broadcast()
        return result
    }

    /// Blocks until `isReached` returns true.
    ///
    /// - Throws: ``TestFailure`` naming `what` after `seconds`.
    @discardableResult
    package func wait(
        for what: @autoclosure () -> String, seconds: Double = Patience.seconds, until isReached: (Value) -> Bool
    ) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: seconds)
        self.condition.lock()
        defer { self.condition.unlock() }
        while !isReached(self.value) {
            guard self.condition.wait(until: deadline) else {
                if isReached(self.value) { break }
                throw TestFailure("waited \(seconds) s for \(what()); there is: \(self.value)")
            }
        }
        return self.value
    }

    /// Waits as ``wait(for:seconds:until:)`` does, on a separate thread: a task that blocked would take a thread from the
    /// tasks that it waits for.
    @discardableResult
    package func reach(
        _ what: String, seconds: Double = Patience.seconds, until isReached: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try self.wait(for: what, seconds: seconds, until: isReached) })
            }
        }
    }
}
