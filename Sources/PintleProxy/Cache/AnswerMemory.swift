// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// The answers in memory, up to a capacity in bytes: those of a key together, as they are used together.
///
/// Beyond the capacity those that were not used for longest go, in steps that its owner takes: there may be tens of thousands, and
/// until they are gone there is an eighth more at most. Answers that go are returned, so that their memory is given back outside
/// of a lock.
struct AnswerMemory: Sendable {
    private let capacity: UInt64
    private let preferredUsage: UInt64
    private let variantLimit: Int
    private var kept = RecencyEntries<CacheKey, [KeptAnswer]>()
    /// The parties that anything was kept for; there are few.
    private var partitions: Set<String> = []
    /// The number of answers, each of which its key may have several.
    private(set) var count = 0
    private var isPurging = false

    init(capacity: Int, preferredUsage: Int, variantLimit: Int) {
        self.capacity = UInt64(capacity)
        self.preferredUsage = UInt64(preferredUsage)
        self.variantLimit = variantLimit
    }

    /// The bytes that they take.
    var usage: Int { Int(clamping: self.kept.cost) }

    var keys: [CacheKey] { self.kept.keys }

    /// The keys of a URL.
    func keys(of url: String) -> [CacheKey] { self.partitions.map { CacheKey(partition: $0, url: url) } }

    /// The answers of a key, the latest first.
    mutating func answers(for key: CacheKey) -> [KeptAnswer] { self.kept.use(key) ?? [] }

    /// Begins a purge where one is due: then as many go as bring the usage to the preferred one.
    ///
    /// - Returns: true where somebody has to take its steps.
    mutating func beginPurge() -> Bool {
        guard !self.isPurging, self.kept.cost > self.capacity else { return false }
        self.isPurging = true
        return true
    }

    /// Takes a step of a purge.
    ///
    /// - Returns: the answers that have gone; none where it is over.
    mutating func purge() -> [KeptAnswer] {
        let purged = self.kept.removeOldest(untilCost: self.preferredUsage, most: Self.keysInStep).flatMap(\.self)
        self.count -= purged.count
        self.isPurging = !purged.isEmpty
        return purged
    }

    /// The keys whose answers go in a step.
    private static let keysInStep = 200

    /// Keeps an answer, in the place of those that it replaces, which go in any case.
    ///
    /// - Returns: those that have gone.
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

    /// - Returns: false where it was not there any more.
    mutating func remove(_ answer: KeptAnswer, at key: CacheKey) -> Bool {
        guard let answers = self.kept[key] else { return false }
        let others = answers.filter { $0.body !== answer.body }
        self.set(others, at: key)
        return others.count < answers.count
    }

    /// Removes those of a key that are meant.
    mutating func remove(at key: CacheKey, where isMeant: (KeptAnswer) -> Bool) -> [KeptAnswer] {
        guard let answers = self.kept[key] else { return [] }
        let removed = answers.filter(isMeant)
        if !removed.isEmpty { self.set(answers.filter { !isMeant($0) }, at: key) }
        return removed
    }

    /// - Returns: what was there, which takes its time to go.
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
