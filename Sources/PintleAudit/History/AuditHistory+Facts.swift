// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension AuditHistory {
    /// Stores a fact of an audit.
    static func insert(_ fact: HostFact, _ audit: Int64, _ database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO fact (audit_id, policy, host, kind, value) VALUES (?, ?, ?, ?, ?)",
            arguments: [audit, fact.policy, fact.host, fact.kind.rawValue, fact.value])
    }

    /// Returns the facts of an audit, sorted. Kinds of a newer version are left out.
    package func facts(of entry: Entry) throws(HistoryError) -> [HostFact] {
        try self.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM fact WHERE audit_id = ? ORDER BY policy, host, kind, value",
                arguments: [entry.id]
            ).compactMap { row in
                HostFact.Kind(rawValue: row["kind"] ?? "").map { kind in
                    HostFact(
                        policy: row["policy"] ?? "", host: row["host"] ?? "", kind: kind, value: row["value"] ?? "")
                }
            }
        }
    }
}
