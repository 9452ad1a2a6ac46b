// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCoding

/// Decompresses the messages of one direction (RFC 7692 §7.2.2), in steps of bounded work.
final class MessageInflater {
    private let windowBits: Int
    private let isForgetful: Bool
    private var inflater: RawInflater?
    /// The bytes that the sender omits at the end of each message, and the number of them that are still to be processed.
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    private var tailLeft = 0
    /// True if a byte of the message has arrived.
    private var hasBegun = false
    /// True if the last step has filled its space, and so may produce more although all of its input was consumed.
    private(set) var mayHaveMore = false

    /// - Parameter forgets: true if each message is decompressed without the context of earlier ones.
    init(windowBits: Int, forgets: Bool) {
        self.windowBits = windowBits
        self.isForgetful = forgets
    }

    /// Begins a message.
    func begin() throws(WebSocketViolation) {
        if let inflater {
            if self.isForgetful { inflater.reset() }
        } else {
            do throws(RawDeflateError) {
                self.inflater = try RawInflater(windowBits: self.windowBits)
            } catch {
                throw Self.violation(error)
            }
        }
        self.tailLeft = Self.tail.count
        self.hasBegun = false
        self.mayHaveMore = false
    }

    /// Decompresses bytes of the message.
    ///
    /// - Parameters:
    ///   - input: consumed bytes are removed.
    ///   - most: the maximum number of bytes to produce, at least one.
    ///   - limit: the maximum number of bytes of the whole message. A longer message produces one byte more.
    ///   - message: the produced bytes are appended to it.
    /// - Returns: the failure after those bytes.
    func step(
        _ input: inout UnsafeRawBufferPointer, atMost most: Int, upTo limit: Int, into message: inout ByteBuffer
    ) -> WebSocketViolation? {
        guard let inflater else { preconditionFailure("BUG: bytes of a message are inflated before its beginning") }
        if !input.isEmpty { self.hasBegun = true }
        let wanted = min(most, limit - message.readableBytes + 1)
        var failure: RawDeflateError?
        message.writeWithUnsafeMutableBytes(minimumWritableBytes: min(wanted, Self.leastRoom)) { space in
            let room = UnsafeMutableRawBufferPointer(rebasing: space.prefix(wanted))
            let outcome = inflater.inflate(&input, into: room)
            failure = outcome.failure
            self.mayHaveMore = outcome.count == room.count
            return outcome.count
        }
        return failure.map { Self.violation($0) }
    }

    /// Decompresses the bytes that the sender omitted at the end, like ``step(_:atMost:upTo:into:)``.
    func finishStep(atMost most: Int, upTo limit: Int, into message: inout ByteBuffer) -> WebSocketViolation? {
        // Some senders send nothing for an empty message, although a zero byte is required.
        guard self.hasBegun else {
            self.tailLeft = 0
            return nil
        }
        let failure = Self.tail.withUnsafeBytes { tail in
            var rest = UnsafeRawBufferPointer(rebasing: tail.suffix(self.tailLeft))
            defer { self.tailLeft = rest.count }
            return self.step(&rest, atMost: most, upTo: limit, into: &message)
        }
        guard failure == nil, self.isAtEnd, self.inflater?.isBetweenBlocks == false else { return failure }
        return WebSocketViolation(.compression, "the deflate of a message is cut off")
    }

    /// True if the whole message was produced.
    var isAtEnd: Bool { self.tailLeft == 0 && !self.mayHaveMore }

    private static let leastRoom = 4096

    private static func violation(_ error: RawDeflateError) -> WebSocketViolation {
        switch error {
        case .corrupt(let reason): WebSocketViolation(.compression, "the deflate of a message is broken: \(reason)")
        case .outOfMemory: WebSocketViolation(.outOfMemory, "there is no memory for inflating messages")
        }
    }
}
