// SPDX-License-Identifier: Apache-2.0

/// Base64 in its only canonical form: the standard alphabet, padded, without line ends, unused bits zero (RFC 4648 §3.5, §4).
enum CanonicalBase64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// The values of the digits by their bytes; 64 and more for others.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in Self.alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    /// Appends the digits of `bytes`, with padding at their end.
    static func encode(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var group = UInt32(bytes[start]) << 16
            if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
            if count > 2 { group |= UInt32(bytes[start + 2]) }
            text.append(self.alphabet[Int(group >> 18)])
            text.append(self.alphabet[Int(group >> 12 & 63)])
            text.append(count > 1 ? self.alphabet[Int(group >> 6 & 63)] : self.padding)
            text.append(count > 2 ? self.alphabet[Int(group & 63)] : self.padding)
        }
    }

    /// Decodes a part of `bytes` in its own place.
    ///
    /// - Returns: the number of bytes at the beginning of the part that are the result.
    /// - Throws: ``Fault`` with the place of the first byte that has no place in the canonical form.
    static func decode(_ part: Range<Int>, of bytes: inout [UInt8]) throws(Fault) -> Int {
        guard part.count % 4 == 0 else { throw Fault(index: part.upperBound) }
        var (read, written) = (part.lowerBound, part.lowerBound)
        while read < part.upperBound {
            let isLast = read + 4 == part.upperBound
            var group: UInt32 = 0
            var digits = 0
            for index in read..<read + 4 {
                let value = self.values[Int(bytes[index])]
                if value < 64, digits == index - read {
                    group = group << 6 | UInt32(value)
                    digits += 1
                } else {
                    // The last group may end with one or two signs of padding.
                    guard isLast, bytes[index] == self.padding, digits >= 2 else { throw Fault(index: index) }
                    group <<= 6
                }
            }
            let count = digits - 1
            guard group & (0xFF_FFFF >> (8 * UInt32(count))) == 0 else { throw Fault(index: read + digits - 1) }
            for index in 0..<count { bytes[written + index] = UInt8(truncatingIfNeeded: group >> (16 - 8 * index)) }
            (read, written) = (read + 4, written + count)
        }
        return written - part.lowerBound
    }

    /// The place of a byte that is not as it should be.
    struct Fault: Error {
        let index: Int
    }
}
