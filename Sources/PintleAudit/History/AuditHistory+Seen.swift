// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase
package import PintleTrust

/// The certificates that the audits of a configuration have seen under one policy.
package struct SeenChains: Sendable, Hashable {
    /// The number of audits that saw a chain that could be verified.
    package var audits: Int
    /// The start of the first of these audits.
    package var since: UnixTime
    /// The certificates of these chains, each once.
    package var certificates: [Certificate]
    /// Certificates that servers sent, but whose keys the verified chain does not have; each once.
    package var strays: [Certificate] = []
}

extension AuditHistory {
    /// Returns the certificates that all audits of a configuration have seen, by the names of its policies.
    ///
    /// - Parameter configuration: the path of the file, as it was given to the audits.
    package func seenChains(configuration: String) throws(HistoryError) -> [String: SeenChains] {
        try self.read { connection in
            let name = HistoryFile.absolute(configuration)
            var seen: [String: SeenChains] = [:]
            let policies = try connection.rows(
                """
                SELECT policy, COUNT(DISTINCT audit.id) AS audits, MIN(started_at) AS since
                FROM audit JOIN observation ON audit_id = audit.id JOIN chain ON observation_id = observation.id
                WHERE configuration = ? GROUP BY policy
                """, [.text(name)])
            for row in policies {
                seen[row.text("policy") ?? ""] = SeenChains(
                    audits: Int(row.integer("audits") ?? 0), since: UnixTime(seconds: row.integer("since") ?? 0),
                    certificates: [])
            }
            for (policy, certificate) in try Self.certificates(in: "chain", of: name, connection) {
                seen[policy]?.certificates.append(certificate)
            }
            for (policy, certificate) in try Self.certificates(in: "stray", of: name, connection) {
                seen[policy]?.strays.append(certificate)
            }
            return seen
        }
    }

    /// Returns each certificate that a table has for the audits of a configuration, with the policy under which it was
    /// seen.
    private static func certificates(
        in table: String, of configuration: String, _ connection: DatabaseConnection
    ) throws -> [(policy: String, certificate: Certificate)] {
        try connection.rows(
            """
            SELECT DISTINCT policy, der
            FROM audit JOIN observation ON audit_id = audit.id JOIN \(table) ON observation_id = observation.id
            JOIN certificate USING (digest)
            WHERE configuration = ? ORDER BY policy, digest
            """, [.text(configuration)]
        ).compactMap { row in
            guard let policy = row.text("policy"), let der = row.blob("der"),
                let certificate = try? Certificate(der: der)
            else { return nil }
            return (policy, certificate)
        }
    }
}
