// SPDX-License-Identifier: Apache-2.0

/// A position in a text of which only a piece is in memory, for use in errors.
struct TextPosition: Equatable {
    /// The number of bytes before it.
    var offset = 0
    /// The line, from 1; lines end with a line feed.
    var line = 1
    /// The number of bytes before its line.
    var lineStart = 0

    /// The column, from 1, in bytes from the start of the line.
    var column: Int { self.offset - self.lineStart + 1 }

    /// Moves the position past `bytes`, which follow it.
    mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
        // Most pieces have many lines or none. Counting without a branch lets the compiler use SIMD instructions.
        var lines = 0
        for byte in bytes { lines &+= byte == 0x0A ? 1 : 0 }
        if lines > 0, let last = bytes.lastIndex(of: 0x0A) {
            self.line += lines
            self.lineStart = self.offset + last + 1
        }
        self.offset += bytes.count
    }

    /// Returns the position `count` bytes further, where `bytes` follow this position.
    func advanced(by count: Int, into bytes: UnsafeBufferPointer<UInt8>) -> TextPosition {
        var position = self
        position.advance(over: UnsafeBufferPointer(rebasing: bytes.prefix(count)))
        return position
    }
}
