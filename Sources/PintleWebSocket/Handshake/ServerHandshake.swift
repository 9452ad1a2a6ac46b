// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The server's part of the opening handshake (RFC 6455 §4.2).
package struct ServerHandshake: Sendable {
    /// The supported protocols, the preferred one first.
    private let protocols: [String]
    private let compression: WebSocketCompression?

    /// Creates the part of a server, for any number of requests.
    ///
    /// - Parameter compression: the compression that is accepted; nil declines every offer.
    package init(protocols: [String] = [], compression: WebSocketCompression? = nil) {
        self.protocols = protocols
        self.compression = compression?.valid
    }

    /// Answers a client's request.
    ///
    /// - Returns: a `101 Switching Protocols`, and the agreement that it makes.
    /// - Throws: the error in the request; `.version` requires a 426 with `Sec-WebSocket-Version: 13`, the others a 400.
    package func answer(
        to request: RequestHead
    ) throws(WebSocketHandshakeError) -> (head: ResponseHead, agreement: WebSocketAgreement) {
        guard request.method == "GET", request.minorVersion == 1, !request.fields.contains(.transferEncoding),
            request.fields.values(of: "Content-Length").allSatisfy({ $0 == "0" })
        else {
            throw WebSocketHandshakeError(.request, "only a GET of HTTP/1.1 without content can ask for a WebSocket")
        }
        try OpeningHandshake.checkUpgrade(request.fields)
        guard request.fields.values(of: "Sec-WebSocket-Version") == ["13"] else {
            throw WebSocketHandshakeError(.version, "its Sec-WebSocket-Version is not 13")
        }
        let keys = request.fields.values(of: "Sec-WebSocket-Key")
        guard keys.count == 1, let key = HandshakeKey(keys[0]) else {
            throw WebSocketHandshakeError(.key, "its Sec-WebSocket-Key is not 16 bytes in base64")
        }
        var agreement = WebSocketAgreement()
        agreement.subprotocol = self.subprotocol(of: request.fields)
        agreement.compression = try self.compression(of: request.fields)
        agreement.extensions = agreement.compression?.answer ?? ""
        var fields: Fields = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": try key.accept(),
        ]
        if let subprotocol = agreement.subprotocol { fields.append("Sec-WebSocket-Protocol", subprotocol) }
        if !agreement.extensions.isEmpty { fields.append("Sec-WebSocket-Extensions", agreement.extensions) }
        return (ResponseHead(status: 101, reason: "Switching Protocols", fields: fields), agreement)
    }

    private func subprotocol(of fields: Fields) -> String? {
        var offered: [String] = []
        fields.forEachMember(of: "Sec-WebSocket-Protocol") { name in
            offered.append(String(decoding: name, as: UTF8.self))
            return true
        }
        return self.protocols.first { offered.contains($0) }
    }

    /// Returns the parameters of the first offer that can be accepted.
    private func compression(of fields: Fields) throws(WebSocketHandshakeError) -> DeflateParameters? {
        guard let list = WebSocketExtension.list(fields.values(of: "Sec-WebSocket-Extensions")) else {
            throw WebSocketHandshakeError(.extensions, "its Sec-WebSocket-Extensions is broken")
        }
        guard let compression else { return nil }
        for offer in list where offer.name == DeflateParameters.extensionName {
            if let parameters = DeflateParameters(offer: offer, compression) { return parameters }
        }
        return nil
    }
}
