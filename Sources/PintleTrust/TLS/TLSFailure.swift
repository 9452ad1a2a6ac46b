// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The reason why a TLS connection failed.
package struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The peer sent this alert.
        case alert(TLSAlert)
        /// The server wanted another handshake on the open connection, which is refused, and ended the connection for that.
        case wantedRenegotiation
        /// The peer closed the connection without announcing the end of its data.
        case cutOff
        /// The socket failed with this `errno`.
        case broken(Int32)
        /// The peer broke the protocol, or nothing that it offers is acceptable; the text is OpenSSL's.
        case misbehaved(String)
    }

    package let reason: Reason
    /// True if the handshake was not complete.
    package let isOfHandshake: Bool
    /// True if the peer is a server.
    package let isOfServer: Bool

    package init(reason: Reason, isOfHandshake: Bool, isOfServer: Bool = false) {
        self.reason = reason
        self.isOfHandshake = isOfHandshake
        self.isOfServer = isOfServer
    }

    /// A description on one line.
    package var description: String {
        let peer = self.isOfServer ? "the server" : "the client"
        return switch self.reason {
        case .alert(let alert): "\(peer) ended it with the alert \(alert)"
        case .wantedRenegotiation:
            "\(peer) wanted to renegotiate TLS, which is refused, and ended it; a server that asks for a client certificate "
                + "in the first handshake, or speaks TLS 1.3, does not"
        case .cutOff: "\(peer) cut it off"
        case .broken(let code): "the connection broke: \(SystemError(code))"
        case .misbehaved(let words): words
        }
    }
}
