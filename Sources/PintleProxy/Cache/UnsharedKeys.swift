// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// The keys whose last answer the origin did not want to be stored: requests for them do not wait for each other. They are
/// forgotten after a while, as the origin may think otherwise then, and the oldest ones where there are too many.
struct UnsharedKeys: Sendable {
    /// In seconds: what an answer that could be shared by then costs is one request of each client.
    private static let memory: Int64 = 30
    private static let most: UInt64 = 4096
    private var noted = RecencyEntries<CacheKey, CacheTime>()

    mutating func note(_ key: CacheKey, at time: CacheTime) {
        self.noted.insert(time, for: key, cost: 1)
        _ = self.noted.removeOldest(untilCost: Self.most)
    }

    mutating func has(_ key: CacheKey, at time: CacheTime) -> Bool {
        guard let noted = self.noted[key] else { return false }
        if time.seconds(since: noted) < Self.memory { return true }
        self.forget(key)
        return false
    }

    mutating func forget(_ key: CacheKey) { self.noted.remove(key) }
}
