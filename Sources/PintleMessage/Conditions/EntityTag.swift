// SPDX-License-Identifier: Apache-2.0

/// An opaque name for one state of a representation (ETag, RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// True if representations with different bytes may share the tag.
    package let isWeak: Bool
    /// The text between the quotation marks.
    package let opaque: String

    /// Reads a field value: `"…"` or `W/"…"`.
    ///
    /// - Returns: nil for anything else, such as tags without quotation marks.
    package init?(_ value: String) {
        var bytes = Array(value.utf8)[...]
        self.isWeak = bytes.starts(with: "W/\"".utf8)
        if self.isWeak { bytes = bytes.dropFirst(2) }
        let mark = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == mark, bytes.last == mark else { return nil }
        bytes = bytes.dropFirst().dropLast()
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != mark }) else { return nil }
        self.opaque = String(decoding: bytes, as: UTF8.self)
    }

    /// True if both tags name the same bytes: they are equal, and neither is weak (RFC 9110 §8.8.3.2).
    package func stronglyMatches(_ other: EntityTag) -> Bool {
        !self.isWeak && !other.isWeak && self.weaklyMatches(other)
    }

    /// True if both tags name the same content, perhaps in different bytes (RFC 9110 §8.8.3.2).
    ///
    /// Compares bytes, as §8.8.3.2 says, in linear time: `String` compares runs of combining marks in quadratic time.
    package func weaklyMatches(_ other: EntityTag) -> Bool { self.opaque.utf8.elementsEqual(other.opaque.utf8) }

    /// The field value.
    package var description: String { "\(self.isWeak ? "W/" : "")\"\(self.opaque)\"" }
}
