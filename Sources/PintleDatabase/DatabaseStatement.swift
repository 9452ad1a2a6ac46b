// SPDX-License-Identifier: Apache-2.0

internal import CPintleSQLite

/// A compiled statement; owns the handle.
final class DatabaseStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private var columns: [String]
    /// The number of times that SQLite has compiled the statement again.
    private var compilations: Int32 = 0

    /// Compiles the first statement of `sql`, whose end `tail` then is.
    ///
    /// - Parameters:
    ///   - sql: UTF-8 with a zero byte at the end.
    ///   - isKept: true if the statement is to be run often.
    /// - Returns: nil if `sql` has only blanks and comments.
    init?(
        _ sql: UnsafePointer<CChar>, tail: inout UnsafePointer<CChar>?, isKept: Bool, _ connection: OpaquePointer
    ) throws(DatabaseError) {
        var handle: OpaquePointer?
        let options = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let code = sqlite3_prepare_v3(connection, sql, -1, options, &handle, &tail)
        guard code == SQLITE_OK else { throw DatabaseError(last: code, of: connection) }
        guard let handle else { return nil }
        self.handle = handle
        self.connection = connection
        self.columns = Self.columns(of: handle)
    }

    private static func columns(of handle: OpaquePointer) -> [String] {
        (0..<sqlite3_column_count(handle)).map { index in
            sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
        }
    }

    deinit { sqlite3_finalize(self.handle) }

    /// Runs the statement to its end, and calls `body` with each row.
    func run(_ arguments: [DatabaseValue], _ body: (DatabaseRow) -> Void) throws(DatabaseError) {
        // A statement that was not reset would keep its transaction open, and its arguments in memory.
        defer {
            sqlite3_reset(self.handle)
            sqlite3_clear_bindings(self.handle)
        }
        let count = Int(sqlite3_bind_parameter_count(self.handle))
        guard count == arguments.count else {
            throw DatabaseError(.range, "the statement has \(count) parameters, and gets \(arguments.count) arguments")
        }
        for (index, argument) in arguments.enumerated() { try self.bind(argument, at: Int32(index + 1)) }
        while true {
            switch sqlite3_step(self.handle) {
            case SQLITE_ROW:
                self.followTables()
                body(
                    DatabaseRow(
                        columns: self.columns, values: (0..<Int32(self.columns.count)).map { self.value(at: $0) }))
            case SQLITE_DONE: return
            case let code: throw DatabaseError(last: code, of: self.connection)
            }
        }
    }

    /// Reads the columns anew if another connection has changed the tables, after which SQLite compiles the statement again.
    private func followTables() {
        let compilations = sqlite3_stmt_status(self.handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        // The columns are known.
        guard compilations != self.compilations else { return }
        (self.compilations, self.columns) = (compilations, Self.columns(of: self.handle))
    }

    private func bind(_ value: DatabaseValue, at index: Int32) throws(DatabaseError) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(self.handle, index)
            case .integer(let integer): sqlite3_bind_int64(self.handle, index, integer)
            case .real(let double): sqlite3_bind_double(self.handle, index, double)
            case .text(let text):
                // SQLite is told the length, because a text may have zero bytes.
                text.withCString { pintle_sqlite_bind_text(self.handle, index, $0, UInt64(text.utf8.count)) }
            // Without an address it would be null.
            case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(self.handle, index, 0)
            case .blob(let bytes):
                bytes.withUnsafeBytes {
                    pintle_sqlite_bind_blob(self.handle, index, $0.baseAddress, UInt64($0.count))
                }
            }
        guard code == SQLITE_OK else { throw DatabaseError(last: code, of: self.connection) }
    }

    private func value(at index: Int32) -> DatabaseValue {
        switch sqlite3_column_type(self.handle, index) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(self.handle, index))
        case SQLITE_FLOAT: .real(sqlite3_column_double(self.handle, index))
        case SQLITE_TEXT:
            // The pointer comes first: asking for it may convert the value, which changes its length.
            .text(
                String(
                    decoding: UnsafeBufferPointer(
                        start: sqlite3_column_text(self.handle, index),
                        count: Int(sqlite3_column_bytes(self.handle, index))), as: UTF8.self))
        case SQLITE_BLOB:
            .blob(
                Array(
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(self.handle, index),
                        count: Int(sqlite3_column_bytes(self.handle, index)))))
        default: .null
        }
    }
}
