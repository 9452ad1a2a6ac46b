// SPDX-License-Identifier: Apache-2.0

/// Numbers and vectors of TLS (RFC 8446 §3) at the front of bytes.
extension ArraySlice<UInt8> {
    /// The bytes as a number in network byte order.
    var number: Int { self.reduce(0) { $0 << 8 | Int($1) } }

    /// Removes `count` bytes from the front and returns them; nil if there are fewer.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard self.count >= count else { return nil }
        defer { self = self.dropFirst(count) }
        return self.prefix(count)
    }

    /// Removes a length of `size` bytes and a value of that length from the front and returns the value; nil if there are
    /// fewer bytes.
    mutating func takeVector(_ size: Int) -> ArraySlice<UInt8>? {
        guard let length = self.take(size)?.number else { return nil }
        return self.take(length)
    }
}

extension [UInt8] {
    /// Appends the low `size` bytes of a number in network byte order.
    mutating func append(number: Int, size: Int) {
        for place in (0..<size).reversed() { self.append(UInt8(truncatingIfNeeded: number >> (place * 8))) }
    }

    /// Appends a length of `size` bytes and the bytes.
    mutating func append(vector: [UInt8], size: Int) {
        self.append(number: vector.count, size: size)
        self += vector
    }
}
