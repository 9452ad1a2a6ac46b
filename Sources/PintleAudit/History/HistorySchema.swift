// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The tables of the history, and the migrations that create them.
enum HistorySchema {
    /// Migrations are never changed after a release; a new version adds one.
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 audits and observations") { database in
            try database.execute(
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
                    """)
        }
        migrator.registerMigration("2 certificates of verified chains") { database in
            try database.execute(
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
                    """)
        }
        migrator.registerMigration("3 certificates that were sent beside verified chains") { database in
            try database.execute(
                sql: """
                    CREATE TABLE stray (
                        observation_id INTEGER NOT NULL REFERENCES observation (id) ON DELETE CASCADE,
                        digest TEXT NOT NULL REFERENCES certificate (digest),
                        PRIMARY KEY (observation_id, digest)
                    ) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4 facts about servers") { database in
            try database.execute(
                sql: """
                    CREATE TABLE fact (
                        audit_id INTEGER NOT NULL REFERENCES audit (id) ON DELETE CASCADE,
                        policy TEXT NOT NULL,
                        host TEXT NOT NULL,
                        kind TEXT NOT NULL,
                        value TEXT NOT NULL,
                        PRIMARY KEY (audit_id, policy, host, kind, value)
                    ) WITHOUT ROWID;
                    """)
        }
        return migrator
    }()
}
