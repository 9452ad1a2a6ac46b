// SPDX-License-Identifier: Apache-2.0

/// Decompresses a GIF's pictures (GIF89a, appendix F): codes of growing length, each of which stands for an earlier string
/// and one further value.
struct LZWReader {
    private static let longestCode = 12

    private let bytes: [UInt8]
    /// The index of the next block of data, which begins with its length.
    private var index: Int
    private var left = 0
    private var bits: UInt32 = 0
    private var bitCount = 0

    private let clear: Int
    private var codeLength: Int
    /// For each code: the code of its string without the last value, and that last value. `lengths` has the number of
    /// values.
    private var prefixes = [UInt16](repeating: 0, count: 1 << LZWReader.longestCode)
    private var suffixes = [UInt8](repeating: 0, count: 1 << LZWReader.longestCode)
    private var lengths = [UInt16](repeating: 1, count: 1 << LZWReader.longestCode)
    /// The next code to be assigned.
    private var next: Int
    private var earlier: Int?
    /// The string of the last code, at the end of the buffer, because a string is built from its end on.
    private var string = [UInt8](repeating: 0, count: 1 << LZWReader.longestCode)

    /// Begins with the blocks at `index`, which follow the length of the first codes.
    ///
    /// - Returns: nil if that length is invalid.
    init?(_ bytes: [UInt8], at index: Int, valueLength: UInt8) {
        guard (1...8).contains(valueLength) else { return nil }
        self.bytes = bytes
        self.index = index
        self.clear = 1 << Int(valueLength)
        self.codeLength = Int(valueLength) + 1
        self.next = self.clear + 2
        for value in 0..<self.clear { self.suffixes[value] = UInt8(value) }
    }

    /// Calls `take` with `count` values in total, in their order; each buffer is valid during the call only.
    ///
    /// - Returns: false if there are fewer values, or if a code is invalid.
    mutating func read(_ count: Int, _ take: (UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
        var rest = count
        while rest > 0 {
            guard let code = self.code(), code != self.clear + 1 else { return false }
            guard code != self.clear else {
                self.codeLength = self.clear.trailingZeroBitCount + 1
                self.next = self.clear + 2
                self.earlier = nil
                continue
            }
            guard let length = self.expand(code) else { return false }
            self.string.withUnsafeBufferPointer { string in
                take(UnsafeBufferPointer(rebasing: string.suffix(length).prefix(rest)))
            }
            rest -= length
        }
        return true
    }

    /// Writes the string of a code to the end of ``string``, and assigns the next code.
    ///
    /// - Returns: the length of the string; nil if the code is not assigned yet.
    private mutating func expand(_ code: Int) -> Int? {
        guard let earlier else {
            guard code < self.clear else { return nil }
            self.earlier = code
            self.string[self.string.count - 1] = UInt8(code)
            return 1
        }
        guard code < self.next || (code == self.next && self.next < self.prefixes.count) else { return nil }
        // The code that is being assigned stands for the earlier string, followed by that string's first value.
        let isOwn = code == self.next
        let length = Int(self.lengths[isOwn ? earlier : code])
        var place = self.string.count - (isOwn ? 1 : 0)
        var link = isOwn ? earlier : code
        for _ in 0..<length {
            place -= 1
            self.string[place] = self.suffixes[link]
            link = Int(self.prefixes[link])
        }
        let first = self.string[place]
        if isOwn { self.string[self.string.count - 1] = first }
        if self.next < self.prefixes.count {
            self.prefixes[self.next] = UInt16(earlier)
            self.suffixes[self.next] = first
            self.lengths[self.next] = self.lengths[earlier] + 1
            self.next += 1
            if self.next == 1 << self.codeLength, self.codeLength < Self.longestCode { self.codeLength += 1 }
        }
        self.earlier = code
        return isOwn ? length + 1 : length
    }

    private mutating func code() -> Int? {
        while self.bitCount < self.codeLength {
            guard let byte = self.byte() else { return nil }
            self.bits |= UInt32(byte) << UInt32(self.bitCount)
            self.bitCount += 8
        }
        defer {
            self.bits >>= UInt32(self.codeLength)
            self.bitCount -= self.codeLength
        }
        return Int(self.bits) & ((1 << self.codeLength) - 1)
    }

    private mutating func byte() -> UInt8? {
        if self.left == 0 {
            guard self.index < self.bytes.count, self.bytes[self.index] > 0 else { return nil }
            self.left = Int(self.bytes[self.index])
            self.index += 1
        }
        guard self.index < self.bytes.count else { return nil }
        self.left -= 1
        self.index += 1
        return self.bytes[self.index - 1]
    }
}
