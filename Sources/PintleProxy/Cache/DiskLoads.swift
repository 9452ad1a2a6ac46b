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

    /// By the ids of their entries.
    private let loads = Locked<[Int64: Task<Loaded?, Never>]>([:])

    /// Reads a response into memory, or joins the read that is under way.
    ///
    /// - Parameter reserve: reserves the memory; nil if there is no room.
    /// - Returns: nil if there is no room. The task returns nil if the body cannot be read.
    func load(_ stored: DiskEntry, reserve: () -> BodyBudget.Share?) -> Task<Loaded?, Never>? {
        let id = stored.reader.entry.id
        return self.loads.withLock { loads in
            if let load = loads[id] { return load }
            guard let share = reserve() else { return nil }
            let load = Task {
                let entry = await stored.inMemory()
                self.loads.withLock { $0[id] = nil }
                return entry.map { Loaded(entry: $0, share: share) }
            }
            loads[id] = load
            return load
        }
    }
}
