// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// The keys whose last answer the origin did not want to be stored: requests for them do not wait for each other. They are
/// of no account after a while, as the origin may think otherwise then, and the oldest ones are forgotten where they take too much
/// memory.
struct UnsharedKeys: Sendable {
    /// In seconds: what an answer that could be shared by then costs is one request of each client.
    private static let memory: Int64 = 30
    /// In bytes.
    private static let most: UInt64 = 1 << 20
    private var noted = RecencyEntries<CacheKey, CacheTime>()

    mutating func note(_ key: CacheKey, at time: CacheTime) {
        self.noted.insert(time, for: key, cost: UInt64(key.url.utf8.count + Self.fixedCost))
        _ = self.noted.removeOldest(untilCost: Self.most)
    }

    mutating func has(_ key: CacheKey, at time: CacheTime) -> Bool {
        guard let noted = self.noted[key] else { return false }
        if time.seconds(since: noted) < Self.memory { return true }
        self.forget(key)
        return false
    }

    /// The memory that a key takes beside its text, whose partition is that of its route.
    private static let fixedCost = 128

    mutating func forget(_ key: CacheKey) { self.noted.remove(key) }
}
