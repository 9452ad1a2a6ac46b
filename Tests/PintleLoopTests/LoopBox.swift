// SPDX-License-Identifier: Apache-2.0

/// Carries what belongs to a loop's thread through a test.
final class LoopBox<Value>: @unchecked Sendable {
    // Why @unchecked holds: it is a constant, and tests touch what it holds in work that runs on the loop alone.
    let value: Value

    init(_ value: Value) { self.value = value }
}
