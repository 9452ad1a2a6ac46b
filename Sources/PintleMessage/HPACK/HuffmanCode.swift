// SPDX-License-Identifier: Apache-2.0

/// The Huffman code of strings in HTTP/2 header blocks (RFC 7541 §5.2 and appendix B).
package enum HuffmanCode {
    /// The code length of each byte in bits; the last one is that of the end-of-string symbol, which no string may contain.
    ///
    /// The lengths determine the code, because it is canonical: symbols in the order of length and value have consecutive
    /// codes.
    package static let lengths: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
        28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
        7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
        23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
        21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
    ]

    private static let end = 256

    /// A decoding table, made from ``lengths``.
    private struct Table {
        /// For each value of the next eight bits: length and symbol of the code that they begin with, if it has at most
        /// eight bits, else zero. Nearly all text consists of such codes.
        var short = [UInt16](repeating: 0, count: 256)
        /// For each length: the first code, the number of codes, and the index of the first symbol in ``symbols``.
        var runs = [(first: Int, count: Int, place: Int)](repeating: (0, 0, 0), count: 31)
        var symbols: [Int] = []

        init() {
            var code = 0
            for length in 1...30 {
                code <<= 1
                let found = HuffmanCode.lengths.indices.filter { HuffmanCode.lengths[$0] == length }
                self.runs[length] = (code, found.count, self.symbols.count)
                for symbol in found {
                    if length <= 8 {
                        let first = code << (8 - length)
                        for place in first..<first + 1 << (8 - length) {
                            self.short[place] = UInt16(length << 8 | symbol)
                        }
                    }
                    code += 1
                }
                self.symbols += found
            }
        }

        /// Returns the symbol at the beginning of these bits, and its length.
        func symbol(at window: UInt32) -> (symbol: Int, length: Int) {
            let short = self.short[Int(window >> 24)]
            if short != 0 { return (Int(short & 0xFF), Int(short >> 8)) }
            for length in 9..<30 {
                let run = self.runs[length]
                let offset = Int(window >> (32 - length)) - run.first
                if 0..<run.count ~= offset { return (self.symbols[run.place + offset], length) }
            }
            let run = self.runs[30]
            return (self.symbols[run.place + Int(window >> 2) - run.first], 30)
        }
    }

    private static let table = Table()

    /// Appends the decoded bytes of `bytes`.
    ///
    /// - Throws: ``WireError`` for an end-of-string symbol, and for padding that has more than seven bits or a zero bit.
    package static func decode(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) throws(WireError) {
        let table = self.table
        // The lowest `count` of `bits` are still unread.
        var (bits, count, next): (UInt64, Int, Int) = (0, 0, 0)
        while true {
            while count <= 48, next < bytes.count {
                bits = bits << 8 | UInt64(bytes[next])
                count += 8
                next += 1
            }
            guard count > 0 else { return }
            let missing = 32 - count
            let window =
                missing <= 0
                ? UInt32(truncatingIfNeeded: bits >> UInt64(-missing))
                : UInt32(truncatingIfNeeded: bits << UInt64(missing)) | (1 << UInt32(missing) - 1)
            let (symbol, length) = table.symbol(at: window)
            guard length <= count else {
                guard count < 8, window == .max else {
                    throw WireError(.malformed, "a string in Huffman's code is cut off")
                }
                return
            }
            guard symbol != self.end else {
                throw WireError(.malformed, "a string in Huffman's code has its end within it")
            }
            output.append(UInt8(truncatingIfNeeded: symbol))
            count -= length
        }
    }
}
