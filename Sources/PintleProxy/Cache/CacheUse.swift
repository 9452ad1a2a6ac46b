// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleSession

/// The cache settings for the requests of a route under one trust policy.
final class CacheUse: Sendable {
    let cache: SharedCache
    /// Nil if the route caches nothing, and identical requests are only merged while they are in flight.
    let mode: CacheMode?
    /// True if requests wait for identical ones in flight.
    let joins: Bool
    let queue: RouteQueue?
    /// The partition of the cache key: a response accepted under one trust policy is never given under another.
    let partition: String
    /// The name in Cache-Status (RFC 9211).
    let name: CacheStatus.Name

    init(
        _ cache: SharedCache, _ mode: CacheMode?, joins: Bool, _ queue: RouteQueue?, partition: String,
        name: CacheStatus.Name
    ) {
        (self.cache, self.mode, self.joins, self.queue) = (cache, mode, joins, queue)
        (self.partition, self.name) = (partition, name)
    }

    /// Returns a copy for requests through an upstream proxy. They have a partition of their own, because it may give other
    /// responses.
    func by(_ upstream: ProxyServer) -> CacheUse {
        self.inPart("by \(upstream.scheme.rawValue)://\(upstream.authority)")
    }

    /// Returns a copy for requests of clients with certain rights. They have a partition of their own, because the address that the
    /// response came from was judged for them.
    func with(_ rights: ClientRights) -> CacheUse {
        self.inPart("for \(rights.rules.map(String.init).joined(separator: ","))")
    }

    /// Returns a copy with a part of the partition.
    private func inPart(_ name: String) -> CacheUse {
        CacheUse(
            self.cache, self.mode, joins: self.joins, self.queue, partition: "\(self.partition) \(name)",
            name: self.name)
    }
}
