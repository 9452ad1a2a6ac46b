// SPDX-License-Identifier: Apache-2.0

/// A form of text: `*` stands for any text, also for none; everything else for itself, byte by byte.
package struct Glob: Sendable, Hashable, CustomStringConvertible {
    /// The texts before, between and after the stars; one text if there are no stars.
    let parts: [[UInt8]]

    package init(_ text: String) {
        self.parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    /// The form as it was read.
    package var description: String {
        self.parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "*")
    }

    /// True if exactly one text has the form.
    var isExact: Bool { self.parts.count == 1 }

    /// True if every text has the form.
    var takesAnything: Bool { !self.isExact && self.parts.allSatisfy(\.isEmpty) }

    /// The bytes before the first star, or all of them.
    var beginning: ArraySlice<UInt8> { self.parts[0][...] }

    /// The form with `**` for a star, since a slash is a byte like any other.
    var allTokens: [PathPattern.Token] {
        var tokens: [PathPattern.Token] = []
        for (index, part) in self.parts.enumerated() {
            if index > 0, tokens.last != .doubleStar { tokens.append(.doubleStar) }
            tokens += part.map { .byte($0) }
        }
        return tokens
    }

    /// True if each text of the form `other` has this form, too, as far as that is obvious.
    func covers(_ other: Glob) -> Bool {
        self.parts == other.parts || self.takesAnything || (other.isExact && self.matches(other.description))
    }

    /// True if the text has the form.
    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { self.matches(UnsafeRawBufferPointer($0)) }
    }

    /// True if the text has the form.
    func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = self.parts.first, let last = self.parts.last else { return false }
        if self.isExact { return text.elementsEqual(first) }
        guard text.count >= first.count + last.count, text.starts(with: first),
            text.suffix(last.count).elementsEqual(last)
        else { return false }
        // The first place of each text leaves the most room for later texts, so no place is tried twice.
        var rest = text[first.count..<(text.count - last.count)]
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
