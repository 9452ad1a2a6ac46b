// SPDX-License-Identifier: Apache-2.0

/// The characters that XML is made of (XML 1.0 §2.2, §2.3), and what a declaration says of their encoding (§4.3.3).
enum XMLText {
    /// Whether a document may have the character at all.
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

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    /// Checks that `bytes` are UTF-8 and characters of XML throughout.
    static func check(_ bytes: [UInt8]) throws(XMLScan.Failure) {
        var codec = UTF8()
        var rest = bytes.makeIterator()
        var offset = 0
        while true {
            switch codec.decode(&rest) {
            case .emptyInput: return
            case .error: throw XMLScan.Failure(offset, "a byte that is not UTF-8")
            case .scalarValue(let scalar):
                guard Self.isCharacter(scalar) else {
                    let code = String(scalar.value, radix: 16, uppercase: true)
                    throw XMLScan.Failure(offset, "the character U+\(code), which no document may have")
                }
                offset += UTF8.width(scalar)
            }
        }
    }

    /// The encoding that a declaration at the very start names. Whether the declaration is in order is found out later.
    static func declaredEncoding(in bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let words = bytes[..<end].split { Self.isSpace($0) || $0 == UInt8(ascii: "=") }
        guard let index = words.firstIndex(where: { $0.elementsEqual("encoding".utf8) }), index + 1 < words.count
        else { return nil }
        let name = words[index + 1].filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        return String(decoding: name.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }
}

extension UTF8 {
    /// How many bytes a character has.
    fileprivate static func width(_ scalar: UnicodeScalar) -> Int {
        switch scalar.value {
        case ..<0x80: 1
        case ..<0x800: 2
        case ..<0x10000: 3
        default: 4
        }
    }
}
