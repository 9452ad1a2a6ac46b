// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of an index, and how the connections to it are set up.
enum IndexSchema {
    /// `user_version`. An index of an older version is given up, for it is only a cache; one of a newer version is refused.
    static let version = 1

    /// `application_id`: "PntC".
    static let application = 0x506E_7443

    /// Sets up the connection that writes. Outside transactions.
    static func prepareWriter(_ database: Database) throws {
        // Before the first table is made, or never: freed pages can go back to the file system.
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: "the file system knows no shared memory")
        }
        // Nothing is lost by a process that is killed; a machine that loses power loses the last entries.
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        // In pages: the journal is carried into the database when it has 1 MiB, and is cut to 2 MiB.
        try database.execute(sql: "PRAGMA wal_autocheckpoint = 256")
        try database.execute(sql: "PRAGMA journal_size_limit = 2097152")
        try self.boundMemory(database)
    }

    /// Sets up the connection that reads.
    static func boundMemory(_ database: Database) throws {
        // In KiB; nothing is mapped, so that a device that fails is an error and no signal.
        try database.execute(sql: "PRAGMA cache_size = -2048")
        try database.execute(sql: "PRAGMA mmap_size = 0")
    }

    /// Makes the tables. Within a transaction.
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
