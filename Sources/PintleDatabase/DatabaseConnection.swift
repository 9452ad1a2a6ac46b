// SPDX-License-Identifier: Apache-2.0

internal import CPintleSQLite
internal import PintleSystem

/// A connection to a database, for the time of one transaction; owns the handle.
package final class DatabaseConnection {
    private let handle: OpaquePointer
    /// The statements that were run, by their text.
    private var statements: [String: DatabaseStatement] = [:]

    /// - Parameter path: a path in UTF-8.
    init(_ path: String, _ access: Database.Access, patience: Duration) throws(DatabaseError) {
        // SQLite would take what is before a zero byte for the whole path, and nothing for a temporary file.
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw DatabaseError(.cannotOpen, "a path is not empty, and has no zero byte")
        }
        var handle: OpaquePointer?
        // The lock of `Database` takes the place of SQLite's own.
        let rights =
            switch access {
            case .reading: SQLITE_OPEN_READONLY
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            }
        let code = sqlite3_open_v2(Self.plain(path), &handle, rights | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let error = handle.map { DatabaseError(last: code, of: $0) }
            // SQLite makes a handle even if it fails, unless memory is short.
            sqlite3_close(handle)
            throw error ?? DatabaseError(extendedCode: code, "the database cannot be opened")
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(clamping: patience.roundedMilliseconds))
        // A misspelled name of a column is an error, and not a text.
        let refusal = pintle_sqlite_refuse_quoted_text(handle)
        guard refusal == SQLITE_OK else { throw DatabaseError(last: refusal, of: handle) }
        try self.runScript("PRAGMA foreign_keys = ON")
    }

    /// The path in a form that SQLite takes for nothing else: some builds read `file:…` as a URI, and `:memory:` is in no file.
    private static func plain(_ path: String) -> String {
        path.hasPrefix("file:") || path.hasPrefix(":") ? "./\(path)" : path
    }

    deinit {
        // Statements that are not finalized would keep the connection open.
        self.statements = [:]
        sqlite3_close_v2(self.handle)
    }

    /// Runs statements without arguments, and drops their rows. They are compiled anew each time, because some settings take
    /// effect when they are compiled.
    package func runScript(_ sql: String) throws(DatabaseError) {
        // SQLite answers with pointers into the text, which therefore has to stay where it is.
        try sql.utf8CString.withUnsafeBufferPointer { text throws(DatabaseError) in
            var next = text.baseAddress
            while let start = next, start.pointee != 0 {
                let statement = try DatabaseStatement(start, tail: &next, isKept: false, self.handle)
                try statement?.run([]) { _ in }
            }
        }
    }

    /// Runs a statement, and drops its rows.
    ///
    /// - Parameter sql: one statement. It stays compiled, so callers use only a few texts.
    package func run(_ sql: String, _ arguments: [DatabaseValue] = []) throws(DatabaseError) {
        try self.statement(sql).run(arguments) { _ in }
    }

    /// The rows of a result, all of them in memory.
    ///
    /// - Parameter sql: one statement. It stays compiled, so callers use only a few texts.
    package func rows(_ sql: String, _ arguments: [DatabaseValue] = []) throws(DatabaseError) -> [DatabaseRow] {
        var rows: [DatabaseRow] = []
        try self.statement(sql).run(arguments) { rows.append($0) }
        return rows
    }

    /// The first row of a result; nil if there is none.
    package func row(_ sql: String, _ arguments: [DatabaseValue] = []) throws(DatabaseError) -> DatabaseRow? {
        try self.rows(sql, arguments).first
    }

    /// The first column of the first row; null if there is none.
    package func value(_ sql: String, _ arguments: [DatabaseValue] = []) throws(DatabaseError) -> DatabaseValue {
        try self.row(sql, arguments)?.first ?? .null
    }

    /// The number of rows that the last statement inserted, changed or deleted, without those of triggers.
    package var changes: Int { Int(sqlite3_changes(self.handle)) }

    /// The id of the row that was inserted last.
    package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(self.handle) }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func inTransaction<Value>(_ begin: String, _ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try self.run(begin)
        do {
            let value = try body(self)
            try self.run("COMMIT")
            return value
        } catch {
            // SQLite rolls back by itself after some errors, such as a full disk. An error of the rollback would hide the cause.
            if sqlite3_get_autocommit(self.handle) == 0 { try? self.run("ROLLBACK") }
            throw error
        }
    }

    private func statement(_ sql: String) throws(DatabaseError) -> DatabaseStatement {
        if let statement = self.statements[sql] { return statement }
        let made = try sql.utf8CString.withUnsafeBufferPointer { text throws(DatabaseError) in
            var next = text.baseAddress
            return try text.baseAddress.flatMap { start throws(DatabaseError) in
                try DatabaseStatement(start, tail: &next, isKept: true, self.handle)
            }
        }
        guard let statement = made else { throw DatabaseError(.misuse, "the text has no statement") }
        self.statements[sql] = statement
        return statement
    }
}

extension DatabaseError {
    /// The error that a call with this connection has just returned.
    init(last code: Int32, of connection: OpaquePointer) {
        let message = sqlite3_errmsg(connection).map { String(cString: $0) } ?? ""
        // Calls for a statement return the primary code in some cases, and the connection has the extended one.
        let extended = sqlite3_extended_errcode(connection)
        self.init(extendedCode: extended & 0xFF == code & 0xFF ? extended : code, message)
    }
}
