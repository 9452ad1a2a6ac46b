// SPDX-License-Identifier: Apache-2.0

// Converts bytes to text without loss: each byte becomes the scalar with its number, as in ISO 8859-1. SwiftNIO's codec for
// HTTP/2 has fields as strings; all their bytes pass through it in this form.
extension String {
    /// Makes the text of bytes.
    package init(latin1 bytes: UnsafeRawBufferPointer) {
        if ASCII.isAll(bytes) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            var text: [UInt8] = []
            text.append(widening: bytes)
            self.init(decoding: text, as: UTF8.self)
        }
    }

    /// Makes the text of bytes.
    package init(latin1 bytes: [UInt8]) { self = bytes.withUnsafeBytes { String(latin1: $0) } }

    /// The bytes of the text. A scalar over 0xFF, which no byte becomes, loses bits.
    package var latin1Bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(latin1: self)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the bytes of `text`.
    package mutating func append(latin1 text: String) {
        var text = text
        text.withUTF8 { self.append(narrowing: UnsafeRawBufferPointer($0)) }
    }

    /// Appends bytes, those over 0x7F as the UTF-8 of the scalars with their numbers.
    mutating func append(widening bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte < 0x80 {
                self.append(byte)
            } else {
                self.append(0xC0 | byte >> 6)
                self.append(0x80 | byte & 0x3F)
            }
        }
    }

    /// Appends the bytes that `append(widening:)` has turned into `text`.
    mutating func append(narrowing text: UnsafeRawBufferPointer) {
        if ASCII.isAll(text) { return self.append(contentsOf: text) }
        var lead: UInt8 = 0
        for byte in text {
            switch byte {
            case 0..<0x80: self.append(byte)
            case 0x80..<0xC0: self.append(lead << 6 | byte & 0x3F)
            default: lead = byte
            }
        }
    }
}
