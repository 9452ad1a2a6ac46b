// SPDX-License-Identifier: Apache-2.0

internal import PintleDatabase

/// Entries that are removed together.
enum RemovalSelection: Sendable, Hashable {
    case url(String)
    /// All URLs that begin with this text, compared byte by byte.
    case prefix(String)
    case tag(String)
    case all

    /// True if the selection covers an entry that is still being written.
    func matches(url: String, tags: [String]) -> Bool {
        switch self {
        case .url(let other): url.utf8.elementsEqual(other.utf8)
        case .prefix(let prefix): url.utf8.starts(with: prefix.utf8)
        case .tag(let tag): tags.contains { $0.utf8.elementsEqual(tag.utf8) }
        case .all: true
        }
    }

    /// An SQL condition on the rows of entries, and its arguments.
    var condition: (sql: String, arguments: [DatabaseValue]) {
        switch self {
        case .url(let url): return ("url = ?", [.text(url)])
        case .prefix(let prefix):
            guard let end = Self.end(of: prefix) else { return ("url >= ?", [.text(prefix)]) }
            return ("url >= ? AND url < ?", [.text(prefix), .text(end)])
        case .tag(let tag): return ("id IN (SELECT entry FROM tag WHERE name = ?)", [.text(tag)])
        case .all: return ("1", [])
        }
    }

    /// The least text that is greater than all that begin with `prefix`; nil if there is none. UTF-8 has the order of the
    /// scalars, and SQLite compares bytes.
    static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // The surrogates after U+D7FF are not scalars.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            scalars.append(next)
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars)
            return String(end)
        }
        return nil
    }
}
