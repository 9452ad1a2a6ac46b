// SPDX-License-Identifier: Apache-2.0

/// The state of a cache in memory: the entries that are being written, the latest uses, and the totals. Its size is limited,
/// regardless of the number of entries.
struct WriteLedger: Sendable {
    /// An entry that is being written.
    struct Writing: Sendable {
        let url: String
        let tags: [String]
        /// The estimated bytes of disk: for the declared length, or for more if more bytes have arrived.
        var cost: UInt64
        /// True if a removal that covers the entry was made in the meantime.
        var isRevoked = false
    }

    /// The most uses that wait to be written; further ones are dropped until then.
    static let mostUses = 1024
    /// The number of uses that is worth a transaction of its own.
    static let usesOfBatch = 512

    private(set) var writings: [Int64: Writing] = [:]
    private(set) var pendingBytes: UInt64 = 0
    private(set) var uses: [Int64: Int64] = [:]
    private var nextID: Int64
    private var nextUse: Int64
    /// The totals of the index.
    var statistics: DiskCache.Statistics
    /// True if the last attempt to write failed.
    var isFailing = false

    init(firstID: Int64, firstUse: Int64, statistics: DiskCache.Statistics) {
        self.nextID = firstID
        self.nextUse = firstUse
        self.statistics = statistics
    }

    /// A number that is higher than all ids given so far.
    var endOfIDs: Int64 { self.nextID }

    /// Begins an entry.
    ///
    /// - Returns: its id; nil if too many entries are being written.
    mutating func begin(url: String, tags: [String], cost: UInt64) -> Int64? {
        guard self.writings.count < DiskCache.Limits.writers else { return nil }
        defer { self.nextID += 1 }
        self.writings[self.nextID] = Writing(url: url, tags: tags, cost: cost)
        self.pendingBytes += cost
        return self.nextID
    }

    /// Raises the estimate for an entry; does nothing if it is not higher than before, or the entry has ended.
    mutating func reserve(_ cost: UInt64, for id: Int64) {
        guard let before = self.writings[id]?.cost, before < cost else { return }
        self.writings[id]?.cost = cost
        self.pendingBytes += cost - before
    }

    /// Ends an entry that was committed or abandoned.
    ///
    /// - Returns: nil if it was ended before.
    @discardableResult
    mutating func end(_ id: Int64) -> Writing? {
        guard let writing = self.writings.removeValue(forKey: id) else { return nil }
        self.pendingBytes -= writing.cost
        return writing
    }

    /// Prevents the commit of all selected entries that are being written.
    mutating func revoke(_ selection: RemovalSelection) {
        for (id, writing) in self.writings where selection.matches(url: writing.url, tags: writing.tags) {
            self.writings[id]?.isRevoked = true
        }
    }

    /// The bytes that must be freed to fit into the capacity, plus 1/32 of the capacity, so that not every new entry evicts
    /// another one; 0 if everything fits.
    func excess(over capacity: UInt64) -> UInt64 {
        let (used, isBeyond) = self.statistics.bytes.addingReportingOverflow(self.pendingBytes)
        guard !isBeyond else { return self.statistics.bytes }
        return used <= capacity ? 0 : min(self.statistics.bytes, used - capacity + capacity / 32)
    }

    /// True if the stored entries and those that are being written fit together.
    func fits(_ capacity: UInt64) -> Bool { self.statistics.bytes + self.pendingBytes <= capacity }

    // MARK: Uses

    /// The next use number, which is higher than all before.
    mutating func use() -> Int64 {
        defer { self.nextUse += 1 }
        return self.nextUse
    }

    /// Notes the use of an entry.
    ///
    /// - Returns: true if it is time to write the uses.
    mutating func noteUse(of id: Int64) -> Bool {
        guard self.uses.count < Self.mostUses || self.uses[id] != nil else { return false }
        let before = self.uses.count
        self.uses[id] = self.use()
        return before < Self.usesOfBatch && self.uses.count == Self.usesOfBatch
    }

    /// Takes the uses; the caller writes them.
    mutating func takeUses() -> [Int64: Int64] {
        defer { self.uses = [:] }
        return self.uses
    }

    /// Starts over with another index. Entries that are being written belong to the old index, and can no longer be committed.
    mutating func begin(with index: CacheIndex) {
        self.uses = [:]
        self.nextID = index.firstID
        self.nextUse = max(self.nextUse, index.firstUse)
        self.statistics = index.atStart
        for id in self.writings.keys { self.writings[id]?.isRevoked = true }
    }
}
