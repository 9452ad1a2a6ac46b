// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem

/// The reason why pins cannot be read from a file, or written in a format.
package struct PinFormatError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error, by the party that can fix it.
    package enum Kind: Sendable, Equatable {
        /// The file does not follow its format.
        case malformed
        /// The file cannot be read.
        case unreadable
        /// The format cannot express the pins, or would change their meaning.
        case notCarried
        /// The command line asks for something that is impossible with this file.
        case usage
        /// The result cannot be written.
        case unwritable
    }

    package let kind: Kind
    /// The event, its place and the remedy; one problem per line.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Makes a problem at a line of a file, counted from 1; nil means the file as a whole.
    init(file: String, line: Int?, _ message: String) {
        self.init(.malformed, "\(line.map { "\(file):\($0)" } ?? file): \(message)")
    }

    /// Makes the problem of a configuration or another YAML document.
    init(_ error: ConfigurationError) {
        self.init(error.isUnreadable ? .unreadable : .malformed, error.description)
    }
}

extension String {
    /// The text in quotes for a message, with characters that steer terminals escaped, and cut short.
    var shown: String {
        var text = ""
        for scalar in self.unicodeScalars.prefix(80) {
            text += scalar.isDeceptive ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return self.unicodeScalars.count > 80 ? "\"\(text)…\"" : "\"\(text)\""
    }

    /// The text without white space at both ends.
    var trimmed: String { String(Substring(self).trimmed) }
}

extension Substring {
    /// The text without white space at both ends.
    var trimmed: Substring {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }
}
