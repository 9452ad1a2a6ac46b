// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCoding

/// Writes messages as frames, one fragment after the other. So a long message needs no second copy, and a ping need not
/// wait for its end.
struct MessageWriter: ~Copyable {
    private let role: WebSocketRole
    /// The parameters of the compression; nil if messages are not compressed.
    private let compression: (windowBits: Int, forgets: Bool, settings: WebSocketCompression)?
    private let makeMask: @Sendable () -> FrameMask
    private var deflater: RawDeflater?
    private var deflated = ByteBuffer()
    private var message: Message?

    private struct Message {
        var rest: ByteBuffer
        let opcode: Opcode
        let isCompressed: Bool
        /// True if a frame of the message was written.
        var hasBegun = false
    }

    /// The maximum number of bytes of a message in one frame, before compression. Browsers have frames of similar length.
    static let fragmentSize = 64 * 1024

    init(
        role: WebSocketRole, compression: (windowBits: Int, forgets: Bool, settings: WebSocketCompression)?,
        makeMask: @escaping @Sendable () -> FrameMask
    ) {
        self.role = role
        self.compression = compression
        self.makeMask = makeMask
    }

    /// True from the beginning of a message to the end of its last frame.
    var isWithinMessage: Bool { self.message != nil }

    /// Begins a message.
    mutating func begin(_ payload: WebSocketPayload) {
        precondition(self.message == nil, "BUG: a message begins within another one")
        self.message = Message(
            rest: payload.bytes, opcode: payload.isText ? .text : .binary,
            isCompressed: self.prepareToDeflate(payload.bytes.readableBytes))
    }

    /// Writes the next frame of the message. Writes none if zlib holds back all of it for a later frame.
    ///
    /// - Returns: the number of bytes of the message that were consumed.
    mutating func writeFragment(into output: inout ByteBuffer) -> Int {
        guard var message = self.message.take() else { preconditionFailure("BUG: no message has begun") }
        let count = min(message.rest.readableBytes, Self.fragmentSize)
        var piece = message.rest.readSlice(length: count) ?? ByteBuffer()
        let isLast = message.rest.readableBytes == 0
        if message.isCompressed { piece = self.deflate(piece, isLast: isLast) }
        guard piece.readableBytes > 0 || isLast else {
            self.message = message
            return count
        }
        var header = FrameHeader(message.hasBegun ? .continuation : message.opcode, length: piece.readableBytes)
        header.isFinal = isLast
        header.isCompressed = message.isCompressed && !message.hasBegun
        self.writeFrame(header, piece, into: &output)
        message.hasBegun = true
        if !isLast { self.message = message }
        return count
    }

    /// Writes a frame, masked if this is the client.
    func writeFrame(_ header: FrameHeader, _ payload: ByteBuffer, into output: inout ByteBuffer) {
        var header = header
        if self.role == .client { header.mask = self.makeMask() }
        // The header has at most 14 bytes.
        output.reserveCapacity(minimumWritableBytes: 14 + payload.readableBytes)
        output.writeFrameHeader(header)
        guard let mask = header.mask else {
            output.writeImmutableBuffer(payload)
            return
        }
        _ = payload.withUnsafeReadableBytes { bytes in
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { space in
                mask.apply(to: bytes, into: space, at: 0)
                return bytes.count
            }
        }
    }

    /// Returns true if a message of this length is compressed, and prepares for it.
    private mutating func prepareToDeflate(_ count: Int) -> Bool {
        guard let compression, count >= compression.settings.threshold else { return false }
        if let deflater {
            if compression.forgets { deflater.reset() }
            return true
        }
        // If there is no memory, messages are sent uncompressed, which is always allowed (RFC 7692 §6.1).
        self.deflater = try? RawDeflater(windowBits: compression.windowBits, level: compression.settings.level)
        return self.deflater != nil
    }

    private mutating func deflate(_ piece: ByteBuffer, isLast: Bool) -> ByteBuffer {
        var deflated = ByteBuffer()
        swap(&deflated, &self.deflated)
        deflated.clear()
        piece.withUnsafeReadableBytes { bytes in
            self.deflater?.deflate(bytes, isLast: isLast) { deflated.writeBytes($0) }
        }
        // The last four bytes of the empty block at the end of every message are omitted (RFC 7692 §7.2.1).
        if isLast { deflated.moveWriterIndex(to: deflated.writerIndex - 4) }
        self.deflated = deflated
        return deflated
    }
}
