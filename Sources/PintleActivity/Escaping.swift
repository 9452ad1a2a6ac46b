// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// A scalar that must be escaped in a log line: one that JSON escapes, or that is deceptive
/// (``Unicode/Scalar/isDeceptive``).
enum UnsafeCharacter {
    /// A quotation mark or a backslash.
    case quoting(UInt8)
    /// A control or another invisible character, with its length in UTF-8 bytes.
    case invisible(Unicode.Scalar, length: Int)

    var isQuoting: Bool {
        if case .quoting = self { true } else { false }
    }

    /// Examines the scalar at `index` of valid UTF-8; nil if it needs no escape.
    init?(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            self = .quoting(byte)
        case 0x20..<0x7f: return nil
        case 0..<0x80: self = .invisible(Unicode.Scalar(byte), length: 1)
        // Continuation bytes of a scalar that was examined at its first byte.
        case 0x80..<0xc0: return nil
        default:
            let length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
            var value = UInt32(byte) & (0xff >> UInt32(length + 1))
            for offset in 1..<length { value = value << 6 | UInt32(bytes[index + offset] & 0x3f) }
            guard let scalar = Unicode.Scalar(value), scalar.isDeceptive else { return nil }
            self = .invisible(scalar, length: length)
        }
    }
}

extension [UInt8] {
    /// Appends text with every hazard escaped as in a JSON string, but without quotation marks around it.
    ///
    /// - Parameter quoting: true if quotation marks and backslashes are hazards, as they are between quotation marks.
    mutating func append(escaped text: String, quoting: Bool = true) {
        var text = text
        text.withUTF8 { bytes in
            var clean = 0
            var index = 0
            while index < bytes.count {
                guard let hazard = UnsafeCharacter(in: bytes, at: index), quoting || !hazard.isQuoting else {
                    index += 1
                    continue
                }
                self.append(contentsOf: bytes[clean..<index])
                index += self.append(hazard)
                clean = index
            }
            self.append(contentsOf: bytes[clean...])
        }
    }

    /// Appends text as a JSON string.
    mutating func append(quoted text: String) {
        self.append(UInt8(ascii: "\""))
        self.append(escaped: text)
        self.append(UInt8(ascii: "\""))
    }

    /// Appends text as it is if it is one plain word; between single quotation marks if it contains double ones, which
    /// would have to be escaped otherwise; else as a JSON string.
    mutating func append(word text: String) {
        if text.isPlainWord {
            self.append(contentsOf: text.utf8)
        } else if text.isQuotingSentence {
            self.append(UInt8(ascii: "'"))
            self.append(contentsOf: text.utf8)
            self.append(UInt8(ascii: "'"))
        } else {
            self.append(quoted: text)
        }
    }

    /// Appends a number in decimal digits.
    mutating func append(decimal value: Int) {
        if value < 0 { self.append(UInt8(ascii: "-")) }
        let start = self.count
        var rest = value.magnitude
        repeat {
            self.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// Appends the escape of a hazard. Returns the number of bytes of the text that it replaces.
    private mutating func append(_ hazard: UnsafeCharacter) -> Int {
        switch hazard {
        case .quoting(let byte):
            self += [UInt8(ascii: "\\"), byte]
            return 1
        case .invisible(let scalar, let length):
            switch scalar {
            case "\u{8}": self += "\\b".utf8
            case "\t": self += "\\t".utf8
            case "\n": self += "\\n".utf8
            case "\u{c}": self += "\\f".utf8
            case "\r": self += "\\r".utf8
            default: self += scalar.escapedAsInJSON.utf8
            }
            return length
        }
    }
}

extension String {
    /// True if the text has double quotation marks, no single ones, and nothing else that a JSON string would escape.
    fileprivate var isQuotingSentence: Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.contains(UInt8(ascii: "\""))
                && bytes.indices.allSatisfy { index in
                    bytes[index] == UInt8(ascii: "\"")
                        || bytes[index] != UInt8(ascii: "'") && UnsafeCharacter(in: bytes, at: index) == nil
                }
        }
    }

    fileprivate var isPlainWord: Bool {
        var text = self
        return text.withUTF8 { bytes in
            !bytes.isEmpty && bytes[0] != UInt8(ascii: "'")
                && bytes.indices.allSatisfy { index in
                    bytes[index] != UInt8(ascii: " ") && UnsafeCharacter(in: bytes, at: index) == nil
                }
        }
    }
}
