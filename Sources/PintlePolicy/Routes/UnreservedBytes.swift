// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// The bytes of a path up to its query, with percent-encoded unreserved characters decoded (RFC 3986 §2.3).
struct UnreservedBytes<Bytes: RandomAccessCollection<UInt8>>: IteratorProtocol {
    private let bytes: Bytes
    private var index: Bytes.Index

    init(_ bytes: Bytes) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    mutating func next() -> UInt8? {
        guard self.index < self.bytes.endIndex else { return nil }
        let byte = self.bytes[self.index]
        if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return nil }
        self.index = self.bytes.index(after: self.index)
        guard byte == UInt8(ascii: "%"), let decoded = self.encodedByte, Self.isUnreserved(decoded) else { return byte }
        self.index = self.bytes.index(self.index, offsetBy: 2)
        return decoded
    }

    /// After a percent sign that was not decoded: skips the two digits of a slash or backslash, if they follow.
    mutating func skipEncodedSeparator() -> Bool {
        guard let byte = self.encodedByte, byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") else { return false }
        self.index = self.bytes.index(self.index, offsetBy: 2)
        return true
    }

    /// The byte that the next two hexadecimal digits stand for, or nil.
    private var encodedByte: UInt8? {
        guard self.bytes.distance(from: self.index, to: self.bytes.endIndex) >= 2,
            let high = ASCII.hexValue(self.bytes[self.index]),
            let low = ASCII.hexValue(self.bytes[self.bytes.index(after: self.index)])
        else { return nil }
        return high << 4 | low
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }
}
