// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// An event caused by a peer's bytes.
package enum WebSocketEvent: Sendable, Equatable {
    case message(WebSocketPayload)
    /// A ping, to be answered with a pong of the same payload.
    case ping(ByteBuffer)
    case pong(ByteBuffer)
    /// The peer sends no more, and expects a Close if none was sent.
    case close(WebSocketClose)
    /// The peer has violated the protocol. It is to be sent a Close; its further bytes are ignored.
    case violation(WebSocketViolation)
}

/// One endpoint of a WebSocket (RFC 6455) with permessage-deflate (RFC 7692), without socket and clock: turns bytes into
/// events, and messages into bytes.
package struct WebSocketMachine: ~Copyable {
    /// The state of the closing handshake in one direction.
    private enum Closing {
        /// No Close was sent in this direction.
        case open
        /// The Close was sent, and everything after it is ignored.
        case closed
    }

    private enum Reading {
        /// The next bytes are a header.
        case header
        /// The next bytes are the payload of a data frame.
        case payload(FrameHeader, offset: Int)
        /// The last frame of a message is complete, and the message is to be finished.
        case finishing
    }

    private let role: WebSocketRole
    private var input = Closing.open
    private var output = Closing.open
    private var reading = Reading.header
    private var assembler: MessageAssembler
    private var writer: MessageWriter

    /// The highest limit for the bytes of a message.
    package static let mostLimit = 1 << 30

    /// Creates an endpoint of a connection whose handshake is complete.
    ///
    /// - Parameters:
    ///   - compression: the parameters agreed on in the handshake.
    ///   - settings: the settings of this endpoint's own compression.
    ///   - messageLimit: the maximum number of bytes in a received message, 1…``mostLimit``.
    ///   - makeMask: returns the masks for a client's frames.
    package init(
        role: WebSocketRole, compression: DeflateParameters? = nil, settings: WebSocketCompression = .init(),
        messageLimit: Int = 16 << 20, makeMask: @escaping @Sendable () -> FrameMask = { .random() }
    ) {
        self.role = role
        let isClient = role == .client
        let inflater = compression.map { agreed in
            MessageInflater(
                windowBits: isClient ? agreed.serverMaxWindowBits : agreed.clientMaxWindowBits,
                forgets: isClient ? agreed.serverNoContextTakeover : agreed.clientNoContextTakeover)
        }
        self.assembler = MessageAssembler(
            role: role, limit: min(max(1, messageLimit), Self.mostLimit), inflater: inflater)
        self.writer = MessageWriter(
            role: role,
            compression: compression.map { agreed in
                (
                    isClient ? agreed.clientMaxWindowBits : agreed.serverMaxWindowBits,
                    isClient ? agreed.clientNoContextTakeover : agreed.serverNoContextTakeover, settings.valid
                )
            }, makeMask: makeMask)
    }

    /// True while frames of the peer are processed.
    package var takesInput: Bool { self.input == .open }
    /// True while messages can be sent.
    package var takesOutput: Bool { self.output == .open }

    // MARK: Receiving

    /// Returns the next event in the received bytes.
    ///
    /// - Parameters:
    ///   - bytes: consumed bytes are removed. The caller must pass the rest again, followed by later bytes; the rest has at
    ///     most 139 bytes unless the budget is used up.
    ///   - budget: is reduced by the number of bytes processed. A few bytes may decompress to a thousand times as many.
    /// - Returns: nil if more bytes or a larger budget are needed.
    package mutating func next(_ bytes: inout ByteBuffer, budget: inout Int) -> WebSocketEvent? {
        do throws(WebSocketViolation) {
            while self.input == .open, budget > 0 {
                switch try self.step(&bytes, &budget) {
                case .event(let event): return event
                case .again: continue
                case .more: return nil
                }
            }
        } catch {
            self.input = .closed
            self.reading = .header
            bytes.clear()
            return .violation(error)
        }
        if self.input == .closed { bytes.clear() }
        return nil
    }

    private enum Step {
        case event(WebSocketEvent)
        case again
        case more
    }

    private mutating func step(
        _ bytes: inout ByteBuffer, _ budget: inout Int
    ) throws(WebSocketViolation) -> Step {
        switch self.reading {
        case .header: return try self.readHeader(&bytes, &budget)
        case .payload(let header, let offset):
            guard offset < header.length || self.assembler.mayHaveMore else {
                self.reading = header.isFinal ? .finishing : .header
                return .again
            }
            let most = min(header.length - offset, max(1, budget))
            guard bytes.readableBytes > 0 || self.assembler.mayHaveMore else { return .more }
            let taken = try self.takePayload(&bytes, most, header.mask, offset, &budget)
            self.reading = .payload(header, offset: offset + taken)
            return .again
        case .finishing:
            guard let payload = try self.assembler.finish(budget: &budget) else { return .more }
            self.reading = .header
            return .event(.message(payload))
        }
    }

    private mutating func takePayload(
        _ bytes: inout ByteBuffer, _ most: Int, _ mask: FrameMask?, _ offset: Int, _ budget: inout Int
    ) throws(WebSocketViolation) -> Int {
        var failure: WebSocketViolation?
        let taken = bytes.readWithUnsafeReadableBytes { space in
            let piece = UnsafeRawBufferPointer(rebasing: space.prefix(most))
            var rest = piece
            do throws(WebSocketViolation) {
                try self.assembler.take(&rest, mask: mask, at: offset, budget: &budget)
            } catch {
                failure = error
            }
            return piece.count - rest.count
        }
        if let failure { throw failure }
        budget -= taken
        return taken
    }

    private mutating func readHeader(
        _ bytes: inout ByteBuffer, _ budget: inout Int
    ) throws(WebSocketViolation) -> Step {
        let expectation = self.assembler.expectation
        var found = Result<(header: FrameHeader, size: Int)?, WebSocketViolation>.success(nil)
        bytes.withUnsafeReadableBytes { space in
            found = Result { () throws(WebSocketViolation) in try FrameHeader.read(space, expectation) }
        }
        guard let (header, size) = try found.get() else { return .more }
        guard header.opcode.isControl else {
            budget -= size
            bytes.moveReaderIndex(forwardBy: size)
            try self.assembler.begin(header)
            self.reading = .payload(header, offset: 0)
            return .again
        }
        // A control frame is short, so it is processed when it is complete.
        guard bytes.readableBytes >= size + header.length else { return .more }
        budget -= size + header.length
        bytes.moveReaderIndex(forwardBy: size)
        return .event(try self.control(header, from: &bytes))
    }

    private mutating func control(
        _ header: FrameHeader, from bytes: inout ByteBuffer
    ) throws(WebSocketViolation) -> WebSocketEvent {
        // Copied, because the buffer of these bytes is reused.
        var payload = ByteBuffer()
        if let slice = bytes.readSlice(length: header.length) { payload.writeImmutableBuffer(slice) }
        if let mask = header.mask { payload.withUnsafeMutableReadableBytes { mask.apply(to: $0, at: 0) } }
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            let close = try WebSocketClose(payload, by: self.role)
            self.input = .closed
            return .close(close)
        case .continuation, .text, .binary: preconditionFailure("BUG: a frame of data is taken for a control frame")
        }
    }

    // MARK: Sending

    /// True from the beginning of a message that is being sent to the end of its last frame.
    package var isWithinMessage: Bool { self.writer.isWithinMessage }

    /// Begins to send a message; ``writeFragment(into:)`` writes its frames.
    package mutating func begin(_ payload: WebSocketPayload) {
        precondition(self.output == .open, "BUG: a message is sent behind a Close")
        self.writer.begin(payload)
    }

    /// Writes the next frame of the current message: 64 KiB of it, or the rest.
    ///
    /// - Returns: the number of bytes of the message that were consumed. With compression, the output may be empty.
    @discardableResult
    package mutating func writeFragment(into output: inout ByteBuffer) -> Int {
        self.writer.writeFragment(into: &output)
    }

    /// Writes a whole message.
    package mutating func write(_ payload: WebSocketPayload, into output: inout ByteBuffer) {
        self.begin(payload)
        while self.isWithinMessage { self.writeFragment(into: &output) }
    }

    /// Writes a ping, also between two fragments. The payload is cut to 125 bytes.
    package func writePing(_ payload: ByteBuffer, into output: inout ByteBuffer) {
        self.writeControl(.ping, payload, into: &output)
    }

    /// Writes a pong, also between two fragments. The payload is cut to 125 bytes.
    package func writePong(_ payload: ByteBuffer, into output: inout ByteBuffer) {
        self.writeControl(.pong, payload, into: &output)
    }

    /// Writes a Close, unless one was written. A message that is being sent is not continued.
    package mutating func writeClose(_ close: WebSocketClose, into output: inout ByteBuffer) {
        guard self.output == .open else { return }
        self.writeControl(.close, close.payload, into: &output)
        self.output = .closed
    }

    private func writeControl(_ opcode: Opcode, _ payload: ByteBuffer, into output: inout ByteBuffer) {
        guard self.output == .open else { return }
        let count = min(payload.readableBytes, FrameHeader.controlLimit)
        let payload = payload.getSlice(at: payload.readerIndex, length: count) ?? ByteBuffer()
        self.writer.writeFrame(FrameHeader(opcode, length: count), payload, into: &output)
    }

    // MARK: Both

    /// Writes the answer that an event requires: a pong for a ping, a Close for a Close, or a Close with the reason for a
    /// violation.
    package mutating func answer(_ event: WebSocketEvent, into output: inout ByteBuffer) {
        switch event {
        case .message, .pong: break
        case .ping(let payload): self.writePong(payload, into: &output)
        case .close(let close): self.writeClose(WebSocketClose(close.code), into: &output)
        case .violation(let violation):
            self.writeClose(WebSocketClose(violation.closeCode, violation.message), into: &output)
        }
    }

    /// Processes all received bytes and answers them: for callers that need no budget.
    ///
    /// - Parameters:
    ///   - bytes: consumed bytes are removed.
    ///   - output: the answers are appended to it.
    package mutating func receive(_ bytes: inout ByteBuffer, answeringInto output: inout ByteBuffer) -> [WebSocketEvent]
    {
        var events: [WebSocketEvent] = []
        var budget = Int.max
        while let event = self.next(&bytes, budget: &budget) {
            self.answer(event, into: &output)
            events.append(event)
        }
        return events
    }
}
