// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import GRDB
internal import PintleSystem
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

    /// Seconds for which a process waits until another has finished writing.
    private static let patience = 10.0

    let path: String
    private let queue: DatabaseQueue

    /// Opens an existing database.
    ///
    /// - Throws: an error if there is no database, or if it cannot be used.
    package static func existing(_ path: String) throws(HistoryError) -> AuditHistory {
        guard HistoryFile(path).exists else {
            throw HistoryError("\(path): there is no audit history; pintle audit writes one")
        }
        do {
            return AuditHistory(path: path, queue: try Self.open(path))
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
                    return AuditHistory(path: path, queue: try Self.open(path))
                } catch let error as DatabaseError where error.isDamage {
                    let place = try file.setAside(at: .now)
                    warn(
                        "\(path): the audit history is damaged (\(error.resultCode.words)); it is now "
                            + "\(place), and a new one begins")
                    return AuditHistory(path: path, queue: try Self.open(path))
                }
            }
        } catch {
            throw Self.error(error, path)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path.pathForLibraries(), configuration: configuration)
        let isNewer = try queue.read { try HistorySchema.migrator.hasBeenSuperseded($0) }
        guard !isNewer else {
            throw HistoryError("\(path): a newer version of pintle wrote this history; use that, or --history FILE")
        }
        try queue.read { database in
            // Damage that the first page does not show could otherwise stay hidden for months.
            guard try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok" else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its pages do not fit together")
            }
        }
        try HistorySchema.migrator.migrate(queue)
        return queue
    }

    // MARK: Writing

    /// Stores an audit, all of it or nothing.
    package func record(_ report: AuditReport) throws(HistoryError) {
        let (observations, facts) = (report.observations, report.facts)
        do {
            try self.queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO audit (started_at, judged_at, configuration, scope, version) VALUES (?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        report.startedAt.seconds, report.moment.seconds, HistoryFile.absolute(report.configuration),
                        report.scope.joined(separator: " "), report.version,
                    ])
                let id = database.lastInsertedRowID
                for observation in observations { try Self.insert(observation, id, database) }
                for fact in facts { try Self.insert(fact, id, database) }
            }
        } catch {
            throw Self.error(error, self.path)
        }
    }

    private static func insert(_ observation: KeyObservation, _ audit: Int64, _ database: Database) throws {
        let leaf = observation.leaf
        try database.execute(
            sql: """
                INSERT INTO observation (audit_id, policy, host, address, keys, verdict, leaf_pin, leaf_digest,
                    leaf_serial, leaf_subject, leaf_not_before, leaf_not_after, issuer)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                audit, observation.policy, observation.host, observation.address, observation.keys,
                observation.verdict, leaf?.pin, leaf?.digest, leaf?.serial, leaf?.subject, leaf?.notBefore.seconds,
                leaf?.notAfter.seconds, leaf?.issuer,
            ])
        let id = database.lastInsertedRowID
        for (position, certificate) in observation.chain.enumerated() {
            try database.execute(
                sql: "INSERT INTO chain (observation_id, position, digest) VALUES (?, ?, ?)",
                arguments: [id, position, try self.keep(certificate, database)])
        }
        for certificate in observation.strays {
            try database.execute(
                sql: "INSERT OR IGNORE INTO stray (observation_id, digest) VALUES (?, ?)",
                arguments: [id, try self.keep(certificate, database)])
        }
    }

    /// Stores a certificate if it is not stored yet.
    ///
    /// - Returns: the digest by which the certificate is found.
    private static func keep(_ certificate: Certificate, _ database: Database) throws -> String {
        let digest = certificate.digest
        try database.execute(
            sql: "INSERT OR IGNORE INTO certificate (digest, der) VALUES (?, ?)",
            arguments: [digest, Data(certificate.der)])
        return digest
    }

    // MARK: Reading

    /// Returns the newest audit and the one to compare it with. That is the last one of the same configuration and scope
    /// that began at or before `since` (nil for any time); if there is none, the first one after `since`.
    package func pair(since: UnixTime?) throws(HistoryError) -> (old: Entry?, new: Entry)? {
        try self.read { database in
            guard
                let row = try Row.fetchOne(database, sql: "SELECT * FROM audit ORDER BY started_at DESC, id DESC"),
                let new = Entry(row)
            else { return nil }
            let latest = since?.seconds ?? .max
            let old =
                try Self.other(than: new, "AND started_at <= ? ORDER BY started_at DESC, id DESC", latest, database)
                ?? Self.other(than: new, "AND started_at > ? ORDER BY started_at, id", latest, database)
            return (old, new)
        }
    }

    /// Returns the first audit, in the given order, of the same configuration and scope.
    private static func other(
        than entry: Entry, _ order: String, _ moment: Int64, _ database: Database
    ) throws -> Entry? {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM audit WHERE configuration = ? AND scope = ? AND id <> ? \(order) LIMIT 1",
            arguments: [entry.configuration, entry.scope, entry.id, moment])
        return row.flatMap(Entry.init)
    }

    /// Returns the observations of an audit.
    package func observations(of entry: Entry) throws(HistoryError) -> [KeyObservation] {
        try self.read { database in
            let chains = try Self.certificates(in: "chain", order: "position", of: entry, database)
            let strays = try Self.certificates(in: "stray", order: "digest", of: entry, database)
            return try Row.fetchAll(
                database, sql: "SELECT * FROM observation WHERE audit_id = ? ORDER BY id", arguments: [entry.id]
            ).map { row in
                var observation = KeyObservation(row)
                let id: Int64 = row["id"]
                observation.chain = chains[id] ?? []
                observation.strays = strays[id] ?? []
                return observation
            }
        }
    }

    /// Returns the certificates that a table has for an audit, by the ids of its observations.
    private static func certificates(
        in table: String, order: String, of entry: Entry, _ database: Database
    ) throws -> [Int64: [Certificate]] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT observation_id, der FROM observation JOIN \(table) ON observation_id = observation.id
                JOIN certificate USING (digest) WHERE audit_id = ? ORDER BY observation_id, \(order)
                """, arguments: [entry.id])
        return rows.reduce(into: [:]) { chains, row in
            guard let id: Int64 = row["observation_id"], let der: Data = row["der"],
                let certificate = try? Certificate(der: Array(der))
            else { return }
            chains[id, default: []].append(certificate)
        }
    }

    /// Reads from the database, and turns every error into a `HistoryError`.
    func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        do {
            return try self.queue.read(body)
        } catch {
            throw Self.error(error, self.path)
        }
    }

    private static func error(_ error: any Error, _ path: String) -> HistoryError {
        switch error {
        case let error as HistoryError: error
        case let error as DatabaseError where error.isDamage:
            HistoryError(
                "\(path): the audit history is damaged (\(error.resultCode.words)); the next pintle audit "
                    + "sets it aside and begins a new one")
        case let error as DatabaseError:
            HistoryError("\(path): the audit history cannot be used: \(error.resultCode.words)")
        default: HistoryError("\(path): the audit history cannot be used: what is in it is not what pintle writes")
        }
    }
}

