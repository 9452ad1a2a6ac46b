// SPDX-License-Identifier: Apache-2.0

/// Keeps the values of a ``Downloader``: AFNetworking's image request cache, for values of any type.
///
/// It is a layer of its own above the session's ``SessionConfiguration/cache``, which keeps responses by the rules of
/// HTTP: what is here serves until the cache lets it go, however old it is. It is called from many threads at once,
/// and must not block.
public protocol DownloadCache<Value>: Sendable {
    /// The type of the values.
    associatedtype Value: Sendable

    /// The value of a request, or nil.
    func value(for request: SessionRequest) -> Value?
    /// Says whether ``add(_:for:)`` is to be called with a value that has just arrived: once for each transfer.
    func shouldCache(_ value: Value, for request: SessionRequest) -> Bool
    /// Takes a value, in the place of the one that was there.
    func add(_ value: Value, for request: SessionRequest)
}

extension DownloadCache {
    /// True: everything is kept.
    public func shouldCache(_ value: Value, for request: SessionRequest) -> Bool { true }
}
