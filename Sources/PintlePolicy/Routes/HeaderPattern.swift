// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A field that requests of a route must have: one of the lines with its name has a value of this form. `*` stands for any
/// text, also for none; values are case-sensitive, names are not.
package struct HeaderPattern: Sendable, Hashable, CustomStringConvertible {
    /// The name of the field.
    package let name: String
    /// The value as the configuration spells it, since the value that `env:` or `file:` refers to may be secret.
    private let spelling: String
    /// The texts before, between and after the stars; one text if there are no stars.
    private let parts: [[UInt8]]

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - value: the form of the value.
    ///   - spelling: the form as messages may show it.
    /// - Throws: the reason if routes cannot be chosen by this field, or if no value has this form.
    package init(_ name: String, _ value: String, spelled spelling: String) throws(Malformed) {
        guard FieldSyntax.isName(name) else { throw Malformed("not a field name") }
        switch FieldName(name) {
        case .host: throw Malformed("Host follows the request's target; write match.hosts")
        case .contentLength, .transferEncoding:
            throw Malformed("frames the message; Pintle writes it anew, and chooses no route by it")
        case .proxyAuthorization: throw Malformed("is between a client and this proxy; see clients.basic_auth")
        default: break
        }
        guard !value.isEmpty else { throw Malformed("no value has this form; write \"*\" for any") }
        guard FieldSyntax.isValue(value) else {
            throw Malformed("a field value has no control characters and no spaces at its ends")
        }
        guard value.utf8.count <= 1024 else { throw Malformed("a pattern has at most 1024 bytes") }
        self.name = name
        self.spelling = spelling
        self.parts = value.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    /// `X-Env: stag*`.
    package var description: String { "\(self.name): \(self.spelling)" }

    /// The form of the value, with `**` for a star, since a slash is a byte like any other.
    var allTokens: [PathPattern.Token] {
        var tokens: [PathPattern.Token] = []
        for (index, part) in self.parts.enumerated() {
            if index > 0, tokens.last != .doubleStar { tokens.append(.doubleStar) }
            tokens += part.map { .byte($0) }
        }
        return tokens
    }

    /// True if one of the field lines has such a value.
    func matches(_ fields: Fields) -> Bool { fields.contains(self.name) { self.matches(value: $0) } }

    /// True if this matches every field that `other` matches, as far as that is obvious.
    func covers(_ other: HeaderPattern) -> Bool {
        guard self.name.lowercased() == other.name.lowercased() else { return false }
        return self.parts == other.parts || (self.parts.count > 1 && self.parts.allSatisfy(\.isEmpty))
    }

    private func matches(value: UnsafeRawBufferPointer) -> Bool {
        guard let first = self.parts.first, let last = self.parts.last else { return false }
        if self.parts.count == 1 { return value.elementsEqual(first) }
        guard value.count >= first.count + last.count, value.starts(with: first),
            value.suffix(last.count).elementsEqual(last)
        else { return false }
        // The first place of each text leaves the most room for later texts, so no place is tried twice.
        var rest = value[first.count..<(value.count - last.count)]
        for part in self.parts.dropFirst().dropLast() where !part.isEmpty {
            guard let start = Self.firstPlace(of: part, in: rest) else { return false }
            rest = rest[(start + part.count)...]
        }
        return true
    }

    private static func firstPlace(of part: [UInt8], in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard bytes.count >= part.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - part.count)).first { bytes[$0...].starts(with: part) }
    }
}
