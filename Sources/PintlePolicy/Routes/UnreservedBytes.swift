// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// The bytes of a path up to its query, as rules compare them: percent-encoded characters are decoded, and those that stay
/// encoded have digits in upper case (RFC 3986 §6.2.2).
///
/// By RFC 3986 `%61` is `a`; it leaves open if `%40` is `@`, but servers decode both before they look at a path. These stay
/// encoded: characters with a meaning in a path, the star of patterns, and bytes that are not visible ASCII.
struct UnreservedBytes<Bytes: RandomAccessCollection<UInt8>>: IteratorProtocol where Bytes.Index == Int {
    private let bytes: Bytes
    private var index: Int
    /// The number of next bytes that are digits of an escape that stays.
    private var digitsLeft = 0

    init(_ bytes: Bytes) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    /// The number of bytes taken from the input.
    var consumed: Int { self.index - self.bytes.startIndex }

    mutating func next() -> UInt8? {
        guard self.index < self.bytes.endIndex else { return nil }
        let byte = self.bytes[self.index]
        if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return nil }
        self.index += 1
        if self.digitsLeft > 0 {
            self.digitsLeft -= 1
            return byte >= UInt8(ascii: "a") ? byte - 0x20 : byte
        }
        guard byte == UInt8(ascii: "%"), let decoded = self.encodedByte else { return byte }
        guard Self.isPlain(decoded) else {
            self.digitsLeft = 2
            return byte
        }
        self.index += 2
        return decoded
    }

    /// The byte that the next two hexadecimal digits stand for; nil if there are no such digits.
    private var encodedByte: UInt8? {
        guard self.bytes.endIndex - self.index >= 2, let high = ASCII.hexValue(self.bytes[self.index]),
            let low = ASCII.hexValue(self.bytes[self.index + 1])
        else { return nil }
        return high << 4 | low
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: "?"), UInt8(ascii: "#"),
            UInt8(ascii: "%"), UInt8(ascii: "*"):
            false
        default: 0x21...0x7E ~= byte
        }
    }
}
