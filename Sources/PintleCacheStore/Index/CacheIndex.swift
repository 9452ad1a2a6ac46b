// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase

/// The index of a cache: its entries, in an SQLite database. Its memory does not grow with their number.
///
/// Every method blocks on the disk and on the database's lock.
final class CacheIndex: Sendable {
    typealias Statistics = DiskCache.Statistics
    typealias Entry = DiskCache.Entry

    /// The number of low bits of an id that count entries within a session.
    private static let sessionShift: Int64 = 32

    let path: String
    /// A random number that the files of bodies contain, too.
    let generation: UInt64
    /// The lowest id that this session gives to an entry; entries with lower ids were written by earlier sessions.
    let firstID: Int64
    /// The lowest use number that is higher than all in the index.
    let firstUse: Int64
    /// The statistics at the time of opening.
    let atStart: Statistics
    private let writer: Database
    // A connection of its own: lookups do not wait for writes.
    private let reader: Database

    /// Opens an index, or creates it if it is missing. It reads only a few rows, regardless of their number.
    ///
    /// - Parameter id: the first new id is higher than this one.
    /// - Throws: `damagedIndex`, `newerVersion`, and errors of the disk.
    init(_ path: String, idsAbove id: Int64 = 0) throws(DiskCacheError) {
        self.path = path
        do {
            self.writer = try Database(path, .writing) { try IndexSchema.prepareWriter($0) }
            let start = try self.writer.write { try Self.begin($0, above: id >> Self.sessionShift, path) }
            (self.generation, self.firstID) = (start.generation, start.session << Self.sessionShift)
            (self.firstUse, self.atStart) = (start.use, start.statistics)
            self.reader = try Database(path, .reading) { try IndexSchema.boundMemory($0) }
        } catch {
            throw Self.error(error, path)
        }
    }

    private struct Start {
        var generation: UInt64
        var session: Int64
        var use: Int64
        var statistics: Statistics
    }

    private static func begin(
        _ connection: DatabaseConnection, above session: Int64, _ path: String
    ) throws -> Start {
        let version = try connection.value("PRAGMA user_version").integer ?? 0
        guard version <= IndexSchema.version else {
            throw DiskCacheError(
                .newerVersion,
                "\(path): a newer version of pintle wrote this cache; use that, another folder, or remove this one")
        }
        if try connection.value("SELECT count(*) FROM sqlite_schema").integer == 0 {
            try IndexSchema.create(connection, generation: .random(in: 1 ... .max))
        } else if version < IndexSchema.version {
            throw DatabaseError(.schema, "an older version wrote it")
        }
        guard
            let row = try connection.row("SELECT generation, session, bytes, entries FROM cache"),
            let generation = row.integer("generation"), let last = row.integer("session"),
            let bytes = row.integer("bytes"), let entries = row.integer("entries"),
            bytes >= 0, entries >= 0, (0..<Int64(Int32.max)).contains(last)
        else { throw DatabaseError(.corrupt, "it does not say what it is") }
        let highest = try connection.value("SELECT max(id) FROM entry").integer ?? 0
        let use = try connection.value("SELECT max(used) FROM entry").integer ?? 0
        _ = try connection.row("SELECT key, url, head, length, cost, checksum FROM entry LIMIT 1")
        _ = try connection.row("SELECT name, entry FROM tag LIMIT 1")
        let own = max(last, highest >> Self.sessionShift, session) + 1
        guard own < Int64(Int32.max), use < Int64.max >> 1 else {
            throw DatabaseError(.corrupt, "its numbers are out of range")
        }
        try connection.run("UPDATE cache SET session = ?", [.integer(own)])
        return Start(
            generation: UInt64(bitPattern: generation), session: own, use: use + 1,
            statistics: Statistics(bytes: UInt64(bytes), entries: Int(entries)))
    }

    /// Closes both connections after their current work. Later calls throw `closed`.
    func close() {
        self.reader.close()
        self.writer.close()
    }

    // MARK: Reading

    /// The rows of a key, the newest first.
    ///
    /// - Returns: the entries, and the entries whose rows are damaged.
    func entries(for key: String) throws(DiskCacheError) -> (sound: [Entry], damaged: [Entry]) {
        try self.reading { connection in
            let rows = try connection.rows(
                "SELECT * FROM entry WHERE key = ? ORDER BY id DESC LIMIT \(DiskCache.Limits.variants)", [.text(key)])
            var (sound, damaged): ([Entry], [Entry]) = ([], [])
            for row in rows {
                let (entry, isSound) = try self.entry(row, connection)
                if isSound { sound.append(entry) } else { damaged.append(entry) }
            }
            return (sound, damaged)
        }
    }

