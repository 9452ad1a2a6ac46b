// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import GRDB
internal import PintleSystem

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
    /// Nil once the index is closed: SQLite ends the process if a closed connection is used, and other threads may still have
    /// the index.
    private let writer: Locked<DatabaseQueue?>
    // A connection of its own: lookups do not wait for writes.
    private let reader: Locked<DatabaseQueue?>

    /// Opens an index, or creates it if it is missing. It reads only a few rows, regardless of their number.
    ///
    /// - Parameter id: the first new id is higher than this one.
    /// - Throws: `damagedIndex`, `newerVersion`, and errors of the disk.
    init(_ path: String, idsAbove id: Int64 = 0) throws(DiskCacheError) {
        self.path = path
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { try IndexSchema.prepareWriter($0) }
            let writer = try DatabaseQueue(path: path.pathForLibraries(), configuration: configuration)
            let start = try writer.write { try Self.begin($0, above: id >> Self.sessionShift, path) }
            (self.generation, self.firstID) = (start.generation, start.session << Self.sessionShift)
            (self.firstUse, self.atStart) = (start.use, start.statistics)
            var reading = Configuration()
            reading.readonly = true
            reading.prepareDatabase { try IndexSchema.boundMemory($0) }
            self.writer = Locked(writer)
            self.reader = Locked(try DatabaseQueue(path: path.pathForLibraries(), configuration: reading))
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

    private static func begin(_ database: Database, above session: Int64, _ path: String) throws -> Start {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= IndexSchema.version else {
            throw DiskCacheError(
                .newerVersion,
                "\(path): a newer version of pintle wrote this cache; use that, another folder, or remove this one")
        }
        let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if tables == 0 {
            try IndexSchema.create(database, generation: .random(in: 1 ... .max))
        } else if version < IndexSchema.version {
            throw DatabaseError(resultCode: .SQLITE_SCHEMA, message: "an older version wrote it")
        }
        guard
            let row = try Row.fetchOne(database, sql: "SELECT generation, session, bytes, entries FROM cache"),
            let generation = Int64.fromDatabaseValue(row["generation"]),
            let last = Int64.fromDatabaseValue(row["session"]), let bytes = Int64.fromDatabaseValue(row["bytes"]),
            let entries = Int.fromDatabaseValue(row["entries"]),
            bytes >= 0, entries >= 0, (0..<Int64(Int32.max)).contains(last)
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it does not say what it is") }
        let highest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM entry") ?? 0
        let use = try Int64.fetchOne(database, sql: "SELECT max(used) FROM entry") ?? 0
        _ = try Row.fetchOne(database, sql: "SELECT key, url, head, length, cost, checksum FROM entry LIMIT 1")
        _ = try Row.fetchOne(database, sql: "SELECT name, entry FROM tag LIMIT 1")
        let own = max(last, highest >> Self.sessionShift, session) + 1
        guard own < Int64(Int32.max), use < Int64.max >> 1 else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its numbers are out of range")
        }
        try database.execute(sql: "UPDATE cache SET session = ?", arguments: [own])
        return Start(
            generation: UInt64(bitPattern: generation), session: own, use: use + 1,
            statistics: Statistics(bytes: UInt64(bytes), entries: entries))
    }

    /// Closes both connections after their current work. Later calls throw `closed`.
    func close() {
        for connection in [self.reader, self.writer] {
            connection.withLock { queue in
                // A connection that cannot be closed is released with its last reference.
                try? queue?.close()
                queue = nil
            }
        }
    }

    // MARK: Reading

    /// The rows of a key, the newest first.
    ///
    /// - Returns: the entries, and the entries whose rows are damaged.
    func entries(for key: String) throws(DiskCacheError) -> (sound: [Entry], damaged: [Entry]) {
        try self.reading { database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: "SELECT * FROM entry WHERE key = ? ORDER BY id DESC LIMIT \(DiskCache.Limits.variants)"),
                arguments: [key])
            var (sound, damaged): ([Entry], [Entry]) = ([], [])
            for row in rows {
                let (entry, isSound) = try self.entry(row, database)
                if isSound { sound.append(entry) } else { damaged.append(entry) }
            }
            return (sound, damaged)
        }
    }

    private func entry(_ row: Row, _ database: Database) throws -> (Entry, isSound: Bool) {
        // Avoids the row's own conversions, which trap: a damaged row may have any type in any column.
        let id = Int64.fromDatabaseValue(row["id"]) ?? 0
        let tags = try String.fetchAll(
            database.cachedStatement(sql: "SELECT name FROM tag WHERE entry = ? ORDER BY name"), arguments: [id])
        let length = Int64.fromDatabaseValue(row["length"])
        let entry = Entry(
            id: id, key: String.fromDatabaseValue(row["key"]) ?? "", url: String.fromDatabaseValue(row["url"]) ?? "",
            head: Data.fromDatabaseValue(row["head"]).map(Array.init) ?? [], length: UInt64(max(0, length ?? 0)),
            tags: tags, generation: self.generation)
        let isSound =
            (length ?? -1) >= 0 && entry.length <= BodyLayout.longestBody
            && Int64.fromDatabaseValue(row["checksum"]) == Int64(entry.checksum)
        return (entry, isSound)
    }

    /// The subset of these ids that the index has.
    func known(_ ids: [Int64]) throws(DiskCacheError) -> Set<Int64> {
        try self.reading { database in
            var known: Set<Int64> = []
            let statement = try database.cachedStatement(sql: "SELECT id FROM entry WHERE id = ?")
            for id in ids where try Int64.fetchOne(statement, arguments: [id]) != nil { known.insert(id) }
            return known
        }
    }

    /// The ids of at most `count` selected entries.
    func ids(_ selection: RemovalSelection, below limit: Int64, count: Int) throws(DiskCacheError) -> [Int64] {
        try self.reading { database in
            let (condition, arguments) = selection.condition
            return try Int64.fetchAll(
                database.cachedStatement(sql: "SELECT id FROM entry WHERE \(condition) AND id < ? LIMIT ?"),
                arguments: arguments + [limit, count])
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
        try self.writing { database in
            try Self.note(uses, database)
            var removed: [Int64] = []
            for id in replaced where try Self.delete(id, database) { removed.append(id) }
            try database.cachedStatement(
                sql: """
                    INSERT INTO entry (id, key, url, head, length, cost, used, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                entry.id, entry.key, entry.url, Data(entry.head), Int64(entry.length), Int64(entry.cost), use,
                Int64(entry.checksum),
            ])
            for tag in entry.tags {
                try database.cachedStatement(sql: "INSERT OR IGNORE INTO tag (name, entry) VALUES (?, ?)")
                    .execute(arguments: [tag, entry.id])
            }
            let superfluous = try Int64.fetchAll(
                database.cachedStatement(
                    sql:
                        "SELECT id FROM entry WHERE key = ? ORDER BY id DESC LIMIT -1 OFFSET \(DiskCache.Limits.variants)"
                ),
                arguments: [entry.key])
            for id in superfluous where try Self.delete(id, database) { removed.append(id) }
            return Change(removed: removed, statistics: try Self.statistics(database))
        }
    }

    /// Replaces the head of an entry; `found` is false if it is not there any more.
    func update(_ entry: Entry, use: Int64) throws(DiskCacheError) -> (found: Bool, statistics: Statistics) {
        try self.writing { database in
            try database.cachedStatement(
                sql: "UPDATE entry SET head = ?, cost = ?, used = ?, checksum = ? WHERE id = ?"
            ).execute(arguments: [Data(entry.head), Int64(entry.cost), use, Int64(entry.checksum), entry.id])
            return (database.changesCount > 0, try Self.statistics(database))
        }
    }

    /// Removes entries; the result lists only those that were there.
    func remove(_ ids: [Int64]) throws(DiskCacheError) -> Change {
        try self.writing { database in
            var removed: [Int64] = []
            for id in ids where try Self.delete(id, database) { removed.append(id) }
            try Self.shrink(database)
            return Change(removed: removed, statistics: try Self.statistics(database))
        }
    }

    /// Removes the least recently used entries, until `bytes` are free or a hundred are removed.
    func evict(_ bytes: UInt64, uses: [Int64: Int64]) throws(DiskCacheError) -> Change {
        try self.writing { database in
            try Self.note(uses, database)
            let rows = try Row.fetchAll(
                database.cachedStatement(sql: "SELECT id, cost FROM entry ORDER BY used LIMIT 100"))
            // Totals without entries are damaged; without the reset no entry would ever fit again.
            if rows.isEmpty { try database.execute(sql: "UPDATE cache SET bytes = 0, entries = 0") }
            var (freed, removed): (UInt64, [Int64]) = (0, [])
            for row in rows where freed < bytes {
                guard let id = Int64.fromDatabaseValue(row["id"]) else { continue }
                freed += UInt64(max(0, Int64.fromDatabaseValue(row["cost"]) ?? 0))
                if try Self.delete(id, database) { removed.append(id) }
            }
            guard rows.isEmpty || !removed.isEmpty else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it names rows that are not there")
            }
            try Self.shrink(database)
            return Change(removed: removed, statistics: try Self.statistics(database))
        }
    }

    /// Writes the use numbers of entries.
    func note(_ uses: [Int64: Int64]) throws(DiskCacheError) {
        try self.writing { try Self.note(uses, $0) }
    }

    /// Writes the use numbers of entries; does nothing if there are none.
    private static func note(_ uses: [Int64: Int64], _ database: Database) throws {
        guard !uses.isEmpty else { return }
        let statement = try database.cachedStatement(sql: "UPDATE entry SET used = ? WHERE id = ?")
        for (id, use) in uses { try statement.execute(arguments: [use, id]) }
    }

    private static func delete(_ id: Int64, _ database: Database) throws -> Bool {
        try database.cachedStatement(sql: "DELETE FROM entry WHERE id = ?").execute(arguments: [id])
        return database.changesCount > 0
    }

    /// Returns some of the free pages to the file system; does nothing if there are few.
    private static func shrink(_ database: Database) throws {
        guard try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0 > 512 else { return }
        try database.execute(sql: "PRAGMA incremental_vacuum(256)")
    }

    private static func statistics(_ database: Database) throws -> Statistics {
        guard
            let row = try Row.fetchOne(database.cachedStatement(sql: "SELECT bytes, entries FROM cache")),
            let bytes = Int64.fromDatabaseValue(row["bytes"]), let entries = Int.fromDatabaseValue(row["entries"])
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "it does not say how much there is") }
        return Statistics(bytes: UInt64(max(0, bytes)), entries: max(0, entries))
    }

    // MARK: Errors

    private func reading<Value>(_ body: (Database) throws -> Value) throws(DiskCacheError) -> Value {
        try self.using(self.reader) { try $0.read(body) }
    }

    private func writing<Value>(_ body: (Database) throws -> Value) throws(DiskCacheError) -> Value {
        try self.using(self.writer) { try $0.write(body) }
    }

    private func using<Value>(
        _ connection: Locked<DatabaseQueue?>, _ body: (DatabaseQueue) throws -> Value
    ) throws(DiskCacheError) -> Value {
        do {
            return try connection.withLock { queue in
                guard let queue else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
                return try body(queue)
            }
        } catch {
            throw Self.error(error, self.path)
        }
    }

    private static func error(_ error: any Error, _ path: String) -> DiskCacheError {
        switch error {
        case let error as DiskCacheError: return error
        case let error as DatabaseError:
            let words = SQLiteWords.words(for: error.extendedResultCode.rawValue)
            switch error.resultCode {
            // Missing or different tables count as damage, because this is only a cache.
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_MISMATCH, .SQLITE_CONSTRAINT,
                .SQLITE_FORMAT:
                return DiskCacheError(.damagedIndex, "\(path): the index is damaged: \(words)")
            case .SQLITE_FULL: return DiskCacheError(.noSpace, "\(path) cannot be written: \(words)")
            case .SQLITE_IOERR: return DiskCacheError(.device, "\(path) cannot be read or written: \(words)")
            case .SQLITE_MISUSE, .SQLITE_ABORT: return DiskCacheError(.closed, "\(path): the index is closed")
            default: return DiskCacheError(.unusable, "\(path): the index cannot be used: \(words)")
            }
        default: return DiskCacheError(.damagedIndex, "\(path): the index is damaged: its rows are of other types")
        }
    }
}
