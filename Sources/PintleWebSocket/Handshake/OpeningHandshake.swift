// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The parameters on which both endpoints of a WebSocket have agreed.
package struct WebSocketAgreement: Sendable, Equatable {
    /// The protocol, one of those that the client offered; nil for none.
    package var subprotocol: String?
    /// The parameters of the compression; nil if messages are not compressed.
    package var compression: DeflateParameters?
    /// The extensions in the server's words; empty for none.
    package var extensions = ""

    package init() {}
}

/// The client's part of the opening handshake (RFC 6455 §4.1).
package struct OpeningHandshake: Sendable {
    private let key = HandshakeKey.random()
    private let protocols: [String]
    private let compression: WebSocketCompression?

    /// Creates a handshake with a new key, for one request.
    ///
    /// - Parameters:
    ///   - protocols: the offered protocols, the preferred one first; each once.
    ///   - compression: the compression to offer; nil for none.
    package init(protocols: [String] = [], compression: WebSocketCompression? = nil) {
        self.protocols = protocols
        self.compression = compression?.valid
    }

    /// The fields of the request, without Connection and Upgrade, which belong to the connection.
    package var fields: Fields {
        var fields: Fields = ["Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": self.key.text]
        if !self.protocols.isEmpty {
            fields.append("Sec-WebSocket-Protocol", self.protocols.joined(separator: ", "))
        }
        if let compression {
            fields.append("Sec-WebSocket-Extensions", DeflateParameters.offer(compression))
        }
        return fields
    }

    /// The value of Sec-WebSocket-Key.
    package var keyText: String { self.key.text }

    /// Checks only that the server of a `101 Switching Protocols` has understood the handshake: for intermediaries, which
    /// do not take part in the agreement.
    package func checkProof(in head: ResponseHead) throws(WebSocketHandshakeError) {
        try Self.checkUpgrade(head.fields)
        guard head.fields.values(of: "Sec-WebSocket-Accept") == [try self.key.accept()] else {
            throw WebSocketHandshakeError(
                .accept, "its Sec-WebSocket-Accept is not the answer to the key that was sent")
        }
    }

    /// Checks a `101 Switching Protocols`, and returns the agreement.
    package func agreement(with head: ResponseHead) throws(WebSocketHandshakeError) -> WebSocketAgreement {
        try self.checkProof(in: head)
        var agreement = WebSocketAgreement()
        agreement.subprotocol = try self.subprotocol(head.fields)
        let values = head.fields.values(of: "Sec-WebSocket-Extensions")
        agreement.extensions = values.joined(separator: ", ")
        agreement.compression = try self.compression(values)
        return agreement
    }

    /// Checks the fields that both parts of a handshake must have.
    static func checkUpgrade(_ fields: Fields) throws(WebSocketHandshakeError) {
        var names: [String] = []
        fields.forEachToken(in: .upgrade) { names.append(String(decoding: $0, as: UTF8.self).lowercased()) }
        guard names == ["websocket"] else {
            throw WebSocketHandshakeError(.upgrade, "its Upgrade does not say websocket")
        }
        guard fields.hasToken("upgrade", in: .connection) else {
            throw WebSocketHandshakeError(.connection, "its Connection does not say Upgrade")
        }
    }

    private func subprotocol(_ fields: Fields) throws(WebSocketHandshakeError) -> String? {
        let names = fields.values(of: "Sec-WebSocket-Protocol")
        guard let name = names.first else { return nil }
        guard names.count == 1, self.protocols.contains(name) else {
            throw WebSocketHandshakeError(.subprotocol, "its Sec-WebSocket-Protocol is none that was offered")
        }
        return name
    }

    private func compression(_ values: [String]) throws(WebSocketHandshakeError) -> DeflateParameters? {
        guard let list = WebSocketExtension.list(values) else {
            throw WebSocketHandshakeError(.extensions, "its Sec-WebSocket-Extensions is broken")
        }
        guard let first = list.first else { return nil }
        guard list.count == 1, first.name == DeflateParameters.extensionName, let compression,
            let parameters = DeflateParameters(answer: first, to: compression)
        else {
            throw WebSocketHandshakeError(.extensions, "its Sec-WebSocket-Extensions names what was not offered so")
        }
        return parameters
    }
}