    private func entry(_ row: DatabaseRow, _ connection: DatabaseConnection) throws -> (Entry, isSound: Bool) {
        let id = row.integer("id") ?? 0
        let tags = try connection.rows("SELECT name FROM tag WHERE entry = ? ORDER BY name", [.integer(id)])
        let length = row.integer("length")
        let entry = Entry(
            id: id, key: row.text("key") ?? "", url: row.text("url") ?? "", head: row.blob("head") ?? [],
            length: UInt64(max(0, length ?? 0)), tags: tags.compactMap(\.first.text), generation: self.generation)
        let isSound =
            (length ?? -1) >= 0 && entry.length <= BodyLayout.longestBody
            && row.integer("checksum") == Int64(entry.checksum)
        return (entry, isSound)
    }

    /// The subset of these ids that the index has.
    func known(_ ids: [Int64]) throws(DiskCacheError) -> Set<Int64> {
        try self.reading { connection in
            var known: Set<Int64> = []
            for id in ids where try connection.row("SELECT id FROM entry WHERE id = ?", [.integer(id)]) != nil {
                known.insert(id)
            }
            return known
        }
    }

    /// The ids of at most `count` selected entries.
    func ids(_ selection: RemovalSelection, below limit: Int64, count: Int) throws(DiskCacheError) -> [Int64] {
        try self.reading { connection in
            let (condition, arguments) = selection.condition
            return try connection.rows(
                "SELECT id FROM entry WHERE \(condition) AND id < ? LIMIT ?",
                arguments + [.integer(limit), .integer(Int64(count))]
            ).compactMap(\.first.integer)
        }
    }

    // MARK: Writing

    /// The result of a change.
    struct Change: Sendable {
        /// The ids whose bodies are not needed any more.
        var removed: [Int64] = []
        /// The statistics after the change.
        var statistics: Statistics
    }

