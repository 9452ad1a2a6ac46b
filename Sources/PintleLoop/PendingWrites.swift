// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Counts the bytes that channels could not write yet.
package protocol PendingWriteAccount: AnyObject {
    /// The number of bytes that wait in a channel has changed. Called on its loop.
    func waitingBytes(changedBy change: Int)
}

/// Bytes that a channel was asked to write and the kernel has not taken yet.
///
/// Nothing is called from here: owners of promises may write to the channel as soon as they hear of them, and the channel is
/// within this value then.
struct PendingWrites {
    /// Above this many bytes the channel is not writable.
    static let highWaterMark = 64 * 1024
    /// Below this many bytes it is writable again.
    static let lowWaterMark = 32 * 1024
    /// The unit in which waiting bytes are reported to the account.
    static let accountUnit = 4096

    enum Outcome { case progress, wouldBlock, failed(any Error) }

    private var items: CircularBuffer<(buffer: ByteBuffer, promise: EventLoopPromise<Void>?)> = []
    private var flushedItems = 0
    /// The promises of bytes that the kernel has taken. The channel fulfils them, because their owners may write more then.
    private var written: [EventLoopPromise<Void>] = []
    private(set) var byteCount = 0
    /// The number of waiting bytes that the account knows.
    private var accounted = 0

    var isEmpty: Bool { self.items.isEmpty }
    /// True if all flushed bytes are written.
    var isFlushed: Bool { self.flushedItems == 0 }

    mutating func append(_ buffer: ByteBuffer, promise: EventLoopPromise<Void>?) {
        self.byteCount += buffer.readableBytes
        self.items.append((buffer, promise))
    }

    mutating func markFlushed() { self.flushedItems = self.items.count }

    /// Makes one system call, or one call of the transport.
    mutating func writeSome(to socket: StreamSocket) -> Outcome {
        switch self.write(to: socket) {
        case .bytes(let count): self.consume(count)
        // An empty buffer was written.
        case .end where socket.transport == nil: self.consume(0)
        case .end: return .failed(ChannelError.eof)
        case .wouldBlock: return .wouldBlock
        case .failed(let error): return .failed(error)
        }
        return .progress
    }

    private func write(to socket: StreamSocket) -> StreamOutcome {
        if socket.transport == nil, self.flushedItems > 1 { return self.writeMany(to: socket.descriptor) }
        guard let first = self.items.first, first.buffer.readableBytes > 0 else { return .bytes(0) }
        return first.buffer.withUnsafeReadableBytes { socket.write($0) }
    }

    /// Settles the number of waiting bytes with the account, in whole units: nothing changes while the peer keeps up.
    ///
    /// - Returns: the change in bytes, to be reported to the account; nil if there is none.
    mutating func settle() -> Int? {
        let waiting = self.byteCount & ~(Self.accountUnit - 1)
        guard waiting != self.accounted else { return nil }
        defer { self.accounted = waiting }
        return waiting - self.accounted
    }

    /// Takes the promises of bytes that are written.
    mutating func takeWritten() -> [EventLoopPromise<Void>] {
        guard !self.written.isEmpty else { return [] }
        defer { self.written = [] }
        return self.written
    }

    /// The bytes that are not written yet, in order.
    var unsent: ByteBuffer {
        var unsent = ByteBuffer()
        for item in self.items { unsent.writeImmutableBuffer(item.buffer) }
        return unsent
    }

    /// Forgets the bytes that are not written yet.
    ///
    /// - Returns: their promises, in order, which the channel fails.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        guard !self.isEmpty else { return [] }
        defer { self.items.removeAll() }
        (self.flushedItems, self.byteCount) = (0, 0)
        return self.items.compactMap(\.promise)
    }

    private func writeMany(to descriptor: Int32) -> StreamOutcome {
        let count = min(self.flushedItems, 64)
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: count) { vectors in
            for (index, item) in self.items.prefix(count).enumerated() {
                // The buffers are held by `items` until after the call.
                vectors[index] = item.buffer.withUnsafeReadableBytes { iovec($0) }
            }
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = count
            return StreamOutcome(sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)), of: "write", until: .write)
        }
    }

    private mutating func consume(_ written: Int) {
        self.byteCount -= written
        var left = written
        while self.flushedItems > 0 {
            let readable = self.items[self.items.startIndex].buffer.readableBytes
            guard left >= readable else {
                self.items[self.items.startIndex].buffer.moveReaderIndex(forwardBy: left)
                return
            }
            left -= readable
            let done = self.items.removeFirst()
            self.flushedItems -= 1
            if let promise = done.promise { self.written.append(promise) }
        }
    }
}

extension iovec {
    /// A vector for sending, which only reads the bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
