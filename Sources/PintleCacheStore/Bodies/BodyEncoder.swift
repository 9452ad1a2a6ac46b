// SPDX-License-Identifier: Apache-2.0

/// Converts the pieces of a body into the blocks of its file.
package struct BodyEncoder: Sendable {
    private let header: BodyHeader
    /// The beginning of the block that is not full yet.
    private var block: [UInt8] = []
    private var number: UInt64 = 0
    /// The number of the body's bytes so far.
    package private(set) var length: UInt64 = 0
    /// The number of the body's bytes in complete blocks so far.
    package var sealedLength: UInt64 { self.length - UInt64(self.block.count) }

    package init(header: BodyHeader) { self.header = header }

    /// True if that many more bytes do not fill the block, so that there is nothing to write.
    func hasRoom(for count: Int) -> Bool { self.block.count + count < BodyLayout.blockSize }

    /// Takes bytes of the body, and appends the blocks that they complete to `output`.
    package mutating func encode(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        self.length += UInt64(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(BodyLayout.blockSize - self.block.count)
            self.block.append(contentsOf: piece)
            rest = rest.dropFirst(piece.count)
            if self.block.count == BodyLayout.blockSize { self.seal(into: &output) }
        }
    }

    /// Appends the last block, if the body does not end at a block boundary.
    package mutating func finish(into output: inout [UInt8]) {
        if !self.block.isEmpty { self.seal(into: &output) }
    }

    private mutating func seal(into output: inout [UInt8]) {
        output.append(contentsOf: self.block)
        output.append(
            number: self.block.withUnsafeBytes { BodyLayout.checksum(self.header, self.number, $0) })
        self.block.removeAll(keepingCapacity: true)
        self.number += 1
    }
}
