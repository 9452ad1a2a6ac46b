// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// Keys whose last response was not storable; requests for them are not coalesced for 30 s (Varnish: hit-for-miss), because the
/// origin may change its mind. The oldest keys are forgotten if they take too much memory.
struct UncacheableKeys: Sendable {
    /// The time in seconds for which a key is remembered. If responses become shareable sooner, the cost is one request per
    /// client.
    private static let memory: Int64 = 30
    /// The most memory that the keys take, in bytes.
    private static let most: UInt64 = 1 << 20
    private var noted = RecencyEntries<CacheKey, CacheTime>()

    mutating func note(_ key: CacheKey, at time: CacheTime) {
        self.noted.insert(time, for: key, cost: UInt64(key.url.utf8.count + Self.fixedCost))
        _ = self.noted.removeOldest(untilCost: Self.most)
    }

    mutating func has(_ key: CacheKey, at time: CacheTime) -> Bool {
        guard let noted = self.noted[key] else { return false }
        // After the clock was set back, a key could be noted in the future.
        if noted <= time, time.seconds(since: noted) < Self.memory { return true }
        self.forget(key)
        return false
    }

    /// The memory in bytes that a key takes beside its URL. Its partition string is shared with the route.
    private static let fixedCost = 128

    mutating func forget(_ key: CacheKey) { self.noted.remove(key) }
}
