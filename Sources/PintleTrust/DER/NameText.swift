// SPDX-License-Identifier: Apache-2.0

/// The text of an attribute of a name, from each of the string types that certificates may use (RFC 5280 §4.1.2.4).
enum NameText {
    /// Returns the value as UTF-8; nil if it is not text, or damaged text.
    static func utf8(of value: DERElement) -> [UInt8]? {
        let bytes = value.content
        switch value.tag {
        case DERTag.utf8String, DERTag.printableString, DERTag.ia5String, DERTag.visibleString, DERTag.numericString,
            DERTag.generalString:
            return Array(bytes)
        // Writers and readers of certificates take these bytes for Latin-1.
        case DERTag.teletexString:
            return bytes.flatMap { Array(String(UnicodeScalar($0)).utf8) }
        case DERTag.bmpString:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let units = Self.groups(of: 2, in: bytes).map { UInt16(truncatingIfNeeded: $0) }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        case DERTag.universalString:
            guard bytes.count.isMultiple(of: 4) else { return nil }
            var text = String.UnicodeScalarView()
            for number in Self.groups(of: 4, in: bytes) {
                guard let scalar = UnicodeScalar(number) else { return nil }
                text.append(scalar)
            }
            return Array(String(text).utf8)
        default: return nil
        }
    }

    /// Returns the numbers of `size` bytes each, the most significant byte first.
    private static func groups(of size: Int, in bytes: ArraySlice<UInt8>) -> [UInt32] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { start in
            bytes[start..<(start + size)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Returns the text in lower case, without invisible characters, without spaces at the ends, and with one space for
    /// each run inside (RFC 4518 §2).
    static func folded(_ text: [UInt8]) -> [UInt8] {
        text.allSatisfy { $0 < 0x80 } ? self.folded(ascii: text) : self.folded(unicode: text)
    }

    private static func folded(ascii text: [UInt8]) -> [UInt8] {
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count)
        var isAfterSpace = true
        for byte in text {
            let isSpace = byte == 0x20 || (0x09...0x0D).contains(byte)
            if !isSpace {
                folded.append(ASCIIByte.lower(byte))
            } else if !isAfterSpace {
                folded.append(0x20)
            }
            isAfterSpace = isSpace
        }
        if folded.last == 0x20 { folded.removeLast() }
        return folded
    }

    /// Characters beyond ASCII that are canonically equivalent to an ASCII character, letters aside. Folding replaces them
    /// by it, so that a text beyond ASCII never equals one in ASCII.
    private static let plain: [UnicodeScalar: UnicodeScalar] = ["\u{37E}": ";", "\u{1FEF}": "`"]

    private static func folded(unicode text: [UInt8]) -> [UInt8] {
        var folded = ""
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            let properties = scalar.properties
            if properties.isWhitespace {
                folded.unicodeScalars.append(" ")
            } else if let plain = Self.plain[scalar] {
                folded.unicodeScalars.append(plain)
            } else if !properties.isDefaultIgnorableCodePoint {
                // Upper case first: some letters have two lower-case forms, for example the Greek sigma at the end of a
                // word.
                for upper in properties.uppercaseMapping.unicodeScalars {
                    folded += upper.properties.lowercaseMapping
                }
            }
        }
        return self.folded(ascii: Array(folded.utf8))
    }
}
