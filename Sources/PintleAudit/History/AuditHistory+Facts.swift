// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase

extension AuditHistory {
    /// Stores a fact of an audit.
    static func insert(_ fact: HostFact, _ audit: Int64, _ connection: DatabaseConnection) throws {
        try connection.run(
            "INSERT OR IGNORE INTO fact (audit_id, policy, host, kind, value) VALUES (?, ?, ?, ?, ?)",
            [
                .integer(audit), .text(fact.policy), .text(fact.host), .text(fact.kind.rawValue), .text(fact.value),
            ])
    }

    /// Returns the facts of an audit, sorted. Kinds of a newer version are left out.
    package func facts(of entry: Entry) throws(HistoryError) -> [HostFact] {
        try self.read { connection in
            try connection.rows(
                "SELECT * FROM fact WHERE audit_id = ? ORDER BY policy, host, kind, value", [.integer(entry.id)]
            ).compactMap { row in
                HostFact.Kind(rawValue: row.text("kind") ?? "").map { kind in
                    HostFact(
                        policy: row.text("policy") ?? "", host: row.text("host") ?? "", kind: kind,
                        value: row.text("value") ?? "")
                }
            }
        }
    }
}
