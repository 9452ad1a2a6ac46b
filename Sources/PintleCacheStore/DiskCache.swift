// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Stored responses on disk: an index in SQLite, and a file for each body.
///
/// A process that is killed loses only the entries that it was writing: an entry is valid as soon as its row is committed,
/// which happens after its body was written. Every byte of a body is verified before it is returned. All work is done by the
/// cache's own threads, and memory does not grow with the number of entries. If the disk is full or fails, that is an error of
/// the entry that is being written; stored entries stay readable.
///
/// One process at a time has the folder.
package final class DiskCache: Sendable {
    /// 150 MiB, as in the cache of AFNetworking's downloader.
    package static let defaultCapacity: UInt64 = 150 << 20
    /// The least capacity in bytes: with less, a single entry would not fit next to the index.
    package static let leastCapacity: UInt64 = 1 << 20

    /// The most bytes of disk that all entries take together, including their share of the index.
    package let capacity: UInt64
    /// The most bytes of disk that a single entry takes.
    package let largestEntry: UInt64
    let folder: CacheFolder
    /// For the files of bodies.
    let files = ThreadPool(most: 4)
    private let lock: Locked<FolderLock?>
    // One thread writes the index, another one reads it; each has a connection of its own.
    private let writing = ThreadPool(most: 1)
    private let looking = ThreadPool(most: 1)
    private let index: Locked<CacheIndex?>
    private let ledger: Locked<WriteLedger>
    private let sweep: Locked<OrphanSweep?>
    private let report: @Sendable (Event) -> Void

    private init(
        _ folder: CacheFolder, _ lock: FolderLock, _ index: CacheIndex, capacity: UInt64, largestEntry: UInt64,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.folder = folder
        self.lock = Locked(lock)
        self.capacity = capacity
        self.largestEntry = largestEntry
        self.report = report
        self.index = Locked(index)
        self.ledger = Locked(
            WriteLedger(firstID: index.firstID, firstUse: index.firstUse, statistics: index.atStart))
        self.sweep = Locked(OrphanSweep(folder, index))
    }

    deinit { self.sweep.withLock { $0 }?.stop() }

    /// Opens the cache in a folder, which is created if it is missing. Neither the folder nor the index is read completely;
    /// remains of killed processes are removed in the background.
    ///
    /// - Parameters:
    ///   - capacity: in bytes of disk (1 MiB…).
    ///   - largestEntry: in bytes of disk; by default a quarter of the capacity.
    ///   - report: called with events, on any thread; it must not block.
    /// - Throws: `inUse`, `newerVersion`, `unusable` if another user could change the content, and errors of the system. A
    ///   damaged index is not an error: it is set aside, and reported.
    package static func open(
        _ folder: String, capacity: UInt64 = DiskCache.defaultCapacity, largestEntry: UInt64? = nil,
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws(DiskCacheError) -> DiskCache {
        try await ThreadPool.shared.result { () throws(DiskCacheError) in
            let place = try CacheFolder(folder)
            let lock = try FolderLock(place)
            let index = try Self.openIndex(place, idsAbove: 0, report)
            let capacity = max(capacity, Self.leastCapacity)
            let cache = DiskCache(
                place, lock, index, capacity: capacity, largestEntry: min(largestEntry ?? capacity / 4, capacity),
                report: report)
            cache.sweep.withLock { $0 }?.start()
            return cache
        }
    }

    private static func openIndex(
        _ folder: CacheFolder, idsAbove id: Int64, _ report: (Event) -> Void
    ) throws(DiskCacheError) -> CacheIndex {
        do throws(DiskCacheError) {
            return try folder.openIndex(idsAbove: id)
        } catch {
            guard error.code == .damagedIndex else { throw error }
            do throws(SystemError) {
                try folder.setIndexAside()
            } catch {
                throw DiskCacheError(error, folder.index, "put aside, though it is damaged")
            }
            let index = try folder.openIndex(idsAbove: id)
            report(.indexReplaced(place: folder.damagedIndex, reason: error.description))
            return index
        }
    }

    /// Writes the noted uses, closes the index, and releases the folder. Entries that are being written are lost; readers
    /// continue. Idempotent.
    package func close() async {
        await self.writing.result {
            guard let index = self.index.withLock({ $0 }) else { return }
            let uses = self.ledger.withLock { $0.takeUses() }
            self.sweep.withLock { $0 }?.stop()
            // If this fails, the order of eviction is less exact.
            try? index.note(uses)
            self.index.withLock { $0 = nil }
            index.close()
            self.lock.withLock { $0 = nil }
        }
    }

    /// The size and the number of the stored entries.
    package var statistics: Statistics { self.ledger.withLock { $0.statistics } }

    /// Waits until the search for remains of killed processes is over.
    package func waitForSweep() async { await self.sweep.withLock { $0 }?.finished.wait() }

    // MARK: Looking up

    /// A key that is unique for each pair of partition and URL.
    package static func key(partition: String, url: String) -> String {
        "\(partition.utf8.count):\(partition)\(url)"
    }

    /// The entries of a key, the newest first; at most 32.
    package func entries(for key: String) async throws(DiskCacheError) -> [Entry] {
        let (sound, damaged) = try await self.looking.result { () throws(DiskCacheError) in
            let index = try self.currentIndex()
            do throws(DiskCacheError) {
                return try index.entries(for: key)
            } catch {
                if error.code == .damagedIndex { self.replaceLater(index) }
                throw error
            }
        }
        for entry in damaged { await self.removeDamaged(entry) }
        return sound
    }

    /// Opens the body of an entry, and notes a use of the entry. An open body can be read to its end even if the entry is
    /// evicted or removed in the meantime.
    ///
    /// - Throws: `gone`, or `damagedEntry` after removing the entry; also errors of the system.
    package func reader(of entry: Entry) async throws(DiskCacheError) -> Reader {
        guard let layout = BodyLayout(header: entry.header, length: entry.length) else { throw .gone(entry.url) }
        let (folder, path) = (self.folder, self.folder.file(of: entry.header))
        let opened = await self.files.result { () -> Result<BodyFile?, UntrustedPlace> in
            Result { () throws(UntrustedPlace) in
                let file = try folder.open(entry.header)
                do throws(SystemError) {
                    return try file.header() == entry.header ? file : nil
                } catch {
                    throw UntrustedPlace(path, error)
                }
            }
        }
        switch opened {
        case .success(let file?):
            self.noteUse(of: entry)
            return Reader(entry, layout, file, self)
        case .failure(let error) where error.system?.code != ENOENT && error.system?.code != EIO:
            // Without descriptors or permissions the entry may still be valid.
            throw DiskCacheError(error, path, "read")
        case .success(nil), .failure:
            // A missing file is damage only while its row exists.
            guard await self.removeDamaged(entry) else { throw .gone(entry.url) }
            throw DiskCacheError(.damagedEntry, Event.entryDamaged(url: entry.url).description)
        }
    }

    // MARK: Changing

    /// Begins an entry. It can be found only after its commit.
    ///
    /// - Parameters:
    ///   - key: the key for ``entries(for:)``.
    ///   - url: for removals by URL and by prefix.
    ///   - head: bytes stored next to the body; at most 256 KiB.
    ///   - tags: for removals by tag; at most 256.
    ///   - length: the length of the body in bytes, if known: room for it is made at once.
    /// - Throws: `tooLarge`, `busy`, `noSpace`, `device`, `closed`.
    package func write(
        _ key: String, url: String, head: [UInt8], tags: [String] = [], length: UInt64? = nil
    ) async throws(DiskCacheError) -> Writer {
        let tags = Array(Set(tags)).sorted()
        guard head.count <= Limits.head, tags.count <= Limits.tags, (length ?? 0) <= BodyLayout.longestBody,
            ([key, url] + tags).allSatisfy({ $0.utf8.count <= Limits.text })
        else {
            throw DiskCacheError(
                .tooLarge,
                "\(url.prefix(200)) is not stored: its head, key, URL or a tag exceeds the cache's limits")
        }
        let index = try self.currentIndex()
        let empty = Entry(
            id: 0, key: key, url: url, head: head, length: length ?? 0, tags: tags, generation: index.generation)
        guard empty.cost <= self.largestEntry else { throw self.tooLarge(url) }
        guard let id = self.ledger.withLock({ $0.begin(url: url, tags: tags, cost: empty.cost) }) else {
            throw DiskCacheError(.busy, "\(url) is not stored: \(Limits.writers) answers are being stored already")
        }
        do throws(DiskCacheError) {
            try await self.makeRoom()
            let header = BodyHeader(generation: index.generation, id: id)
            let (folder, path) = (self.folder, self.folder.file(of: header))
            let file = try await self.files.result { () throws(DiskCacheError) in
                let file: BodyFile
                do throws(UntrustedPlace) { file = try folder.create(header) } catch {
                    throw DiskCacheError(error, path, "written")
                }
                do throws(SystemError) { try file.write(header.bytes) } catch {
                    throw DiskCacheError(error, path, "written")
                }
                return file
            }
            let entry = Entry(
                id: id, key: key, url: url, head: head, length: 0, tags: tags, generation: index.generation)
            return Writer(entry, file, self)
        } catch {
            self.giveUp(BodyHeader(generation: index.generation, id: id), error)
            throw error
        }
    }

    /// Replaces the head of an entry, after a response that confirms the stored one (RFC 9111 §4.3.4). It counts as a use.
    ///
    /// - Parameter tags: for removals by tag, in place of the entry's; at most 256.
    /// - Returns: the entry with its new head.
    /// - Throws: `gone`, `tooLarge`, and errors of the disk; the entry is then unchanged.
    @discardableResult
    package func updateHead(
        of entry: Entry, to head: [UInt8], tags: [String]
    ) async throws(DiskCacheError) -> Entry {
        let tags = Array(Set(tags)).sorted()
        let changed = Entry(
            id: entry.id, key: entry.key, url: entry.url, head: head, length: entry.length, tags: tags,
            generation: entry.generation)
        guard head.count <= Limits.head, tags.count <= Limits.tags, tags.allSatisfy({ $0.utf8.count <= Limits.text }),
            changed.cost <= self.largestEntry
        else { throw self.tooLarge(entry.url) }
        return try await self.change { index throws(DiskCacheError) in
            guard index.generation == entry.generation else { throw .gone(entry.url) }
            let (found, statistics) = try index.update(changed, use: self.ledger.withLock { $0.use() })
            self.ledger.withLock { $0.statistics = statistics }
            guard found else { throw .gone(entry.url) }
            return changed
        }
    }

    /// Removes an entry.
    ///
    /// - Returns: false if it was not there any more.
    @discardableResult
    package func remove(_ entry: Entry) async throws(DiskCacheError) -> Bool {
        try await self.change { index throws(DiskCacheError) in
            guard index.generation == entry.generation else { return false }
            return try self.remove([entry.id], from: index) > 0
        }
    }

    /// Removes all entries of a URL, whatever their keys are. As with the other removals, matching entries that are being
    /// written cannot be committed any more.
    ///
    /// - Returns: the number of entries. They cannot be found any more, and their files are removed.
    /// - Throws: errors of the disk; an empty index then takes the place of this one, so that none of the entries is found.
    @discardableResult
    package func remove(url: String) async throws(DiskCacheError) -> Int { try await self.remove(.url(url)) }

    /// Removes all entries whose URL begins with the prefix.
    @discardableResult
    package func remove(prefix: String) async throws(DiskCacheError) -> Int { try await self.remove(.prefix(prefix)) }

    /// Removes all entries that have the tag.
    @discardableResult
    package func remove(tag: String) async throws(DiskCacheError) -> Int { try await self.remove(.tag(tag)) }

    /// Removes all entries.
    @discardableResult
    package func removeAll() async throws(DiskCacheError) -> Int { try await self.remove(.all) }

    private func remove(_ selection: RemovalSelection) async throws(DiskCacheError) -> Int {
        do throws(DiskCacheError) {
            return try await self.removeRows(selection)
        } catch {
            // Entries that should be gone must not be found, also by the next process. A damaged index is replaced already.
            if error.code != .damagedIndex { await self.discardIndex(because: "a removal failed: \(error)") }
            throw error
        }
    }

    private func removeRows(_ selection: RemovalSelection) async throws(DiskCacheError) -> Int {
        // Queued after the pending commits, so that none of them comes later.
        let end = try await self.change { _ throws(DiskCacheError) in
            self.ledger.withLock { ledger in
                ledger.revoke(selection)
                return ledger.endOfIDs
            }
        }
        var count = 0
        // Works in steps, so that other work gets its turn.
        while true {
            let (found, removed) = try await self.change { index throws(DiskCacheError) in
                let ids = try index.ids(selection, below: end, count: 200)
                guard !ids.isEmpty else { return (0, 0) }
                let removed = try self.remove(ids, from: index)
                // Rows that are found but cannot be removed would be found forever.
                guard removed > 0 else {
                    throw DiskCacheError(
                        .damagedIndex, "\(index.path): the index is damaged: it names rows that are not there")
                }
                return (ids.count, removed)
            }
            count += removed
            guard found > 0 else { return count }
        }
    }

    /// Removes rows, and then files. Runs on the thread that writes the index.
    private func remove(_ ids: [Int64], from index: CacheIndex) throws(DiskCacheError) -> Int {
        let change: CacheIndex.Change
        do throws(DiskCacheError) {
            change = try index.remove(ids)
        } catch {
            guard error.code == .noSpace else { throw error }
            // A full disk has no room to record the removal until the bodies are gone. An entry without a body is never served.
            self.folder.remove(ids, of: index.generation)
            change = try index.remove(ids)
        }
        self.ledger.withLock { $0.statistics = change.statistics }
        self.folder.remove(change.removed, of: index.generation)
        return change.removed.count
    }

    func tooLarge(_ url: String) -> DiskCacheError {
        DiskCacheError(
            .tooLarge,
            "\(url.prefix(200)) is not stored: it takes more than \(self.largestEntry) bytes, the most for an entry")
    }

    // MARK: For writers and readers

    /// Counts an entry with its present length, and makes room for it.
    ///
    /// - Throws: `tooLarge`; `busy` if the entries that are being written leave no room.
    func reserve(_ entry: Entry, length: UInt64) async throws(DiskCacheError) {
        let cost = EntryCost.bytes(
            length: length, key: entry.key.utf8.count, url: entry.url.utf8.count, head: entry.head.count,
            tags: entry.tags.map(\.utf8.count))
        guard cost <= self.largestEntry else { throw self.tooLarge(entry.url) }
        self.ledger.withLock { $0.reserve(cost, for: entry.id) }
        try await self.makeRoom()
    }

    /// Evicts entries if that is necessary; does nothing if all fit.
    private func makeRoom() async throws(DiskCacheError) {
        guard !self.ledger.withLock({ $0.fits(self.capacity) }) else { return }
        try await self.change { index throws(DiskCacheError) in
            try self.evict(from: index)
            guard self.ledger.withLock({ $0.fits(self.capacity) }) else {
                throw DiskCacheError(
                    .busy, "\(self.folder.path): answers that are being stored leave no room for another")
            }
        }
    }

    /// Evicts entries until all fit; does nothing if they do. Runs on the thread that writes the index.
    private func evict(from index: CacheIndex) throws(DiskCacheError) {
        while true {
            let (excess, uses) = self.ledger.withLock { ledger in
                let excess = ledger.excess(over: self.capacity)
                return (excess, excess > 0 ? ledger.takeUses() : [:])
            }
            guard excess > 0 else { return }
            let change = try index.evict(excess, uses: uses)
            self.ledger.withLock { $0.statistics = change.statistics }
            self.folder.remove(change.removed, of: index.generation)
            if change.removed.isEmpty { return }
        }
    }

    /// Makes an entry valid whose body is written.
    func commit(_ entry: Entry, replacing replaced: [Entry]) async throws(DiskCacheError) {
        let old = replaced.filter { $0.generation == entry.generation }.map(\.id)
        try await self.change { index throws(DiskCacheError) in
            let (writing, use, uses) = self.ledger.withLock { ledger in
                (ledger.writings[entry.id], ledger.use(), ledger.takeUses())
            }
            guard let writing, !writing.isRevoked, index.generation == entry.generation else {
                throw .gone(entry.url)
            }
            let change = try index.insert(entry, replacing: old, use: use, uses: uses)
            self.ledger.withLock { ledger in
                ledger.end(entry.id)
                ledger.statistics = change.statistics
            }
            self.folder.remove(change.removed, of: index.generation)
        }
        let worksAgain = self.ledger.withLock { ledger in
            defer { ledger.isFailing = false }
            return ledger.isFailing
        }
        if worksAgain { self.report(.writingWorks(folder: self.folder.path)) }
    }

    /// Abandons an uncommitted entry, and removes its file.
    ///
    /// - Parameter error: the reason; nil if the entry is no longer wanted.
    func giveUp(_ body: BodyHeader, _ error: DiskCacheError?) {
        let isNews = self.ledger.withLock { ledger in
            ledger.end(body.id)
            guard let error, error.isAboutWriting, !ledger.isFailing else { return false }
            ledger.isFailing = true
            return true
        }
        if isNews, let error { self.report(.writingFails(error)) }
        // If no thread is available, the file becomes an orphan.
        try? self.files.run { self.folder.remove([body.id], of: body.generation) }
    }

    /// Removes an entry whose bytes are damaged.
    ///
    /// - Returns: false if it was gone already.
    @discardableResult
    func removeDamaged(_ entry: Entry) async -> Bool {
        // Ignores errors: a failing index is reported to writers, and the damage will be found again.
        let wasThere = (try? await self.remove(entry)) ?? true
        if wasThere { self.report(.entryDamaged(url: entry.url)) }
        return wasThere
    }

    private func noteUse(of entry: Entry) {
        // Uses are written many at a time.
        guard self.ledger.withLock({ $0.noteUse(of: entry.id) }) else { return }
        try? self.writing.run {
            // The index was closed, which has written the uses.
            guard let index = self.index.withLock({ $0 }) else { return }
            // If this fails, the order of eviction is less exact.
            try? index.note(self.ledger.withLock { $0.takeUses() })
        }
    }

    // MARK: The index

    private func currentIndex() throws(DiskCacheError) -> CacheIndex {
        guard let index = self.index.withLock({ $0 }) else { throw .closed(self.folder.path) }
        return index
    }

    /// Runs `work` on the thread that writes the index.
    private func change<Value: Sendable>(
        _ work: @escaping @Sendable (CacheIndex) throws(DiskCacheError) -> Value
    ) async throws(DiskCacheError) -> Value {
        try await self.writing.result { () throws(DiskCacheError) in
            let index = try self.currentIndex()
            do throws(DiskCacheError) {
                return try work(index)
            } catch {
                if error.code == .damagedIndex { self.replace(index) }
                throw error
            }
        }
    }

    private func replaceLater(_ index: CacheIndex) {
        try? self.writing.run { self.replace(index) }
    }

    private func discardIndex(because reason: String) async {
        await self.writing.result {
            // A closed cache has no index to discard.
            guard let index = self.index.withLock({ $0 }) else { return }
            self.replace(index, because: reason)
        }
    }

    /// Replaces an index that cannot be used by an empty one. Runs on the thread that writes the index.
    private func replace(_ unusable: CacheIndex, because reason: String = "SQLite found it damaged while it was used") {
        let isCurrent = self.index.withLock { index in
            guard index === unusable else { return false }
            index = nil
            return true
        }
        // Another call has replaced the index, or the cache is closed.
        guard isCurrent else { return }
        self.sweep.withLock { $0 }?.stop()
        unusable.close()
        let lastID = self.ledger.withLock { $0.endOfIDs }
        do throws(DiskCacheError) {
            let place = self.folder
            do throws(SystemError) { try place.setIndexAside() } catch {
                throw DiskCacheError(error, place.index, "put aside, though it cannot be used")
            }
            let index = try place.openIndex(idsAbove: lastID)
            let sweep = OrphanSweep(place, index)
            self.ledger.withLock { $0.begin(with: index) }
            self.sweep.withLock { $0 = sweep }
            self.index.withLock { $0 = index }
            sweep.start()
            self.report(.indexReplaced(place: place.damagedIndex, reason: reason))
        } catch {
            // The cache stays closed: without an index no entry can be found or stored.
            self.report(.writingFails(error))
        }
    }
}
