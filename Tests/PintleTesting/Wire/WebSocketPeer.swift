// SPDX-License-Identifier: Apache-2.0

/// The far end of a WebSocket, frame by frame: it sends frames that no proper one would, and reports those it received.
package struct WebSocketPeer: Sendable {
    /// A frame as it is on the wire, its payload unmasked.
    package struct Frame: Sendable, Equatable, CustomStringConvertible {
        package var opcode: UInt8
        package var payload: [UInt8]
        package var isFinal: Bool
        /// The three reserved bits, the first one worth 4.
        package var reserved: UInt8
        /// Four bytes; empty if the payload is not masked.
        package var mask: [UInt8]

        package init(
            _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0, mask: [UInt8] = []
        ) {
            (self.opcode, self.payload, self.isFinal) = (opcode, payload, isFinal)
            (self.reserved, self.mask) = (reserved, mask)
        }

        /// Makes a Close frame.
        package static func close(_ code: UInt16, _ reason: [UInt8] = []) -> Frame {
            Frame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
        }

        /// The code of a Close frame; nil if it has none.
        package var code: UInt16? {
            self.opcode == 8 && self.payload.count >= 2 ? UInt16(self.payload[0]) << 8 | UInt16(self.payload[1]) : nil
        }

        /// The bytes on the wire.
        package var bytes: [UInt8] {
            let mark: UInt8 = self.mask.isEmpty ? 0 : 0x80
            var bytes = [(self.isFinal ? 0x80 : 0) | self.reserved << 4 | self.opcode]
            switch self.payload.count {
            case ..<126: bytes.append(mark | UInt8(self.payload.count))
            case ..<65_536:
                bytes += [mark | 126, UInt8(self.payload.count >> 8), UInt8(self.payload.count & 0xFF)]
            default:
                bytes.append(mark | 127)
                bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: self.payload.count >> ($0 * 8)) }
            }
            return bytes + self.mask + Self.masked(self.payload, self.mask)
        }

        /// Returns `payload` with its mask applied, or removed.
        package static func masked(_ payload: [UInt8], _ mask: [UInt8]) -> [UInt8] {
            guard !mask.isEmpty else { return payload }
            var payload = payload
            payload.withUnsafeMutableBufferPointer { bytes in
                for index in bytes.indices { bytes[index] ^= mask[index & 3] }
            }
            return payload
        }

        package var description: String {
            let shown =
                self.payload.count > 40 ? "\(self.payload.prefix(40))… (\(self.payload.count))" : "\(self.payload)"
            return
                "frame \(self.opcode)\(self.isFinal ? "" : " …")\(self.reserved > 0 ? " !\(self.reserved)" : "") \(shown)"
        }
    }

    /// The connection.
    package let stream: SocketStream

    /// Takes over a connection whose handshake is over.
    package init(_ stream: SocketStream) { self.stream = stream }

    /// Accepts a client's handshake.
    ///
    /// - Parameter fields: further field lines of the answer, each with its line end.
    package init(_ connection: RawOrigin.Connection, fields: String = "") throws {
        let request = try connection.readRequestHead()
        try connection.send(WebSocketWire.switching(for: request, fields: fields))
        self.stream = connection.stream
    }

    /// Sends frames in one piece, or in pieces of `size` bytes.
    package func send(_ frames: Frame..., inPiecesOf size: Int? = nil) throws {
        try self.send(frames.flatMap(\.bytes), inPiecesOf: size)
    }

    /// Sends bytes in one piece, or in pieces of `size`.
    package func send(_ bytes: [UInt8], inPiecesOf size: Int? = nil) throws {
        guard let size else { return try self.stream.send(bytes) }
        for start in stride(from: 0, to: bytes.count, by: size) {
            try self.stream.send(Array(bytes[start..<min(start + size, bytes.count)]))
        }
    }

    /// Reads a frame.
    package func readFrame() throws -> Frame {
        let start = try self.stream.read(2)
        var count = Int(start[1] & 0x7F)
        if count >= 126 {
            count = try self.stream.read(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        let mask = start[1] & 0x80 == 0 ? [] : try self.stream.read(4)
        let payload = Frame.masked(try self.stream.read(count), mask)
        self.stream.forgetTaken()
        return Frame(
            start[0] & 0x0F, payload, isFinal: start[0] & 0x80 != 0, reserved: start[0] >> 4 & 7, mask: mask)
    }

    /// Reads frames up to one of this opcode, and returns that.
    package func readFrame(_ opcode: UInt8) throws -> Frame {
        while true {
            let frame = try self.readFrame()
            if frame.opcode == opcode { return frame }
        }
    }

    /// Reads frames up to the end of the connection; a client that lingers sees the end of this side first.
    package func readToEnd() throws -> [Frame] {
        var frames: [Frame] = []
        while try !self.stream.unread.isEmpty || self.stream.fill() { frames.append(try self.readFrame()) }
        return frames
    }

    /// Answers a Close, and waits for the end of the connection.
    package func finish(after close: Frame) throws {
        try self.send(Frame(8, close.payload))
        self.stream.finishSending()
        _ = try self.stream.readToEnd()
    }
}
