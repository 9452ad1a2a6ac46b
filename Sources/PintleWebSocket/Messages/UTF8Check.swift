// SPDX-License-Identifier: Apache-2.0

/// Checks if bytes that arrive in pieces are UTF-8 (RFC 3629), and fails at the first invalid one.
package struct UTF8Check: Sendable {
    /// The number of bytes that the current character lacks.
    private var missing = 0
    /// The range of values allowed for the next byte of the character.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    package init() {}

    /// True if no character is incomplete.
    package var isComplete: Bool { self.missing == 0 }

    /// Checks the next piece.
    ///
    /// - Returns: false if no further bytes could make it valid UTF-8.
    package mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place < bytes.count {
            if self.missing == 0 {
                place = Self.endOfASCII(in: bytes, from: place)
                guard place < bytes.count else { break }
                guard self.begin(with: bytes[place]) else { return false }
            } else {
                guard self.next.contains(bytes[place]) else { return false }
                self.missing -= 1
                self.next = 0x80...0xBF
            }
            place += 1
        }
        return true
    }

    /// Returns the index of the first byte that is not ASCII, or the end.
    private static func endOfASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var place = start
        while place + 8 <= bytes.count,
            bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            place += 8
        }
        while place < bytes.count, bytes[place] < 0x80 { place += 1 }
        return place
    }

    /// Begins a character of several bytes. The range of the second byte is smaller if it could otherwise encode an
    /// overlong form, a surrogate or a number above 0x10FFFF.
    private mutating func begin(with byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: self.missing = 1
        case 0xE0: (self.missing, self.next) = (2, 0xA0...0xBF)
        case 0xED: (self.missing, self.next) = (2, 0x80...0x9F)
        case 0xE1...0xEF: self.missing = 2
        case 0xF0: (self.missing, self.next) = (3, 0x90...0xBF)
        case 0xF1...0xF3: self.missing = 3
        case 0xF4: (self.missing, self.next) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
