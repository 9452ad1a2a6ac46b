// SPDX-License-Identifier: Apache-2.0

/// The part of a cache's state that is in memory: what is being written, what was used lately, and the totals. Its size
/// has limits that do not depend on the number of entries.
struct WriteLedger: Sendable {
    /// An entry that is being written.
    struct Writing: Sendable {
        let url: String
        let tags: [String]
        /// What it counts for: as much as was said, or more where more has come.
        var cost: UInt64
        /// A removal has come that would have removed it.
        var isRevoked = false
    }

    /// The most uses that wait to be written down; later ones are forgotten until then.
    static let mostUses = 1024
    /// As many uses as are worth a transaction of their own.
    static let usesOfBatch = 512

    private(set) var writings: [Int64: Writing] = [:]
    private(set) var pendingBytes: UInt64 = 0
    private(set) var uses: [Int64: Int64] = [:]
    private var nextID: Int64
    private var nextUse: Int64
    /// What the index has.
    var statistics: DiskCache.Statistics
    /// Nothing could be written the last time.
    var isFailing = false

    init(firstID: Int64, firstUse: Int64, statistics: DiskCache.Statistics) {
        self.nextID = firstID
        self.nextUse = firstUse
        self.statistics = statistics
    }

    /// All ids that were given so far are lower.
    var endOfIDs: Int64 { self.nextID }

    /// Begins an entry.
    ///
    /// - Returns: its id; nil where too many are being written.
    mutating func begin(url: String, tags: [String], cost: UInt64) -> Int64? {
        guard self.writings.count < DiskCache.Limits.writers else { return nil }
        defer { self.nextID += 1 }
        self.writings[self.nextID] = Writing(url: url, tags: tags, cost: cost)
        self.pendingBytes += cost
        return self.nextID
    }

    /// Counts an entry for more, if it is more.
    mutating func reserve(_ cost: UInt64, for id: Int64) {
        guard let before = self.writings[id]?.cost, before < cost else { return }
        self.writings[id]?.cost = cost
        self.pendingBytes += cost - before
    }

    /// Ends an entry, which was committed or given up.
    ///
    /// - Returns: nil where it was ended before.
    @discardableResult
    mutating func end(_ id: Int64) -> Writing? {
        guard let writing = self.writings.removeValue(forKey: id) else { return nil }
        self.pendingBytes -= writing.cost
        return writing
    }

    /// Lets none of the entries be committed that are being written and selected.
    mutating func revoke(_ selection: RemovalSelection) {
        for (id, writing) in self.writings where selection.matches(url: writing.url, tags: writing.tags) {
            self.writings[id]?.isRevoked = true
        }
    }

    /// The bytes that must be freed so that everything fits, and a 32nd of the capacity besides, so that not each entry
    /// evicts another; 0 where everything fits.
    func excess(over capacity: UInt64) -> UInt64 {
        let (used, isBeyond) = self.statistics.bytes.addingReportingOverflow(self.pendingBytes)
        guard !isBeyond else { return self.statistics.bytes }
        return used <= capacity ? 0 : min(self.statistics.bytes, used - capacity + capacity / 32)
    }

    /// Whether the entries that there are and those that are being written fit together.
    func fits(_ capacity: UInt64) -> Bool { self.statistics.bytes + self.pendingBytes <= capacity }

    // MARK: Uses

    /// The place in the order of use that is later than all before.
    mutating func use() -> Int64 {
        defer { self.nextUse += 1 }
        return self.nextUse
    }

    /// Remembers that an entry was used.
    ///
    /// - Returns: true when it is time to write the uses down.
    mutating func noteUse(of id: Int64) -> Bool {
        guard self.uses.count < Self.mostUses || self.uses[id] != nil else { return false }
        let before = self.uses.count
        self.uses[id] = self.use()
        return before < Self.usesOfBatch && self.uses.count == Self.usesOfBatch
    }

    /// The uses, which whoever takes them writes down.
    mutating func takeUses() -> [Int64: Int64] {
        defer { self.uses = [:] }
        return self.uses
    }

    /// Begins with another index. What is being written belongs to the old one, and is not committed.
    mutating func begin(with index: CacheIndex) {
        self.uses = [:]
        self.nextID = index.firstID
        self.nextUse = max(self.nextUse, index.firstUse)
        self.statistics = index.atStart
        for id in self.writings.keys { self.writings[id]?.isRevoked = true }
    }
}
