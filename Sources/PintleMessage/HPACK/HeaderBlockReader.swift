// SPDX-License-Identifier: Apache-2.0

/// Reads the integers and strings in HTTP/2 header blocks (RFC 7541 §5).
struct HeaderBlockReader {
    /// A string in its encoded form.
    struct CodedString {
        let bytes: UnsafeRawBufferPointer
        let isHuffman: Bool

        func decode(into output: inout [UInt8]) throws(WireError) {
            if self.isHuffman {
                try HuffmanCode.decode(self.bytes, into: &output)
            } else {
                output.append(contentsOf: self.bytes)
            }
        }
    }

    /// The maximum number of continuation bytes of an integer: 56 bits, far more than any valid number here.
    private static let mostBytes = 8

    let bytes: UnsafeRawBufferPointer
    private(set) var index = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var next: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    /// Reads an integer that begins in the lowest `prefix` bits of the next byte (§5.1).
    ///
    /// - Returns: nil if it is incomplete.
    mutating func integer(prefix: Int) throws(WireError) -> Int? {
        guard let first = self.next else { return nil }
        let most = 1 << prefix - 1
        self.index += 1
        guard Int(first) & most == most else { return Int(first) & most }
        var value = most
        for number in 0..<Self.mostBytes {
            guard let byte = self.next else { return nil }
            self.index += 1
            value += Int(byte & 0x7F) << (7 * number)
            if byte & 0x80 == 0 { return value }
        }
        throw WireError(.malformed, "a number in a header block is too large")
    }

    /// Reads a string (§5.2).
    ///
    /// - Returns: nil if it is incomplete.
    mutating func string() throws(WireError) -> CodedString? {
        guard let first = self.next, let length = try self.integer(prefix: 7), length <= self.bytes.count - self.index
        else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: self.bytes[self.index..<self.index + length])
        self.index += length
        return CodedString(bytes: bytes, isHuffman: first & 0x80 != 0)
    }
}

extension [UInt8] {
    /// Appends an integer, of which the first byte has the bits of `first` and `prefix` free bits (RFC 7541 §5.1).
    mutating func append(integer value: Int, prefix: Int, first: UInt8) {
        let most = 1 << prefix - 1
        guard value >= most else { return self.append(first | UInt8(truncatingIfNeeded: value)) }
        self.append(first | UInt8(truncatingIfNeeded: most))
        var rest = value - most
        while rest >= 0x80 {
            self.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F))
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }
}
