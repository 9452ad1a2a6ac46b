// SPDX-License-Identifier: Apache-2.0

/// A place in a text of which only a piece is in memory, for errors to name.
struct TextPosition: Equatable {
    /// Bytes before it.
    var offset = 0
    /// From 1; lines end with a line feed.
    var line = 1
    /// Where its line begins, in bytes.
    var lineStart = 0

    /// From 1, in bytes from the start of the line.
    var column: Int { self.offset - self.lineStart + 1 }

    /// Goes on by what was read.
    mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
        // Most pieces have lines or none at all; counting without a branch is what the compiler can make wide.
        var lines = 0
        for byte in bytes { lines &+= byte == 0x0A ? 1 : 0 }
        if lines > 0, let last = bytes.lastIndex(of: 0x0A) {
            self.line += lines
            self.lineStart = self.offset + last + 1
        }
        self.offset += bytes.count
    }

    /// The place `count` bytes into `bytes`, which follow.
    func advanced(by count: Int, into bytes: UnsafeBufferPointer<UInt8>) -> TextPosition {
        var position = self
        position.advance(over: UnsafeBufferPointer(rebasing: bytes.prefix(count)))
        return position
    }
}
