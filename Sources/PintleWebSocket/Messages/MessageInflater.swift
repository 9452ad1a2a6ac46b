// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCoding

/// Inflates the messages of one direction (RFC 7692 §7.2.2), in steps of bounded work.
final class MessageInflater {
    private let windowBits: Int
    private let isForgetful: Bool
    private var inflater: RawInflater?
    /// The bytes that the sender leaves out at the end of each message, and how many of them are to be taken yet.
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    private var tailLeft = 0
    /// True where a byte of the message has come.
    private var hasBegun = false
    /// True where the last step has filled its room, and so may have more to give although all of its input was taken.
    private(set) var mayHaveMore = false

    /// - Parameter forgets: whether each message is inflated by itself.
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

    /// Inflates bytes of the message.
    ///
    /// - Parameters:
    ///   - input: loses what was taken.
    ///   - most: the most bytes that are made, at least one.
    ///   - limit: the most bytes that the message may have in all. One more is made where it has more.
    ///   - message: gets them at its end.
    /// - Returns: the failure behind them.
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

    /// Inflates what the sender has left out at the end, as ``step(_:atMost:upTo:into:)`` does.
    func finishStep(atMost most: Int, upTo limit: Int, into message: inout ByteBuffer) -> WebSocketViolation? {
        // Some send nothing at all for an empty message, where a zero byte is due.
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

    /// True when all of the message was made.
    var isAtEnd: Bool { self.tailLeft == 0 && !self.mayHaveMore }

    private static let leastRoom = 4096

    private static func violation(_ error: RawDeflateError) -> WebSocketViolation {
        switch error {
        case .corrupt(let reason): WebSocketViolation(.compression, "the deflate of a message is broken: \(reason)")
        case .outOfMemory: WebSocketViolation(.outOfMemory, "there is no memory for inflating messages")
        }
    }
}
