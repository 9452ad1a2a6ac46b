// SPDX-License-Identifier: Apache-2.0

/// The characters of XML (XML 1.0 §2.2, §2.3), and the encoding in a declaration (§4.3.3).
enum XMLText {
    /// True if the character is allowed in a document.
    static func isCharacter(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    static func isNameStart(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x3A, 0x41...0x5A, 0x5F, 0x61...0x7A: true
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D: true
        case 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD: true
        case 0x10000...0xEFFFF: true
        default: false
        }
    }

    static func isNamePart(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: Self.isNameStart(scalar)
        }
    }

    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    /// `isNameStart` for ASCII.
    @inline(__always)
    static func isNameStartByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }

    /// `isNamePart` for ASCII.
    @inline(__always)
    static func isNameByte(_ byte: UInt8) -> Bool {
        Self.isNameStartByte(byte) || byte &- 0x30 < 11 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    /// True if the byte is allowed in a public identifier (XML 1.0 §2.3).
    static func isPublicIdentifierByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x0A, 0x0D, 0x30...0x3B, 0x3D, 0x3F...0x5A, 0x5F, 0x61...0x7A: true
        case UInt8(ascii: "!"), 0x23...0x25, 0x27...0x2F: true
        default: false
        }
    }

    /// Returns the part of a name that an error shows.
    static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes.prefix(64), as: UTF8.self)
    }

    /// True if no more bytes are needed to find the declared encoding.
    static func declarationIsOver(in start: [UInt8]) -> Bool {
        let opening = "<?xml".utf8
        return start.contains(UInt8(ascii: ">"))
            || !start.prefix(opening.count).elementsEqual(opening.prefix(start.count))
    }

    /// Returns the encoding named by a declaration at the very start. The declaration itself is checked later.
    static func declaredEncoding(in bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let words = bytes[..<end].split { Self.isSpace($0) || $0 == UInt8(ascii: "=") }
        guard let index = words.firstIndex(where: { $0.elementsEqual("encoding".utf8) }), index + 1 < words.count
        else { return nil }
        let name = words[index + 1].filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }
}
