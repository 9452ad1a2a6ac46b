// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// An event that a peer's bytes bring.
package enum WebSocketEvent: Sendable, Equatable {
    case message(WebSocketPayload)
    /// Wants a pong with the same payload.
    case ping(ByteBuffer)
    case pong(ByteBuffer)
    /// The peer sends nothing more, and wants a Close where none was sent.
    case close(WebSocketClose)
    /// The peer has broken the protocol, and is told by a Close; nothing more of it counts.
    case violation(WebSocketViolation)
}

/// One end of a WebSocket (RFC 6455) with permessage-deflate (RFC 7692), without socket and clock: bytes in and events
/// out, messages in and bytes out.
package struct WebSocketMachine: ~Copyable {
    /// The state of the closing handshake, in one direction.
    private enum Closing {
        /// No Close has gone this way.
        case open
        /// The Close has gone, and nothing counts behind it.
        case closed
    }

    private enum Reading {
        /// A header is due.
        case header
        /// The payload of a frame of data is due.
        case payload(FrameHeader, offset: Int)
        /// The last frame of a message is here, and is to be made a message of.
        case finishing
    }

    private let role: WebSocketRole
    private var input = Closing.open
    private var output = Closing.open
    private var reading = Reading.header
    private var assembler: MessageAssembler
    private var writer: MessageWriter

    /// The most bytes that a message may be limited to.
    package static let mostLimit = 1 << 30

    /// Makes an end of a connection whose handshake is over.
    ///
    /// - Parameters:
    ///   - compression: what was agreed on.
    ///   - settings: how this end compresses, as far as that is its own business.
    ///   - messageLimit: the most bytes of a message that is received, 1…``mostLimit``.
    ///   - makeMask: gives the masks of a client's frames.
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

    /// True while frames of the peer count.
    package var takesInput: Bool { self.input == .open }
    /// True while messages can be sent.
    package var takesOutput: Bool { self.output == .open }

    // MARK: Receiving

    /// Takes the next thing out of what has come.
    ///
    /// - Parameters:
    ///   - bytes: lose what was taken; what is left is offered again, with what comes behind it. It is 139 bytes at most
    ///     where the budget is not used up.
    ///   - budget: loses the number of bytes that were worked on. A few may inflate to a thousand times as many.
    /// - Returns: nil where more bytes are needed, or more of a budget.
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
        // A control frame is short, and taken when it is whole.
        guard bytes.readableBytes >= size + header.length else { return .more }
        budget -= size + header.length
        bytes.moveReaderIndex(forwardBy: size)
        return .event(try self.control(header, from: &bytes))
    }

    private mutating func control(
        _ header: FrameHeader, from bytes: inout ByteBuffer
    ) throws(WebSocketViolation) -> WebSocketEvent {
        // A copy, because the bytes are those of a buffer that is used again.
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

    /// True from the beginning of a message that is sent to the end of its last frame.
    package var isWithinMessage: Bool { self.writer.isWithinMessage }

    /// Begins to send a message, which ``writeFragment(into:)`` goes on with.
    package mutating func begin(_ payload: WebSocketPayload) {
        precondition(self.output == .open, "BUG: a message is sent behind a Close")
        self.writer.begin(payload)
    }

    /// Writes the next frame of the message under way: 64 KiB of it, or its rest.
    ///
    /// - Returns: the number of bytes of the message that it took, which compressed may be nothing.
    @discardableResult
    package mutating func writeFragment(into output: inout ByteBuffer) -> Int {
        self.writer.writeFragment(into: &output)
    }

    /// Writes a whole message.
    package mutating func write(_ payload: WebSocketPayload, into output: inout ByteBuffer) {
        self.begin(payload)
        while self.isWithinMessage { self.writeFragment(into: &output) }
    }

    /// Writes a ping; between two fragments, too. Of a payload at most 125 bytes go.
    package func writePing(_ payload: ByteBuffer, into output: inout ByteBuffer) {
        self.writeControl(.ping, payload, into: &output)
    }

    /// Writes a pong; between two fragments, too. Of a payload at most 125 bytes go.
    package func writePong(_ payload: ByteBuffer, into output: inout ByteBuffer) {
        self.writeControl(.pong, payload, into: &output)
    }

    /// Writes a Close; nothing where one was written. A message that is under way is not gone on with.
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

    /// Writes what an event demands: a pong for a ping, a Close for a Close, and one that says what a violation was.
    package mutating func answer(_ event: WebSocketEvent, into output: inout ByteBuffer) {
        switch event {
        case .message, .pong: break
        case .ping(let payload): self.writePong(payload, into: &output)
        case .close(let close): self.writeClose(WebSocketClose(close.code), into: &output)
        case .violation(let violation):
            self.writeClose(WebSocketClose(violation.closeCode, violation.message), into: &output)
        }
    }

    /// Takes all that has come, and answers it: for who has no use for budgets.
    ///
    /// - Parameters:
    ///   - bytes: lose what was taken.
    ///   - output: gets the answers.
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
