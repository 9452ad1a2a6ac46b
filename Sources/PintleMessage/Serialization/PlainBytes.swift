// SPDX-License-Identifier: Apache-2.0

/// Runs of text that need no look.
enum PlainBytes {
    /// Skips ASCII that needs no look, eight bytes at a time.
    ///
    /// Each test sets the top bit of a byte that matches, and perhaps of bytes above it, never of one below the first
    /// match; so the lowest bit set is right.
    ///
    /// - Returns: where the first control byte, byte beyond ASCII, or one of the three is; or a place among the last
    ///   seven bytes, from where on they have to be looked at one by one.
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