    /// Adds an entry whose body is complete.
    ///
    /// - Parameters:
    ///   - replaced: ids of entries that are removed at the same moment.
    ///   - use: its use number.
    func insert(
        _ entry: Entry, replacing replaced: [Int64], use: Int64, uses: [Int64: Int64]
    ) throws(DiskCacheError) -> Change {
        try self.writing { connection in
            try Self.note(uses, connection)
            var removed: [Int64] = []
            for id in replaced where try Self.delete(id, connection) { removed.append(id) }
            try connection.run(
                """
                INSERT INTO entry (id, key, url, head, length, cost, used, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .integer(entry.id), .text(entry.key), .text(entry.url), .blob(entry.head),
                    .integer(Int64(entry.length)), .integer(Int64(entry.cost)), .integer(use),
                    .integer(Int64(entry.checksum)),
                ])
            try Self.add(entry.tags, of: entry.id, connection)
            let superfluous = try connection.rows(
                "SELECT id FROM entry WHERE key = ? ORDER BY id DESC LIMIT -1 OFFSET \(DiskCache.Limits.variants)",
                [.text(entry.key)]
            ).compactMap(\.first.integer)
            for id in superfluous where try Self.delete(id, connection) { removed.append(id) }
            return Change(removed: removed, statistics: try Self.statistics(connection))
        }
    }

    private static func add(_ tags: [String], of id: Int64, _ connection: DatabaseConnection) throws {
        for tag in tags {
            try connection.run("INSERT OR IGNORE INTO tag (name, entry) VALUES (?, ?)", [.text(tag), .integer(id)])
        }
    }

    /// Replaces the head and the tags of an entry; `found` is false if it is not there any more.
    func update(_ entry: Entry, use: Int64) throws(DiskCacheError) -> (found: Bool, statistics: Statistics) {
        try self.writing { connection in
            try connection.run(
                "UPDATE entry SET head = ?, cost = ?, used = ?, checksum = ? WHERE id = ?",
                [
                    .blob(entry.head), .integer(Int64(entry.cost)), .integer(use), .integer(Int64(entry.checksum)),
                    .integer(entry.id),
                ])
            let isFound = connection.changes > 0
            if isFound {
                try connection.run("DELETE FROM tag WHERE entry = ?", [.integer(entry.id)])
                try Self.add(entry.tags, of: entry.id, connection)
            }
            return (isFound, try Self.statistics(connection))
        }
    }

    /// Removes entries; the result lists only those that were there.
    func remove(_ ids: [Int64]) throws(DiskCacheError) -> Change {
        try self.writing { connection in
            var removed: [Int64] = []
            for id in ids where try Self.delete(id, connection) { removed.append(id) }
            try Self.shrink(connection)
            return Change(removed: removed, statistics: try Self.statistics(connection))
        }
    }

    /// Removes the least recently used entries, until `bytes` are free or a hundred are removed.
    func evict(_ bytes: UInt64, uses: [Int64: Int64]) throws(DiskCacheError) -> Change {
        try self.writing { connection in
            try Self.note(uses, connection)
            let rows = try connection.rows("SELECT id, cost FROM entry ORDER BY used LIMIT 100")
            // Totals without entries are damaged; without the reset no entry would ever fit again.
            if rows.isEmpty { try connection.run("UPDATE cache SET bytes = 0, entries = 0") }
            var (freed, removed): (UInt64, [Int64]) = (0, [])
            for row in rows where freed < bytes {
                guard let id = row.integer("id") else { continue }
                freed += UInt64(max(0, row.integer("cost") ?? 0))
                if try Self.delete(id, connection) { removed.append(id) }
            }
            guard rows.isEmpty || !removed.isEmpty else {
                throw DatabaseError(.corrupt, "it names rows that are not there")
            }
            try Self.shrink(connection)
            return Change(removed: removed, statistics: try Self.statistics(connection))
        }
    }

    /// Writes the use numbers of entries.
    func note(_ uses: [Int64: Int64]) throws(DiskCacheError) {
        try self.writing { try Self.note(uses, $0) }
    }

    private static func note(_ uses: [Int64: Int64], _ connection: DatabaseConnection) throws {
        for (id, use) in uses {
            try connection.run("UPDATE entry SET used = ? WHERE id = ?", [.integer(use), .integer(id)])
        }
    }

    private static func delete(_ id: Int64, _ connection: DatabaseConnection) throws -> Bool {
        try connection.run("DELETE FROM entry WHERE id = ?", [.integer(id)])
        return connection.changes > 0
    }

    /// Returns some of the free pages to the file system; does nothing if there are few.
    private static func shrink(_ connection: DatabaseConnection) throws {
        // New entries soon need the few that are free.
        guard try connection.value("PRAGMA freelist_count").integer ?? 0 > 512 else { return }
        try connection.run("PRAGMA incremental_vacuum(256)")
    }

    private static func statistics(_ connection: DatabaseConnection) throws -> Statistics {
        guard
            let row = try connection.row("SELECT bytes, entries FROM cache"),
            let bytes = row.integer("bytes"), let entries = row.integer("entries")
        else { throw DatabaseError(.corrupt, "it does not say how much there is") }
        return Statistics(bytes: UInt64(max(0, bytes)), entries: Int(max(0, entries)))
    }

    // MARK: Errors

    private func reading<Value>(_ body: (DatabaseConnection) throws -> Value) throws(DiskCacheError) -> Value {
        do { return try self.reader.read(body) } catch { throw Self.error(error, self.path) }
    }

    private func writing<Value>(_ body: (DatabaseConnection) throws -> Value) throws(DiskCacheError) -> Value {
        do { return try self.writer.write(body) } catch { throw Self.error(error, self.path) }
    }

    private static func error(_ error: any Error, _ path: String) -> DiskCacheError {
        switch error {
        case let error as DiskCacheError: return error
        case let error as DatabaseError:
            switch error.code {
            // Missing or different tables count as damage, because this is only a cache.
            case .corrupt, .notADatabase, .error, .schema, .mismatch, .constraint, .format:
                return DiskCacheError(.damagedIndex, "\(path): the index is damaged: \(error.words)")
            case .full: return DiskCacheError(.noSpace, "\(path) cannot be written: \(error.words)")
            case .device: return DiskCacheError(.device, "\(path) cannot be read or written: \(error.words)")
            case .misuse, .abort: return DiskCacheError(.closed, "\(path): the index is closed")
            default: return DiskCacheError(.unusable, "\(path): the index cannot be used: \(error.words)")
            }
        default: return DiskCacheError(.unusable, "\(path): the index cannot be used: \(error)")
        }
    }
}