extension ResultCode {
    fileprivate var words: String { SQLiteWords.words(for: self.rawValue) }
}

extension DatabaseError {
    /// True if the file is not an SQLite database, or is a damaged one.
    fileprivate var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(self.resultCode.primaryResultCode) }
}

extension AuditHistory.Entry {
    fileprivate init?(_ row: Row) {
        guard let id: Int64 = row["id"], let startedAt: Int64 = row["started_at"] else { return nil }
        self.init(
            id: id, startedAt: UnixTime(seconds: startedAt), configuration: row["configuration"] ?? "",
            scope: row["scope"] ?? "")
    }
}

extension KeyObservation {
    fileprivate init(_ row: Row) {
        self.init(
            policy: row["policy"] ?? "", host: row["host"] ?? "", address: row["address"] ?? "",
            keys: row["keys"] ?? "", verdict: row["verdict"] ?? "")
        guard let pin: String = row["leaf_pin"] else { return }
        self.leaf = Leaf(
            pin: pin, digest: row["leaf_digest"] ?? "", serial: row["leaf_serial"] ?? "",
            subject: row["leaf_subject"] ?? "", issuer: row["issuer"] ?? "",
            notBefore: UnixTime(seconds: row["leaf_not_before"] ?? 0),
            notAfter: UnixTime(seconds: row["leaf_not_after"] ?? 0))
    }
}
