// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase

/// The tables of the history, and the migrations that create them.
enum HistorySchema {
    /// The statements of each migration, by its name, in order. Migrations are never changed after a release; a new version
    /// adds one.
    private static let migrations: [(name: String, sql: String)] = [
        (
            name: "1 audits and observations",
            sql: """
            CREATE TABLE audit (
                id INTEGER PRIMARY KEY,
                started_at INTEGER NOT NULL,
                judged_at INTEGER NOT NULL,
                configuration TEXT NOT NULL,
                scope TEXT NOT NULL,
                version TEXT NOT NULL
            );
            CREATE INDEX audit_of_configuration ON audit (configuration, scope, started_at);
            CREATE TABLE observation (
                id INTEGER PRIMARY KEY,
                audit_id INTEGER NOT NULL REFERENCES audit (id) ON DELETE CASCADE,
                policy TEXT NOT NULL,
                host TEXT NOT NULL,
                address TEXT NOT NULL,
                keys TEXT NOT NULL,
                verdict TEXT NOT NULL,
                leaf_pin TEXT,
                leaf_digest TEXT,
                leaf_serial TEXT,
                leaf_subject TEXT,
                leaf_not_before INTEGER,
                leaf_not_after INTEGER,
                issuer TEXT
            );
            CREATE INDEX observation_of_audit ON observation (audit_id);
            """
        ),
        (
            name: "2 certificates of verified chains",
            sql: """
            CREATE TABLE certificate (
                digest TEXT PRIMARY KEY,
                der BLOB NOT NULL
            );
            CREATE TABLE chain (
                observation_id INTEGER NOT NULL REFERENCES observation (id) ON DELETE CASCADE,
                position INTEGER NOT NULL,
                digest TEXT NOT NULL REFERENCES certificate (digest),
                PRIMARY KEY (observation_id, position)
            ) WITHOUT ROWID;
            """
        ),
        (
            name: "3 certificates that were sent beside verified chains",
            sql: """
            CREATE TABLE stray (
                observation_id INTEGER NOT NULL REFERENCES observation (id) ON DELETE CASCADE,
                digest TEXT NOT NULL REFERENCES certificate (digest),
                PRIMARY KEY (observation_id, digest)
            ) WITHOUT ROWID;
            """
        ),
        (
            name: "4 facts about servers",
            sql: """
            CREATE TABLE fact (
                audit_id INTEGER NOT NULL REFERENCES audit (id) ON DELETE CASCADE,
                policy TEXT NOT NULL,
                host TEXT NOT NULL,
                kind TEXT NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (audit_id, policy, host, kind, value)
            ) WITHOUT ROWID;
            """
        ),
    ]

    /// True if a newer version has changed the tables.
    static func isNewer(_ connection: DatabaseConnection) throws -> Bool {
        !(try self.applied(connection)).isSubset(of: self.migrations.map(\.name))
    }

    /// Applies the migrations that are missing, all of them or none.
    static func migrate(_ database: Database) throws {
        // Most databases need none, and then nothing waits for another process that writes.
        let known = try database.read { try self.applied($0) }
        guard self.migrations.contains(where: { !known.contains($0.name) }) else { return }
        try database.write { connection in
            try connection.runScript("CREATE TABLE IF NOT EXISTS \(self.table) (identifier TEXT NOT NULL PRIMARY KEY)")
            // Another process may have migrated the database in the meantime.
            let applied = try self.applied(connection)
            for migration in self.migrations where !applied.contains(migration.name) {
                try connection.runScript(migration.sql)
                try connection.run("INSERT INTO \(self.table) (identifier) VALUES (?)", [.text(migration.name)])
            }
        }
    }

    /// The names of the migrations that a database has had. The first versions used the library GRDB, which named the table.
    private static let table = "grdb_migrations"

    private static func applied(_ connection: DatabaseConnection) throws -> Set<String> {
        let tables = try connection.value("SELECT count(*) FROM sqlite_schema WHERE name = ?", [.text(self.table)])
        guard tables != .integer(0) else { return [] }
        return Set(try connection.rows("SELECT identifier FROM \(self.table)").compactMap(\.first.text))
    }
}
