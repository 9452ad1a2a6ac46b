// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Tells why a TLS connection came to nothing.
package struct TLSFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Reason: Sendable, Hashable {
        /// The peer said so.
        case alert(TLSAlert)
        /// The peer has ended the connection without saying that it sends no more.
        case cutOff
        /// The socket is broken; `errno`.
        case broken(Int32)
        /// The peer broke the protocol, or nothing that it offers will do: OpenSSL's words.
        case misbehaved(String)
    }

    package let reason: Reason
    /// True where there was no connection yet.
    package let isOfHandshake: Bool
    /// True where the peer is a server.
    package let isOfServer: Bool

    package init(reason: Reason, isOfHandshake: Bool, isOfServer: Bool = false) {
        self.reason = reason
        self.isOfHandshake = isOfHandshake
        self.isOfServer = isOfServer
    }

    /// What happened, in one line.
    package var description: String {
        let peer = self.isOfServer ? "the server" : "the client"
        return switch self.reason {
        case .alert(let alert): "\(peer) ended it with the alert \(alert)"
        case .cutOff: "\(peer) cut it off"
        case .broken(let code): "the connection broke: \(SystemError(code))"
        case .misbehaved(let words): words
        }
    }
}
