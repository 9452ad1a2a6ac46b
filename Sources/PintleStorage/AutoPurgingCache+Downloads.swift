// SPDX-License-Identifier: Apache-2.0

public import PintleSession

/// Keeps the values of a `Downloader` by their URL.
///
/// Requests for one URL that differ in their fields, so that the origin answers them otherwise, need a cache each.
extension AutoPurgingCache: DownloadCache where Key == CacheIdentifier {
    /// The value of a request's URL, which counts as its use; nil where there is none.
    public func value(for request: SessionRequest) -> Value? { self.value(for: CacheIdentifier(request.url)) }

    /// Says whether a value is worth adding.
    public func shouldCache(_ value: Value, for request: SessionRequest) -> Bool {
        self.shouldCache(value, for: CacheIdentifier(request.url))
    }

    /// Adds a value, as `add(_:for:)` does.
    public func add(_ value: Value, for request: SessionRequest) { self.add(value, for: CacheIdentifier(request.url)) }
}
