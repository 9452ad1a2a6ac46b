// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// One of the two endpoints of a connection.
package enum WebSocketRole: Sendable, Hashable, CaseIterable {
    /// The client, which masks its frames.
    case client
    case server

    /// The peer's name in a sentence.
    var peer: String { self == .client ? "the server" : "the client" }
}

/// The kinds of frames (RFC 6455 §5.2).
package enum Opcode: UInt8, Sendable, Hashable, CaseIterable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// True for frames that may be sent between the fragments of a message.
    package var isControl: Bool { self.rawValue >= 8 }
}

/// The header of a frame (RFC 6455 §5.2).
package struct FrameHeader: Sendable, Equatable {
    package var opcode: Opcode
    /// True if the frame ends the message.
    package var isFinal = true
    /// The first reserved bit, which permessage-deflate sets on the first frame of a message (RFC 7692 §6).
    package var isCompressed = false
    /// The mask; nil for a frame that is not masked.
    package var mask: FrameMask?
    /// The number of bytes of the payload.
    package var length: Int

    /// The maximum number of bytes in a control frame's payload.
    package static let controlLimit = 125

    package init(_ opcode: Opcode, length: Int) {
        self.opcode = opcode
        self.length = length
    }

    /// The requirements of the connection's state for the next frame.
    struct Expectation {
        /// The endpoint that receives the frame.
        var role: WebSocketRole
        /// True if a message may be compressed.
        var allowsCompression = false
        /// True if the frame may continue a message that has begun.
        var isWithinMessage = false
        /// The maximum number of bytes in a data frame. The limit for compressed messages differs from the one for others.
        var room: (plain: Int, compressed: Int)
    }

    /// Reads a header. Each byte is checked as soon as it is available.
    ///
    /// - Returns: the header and its length; nil if bytes are missing.
    static func read(
        _ bytes: UnsafeRawBufferPointer, _ expected: Expectation
    ) throws(WebSocketViolation) -> (header: FrameHeader, size: Int)? {
        guard let first = bytes.first else { return nil }
        var header = try Self.opening(first, expected)
        guard bytes.count > 1 else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        guard isMasked == (expected.role == .server) else {
            throw WebSocketViolation(
                .masking, "\(expected.role.peer) sent a frame that is \(isMasked ? "" : "not ")masked")
        }
        var size = 2
        let short = Int(bytes[1] & 0x7F)
        if short < 126 {
            header.length = short
        } else {
            guard !header.opcode.isControl else {
                throw WebSocketViolation(
                    .controlFrame, "\(expected.role.peer) sent a control frame of more than 125 bytes")
            }
            size += short == 126 ? 2 : 8
            guard bytes.count >= size else { return nil }
            header.length = try Self.length(bytes[2..<size], expected)
        }
        try header.checkRoom(expected)
        guard isMasked else { return (header, size) }
        guard bytes.count >= size + 4 else { return nil }
        header.mask = FrameMask(bytes[size..<(size + 4)])
        return (header, size + 4)
    }

    private static func opening(_ byte: UInt8, _ expected: Expectation) throws(WebSocketViolation) -> FrameHeader {
        let peer = expected.role.peer
        guard let opcode = Opcode(rawValue: byte & 0x0F) else {
            throw WebSocketViolation(.reservedOpcode, "\(peer) sent a frame of the unknown kind \(byte & 0x0F)")
        }
        var header = FrameHeader(opcode, length: 0)
        header.isFinal = byte & 0x80 != 0
        header.isCompressed = byte & 0x40 != 0
        let mayCompress = expected.allowsCompression && (opcode == .text || opcode == .binary)
        guard byte & 0x30 == 0, mayCompress || !header.isCompressed else {
            throw WebSocketViolation(.reservedBit, "\(peer) sent a frame with a reserved bit that means nothing")
        }
        switch opcode {
        case .close, .ping, .pong:
            guard header.isFinal else {
                throw WebSocketViolation(.controlFrame, "\(peer) sent a fragment of a control frame")
            }
        case .continuation:
            guard expected.isWithinMessage else {
                throw WebSocketViolation(.fragmentation, "\(peer) sent a fragment that continues no message")
            }
        case .text, .binary:
            guard !expected.isWithinMessage else {
                throw WebSocketViolation(.fragmentation, "\(peer) began a message within another one")
            }
        }
        return header
    }

    private static func length(
        _ bytes: Slice<UnsafeRawBufferPointer>, _ expected: Expectation
    ) throws(WebSocketViolation) -> Int {
        let value = bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard value > (bytes.count == 2 ? 125 : 0xFFFF), let length = Int(exactly: value) else {
            throw WebSocketViolation(
                .length, "\(expected.role.peer) sent a frame whose length is not written as it has to be")
        }
        return length
    }

    private func checkRoom(_ expected: Expectation) throws(WebSocketViolation) {
        guard !self.opcode.isControl else { return }
        guard self.length <= (self.isCompressed ? expected.room.compressed : expected.room.plain) else {
            throw WebSocketViolation(.messageTooBig, "\(expected.role.peer) sent a message that is over the limit")
        }
    }
}

extension ByteBuffer {
    /// Writes the header of a frame.
    package mutating func writeFrameHeader(_ header: FrameHeader) {
        let first = header.opcode.rawValue | (header.isFinal ? 0x80 : 0) | (header.isCompressed ? 0x40 : 0)
        let mark: UInt8 = header.mask == nil ? 0 : 0x80
        switch header.length {
        case ..<126: self.writeMultipleIntegers(first, mark | UInt8(header.length))
        case ..<0x1_0000: self.writeMultipleIntegers(first, mark | 126, UInt16(header.length))
        default: self.writeMultipleIntegers(first, mark | 127, UInt64(header.length))
        }
        if let mask = header.mask { self.writeInteger(mask.key, endianness: .little) }
    }
}
