// SPDX-License-Identifier: Apache-2.0

/// Carries an object of a loop's thread through a test.
final class LoopBox<Value>: @unchecked Sendable {
    // Why @unchecked holds: `value` is a constant, and tests use its content only in work that runs on the loop.
    let value: Value

    init(_ value: Value) { self.value = value }
}
