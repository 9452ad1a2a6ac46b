// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Assembles messages from the payloads of their frames, and checks the payloads as they arrive.
struct MessageAssembler: ~Copyable {
    /// A message that is being received.
    private struct Message {
        let isText: Bool
        let isCompressed: Bool
        var bytes = ByteBuffer()
        var check = UTF8Check()
        /// The number of bytes in its frames.
        var received = 0
    }

    private let role: WebSocketRole
    private let limit: Int
    /// The decompressor; nil if messages may not be compressed.
    private let inflater: MessageInflater?
    private var message: Message?

    init(role: WebSocketRole, limit: Int, inflater: MessageInflater?) {
        self.role = role
        self.limit = limit
        self.inflater = inflater
    }

    /// The minimum of memory reserved for decompressed bytes, and the maximum that is reserved because of a frame's header
    /// alone.
    private static let leastRoom = 512
    private static let mostReserved = 64 * 1024

    /// The requirements for the next frame.
    var expectation: FrameHeader.Expectation {
        // Deflate makes incompressible data slightly longer.
        let compressedLimit = self.limit + self.limit / 4 + 1024
        var room = (plain: self.limit, compressed: compressedLimit)
        if let message {
            room.plain = (message.isCompressed ? compressedLimit : self.limit) - message.received
        }
        return FrameHeader.Expectation(
            role: self.role, allowsCompression: self.inflater != nil, isWithinMessage: self.message != nil, room: room)
    }

    /// Begins a data frame whose header was checked against ``expectation``.
    mutating func begin(_ header: FrameHeader) throws(WebSocketViolation) {
        if header.opcode != .continuation {
            if header.isCompressed { try self.inflater?.begin() }
            self.message = Message(isText: header.opcode == .text, isCompressed: header.isCompressed)
        }
        self.message?.received += header.length
        let room = self.message?.isCompressed == true ? max(Self.leastRoom, header.length * 4) : header.length
        self.message?.bytes.reserveCapacity(minimumWritableBytes: min(room, Self.mostReserved))
    }

    /// Processes bytes of a frame.
    ///
    /// - Parameters:
    ///   - input: consumed bytes are removed: all of them, unless the message is compressed and the work is too much for
    ///     one step.
    ///   - mask: the mask of the frame.
    ///   - offset: the position of the first byte in its frame.
    ///   - budget: is reduced by the number of bytes produced.
    mutating func take(
        _ input: inout UnsafeRawBufferPointer, mask: FrameMask?, at offset: Int, budget: inout Int
    ) throws(WebSocketViolation) {
        guard var message = self.message.take() else { preconditionFailure("BUG: bytes of no message are taken") }
        let start = message.bytes.readableBytes
        var failure: WebSocketViolation?
        if message.isCompressed {
            failure = self.inflate(&input, mask, offset, atMost: budget, into: &message)
        } else {
            message.bytes.writeBytes(input)
            input = UnsafeRawBufferPointer(start: nil, count: 0)
            if let mask { message.bytes.unmask(from: start, mask, at: offset) }
        }
        budget -= message.bytes.readableBytes - start
        try self.judge(&message, from: start, failure)
        self.message = message
    }

    /// True if the consumed bytes may still produce a part of the message.
    var mayHaveMore: Bool { self.message?.isCompressed == true && self.inflater?.mayHaveMore == true }

    /// Ends a message after its last frame.
    ///
    /// - Returns: the message; nil if the budget is used up before its end.
    mutating func finish(budget: inout Int) throws(WebSocketViolation) -> WebSocketPayload? {
        guard var message = self.message.take() else { preconditionFailure("BUG: no message is finished") }
        while message.isCompressed, let inflater, !inflater.isAtEnd {
            guard budget > 0 else {
                self.message = message
                return nil
            }
            let start = message.bytes.readableBytes
            let failure = inflater.finishStep(atMost: budget, upTo: self.limit, into: &message.bytes)
            budget -= message.bytes.readableBytes - start
            try self.judge(&message, from: start, failure)
        }
        guard !message.isText || message.check.isComplete else { throw self.invalidText }
        return WebSocketPayload(isText: message.isText, bytes: message.bytes)
    }

    private func inflate(
        _ input: inout UnsafeRawBufferPointer, _ mask: FrameMask?, _ offset: Int, atMost most: Int,
        into message: inout Message
    ) -> WebSocketViolation? {
        guard let inflater else { preconditionFailure("BUG: a message is compressed that may not be") }
        guard let mask else { return inflater.step(&input, atMost: most, upTo: self.limit, into: &message.bytes) }
        // Unmasked in small pieces, so that little work is lost for bytes that are not decompressed in this step.
        return withUnsafeTemporaryAllocation(byteCount: Self.unmaskedSize, alignment: 8) { space in
            let piece = UnsafeRawBufferPointer(rebasing: input.prefix(space.count))
            mask.apply(to: piece, into: space, at: offset)
            var rest = UnsafeRawBufferPointer(rebasing: space.prefix(piece.count))
            let failure = inflater.step(&rest, atMost: most, upTo: self.limit, into: &message.bytes)
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count - rest.count))
            return failure
        }
    }

    private static let unmaskedSize = 4096

    /// Checks the produced bytes in their order, so that the result does not depend on how the input was divided.
    private func judge(
        _ message: inout Message, from start: Int, _ failure: WebSocketViolation?
    ) throws(WebSocketViolation) {
        if message.isText {
            let isValid = message.bytes.withUnsafeReadableBytes {
                message.check.accepts(UnsafeRawBufferPointer(rebasing: $0[start...].prefix(self.limit - start)))
            }
            guard isValid else { throw self.invalidText }
        }
        guard message.bytes.readableBytes <= self.limit else {
            throw WebSocketViolation(
                .messageTooBig, "\(self.role.peer) sent a message that inflates to more than \(self.limit) bytes")
        }
        if let failure { throw failure }
    }

    private var invalidText: WebSocketViolation {
        WebSocketViolation(.invalidText, "\(self.role.peer) sent text that is not UTF-8")
    }
}

extension ByteBuffer {
    fileprivate mutating func unmask(from start: Int, _ mask: FrameMask, at offset: Int) {
        self.withUnsafeMutableReadableBytes { bytes in
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), at: offset)
        }
    }
}
