// SPDX-License-Identifier: Apache-2.0

/// Names a value that a program keeps with a task: ``SessionTask/subscript(_:)``.
public protocol SessionTaskKey {
    /// The value's type.
    associatedtype Value: Sendable
}
