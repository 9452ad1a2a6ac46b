// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A value that is used on one loop's thread only, but held by code on other threads.
package struct LoopBound<Value>: @unchecked Sendable {
    // Why @unchecked holds: `value` is reached through `run` alone, which hops to the loop.
    private let value: Value
    private let loop: Loop

    package init(_ value: Value, loop: Loop) {
        self.value = value
        self.loop = loop
    }

    /// Runs `work` with the value, in a later turn of its loop.
    package func run(_ work: @escaping @Sendable (Value) -> Void) { self.loop.execute { work(self.value) } }

    /// Runs `work` with the value, and waits for it; must not be called from a loop.
    package func runAndWait(_ work: @escaping @Sendable (Value) -> Void) {
        // A loop that has ended has no more work to do.
        try? self.loop.submit { work(self.value) }.wait()
    }
}
