// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Something that is used on one loop's thread only, held from elsewhere.
package struct LoopBound<Value>: @unchecked Sendable {
    // Why @unchecked holds: `value` is reached through `run` alone, which hops to the loop.
    private let value: Value
    private let loop: Loop

    package init(_ value: Value, loop: Loop) {
        self.value = value
        self.loop = loop
    }

    /// Has it used in a later turn of its loop.
    package func run(_ work: @escaping @Sendable (Value) -> Void) { self.loop.execute { work(self.value) } }

    /// Has it used, and waits for that; must not be called from a loop.
    package func runAndWait(_ work: @escaping @Sendable (Value) -> Void) {
        // A loop that has ended has nothing left to be done.
        try? self.loop.submit { work(self.value) }.wait()
    }
}
