// SPDX-License-Identifier: Apache-2.0

/// Tells headers and payloads apart in the bytes of a server, which come in pieces. Payloads are not looked at.
package struct FrameWalk: Sendable {
    /// A part of the bytes.
    package enum Part: Sendable, Equatable {
        /// Bytes of a header.
        case header(Int)
        /// Bytes of a payload, maybe none.
        ///
        /// - Parameters:
        ///   - isControl: true for a control frame, which may come between the fragments of a message.
        ///   - endsMessage: true if the message, or the control frame, ends with them.
        case payload(Int, isControl: Bool, endsMessage: Bool)

        /// The number of bytes.
        package var count: Int {
            switch self {
            case .header(let count), .payload(let count, _, _): count
            }
        }
    }

    /// The bytes of a header that has not come whole.
    private var head: [UInt8] = []
    /// Nil between frames.
    private var frame: FrameHeader?
    /// The bytes of the frame that have not come.
    private var left = 0
    private var isWithinMessage = false

    package init() {}

    /// Returns the part at the beginning of `bytes`; nil if more bytes are needed.
    ///
    /// - Throws: the reason why what follows cannot be told apart, compressed messages among them.
    package mutating func next(in bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) -> Part? {
        guard let frame else { return try self.header(in: bytes) }
        guard !bytes.isEmpty || self.left == 0 else { return nil }
        let count = min(self.left, bytes.count)
        self.left -= count
        if self.left == 0 { self.frame = nil }
        return .payload(count, isControl: frame.opcode.isControl, endsMessage: self.left == 0 && frame.isFinal)
    }

    private mutating func header(in bytes: UnsafeRawBufferPointer) throws(WebSocketViolation) -> Part? {
        let expected = FrameHeader.Expectation(
            role: .client, isWithinMessage: self.isWithinMessage, room: (.max, .max))
        for (index, byte) in bytes.enumerated() {
            self.head.append(byte)
            let read = self.head.withUnsafeBytes { head in
                Result { () throws(WebSocketViolation) in try FrameHeader.read(head, expected) }
            }
            guard let (header, _) = try read.get() else { continue }
            self.head.removeAll(keepingCapacity: true)
            (self.frame, self.left) = (header, header.length)
            if !header.opcode.isControl { self.isWithinMessage = !header.isFinal }
            return .header(index + 1)
        }
        return bytes.isEmpty ? nil : .header(bytes.count)
    }
}
