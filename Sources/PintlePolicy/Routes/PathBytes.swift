// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// The bytes of a path up to its query, each with the number of times that it is percent-encoded.
struct PathBytes<Bytes: RandomAccessCollection<UInt8>>: IteratorProtocol where Bytes.Index == Int {
    struct Element: Equatable {
        let byte: UInt8
        /// 0 for a byte that stands for itself, 1 for `%2e`, 2 for `%252e`.
        let depth: Int
    }

    private let bytes: Bytes
    private var index: Int

    init(_ bytes: Bytes) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    mutating func next() -> Element? {
        guard self.index < self.bytes.endIndex else { return nil }
        let byte = self.bytes[self.index]
        if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return nil }
        self.index += 1
        guard byte == UInt8(ascii: "%"), let once = self.takeDigits() else { return Element(byte: byte, depth: 0) }
        guard once == UInt8(ascii: "%"), let twice = self.takeDigits() else { return Element(byte: once, depth: 1) }
        return Element(byte: twice, depth: 2)
    }

    /// The byte that the next two hexadecimal digits stand for; nil, and takes nothing, if there are no such digits.
    private mutating func takeDigits() -> UInt8? {
        guard self.bytes.endIndex - self.index >= 2, let high = ASCII.hexValue(self.bytes[self.index]),
            let low = ASCII.hexValue(self.bytes[self.index + 1])
        else { return nil }
        self.index += 2
        return high << 4 | low
    }
}
