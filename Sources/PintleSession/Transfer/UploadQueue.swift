// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// The bytes of a request's body that its connection has not taken.
struct UploadQueue {
    private var chunks: CircularBuffer<ByteBuffer> = []
    /// Bytes that nobody here has seen, which go before ``chunks``; nil until there were any.
    private var pipe: PipedBytes?
    /// The body itself, where it is all here: it can be sent again.
    private var whole: ByteBuffer?
    /// True where bytes were taken.
    private var hasBegun = false
    private(set) var byteCount = 0
    /// Whether nothing more will be appended.
    var isComplete = false

    init() {}

    /// True where there is a byte to be sent, now or later.
    var mayHaveBytes: Bool { self.byteCount > 0 || !self.isComplete }

    init(whole: ByteBuffer) {
        self.whole = whole
        self.isComplete = true
        self.append(whole)
    }

    mutating func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        self.chunks.append(bytes)
        self.byteCount += bytes.readableBytes
    }

    /// Takes in bytes that have come at a socket, without seeing them. Nothing may wait.
    mutating func fill(from descriptor: Int32, atMost limit: UInt64, on loop: Loop) -> PipedBytes.Filling {
        let pipe = self.pipe ?? PipedBytes(on: loop)
        self.pipe = pipe
        let filling = pipe.fill(from: descriptor, atMost: limit)
        guard case .outcome(.bytes(let count)) = filling else { return filling }
        self.byteCount += count
        // They are nowhere else any more.
        self.hasBegun = true
        return filling
    }

    /// The pipe whose bytes are sent next; nil if none wait in one.
    var piped: PipedBytes? { self.pipe.flatMap { $0.count > 0 ? $0 : nil } }

    /// Notes that bytes of ``piped`` were taken out of it.
    mutating func tookPiped(_ count: Int) { self.byteCount -= count }

    /// Throws away what is in the pipe, which belongs to the loop.
    func drop() { self.pipe?.drop() }

    /// Offers the first bytes that wait, some in one piece.
    ///
    /// - Parameter body: returns how many of them it takes.
    /// - Returns: the same.
    mutating func takeFirst(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        guard !self.chunks.isEmpty else { return 0 }
        let first = self.chunks.startIndex
        let count = self.chunks[first].readWithUnsafeReadableBytes(body)
        if self.chunks[first].readableBytes == 0 { self.chunks.removeFirst() }
        self.byteCount -= count
        if count > 0 { self.hasBegun = true }
        return count
    }

    /// Begins again at the first byte, where that is possible: RFC 9110 §9.2.2 retries need the same bytes.
    mutating func rewind() -> Bool {
        guard self.hasBegun else { return true }
        guard let whole else { return false }
        self.chunks = [whole]
        self.byteCount = whole.readableBytes
        self.hasBegun = false
        return true
    }
}
