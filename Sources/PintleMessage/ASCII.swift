// SPDX-License-Identifier: Apache-2.0

/// Comparisons and classes of the bytes in HTTP's grammar; independent of any locale.
package enum ASCII {
    /// The byte, in lower case if it is an ASCII letter.
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// The byte in lower case if it is ASCII, else a question mark, which no name in HTTP contains.
    ///
    /// A text of such bytes compares in linear time. `String` compares, hashes and looks for prefixes by canonical
    /// equivalence, and for that it sorts each run of combining marks: 16 KiB of them take over 10 ms each time.
    @inline(__always)
    package static func folded(_ byte: UInt8) -> UInt8 {
        byte < 0x80 ? Self.lowercased(byte) : UInt8(ascii: "?")
    }

    /// True if two byte sequences are equal, ignoring the case of ASCII letters.
    package static func equalsIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
    }

    /// True if `bytes` equals `lowercase`, ignoring the case of ASCII letters. `lowercase` must be in lower case.
    @inline(__always)
    package static func equalsIgnoringCase(_ bytes: UnsafeRawBufferPointer, _ lowercase: StaticString) -> Bool {
        let count = lowercase.utf8CodeUnitCount
        guard bytes.count == count else { return false }
        let expected = lowercase.utf8Start
        for index in 0..<count where Self.lowercased(bytes[index]) != expected[index] { return false }
        return true
    }

    /// True if `byte` may be part of a token (RFC 9110 §5.6.2).
    @inline(__always)
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        if byte < 64 { return Self.lowTokenBits >> UInt64(byte) & 1 == 1 }
        return byte < 128 && Self.highTokenBits >> UInt64(byte &- 64) & 1 == 1
    }

    /// The number of bytes of the token that `bytes` begin with (RFC 9110 §5.6.2).
    @inline(__always)
    static func tokenLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        var index = 0
        // Eight at a time: nearly all field names consist of letters and hyphens.
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let others = Self.neitherLettersNorHyphens(word)
            index += others.trailingZeroBitCount / 8
            if others != 0 { break }
        }
        while index < bytes.count, Self.isTokenByte(bytes[index]) { index += 1 }
        return index
    }

    /// Sets the highest bit of each byte that is neither a letter nor a hyphen, and no other bit.
    @inline(__always)
    private static func neitherLettersNorHyphens(_ word: UInt64) -> UInt64 {
        // No sum carries into the next byte, because the highest bits of all bytes are cleared first.
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let folded = low | 0x2020_2020_2020_2020
        let letters = (folded + 0x1F1F_1F1F_1F1F_1F1F) & ~(folded + 0x0505_0505_0505_0505)
        let hyphens = ~((low ^ 0x2D2D_2D2D_2D2D_2D2D) + 0x7F7F_7F7F_7F7F_7F7F)
        return ~((letters | hyphens) & ~word) & 0x8080_8080_8080_8080
    }

    /// True if all bytes are ASCII.
    package static func isAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        // Eight at a time: this runs for every field value of HTTP/2.
        while index + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] >= 0x80 { return false }
            index += 1
        }
        return true
    }

    /// True if there is a control byte other than a tab, which no field value may have (RFC 9110 §5.5).
    static func hasControlByte(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        // Eight at a time: this runs for every field value of every head.
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let deletions = word ^ 0x7F7F_7F7F_7F7F_7F7F
            // The highest bit of a byte is set if the byte is below 0x20, or 0x7F. A borrow may also set it for the next
            // byte.
            let found = (word &- 0x2020_2020_2020_2020) & ~word | (deletions &- 0x0101_0101_0101_0101) & ~deletions
            if found & 0x8080_8080_8080_8080 != 0, bytes[index..<index + 8].contains(where: Self.isForbiddenControl) {
                return true
            }
            index += 8
        }
        while index < bytes.count {
            if Self.isForbiddenControl(bytes[index]) { return true }
            index += 1
        }
        return false
    }

    @inline(__always)
    private static func isForbiddenControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    /// True if `byte` is an ASCII digit.
    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The value of a hexadecimal digit, or nil.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = Self.lowercased(byte) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// The value of a hexadecimal digit, or 255.
    @inline(__always)
    package static func hexDigitValue(_ byte: UInt8) -> UInt8 {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : 255
    }

    /// True if `text` is a token: one or more token bytes.
    package static func isToken(_ text: some Collection<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy(Self.isTokenByte)
    }

    /// `slice` without spaces and tabs at its ends.
    package static func trimmed<Bytes: BidirectionalCollection>(_ slice: Bytes) -> Bytes
    where Bytes.Element == UInt8, Bytes.SubSequence == Bytes {
        var slice = slice
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice
    }

    /// One bit for each token byte among the first 64: `!#$%&'*+-.` and the digits. Constants, because they are read for
    /// every byte of every field name.
    private static var lowTokenBits: UInt64 { 0x03FF_6CFA_0000_0000 }
    /// One bit for each token byte among the second 64: letters, `^_`, the backtick, `|` and `~`.
    private static var highTokenBits: UInt64 { 0x57FF_FFFF_C7FF_FFFE }
}
