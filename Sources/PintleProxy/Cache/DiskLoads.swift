// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleCacheStore
internal import PintleSystem

/// The reads of responses from disk into memory that are under way. All clients that want a response at the time share one read.
final class DiskLoads: Sendable {
    /// A response in memory, and the memory that was reserved for it until the cache counts it.
    struct Loaded: Sendable {
        let entry: CacheEntry<SharedBody>
        let share: BodyBudget.Share
    }

    /// By their entries with their heads: an entry keeps its id when its head is replaced.
    private let loads = Locked<[DiskCache.Entry: Task<Loaded?, Never>]>([:])

    /// Reads a response into memory, or joins the read that is under way.
    ///
    /// - Parameter reserve: reserves the memory; nil if there is no room.
    /// - Returns: nil if there is no room. The task returns nil if the body cannot be read.
    func load(_ stored: DiskEntry, reserve: () -> BodyBudget.Share?) -> Task<Loaded?, Never>? {
        let entry = stored.reader.entry
        return self.loads.withLock { loads in
            if let load = loads[entry] { return load }
            guard let share = reserve() else { return nil }
            let load = Task {
                let loaded = await stored.inMemory()
                self.loads.withLock { $0[entry] = nil }
                return loaded.map { Loaded(entry: $0, share: share) }
            }
            loads[entry] = load
            return load
        }
    }
}
