// SPDX-License-Identifier: Apache-2.0

internal import CPintleSQLite

/// A failure that SQLite reports, or that a reader of a database reports in SQLite's terms.
package struct DatabaseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// SQLite's primary result codes (sqlite.org/rescode.html), as far as callers tell them apart.
    package struct Code: RawRepresentable, Sendable, Hashable {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let error = Code(rawValue: SQLITE_ERROR)
        package static let abort = Code(rawValue: SQLITE_ABORT)
        package static let busy = Code(rawValue: SQLITE_BUSY)
        package static let readOnly = Code(rawValue: SQLITE_READONLY)
        package static let device = Code(rawValue: SQLITE_IOERR)
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        package static let full = Code(rawValue: SQLITE_FULL)
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
        package static let schema = Code(rawValue: SQLITE_SCHEMA)
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        package static let mismatch = Code(rawValue: SQLITE_MISMATCH)
        package static let misuse = Code(rawValue: SQLITE_MISUSE)
        package static let format = Code(rawValue: SQLITE_FORMAT)
        package static let range = Code(rawValue: SQLITE_RANGE)
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
    }

    package let code: Code
    /// The primary code with details in the higher bytes.
    package let extendedCode: Int32
    /// SQLite's sentence, or the caller's, for developers; `words` are for users.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.init(extendedCode: code.rawValue, message)
    }

    init(extendedCode: Int32, _ message: String) {
        self.code = Code(rawValue: extendedCode & 0xFF)
        self.extendedCode = extendedCode
        self.message = message
    }

    /// The cause in a few words that can follow a colon or stand in parentheses.
    package var words: String { SQLiteWords.words(for: self.extendedCode) }

    package var description: String { "SQLite's code \(self.extendedCode): \(self.message)" }
}
