// SPDX-License-Identifier: Apache-2.0

/// An error in the frames that a peer has sent.
public struct WebSocketViolation: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of violation.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A reserved bit is set without an extension that gives it a meaning (RFC 6455 §5.2).
        case reservedBit
        /// A frame has an unknown opcode (RFC 6455 §5.2).
        case reservedOpcode
        /// A control frame has more than 125 bytes, or is one of several fragments (RFC 6455 §5.5).
        case controlFrame
        /// A client's frame is not masked, or a server's is (RFC 6455 §5.1).
        case masking
        /// A length is encoded in more bytes than necessary, or has all 64 bits (RFC 6455 §5.2).
        case length
        /// A fragment continues no message, or a message begins within another one (RFC 6455 §5.4).
        case fragmentation
        /// Text is not UTF-8 (RFC 6455 §8.1).
        case invalidText
        /// A Close has half a code, or one that may not be sent (RFC 6455 §5.5.1, §7.4).
        case closePayload
        /// A message cannot be decompressed (RFC 7692 §7.2.2).
        case compression
        /// A message is longer than the limit.
        case messageTooBig
        /// There is no memory to decompress messages.
        case outOfMemory
    }

    /// The kind of violation.
    public let kind: Kind
    /// The error, in one sentence about the peer.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The close code for the peer.
    public var closeCode: WebSocketCloseCode {
        switch self.kind {
        case .reservedBit, .reservedOpcode, .controlFrame, .masking, .length, .fragmentation, .closePayload:
            .protocolError
        case .invalidText, .compression: .invalidPayload
        case .messageTooBig: .messageTooBig
        case .outOfMemory: .internalError
        }
    }

    /// The message.
    public var description: String { self.message }
}
