// SPDX-License-Identifier: Apache-2.0

public import PintleSession

/// Stores the values of a ``Downloader``: AFNetworking's image request cache, for values of any type.
///
/// It is a separate layer above the session's `SessionConfiguration.cache`, which stores responses by the rules of
/// HTTP: a value is served until this cache drops it, however old it is. It is called from many threads at once, and
/// must not block.
public protocol DownloadCache<Value>: Sendable {
    /// The type of the values.
    associatedtype Value: Sendable

    /// Returns the value stored for a request, or nil.
    func value(for request: SessionRequest) -> Value?
    /// Returns true if ``add(_:for:)`` shall be called with a value that has just arrived. Called once for each
    /// transfer.
    func shouldCache(_ value: Value, for request: SessionRequest) -> Bool
    /// Stores a value and replaces an earlier one.
    func add(_ value: Value, for request: SessionRequest)
}

extension DownloadCache {
    /// Returns true: every value is stored.
    public func shouldCache(_ value: Value, for request: SessionRequest) -> Bool { true }
}
