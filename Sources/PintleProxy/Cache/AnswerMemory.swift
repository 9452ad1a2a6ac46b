// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// The responses in memory, up to a capacity in bytes. The responses of a key are kept and used together.
///
/// Beyond the capacity the least recently used keys go, in steps that the owner takes, because there may be tens of thousands;
/// until they are gone the usage exceeds the capacity by one eighth at most. Removed responses are returned, so that the caller
/// frees their memory outside of its lock.
struct AnswerMemory: Sendable {
    private let capacity: UInt64
    private let preferredUsage: UInt64
    private let variantLimit: Int
    private var kept = RecencyEntries<CacheKey, [KeptAnswer]>()
    /// The partitions that responses were ever kept for; there are few.
    private var partitions: Set<String> = []
    /// The number of responses; a key may have several.
    private(set) var count = 0
    private var isPurging = false

    init(capacity: Int, preferredUsage: Int, variantLimit: Int) {
        self.capacity = UInt64(capacity)
        self.preferredUsage = UInt64(preferredUsage)
        self.variantLimit = variantLimit
    }

    /// The memory that the responses take, in bytes.
    var usage: Int { Int(clamping: self.kept.cost) }

    var keys: [CacheKey] { self.kept.keys }

    /// The keys of a URL.
    func keys(of url: String) -> [CacheKey] { self.partitions.map { CacheKey(partition: $0, url: url) } }

    /// The responses of a key, the latest first; marks the key as used.
    mutating func answers(for key: CacheKey) -> [KeptAnswer] { self.kept.use(key) ?? [] }

    /// Begins a purge if one is due. It removes responses until the preferred usage is reached.
    ///
    /// - Returns: true if the caller has to take the steps of the purge.
    mutating func beginPurge() -> Bool {
        guard !self.isPurging, self.kept.cost > self.capacity else { return false }
        self.isPurging = true
        return true
    }

    /// Takes a step of a purge.
    ///
    /// - Returns: the removed responses; empty if the purge is over.
    mutating func purge() -> [KeptAnswer] {
        let purged = self.kept.removeOldest(untilCost: self.preferredUsage, most: Self.keysInStep).flatMap(\.self)
        self.count -= purged.count
        self.isPurging = !purged.isEmpty
        return purged
    }

    /// The number of keys that one step removes.
    private static let keysInStep = 200

    /// Keeps a response in place of those that it replaces. They are removed even if there is no room for the new one.
    ///
    /// - Returns: the removed responses.
    mutating func keep(
        _ answer: KeptAnswer, at key: CacheKey, replacing isReplaced: (KeptAnswer) -> Bool
    ) -> [KeptAnswer] {
        let old = self.kept[key] ?? []
        let others = old.filter { !isReplaced($0) }.prefix(self.variantLimit - 1)
        let gone = old.filter { answer in !others.contains { $0.number == answer.number } }
        let hasRoom = self.kept.cost + UInt64(answer.cost) <= self.capacity + self.capacity / 8
        self.partitions.insert(key.partition)
        self.set((hasRoom ? [answer] : []) + others, at: key)
        return gone
    }

    /// - Returns: false if the response was not there any more.
    mutating func remove(_ answer: KeptAnswer, at key: CacheKey) -> Bool {
        guard let answers = self.kept[key] else { return false }
        let others = answers.filter { $0.body !== answer.body }
        self.set(others, at: key)
        return others.count < answers.count
    }

    /// Removes the matching responses of a key.
    mutating func remove(at key: CacheKey, where isMeant: (KeptAnswer) -> Bool) -> [KeptAnswer] {
        guard let answers = self.kept[key] else { return [] }
        let removed = answers.filter(isMeant)
        if !removed.isEmpty { self.set(answers.filter { !isMeant($0) }, at: key) }
        return removed
    }

    /// - Returns: the former content; freeing it takes time.
    mutating func removeAll() -> AnswerMemory {
        defer { (self.kept, self.count) = (RecencyEntries(), 0) }
        return self
    }

    private mutating func set(_ answers: [KeptAnswer], at key: CacheKey) {
        self.count += answers.count - (self.kept[key]?.count ?? 0)
        guard !answers.isEmpty else {
            self.kept.remove(key)
            return
        }
        let cost = answers.reduce(0) { $0 + $1.cost } + 2 * (key.url.utf8.count + key.partition.utf8.count)
        self.kept.insert(answers, for: key, cost: UInt64(cost))
    }
}
