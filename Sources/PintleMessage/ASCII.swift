// SPDX-License-Identifier: Apache-2.0

/// Comparisons and classes of bytes that HTTP's grammar is made of; never dependent on a locale.
public enum ASCII {
    /// The byte in lower case if it is an ASCII letter.
    @inline(__always)
    public static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether two byte sequences are equal but for the case of ASCII letters.
    public static func equalsIgnoringCase(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
    }

    /// Whether `bytes` equals `lowercase` but for the case of ASCII letters. `lowercase` must be in lower case.
    static func equalsIgnoringCase(_ bytes: UnsafeRawBufferPointer, _ lowercase: [UInt8]) -> Bool {
        guard bytes.count == lowercase.count else { return false }
        for index in 0..<lowercase.count where Self.lowercased(bytes[index]) != lowercase[index] { return false }
        return true
    }

    /// Whether `byte` may stand in a token (RFC 9110 §5.6.2).
    @inline(__always)
    public static func isTokenByte(_ byte: UInt8) -> Bool {
        byte < 128 && Self.isBitSet(Self.tokenBits, byte)
    }

    /// Whether `byte` is an ASCII digit.
    @inline(__always)
    public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// The value of a hexadecimal digit, or nil.
    public static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let letter = Self.lowercased(byte) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }

    /// Whether `text` is a token: one or more token bytes.
    public static func isToken(_ text: some Collection<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy(Self.isTokenByte)
    }

    /// `slice` without spaces and tabs at its ends.
    public static func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice
    }

    /// Which of the 128 ASCII bytes may stand in a token, as two words of bits.
    private static let tokenBits: (UInt64, UInt64) = {
        var bits: (UInt64, UInt64) = (0, 0)
        for byte in Array("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8) {
            if byte < 64 { bits.0 |= 1 << UInt64(byte) } else { bits.1 |= 1 << UInt64(byte - 64) }
        }
        return bits
    }()

    @inline(__always)
    private static func isBitSet(_ bits: (UInt64, UInt64), _ byte: UInt8) -> Bool {
        (byte < 64 ? bits.0 >> UInt64(byte) : bits.1 >> UInt64(byte &- 64)) & 1 == 1
    }
}
