// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// The bytes of a request's body that its connection has not taken yet.
struct UploadQueue {
    private var chunks: CircularBuffer<ByteBuffer> = []
    /// Bytes that were moved without being read, which go before ``chunks``; nil until there are any.
    private var pipe: PipedBytes?
    /// The body itself, if all of it is in memory: it can be sent again.
    private var whole: ByteBuffer?
    /// True if bytes were taken.
    private var hasBegun = false
    /// The begun chunks of a streamed body, kept so that they can be sent again; nil if they are not kept, or are too
    /// many.
    private var sent: [ByteBuffer]?
    private var sentBytes = 0
    /// True while a part of the first chunk was taken.
    private var isFirstBegun = false
    /// The most bytes of a streamed body that are kept after they were sent.
    private static let mostKept = 64 * 1024
    private(set) var byteCount = 0
    /// True if no more bytes will be appended.
    var isComplete = false

    init() {}

    /// True if there are bytes to be sent, now or later.
    var mayHaveBytes: Bool { self.byteCount > 0 || !self.isComplete }

    init(whole: ByteBuffer) {
        self.whole = whole
        self.isComplete = true
        self.append(whole)
    }

    mutating func append(_ bytes: ByteBuffer) {
        // An empty chunk has nothing to send.
        guard bytes.readableBytes > 0 else { return }
        self.chunks.append(bytes)
        self.byteCount += bytes.readableBytes
    }

    /// Moves bytes from a socket into the pipe without reading them. No other bytes may be waiting.
    mutating func fill(from descriptor: Int32, atMost limit: UInt64, on loop: Loop) -> PipedBytes.Filling {
        let pipe = self.pipe ?? PipedBytes(on: loop)
        self.pipe = pipe
        let filling = pipe.fill(from: descriptor, atMost: limit)
        guard case .outcome(.bytes(let count)) = filling else { return filling }
        self.byteCount += count
        // The moved bytes exist only in the pipe, so they cannot be sent again.
        self.hasBegun = true
        self.sent = nil
        return filling
    }

    /// The pipe with the bytes that are sent next; nil if none wait in one.
    var piped: PipedBytes? { self.pipe.flatMap { $0.count > 0 ? $0 : nil } }

    /// Notes that bytes of ``piped`` were taken out of it.
    mutating func tookPiped(_ count: Int) { self.byteCount -= count }

    /// Drops the bytes in the pipe, which belongs to the loop.
    func drop() { self.pipe?.drop() }

    /// Offers the first waiting bytes, as many as are in one piece.
    ///
    /// - Parameter body: returns the number of bytes that it takes.
    /// - Returns: that number.
    mutating func takeFirst(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        guard !self.chunks.isEmpty else { return 0 }
        let first = self.chunks.startIndex
        let chunk = self.sent == nil || self.isFirstBegun ? nil : self.chunks[first]
        let count = self.chunks[first].readWithUnsafeReadableBytes(body)
        guard count > 0 else { return 0 }
        self.hasBegun = true
        self.byteCount -= count
        self.sentBytes += count
        if self.sentBytes > Self.mostKept { self.sent = nil } else if let chunk { self.sent?.append(chunk) }
        self.isFirstBegun = self.chunks[first].readableBytes > 0
        if !self.isFirstBegun { self.chunks.removeFirst() }
        return count
    }

    /// Keeps the sent bytes of a streamed body from now on: the peer may say that it has not looked at the request.
    mutating func keepSent() { if !self.hasBegun, self.whole == nil { self.sent = self.sent ?? [] } }

    /// Drops the kept bytes, as the request is not sent again.
    mutating func forgetSent() { self.sent = nil }

    /// The number of bytes in memory.
    var heldBytes: Int { self.byteCount + (self.sent == nil ? 0 : self.sentBytes) }

    /// Starts again at the first byte, if possible: retries need the same bytes (RFC 9110 §9.2.2).
    mutating func rewind() -> Bool {
        guard self.hasBegun else { return true }
        self.sentBytes = 0
        guard let whole else {
            guard let sent else { return false }
            self.chunks = CircularBuffer(sent + self.chunks.dropFirst(self.isFirstBegun ? 1 : 0))
            self.byteCount = self.chunks.reduce(0) { $0 + $1.readableBytes }
            (self.sent, self.isFirstBegun, self.hasBegun) = ([], false, false)
            return true
        }
        self.isFirstBegun = false
        self.chunks = [whole]
        self.byteCount = whole.readableBytes
        self.hasBegun = false
        return true
    }
}
