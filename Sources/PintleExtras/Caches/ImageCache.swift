// SPDX-License-Identifier: Apache-2.0

public import PintleSerialization
public import PintleStorage

/// A cache of bitmaps in memory, each of which takes four bytes per pixel.
public typealias ImageCache = AutoPurgingCache<CacheIdentifier, Bitmap>

extension AutoPurgingCache where Value == Bitmap {
    /// Creates an empty cache for bitmaps.
    ///
    /// - Parameters:
    ///   - capacity: size in bytes; default 100 MiB.
    ///   - preferredUsageAfterPurge: size in bytes; default 60 MiB.
    ///   - pressure: empties the cache whenever it rises; with nil the cache ignores memory pressure.
    ///   - shouldCache: the implementation of `shouldCache(_:for:)`; by default always true.
    public convenience init(
        capacity: Int = 100 << 20, preferredUsageAfterPurge: Int = 60 << 20, pressure: MemoryPressure? = .system,
        shouldCache: @escaping @Sendable (Key, Value) -> Bool = { _, _ in true }
    ) {
        self.init(
            capacity: capacity, preferredUsageAfterPurge: preferredUsageAfterPurge, pressure: pressure,
            shouldCache: shouldCache, cost: { $0.pixels.count })
    }
}
