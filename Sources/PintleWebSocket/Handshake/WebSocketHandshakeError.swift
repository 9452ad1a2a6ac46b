// SPDX-License-Identifier: Apache-2.0

/// The reason why a `101` response does not open a WebSocket (RFC 6455 §4.1), or why a request does not ask for one (RFC
/// 6455 §4.2.1).
public struct WebSocketHandshakeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Upgrade is not `websocket`.
        case upgrade
        /// Connection does not contain `Upgrade`.
        case connection
        /// Sec-WebSocket-Accept is missing, repeated, or belongs to another key.
        case accept
        /// Sec-WebSocket-Protocol names a protocol that was not offered, or is repeated.
        case subprotocol
        /// Sec-WebSocket-Extensions is invalid, or differs from the offer.
        case extensions
        /// The request is not a GET of HTTP/1.1, or has content.
        case request
        /// Sec-WebSocket-Key is missing, repeated, or not 16 bytes in base64.
        case key
        /// Sec-WebSocket-Version is not 13.
        case version
        /// OpenSSL has no SHA-1.
        case digest
    }

    /// The kind of failure.
    public let kind: Kind
    /// The error, in one sentence.
    public let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The message.
    public var description: String { self.message }
}
