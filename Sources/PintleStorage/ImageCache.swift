// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Bitmaps in memory, each of which takes four bytes a pixel.
public typealias ImageCache = AutoPurgingCache<CacheIdentifier, Bitmap>

extension AutoPurgingCache where Value == Bitmap {
    /// Makes an empty cache for bitmaps.
    ///
    /// - Parameters:
    ///   - capacity: in bytes; 100 MiB unless given.
    ///   - preferredUsageAfterPurge: in bytes; 60 MiB unless given.
    ///   - pressure: its rising empties the cache; nil for a cache that keeps its bitmaps then.
    ///   - shouldCache: the answer to `shouldCache(_:for:)`; yes to everything unless given.
    public convenience init(
        capacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20, pressure: MemoryPressure? = .system,
        shouldCache: @escaping @Sendable (Key, Value) -> Bool = { _, _ in true }
    ) {
        self.init(
            capacity: capacity, preferredUsageAfterPurge: preferredUsageAfterPurge, pressure: pressure,
            shouldCache: shouldCache, cost: { $0.pixels.count })
    }
}
