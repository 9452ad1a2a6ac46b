// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of an index, and the settings of its connections.
enum IndexSchema {
    /// `user_version`. An index of an older version is discarded, because it is only a cache; one of a newer version is
    /// refused.
    static let version = 1

    /// `application_id`: "PntC".
    static let application = 0x506E_7443

    /// Sets up the connection that writes. Runs outside of transactions.
    static func prepareWriter(_ database: Database) throws {
        // Only possible before the first table is created: lets freed pages go back to the file system.
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "the file system knows no shared memory")
        }
        // A killed process loses nothing; a power failure loses the last entries.
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        // 256 pages: the journal is written to the database when it has 1 MiB, and is truncated to 2 MiB.
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 256")
        try database.execute(sql: "PRAGMA journal_size_limit = 2097152")
        try self.boundMemory(database)
    }

    /// Limits the memory of a connection, whether it reads or writes.
    static func boundMemory(_ database: Database) throws {
        // In KiB. Nothing is mapped, so that a failing device causes an error instead of a signal.
        try database.execute(sql: "PRAGMA cache_size = -2048")
        try database.execute(sql: "PRAGMA mmap_size = 0")
    }

    /// Creates the tables. Runs within a transaction.
    static func create(_ database: Database, generation: UInt64) throws {
        try database.execute(
            sql: """
                CREATE TABLE cache (
                    generation INTEGER NOT NULL,
                    session INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    entries INTEGER NOT NULL
                );
                CREATE TABLE entry (
                    id INTEGER PRIMARY KEY,
                    key TEXT NOT NULL,
                    url TEXT NOT NULL,
                    head BLOB NOT NULL,
                    length INTEGER NOT NULL,
                    cost INTEGER NOT NULL,
                    used INTEGER NOT NULL,
                    checksum INTEGER NOT NULL
                );
                CREATE INDEX entry_by_key ON entry (key);
                CREATE INDEX entry_by_url ON entry (url);
                CREATE INDEX entry_by_use ON entry (used, cost);
                CREATE TABLE tag (
                    name TEXT NOT NULL,
                    entry INTEGER NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
                    PRIMARY KEY (name, entry)
                ) WITHOUT ROWID;
                CREATE INDEX tag_of_entry ON tag (entry);
                CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
                    UPDATE cache SET bytes = bytes + NEW.cost, entries = entries + 1;
                END;
                CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
                    UPDATE cache SET bytes = bytes - OLD.cost, entries = entries - 1;
                END;
                CREATE TRIGGER entry_changed AFTER UPDATE OF cost ON entry BEGIN
                    UPDATE cache SET bytes = bytes + NEW.cost - OLD.cost;
                END;
                PRAGMA application_id = \(self.application);
                PRAGMA user_version = \(self.version);
                """)
        try database.execute(
            sql: "INSERT INTO cache (generation, session, bytes, entries) VALUES (?, 0, 0, 0)",
            arguments: [Int64(bitPattern: generation)])
    }
}
