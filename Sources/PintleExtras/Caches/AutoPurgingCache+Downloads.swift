// SPDX-License-Identifier: Apache-2.0

public import PintleSession

/// Makes the cache usable by a `Downloader`, with URLs as keys.
///
/// If requests for one URL differ in fields on which the origin's response depends, each kind needs its own cache.
extension AutoPurgingCache: DownloadCache where Key == CacheIdentifier {
    /// Returns the value of the request's URL and counts this as its use; nil if there is none.
    public func value(for request: SessionRequest) -> Value? { self.value(for: CacheIdentifier(request.url)) }

    /// True if the value should be added.
    public func shouldCache(_ value: Value, for request: SessionRequest) -> Bool {
        self.shouldCache(value, for: CacheIdentifier(request.url))
    }

    /// Adds a value like `add(_:for:)`.
    public func add(_ value: Value, for request: SessionRequest) { self.add(value, for: CacheIdentifier(request.url)) }
}
