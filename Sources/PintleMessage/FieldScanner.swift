// SPDX-License-Identifier: Apache-2.0

/// Reads a field value from its beginning on, by the grammar that fields share (RFC 9110 §5.6).
///
/// A function reads nothing if its part is not there.
package struct FieldScanner {
    /// The bytes that have not been read yet.
    package private(set) var rest: ArraySlice<UInt8>

    /// Begins at the first of `bytes`.
    package init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    /// True if a comma is next, or nothing: a member of a list ends here.
    package var isAtMemberEnd: Bool { self.rest.isEmpty || self.rest.first == UInt8(ascii: ",") }

    /// True if a quoted string is next.
    package var isAtQuote: Bool { self.rest.first == UInt8(ascii: "\"") }

    /// Reads one byte; nil at the end.
    package mutating func next() -> UInt8? { self.rest.popFirst() }

    /// Reads `character`, which is ASCII.
    ///
    /// - Returns: true if it was next.
    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.rest.first == UInt8(ascii: character) else { return false }
        self.rest.removeFirst()
        return true
    }

    /// Reads bytes up to the first that is not accepted.
    package mutating func take(while isAccepted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let run = self.rest.prefix(while: isAccepted)
        self.rest = self.rest[run.endIndex...]
        return run
    }

    /// Reads optional white space (RFC 9110 §5.6.3).
    package mutating func skipSpaces() {
        self.rest = self.rest.drop { $0 == 0x20 || $0 == 0x09 }
    }

    /// Reads the commas before a member of a list, and white space: members may be empty (RFC 9110 §5.6.1).
    package mutating func skipCommas() {
        self.rest = self.rest.drop { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
    }

    /// Reads a token (RFC 9110 §5.6.2); nil if there is none.
    package mutating func token() -> ArraySlice<UInt8>? {
        let token = self.take(while: ASCII.isTokenByte)
        return token.isEmpty ? nil : token
    }

    /// Reads a quoted string (RFC 9110 §5.6.4).
    ///
    /// - Returns: its text without quotation marks and backslashes; nil if there is none, or one that does not end.
    package mutating func quotedString() -> [UInt8]? {
        var rest = self.rest
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                self.rest = rest
                return text
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Reads a token or a quoted string, as values of parameters are (RFC 9110 §5.6.6).
    ///
    /// - Returns: its text; nil if there is neither.
    package mutating func tokenOrQuotedString() -> [UInt8]? {
        self.isAtQuote ? self.quotedString() : self.token().map { Array($0) }
    }

    /// Reads up to the next `separator` outside of quoted strings, and the separator itself. Takes anything for a part.
    ///
    /// - Returns: the part without white space around it; nil at the end.
    package mutating func part(before separator: Unicode.Scalar) -> ArraySlice<UInt8>? {
        guard !self.rest.isEmpty else { return nil }
        let start = self.rest
        while let byte = self.rest.first, byte != UInt8(ascii: separator) {
            if !self.isAtQuote {
                self.rest.removeFirst()
            } else if self.quotedString() == nil {
                // It does not end, so that the rest of the value is in it.
                self.rest = self.rest[self.rest.endIndex...]
            }
        }
        let part = start[..<self.rest.startIndex]
        _ = self.take(separator)
        return ASCII.trimmed(part)
    }
}
