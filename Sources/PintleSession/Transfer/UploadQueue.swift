// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The bytes of a request's body that wait for libcurl to take them.
struct UploadQueue {
    private var chunks: CircularBuffer<ByteBuffer> = []
    /// The body itself, where it is all here: it can be sent again.
    private var whole: ByteBuffer?
    private var taken = 0
    private(set) var byteCount = 0
    /// Whether nothing more will be appended.
    var isComplete = false

    init() {}

    init(whole: ByteBuffer) {
        self.whole = whole
        self.isComplete = true
        self.chunks.append(whole)
        self.byteCount = whole.readableBytes
    }

    mutating func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        self.chunks.append(bytes)
        self.byteCount += bytes.readableBytes
    }

    /// Moves as many bytes as fit into `space`.
    mutating func take(into space: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < space.count, var chunk = self.chunks.first {
            let count = min(space.count - filled, chunk.readableBytes)
            chunk.readWithUnsafeReadableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: space[filled...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return count
            }
            filled += count
            if chunk.readableBytes == 0 {
                self.chunks.removeFirst()
            } else {
                self.chunks[self.chunks.startIndex] = chunk
            }
        }
        self.byteCount -= filled
        self.taken += filled
        return filled
    }

    /// Begins again from `offset`, where that is possible: RFC 9110 §9.2.2 retries need the same bytes.
    mutating func rewind(to offset: Int) -> Bool {
        if self.taken == offset { return true }
        guard var whole, offset <= whole.readableBytes else { return false }
        whole.moveReaderIndex(forwardBy: offset)
        self.chunks = [whole]
        self.byteCount = whole.readableBytes
        self.taken = offset
        return true
    }
}
