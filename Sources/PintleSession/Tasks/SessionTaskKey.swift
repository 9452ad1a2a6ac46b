// SPDX-License-Identifier: Apache-2.0

/// The key of a value that a program stores with a task: ``SessionTask/subscript(_:)``.
public protocol SessionTaskKey {
    /// The type of the value.
    associatedtype Value: Sendable
}
