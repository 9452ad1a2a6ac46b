// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase

/// The tables of an index, and the settings of its connections.
enum IndexSchema {
    /// `user_version`. An index of an older version is discarded, because it is only a cache; one of a newer version is
    /// refused.
    static let version: Int64 = 1

    /// `application_id`: "PntC".
    static let application = 0x506E_7443

    /// Sets up the connection that writes. Runs outside of transactions.
    static func prepareWriter(_ connection: DatabaseConnection) throws {
        // Only possible before the first table is created: lets freed pages go back to the file system.
        try connection.runScript("PRAGMA auto_vacuum = INCREMENTAL")
        guard try connection.value("PRAGMA journal_mode = WAL") == .text("wal") else {
            throw DatabaseError(.cannotOpen, "the file system knows no shared memory")
        }
        // A killed process loses nothing; a power failure loses the last entries.
        try connection.runScript("PRAGMA synchronous = NORMAL")
        // 256 pages: the journal is written to the database when it has 1 MiB, and is truncated to 2 MiB.
        try connection.runScript("PRAGMA wal_autocheckpoint = 256")
        try connection.runScript("PRAGMA journal_size_limit = 2097152")
        try self.boundMemory(connection)
    }

    /// Limits the memory of a connection, whether it reads or writes.
    static func boundMemory(_ connection: DatabaseConnection) throws {
        // In KiB. Nothing is mapped, so that a failing device causes an error instead of a signal.
        try connection.runScript("PRAGMA cache_size = -2048")
        try connection.runScript("PRAGMA mmap_size = 0")
    }

    /// Creates the tables. Runs within a transaction.
    static func create(_ connection: DatabaseConnection, generation: UInt64) throws {
        try connection.runScript(
            """
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
        try connection.run(
            "INSERT INTO cache (generation, session, bytes, entries) VALUES (?, 0, 0, 0)",
            [.integer(Int64(bitPattern: generation))])
    }
}
