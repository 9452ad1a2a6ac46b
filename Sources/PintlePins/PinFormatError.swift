// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// Why pins cannot be read from a file, or not be written in a format.
package struct PinFormatError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Who can do something about it.
    package enum Kind: Sendable, Equatable {
        /// The file is not what its format asks for.
        case malformed
        /// The file cannot be read at all.
        case unreadable
        /// The format has no words for what shall be written, or its words mean something else.
        case notCarried
        /// The command line asks for what makes no sense with this file.
        case usage
        /// What was made cannot be written.
        case unwritable
    }

    package let kind: Kind
    /// What happened, where, and what to do; one problem a line.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// A problem at a line of a file, which counts from 1; nil where the file as a whole is meant.
    init(file: String, line: Int?, _ message: String) {
        self.init(.malformed, "\(line.map { "\(file):\($0)" } ?? file): \(message)")
    }

    /// What is wrong with a configuration or another YAML document.
    init(_ error: ConfigurationError) {
        let isUnreadable = error.problems.allSatisfy { $0.position == nil }
        self.init(isUnreadable ? .unreadable : .malformed, error.description)
    }
}

extension String {
    /// The text in quotes for a message: what steers terminals escaped, and not endless.
    var shown: String {
        var text = ""
        for scalar in self.unicodeScalars.prefix(80) {
            text += scalar.isDeceptive ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return self.unicodeScalars.count > 80 ? "\"\(text)…\"" : "\"\(text)\""
    }

    /// Without white space at both ends.
    var trimmed: String { String(Substring(self).trimmed) }
}

extension Substring {
    /// Without white space at both ends.
    var trimmed: Substring {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
