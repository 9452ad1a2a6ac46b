// SPDX-License-Identifier: Apache-2.0

/// A fast search for the bytes of a text that need a closer look.
enum PlainBytes {
    /// Skips plain ASCII bytes, eight at a time.
    ///
    /// Each test sets the highest bit of every byte that matches, and perhaps of bytes above it, but never of one below the
    /// first match. So the lowest bit that is set is right.
    ///
    /// - Returns: the index of the first control byte, byte beyond ASCII, or one of the three given bytes; or an index
    ///   within the last seven bytes, from which the caller must check them one by one.
    @inline(__always)
    static func end(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, before first: UInt8, _ second: UInt8, _ third: UInt8
    ) -> Int {
        let low: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        let bytes = UnsafeRawBufferPointer(bytes)
        var index = start
        while bytes.count &- index >= 8 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let one = word ^ (low &* UInt64(first))
            let two = word ^ (low &* UInt64(second))
            let three = word ^ (low &* UInt64(third))
            let found =
                (((one &- low) & ~one) | ((two &- low) & ~two) | ((three &- low) & ~three)
                    | ((word &- (low &* 0x20)) & ~word) | word) & high
            guard found == 0 else { return index &+ found.trailingZeroBitCount >> 3 }
            index &+= 8
        }
        return index
    }
}
