// SPDX-License-Identifier: Apache-2.0

/// Texts for SQLite's result codes, for all modules that have a database.
package enum SQLiteWords {
    /// Returns a few words that can follow a colon or stand in parentheses.
    ///
    /// - Parameter code: a primary or extended result code of SQLite (sqlite.org/rescode.html); only its lowest byte
    ///   counts.
    package static func words(for code: Int32) -> String {
        Self.words[code & 0xFF] ?? "SQLite's code \(code)"
    }

    private static let tables = "its tables are not those that pintle writes"
    private static let held = "another process holds it; try again when that has ended"
    private static let forbidden = "permission denied"

    /// The texts by primary code; these codes never change.
    private static let words: [Int32: String] = [
        1: tables, 3: forbidden, 5: held, 6: held, 7: "out of memory",
        8: "it may only be read; let this user write it and its folder", 10: "the device failed",
        11: "its pages contradict each other", 13: "no space left on the device",
        14: "it cannot be opened; is it a folder, or in one that may not be entered?", 17: tables, 19: tables,
        20: tables, 23: forbidden, 24: tables, 26: "it is not a database",
    ]
}
