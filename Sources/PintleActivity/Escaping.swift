// SPDX-License-Identifier: Apache-2.0

/// Which bytes of a text could deceive whoever reads a log.
///
/// Beyond what JSON demands these are the controls that end a line or steer a terminal, DEL and the C1 range among them,
/// and the invisible marks that end a line (U+2028, U+2029) or turn the direction of writing.
enum Hazard {
    /// A quotation mark or a backslash.
    case quoting(UInt8)
    /// A control or an invisible mark, in so many bytes.
    case invisible(UInt32, length: Int)

    var isQuoting: Bool {
        if case .quoting = self { true } else { false }
    }

    /// Judges the scalar that begins at `index` of valid UTF-8; nil when it may stand as it is.
    init?(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            self = .quoting(byte)
        case 0..<0x20, 0x7f:
            self = .invisible(UInt32(byte), length: 1)
        case 0xc2 where (0x80...0x9f).contains(bytes[index + 1]):
            self = .invisible(UInt32(bytes[index + 1]), length: 2)
        case 0xd8 where bytes[index + 1] == 0x9c:
            self = .invisible(0x061c, length: 2)
        case 0xe2:
            let low = UInt32(bytes[index + 1] & 0x3f) << 6 | UInt32(bytes[index + 2] & 0x3f)
            let scalar = 0x2000 | low
            switch scalar {
            case 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: self = .invisible(scalar, length: 3)
            default: return nil
            }
        default:
            return nil
        }
    }
}

extension [UInt8] {
    /// Appends text with every hazard escaped as in a JSON string, without the quotation marks around it.
    ///
    /// - Parameter quoting: whether quotation marks and backslashes are hazards, as they are between quotation marks.
    mutating func append(escaped text: String, quoting: Bool = true) {
        var text = text
        text.withUTF8 { bytes in
            var clean = 0
            var index = 0
            while index < bytes.count {
                guard let hazard = Hazard(in: bytes, at: index), quoting || !hazard.isQuoting else {
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

    /// Appends text bare when it is one plain word; between single quotation marks when it is a sentence that has double
    /// ones, which would have to be escaped otherwise; else as a JSON string.
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

    /// Appends a number.
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

    /// Returns how many bytes of the text were replaced.
    private mutating func append(_ hazard: Hazard) -> Int {
        self.append(UInt8(ascii: "\\"))
        switch hazard {
        case .quoting(let byte):
            self.append(byte)
            return 1
        case .invisible(let scalar, let length):
            switch scalar {
            case 0x08: self.append(UInt8(ascii: "b"))
            case 0x09: self.append(UInt8(ascii: "t"))
            case 0x0a: self.append(UInt8(ascii: "n"))
            case 0x0c: self.append(UInt8(ascii: "f"))
            case 0x0d: self.append(UInt8(ascii: "r"))
            default:
                self.append(UInt8(ascii: "u"))
                for shift in [12, 8, 4, 0] as [UInt32] { self.append(hexadecimal: scalar >> shift & 0xf) }
            }
            return length
        }
    }

    private mutating func append(hexadecimal digit: UInt32) {
        let base = digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10
        self.append(base + UInt8(digit))
    }
}

extension String {
    /// Whether double quotation marks are all that a JSON string would escape, and there are no single ones.
    fileprivate var isQuotingSentence: Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.contains(UInt8(ascii: "\""))
                && bytes.indices.allSatisfy { index in
                    bytes[index] == UInt8(ascii: "\"")
                        || bytes[index] != UInt8(ascii: "'") && Hazard(in: bytes, at: index) == nil
                }
        }
    }

    fileprivate var isPlainWord: Bool {
        var text = self
        return text.withUTF8 { bytes in
            !bytes.isEmpty && bytes[0] != UInt8(ascii: "'")
                && bytes.indices.allSatisfy { index in
                    bytes[index] != UInt8(ascii: " ") && Hazard(in: bytes, at: index) == nil
                }
        }
    }
}
