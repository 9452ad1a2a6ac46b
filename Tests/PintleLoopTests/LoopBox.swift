// SPDX-License-Identifier: Apache-2.0

/// Carries what belongs to a loop's thread through a test.
final class LoopBox<Value>: @unchecked Sendable {
    // Why @unchecked holds: the value is only used in calls on the loop.
    let value: Value

    init(_ value: Value) { self.value = value }
}
