// SPDX-License-Identifier: Apache-2.0

/// A value of one of SQLite's storage classes.
package enum DatabaseValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Text, or null for nil.
    package static func optional(_ text: String?) -> DatabaseValue { text.map { .text($0) } ?? .null }

    /// An integer, or null for nil.
    package static func optional(_ integer: Int64?) -> DatabaseValue { integer.map { .integer($0) } ?? .null }
}

/// A row of a result. A damaged or foreign database may have any type in any column; a value of another type than the one
/// that is asked for is nil.
package struct DatabaseRow: Sendable {
    let columns: [String]
    let values: [DatabaseValue]

    /// The value of a column; null if there is no such column.
    package subscript(_ column: String) -> DatabaseValue {
        self.columns.firstIndex(of: column).map { self.values[$0] } ?? .null
    }

    /// The value of the first column.
    package var first: DatabaseValue { self.values.first ?? .null }

    package func integer(_ column: String) -> Int64? { self[column].integer }
    package func text(_ column: String) -> String? { self[column].text }
    package func blob(_ column: String) -> [UInt8]? { self[column].blob }
}

extension DatabaseValue {
    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    package var blob: [UInt8]? {
        if case .blob(let bytes) = self { bytes } else { nil }
    }
}
