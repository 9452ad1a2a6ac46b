// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase
package import PintleTrust

/// The history of all audits, in an SQLite database that several processes may use at once.
package struct AuditHistory: Sendable {
    /// One audit in the history.
    package struct Entry: Sendable, Hashable {
        let id: Int64
        package let startedAt: UnixTime
        package let configuration: String
        /// The options that narrowed the audit, separated by spaces.
        package let scope: String
    }

    /// The time for which a process waits until another has finished writing.
    private static let patience: Duration = .seconds(10)

    let path: String
    private let database: Database

    /// Opens an existing database.
    ///
    /// - Throws: an error if there is no database, or if it cannot be used.
    package static func existing(_ path: String) throws(HistoryError) -> AuditHistory {
        guard HistoryFile(path).exists else {
            throw HistoryError("\(path): there is no audit history; pintle audit writes one")
        }
        do {
            return AuditHistory(path: path, database: try Self.open(path))
        } catch {
            throw Self.error(error, path)
        }
    }

    /// Opens a database, or creates one together with its folders. A damaged database is renamed, and a new one takes its
    /// place.
    ///
    /// - Parameter warn: called with a message that names the new place of a damaged database.
    /// - Throws: an error if the database cannot be used.
    package static func forWriting(
        _ path: String, warn: (String) -> Void
    ) throws(HistoryError) -> AuditHistory {
        let file = HistoryFile(path)
        do {
            try file.makeFolder()
            // Without the lock, two processes could find the same damage. Both would rename a file, and the second one
            // would rename the database that the first has just created.
            return try file.withLock {
                do {
                    return AuditHistory(path: path, database: try Self.open(path))
                } catch let error as DatabaseError where error.isDamage {
                    let place = try file.setAside(at: .now)
                    warn(
                        "\(path): the audit history is damaged (\(error.words)); it is now "
                            + "\(place), and a new one begins")
                    return AuditHistory(path: path, database: try Self.open(path))
                }
            }
        } catch {
            throw Self.error(error, path)
        }
    }

    private static func open(_ path: String) throws -> Database {
        let database = try Database(path, .writing, patience: Self.patience) { connection in
            guard try connection.value("PRAGMA journal_mode = WAL") == .text("wal") else {
                throw DatabaseError(.cannotOpen, "the file system knows no shared memory")
            }
            // A killed process loses nothing; a power failure loses the last audits.
            try connection.runScript("PRAGMA synchronous = NORMAL")
        }
        try database.read { connection in
            guard try !HistorySchema.isNewer(connection) else {
                throw HistoryError("\(path): a newer version of pintle wrote this history; use that, or --history FILE")
            }
            // Damage that the first page does not show could otherwise stay hidden for months.
            guard try connection.value("PRAGMA quick_check(1)") == .text("ok") else {
                throw DatabaseError(.corrupt, "its pages do not fit together")
            }
        }
        try HistorySchema.migrate(database)
        return database
    }

    // MARK: Writing

    /// Stores an audit, all of it or nothing.
    package func record(_ report: AuditReport) throws(HistoryError) {
        let (observations, facts) = (report.observations, report.facts)
        do {
            try self.database.write { connection in
                try connection.run(
                    """
                    INSERT INTO audit (started_at, judged_at, configuration, scope, version) VALUES (?, ?, ?, ?, ?)
                    """,
                    [
                        .integer(report.startedAt.seconds), .integer(report.moment.seconds),
                        .text(HistoryFile.absolute(report.configuration)),
                        .text(report.scope.joined(separator: " ")), .text(report.version),
                    ])
                let id = connection.lastInsertedID
                for observation in observations { try Self.insert(observation, id, connection) }
                for fact in facts { try Self.insert(fact, id, connection) }
            }
        } catch {
            throw Self.error(error, self.path)
        }
    }

    private static func insert(
        _ observation: KeyObservation, _ audit: Int64, _ connection: DatabaseConnection
    ) throws {
        let leaf = observation.leaf
        try connection.run(
            """
            INSERT INTO observation (audit_id, policy, host, address, keys, verdict, leaf_pin, leaf_digest,
                leaf_serial, leaf_subject, leaf_not_before, leaf_not_after, issuer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(audit), .text(observation.policy), .text(observation.host), .text(observation.address),
                .text(observation.keys), .text(observation.verdict), .optional(leaf?.pin), .optional(leaf?.digest),
                .optional(leaf?.serial), .optional(leaf?.subject), .optional(leaf?.notBefore.seconds),
                .optional(leaf?.notAfter.seconds), .optional(leaf?.issuer),
            ])
        let id = connection.lastInsertedID
        for (position, certificate) in observation.chain.enumerated() {
            try connection.run(
                "INSERT INTO chain (observation_id, position, digest) VALUES (?, ?, ?)",
                [.integer(id), .integer(Int64(position)), .text(try self.keep(certificate, connection))])
        }
        for certificate in observation.strays {
            try connection.run(
                "INSERT OR IGNORE INTO stray (observation_id, digest) VALUES (?, ?)",
                [.integer(id), .text(try self.keep(certificate, connection))])
        }
    }

    /// Stores a certificate if it is not stored yet.
    ///
    /// - Returns: the digest by which the certificate is found.
    private static func keep(_ certificate: Certificate, _ connection: DatabaseConnection) throws -> String {
        let digest = certificate.digest
        try connection.run(
            "INSERT OR IGNORE INTO certificate (digest, der) VALUES (?, ?)", [.text(digest), .blob(certificate.der)])
        return digest
    }

    // MARK: Reading

    /// Returns the newest audit and the one to compare it with. That is the last one of the same configuration and scope
    /// that began at or before `since` (nil for any time); if there is none, the first one after `since`.
    package func pair(since: UnixTime?) throws(HistoryError) -> (old: Entry?, new: Entry)? {
        try self.read { connection in
            guard
                let row = try connection.row("SELECT * FROM audit ORDER BY started_at DESC, id DESC LIMIT 1"),
                let new = Entry(row)
            else { return nil }
            let latest = since?.seconds ?? .max
            let old =
                try Self.other(than: new, "AND started_at <= ? ORDER BY started_at DESC, id DESC", latest, connection)
                ?? Self.other(than: new, "AND started_at > ? ORDER BY started_at, id", latest, connection)
            return (old, new)
        }
    }

    /// Returns the first audit, in the given order, of the same configuration and scope.
    private static func other(
        than entry: Entry, _ order: String, _ moment: Int64, _ connection: DatabaseConnection
    ) throws -> Entry? {
        let row = try connection.row(
            "SELECT * FROM audit WHERE configuration = ? AND scope = ? AND id <> ? \(order) LIMIT 1",
            [.text(entry.configuration), .text(entry.scope), .integer(entry.id), .integer(moment)])
        return row.flatMap(Entry.init)
    }

    /// Returns the observations of an audit.
    package func observations(of entry: Entry) throws(HistoryError) -> [KeyObservation] {
        try self.read { connection in
            let chains = try Self.certificates(in: "chain", order: "position", of: entry, connection)
            let strays = try Self.certificates(in: "stray", order: "digest", of: entry, connection)
            return try connection.rows(
                "SELECT * FROM observation WHERE audit_id = ? ORDER BY id", [.integer(entry.id)]
            ).map { row in
                var observation = KeyObservation(row)
                let id = row.integer("id") ?? 0
                observation.chain = chains[id] ?? []
                observation.strays = strays[id] ?? []
                return observation
            }
        }
    }

    /// Returns the certificates that a table has for an audit, by the ids of its observations.
    private static func certificates(
        in table: String, order: String, of entry: Entry, _ connection: DatabaseConnection
    ) throws -> [Int64: [Certificate]] {
        let rows = try connection.rows(
            """
            SELECT observation_id, der FROM observation JOIN \(table) ON observation_id = observation.id
            JOIN certificate USING (digest) WHERE audit_id = ? ORDER BY observation_id, \(order)
            """, [.integer(entry.id)])
        return rows.reduce(into: [:]) { chains, row in
            guard let id = row.integer("observation_id"), let der = row.blob("der"),
                let certificate = try? Certificate(der: der)
            else { return }
            chains[id, default: []].append(certificate)
        }
    }

    /// Reads from the database, and turns every error into a `HistoryError`.
    func read<Value>(_ body: (DatabaseConnection) throws -> Value) throws(HistoryError) -> Value {
        do {
            return try self.database.read(body)
        } catch {
            throw Self.error(error, self.path)
        }
    }

    private static func error(_ error: any Error, _ path: String) -> HistoryError {
        switch error {
        case let error as HistoryError: error
        case let error as DatabaseError where error.isDamage:
            HistoryError(
                "\(path): the audit history is damaged (\(error.words)); the next pintle audit "
                    + "sets it aside and begins a new one")
        case let error as DatabaseError:
            HistoryError("\(path): the audit history cannot be used: \(error.words)")
        default: HistoryError("\(path): the audit history cannot be used: \(error)")
        }
    }
}

extension DatabaseError {
    /// True if the file is not an SQLite database, or is a damaged one.
    fileprivate var isDamage: Bool { self.code == .corrupt || self.code == .notADatabase }
}

extension AuditHistory.Entry {
    fileprivate init?(_ row: DatabaseRow) {
        guard let id = row.integer("id"), let startedAt = row.integer("started_at") else { return nil }
        self.init(
            id: id, startedAt: UnixTime(seconds: startedAt), configuration: row.text("configuration") ?? "",
            scope: row.text("scope") ?? "")
    }
}

extension KeyObservation {
    fileprivate init(_ row: DatabaseRow) {
        self.init(
            policy: row.text("policy") ?? "", host: row.text("host") ?? "", address: row.text("address") ?? "",
            keys: row.text("keys") ?? "", verdict: row.text("verdict") ?? "")
        // A server that could not be reached has shown no certificate.
        guard let pin = row.text("leaf_pin") else { return }
        self.leaf = Leaf(
            pin: pin, digest: row.text("leaf_digest") ?? "", serial: row.text("leaf_serial") ?? "",
            subject: row.text("leaf_subject") ?? "", issuer: row.text("issuer") ?? "",
            notBefore: UnixTime(seconds: row.integer("leaf_not_before") ?? 0),
            notAfter: UnixTime(seconds: row.integer("leaf_not_after") ?? 0))
    }
}
