// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import PintleWebSocket

/// The opening handshake, and its agreement about compression.
@Suite struct NegotiationTests {
    private static func settings(_ change: (inout WebSocketCompression) -> Void) -> WebSocketCompression {
        var settings = WebSocketCompression()
        change(&settings)
        return settings
    }

    private static let forgetful = Self.settings {
        $0.serverNoContextTakeover = true
        $0.serverMaxWindowBits = 10
        $0.clientMaxWindowBits = 9
    }

    @Test func `an offer names what is asked`() {
        let offers: [(WebSocketCompression, String)] = [
            (WebSocketCompression(), "permessage-deflate; client_max_window_bits"),
            (
                Self.forgetful,
                "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits=9"
            ),
            (
                Self.settings { $0.clientNoContextTakeover = true },
                "permessage-deflate; client_no_context_takeover; client_max_window_bits"
            ),
            (
                Self.settings { ($0.serverMaxWindowBits, $0.clientMaxWindowBits) = (3, 99) },
                "permessage-deflate; server_max_window_bits=8; client_max_window_bits"
            ),
        ]
        for (settings, offer) in offers { #expect(DeflateParameters.offer(settings.valid) == offer) }
    }

    /// The client's side: `nil` if the answer is refused, else server and client, if they forget, and their windows.
    @Test func `an answer is taken where it fits the offer`() throws {
        let plain = WebSocketCompression()
        let answers: [(WebSocketCompression, String, String?)] = [
            (plain, "permessage-deflate", "keeps 15, keeps 15"),
            (plain, "Permessage-Deflate", nil),
            (plain, "permessage-deflate; server_no_context_takeover", "forgets 15, keeps 15"),
            (plain, "permessage-deflate; client_no_context_takeover", "keeps 15, forgets 15"),
            (plain, "permessage-deflate; client_max_window_bits=8", "keeps 15, keeps 8"),
            (plain, "permessage-deflate; client_max_window_bits=\"12\"", "keeps 15, keeps 12"),
            (plain, "permessage-deflate; server_max_window_bits=9", "keeps 9, keeps 15"),
            (plain, "permessage-deflate ;\tserver_max_window_bits = 9", "keeps 9, keeps 15"),
            (plain, "permessage-deflate; client_max_window_bits", nil),
            (plain, "permessage-deflate; server_max_window_bits", nil),
            (plain, "permessage-deflate; client_max_window_bits=7", nil),
            (plain, "permessage-deflate; client_max_window_bits=16", nil),
            (plain, "permessage-deflate; client_max_window_bits=08", nil),
            (plain, "permessage-deflate; client_max_window_bits=+9", nil),
            (plain, "permessage-deflate; client_max_window_bits=\"\"", nil),
            (plain, "permessage-deflate; client_max_window_bits=9; client_max_window_bits=9", nil),
            (plain, "permessage-deflate; server_no_context_takeover=1", nil),
            (plain, "permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
            (plain, "permessage-deflate; x", nil),
            (plain, "permessage-deflate, permessage-deflate", nil),
            (plain, "x-webkit-deflate-frame", nil),
            (plain, "permessage-deflate, foo", nil),
            (
                Self.forgetful, "permessage-deflate; server_no_context_takeover; server_max_window_bits=10",
                "forgets 10, keeps 9"
            ),
            (
                Self.forgetful, "permessage-deflate; server_no_context_takeover; server_max_window_bits=8",
                "forgets 8, keeps 9"
            ),
            (Self.forgetful, "permessage-deflate; server_max_window_bits=10", nil),
            (Self.forgetful, "permessage-deflate; server_no_context_takeover", nil),
            (Self.forgetful, "permessage-deflate; server_no_context_takeover; server_max_window_bits=11", nil),
        ]
        for (settings, answer, expected) in answers {
            let handshake = OpeningHandshake(compression: settings)
            let agreement = try? handshake.agreement(
                with: Self.switching(handshake, ["Sec-WebSocket-Extensions": answer]))
            #expect(agreement?.compression.map(Self.words) == expected, "\(answer)")
            if expected != nil { #expect(agreement?.extensions == answer) }
        }
    }

    private static func words(_ agreed: DeflateParameters) -> String {
        "\(agreed.serverNoContextTakeover ? "forgets" : "keeps") \(agreed.serverMaxWindowBits), "
            + "\(agreed.clientNoContextTakeover ? "forgets" : "keeps") \(agreed.clientMaxWindowBits)"
    }

    @Test func `a server takes the first offer that it can keep`() throws {
        let offers: [(String, String?)] = [
            ("permessage-deflate", "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=10"),
            ("permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=8"),
            ("permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
            (
                "foo; x=\"y\", permessage-deflate; client_no_context_takeover",
                "permessage-deflate; client_no_context_takeover"
            ),
            ("permessage-deflate; foo, permessage-deflate", "permessage-deflate"),
            ("permessage-deflate; server_max_window_bits", nil),
            ("permessage-deflate; server_max_window_bits=16", nil),
            ("permessage-deflate; client_max_window_bits=0", nil),
            ("permessage-deflate; server_no_context_takeover=true", nil),
            ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
            ("permessage-bzip2", nil),
            ("", nil),
        ]
        let server = ServerHandshake(compression: WebSocketCompression())
        for (offer, expected) in offers {
            let (head, agreement) = try server.answer(to: Self.request(["Sec-WebSocket-Extensions": offer]))
            #expect(head.fields["Sec-WebSocket-Extensions"] == expected, "\(offer)")
            #expect(agreement.compression?.answer == expected, "\(offer)")
        }
        let strict = ServerHandshake(compression: Self.forgetful)
        #expect(
            try strict.answer(to: Self.request(["Sec-WebSocket-Extensions": "permessage-deflate"])).agreement.extensions
                == "permessage-deflate; server_no_context_takeover; server_max_window_bits=10",
            "a client that does not offer it is not asked for a smaller window")
        #expect(
            try ServerHandshake().answer(to: Self.request(["Sec-WebSocket-Extensions": "permessage-deflate"]))
                .agreement.compression == nil)
    }

    @Test(arguments: [
        "permessage-deflate;", "permessage-deflate; =1", "a b", "a; b=", "a; b=\"c", "a; b=\"c d\"", "=", "a;;b",
        "\"a\"",
    ])
    func `a list of extensions that breaks the syntax is refused`(value: String) {
        #expect(WebSocketExtension.list([value]) == nil)
        let handshake = OpeningHandshake(compression: WebSocketCompression())
        let error = Self.failure { () throws(WebSocketHandshakeError) in
            try handshake.agreement(with: Self.switching(handshake, ["Sec-WebSocket-Extensions": value]))
        }
        #expect(error?.kind == .extensions)
    }

    @Test func `lists may have empty members, quotes, and several fields`() {
        let list = WebSocketExtension.list([", a ; x=\"y\\z\" ;w,,", "b"])
        #expect(
            list == [
                WebSocketExtension(
                    name: "a", parameters: [.init(name: "x", value: "yz"), .init(name: "w", value: nil)]),
                WebSocketExtension(name: "b", parameters: []),
            ])
    }

    // MARK: The rest of the handshake

    private static func accept(_ handshake: OpeningHandshake) -> String {
        PintleTesting.WebSocketWire.accept(handshake.fields["Sec-WebSocket-Key"] ?? "")
    }

    private static func switching(_ handshake: OpeningHandshake, _ more: Fields = [:]) -> ResponseHead {
        var fields: Fields = [
            "Upgrade": "WebSocket", "Connection": "keep-alive, upgrade", "Sec-WebSocket-Accept": Self.accept(handshake),
        ]
        for (name, value) in more.pairs { fields.append(name, value) }
        return ResponseHead(status: 101, fields: fields)
    }

    private static func request(_ more: Fields = [:]) -> RequestHead {
        var fields: Fields = [
            "Host": "x", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": PintleTesting.WebSocketWire.key,
        ]
        for (name, value) in more.pairs { fields.append(name, value) }
        return RequestHead(method: "GET", target: .origin(path: "/"), fields: fields)
    }

    private static func failure<Value>(
        _ work: () throws(WebSocketHandshakeError) -> Value
    ) -> WebSocketHandshakeError? {
        do throws(WebSocketHandshakeError) {
            _ = try work()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a client sends a new key each time, and what it offers`() throws {
        let first = OpeningHandshake(protocols: ["chat", "superchat"])
        #expect(first.fields["Sec-WebSocket-Protocol"] == "chat, superchat")
        #expect(first.fields["Sec-WebSocket-Version"] == "13" && first.fields["Sec-WebSocket-Extensions"] == nil)
        let keys = (0..<50).compactMap { _ in OpeningHandshake().fields["Sec-WebSocket-Key"] }
        #expect(Set(keys).count == 50 && keys.allSatisfy { HandshakeKey($0) != nil && $0.utf8.count == 24 })
        #expect(try HandshakeKey("dGhlIHNhbXBsZSBub25jZQ==")?.accept() == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `a 101 that is no answer to the handshake is refused, and says why`() throws {
        let handshake = OpeningHandshake(protocols: ["chat"])
        #expect(try handshake.agreement(with: Self.switching(handshake)) == WebSocketAgreement())
        let chat = try handshake.agreement(with: Self.switching(handshake, ["Sec-WebSocket-Protocol": "chat"]))
        #expect(chat.subprotocol == "chat")
        func kind(_ change: (inout Fields) -> Void) -> WebSocketHandshakeError.Kind? {
            var head = Self.switching(handshake)
            change(&head.fields)
            return Self.failure { () throws(WebSocketHandshakeError) in try handshake.agreement(with: head) }?.kind
        }
        #expect(kind { $0.remove("Upgrade") } == .upgrade && kind { $0.set("Upgrade", "websocket, foo") } == .upgrade)
        #expect(kind { $0.set("Upgrade", "websocket/13") } == .upgrade)
        #expect(
            kind { $0.remove("Connection") } == .connection && kind { $0.set("Connection", "close") } == .connection)
        #expect(kind { $0.remove("Sec-WebSocket-Accept") } == .accept)
        #expect(kind { $0.set("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") } == .accept)
        #expect(kind { $0.append("Sec-WebSocket-Accept", Self.accept(handshake)) } == .accept)
        #expect(kind { $0.append("Sec-WebSocket-Protocol", "Chat") } == .subprotocol)
        #expect(kind { $0.append("Sec-WebSocket-Protocol", "chat, chat") } == .subprotocol)
        #expect(
            kind {
                $0.append("Sec-WebSocket-Protocol", "chat")
                $0.append("Sec-WebSocket-Protocol", "chat")
            } == .subprotocol)
        #expect(kind { $0.append("Sec-WebSocket-Extensions", "permessage-deflate") } == .extensions)
        #expect(kind { $0.append("Sec-WebSocket-Extensions", "") } == nil)
    }

    @Test func `a server answers what asks for a WebSocket, and nothing else`() throws {
        let server = ServerHandshake(protocols: ["superchat", "chat"])
        let (head, agreement) = try server.answer(to: Self.request(["Sec-WebSocket-Protocol": "chat , superchat"]))
        #expect(head.status == 101 && head.fields["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(
            agreement.subprotocol == "superchat" && head.fields.values(of: "Sec-WebSocket-Protocol") == ["superchat"])
        func kind(_ change: (inout RequestHead) -> Void) -> WebSocketHandshakeError.Kind? {
            var request = Self.request()
            change(&request)
            return Self.failure { () throws(WebSocketHandshakeError) in try server.answer(to: request) }?.kind
        }
        #expect(kind { _ in } == nil)
        #expect(kind { $0.method = "POST" } == .request && kind { $0.minorVersion = 0 } == .request)
        #expect(kind { $0.fields.append("Content-Length", "5") } == .request)
        #expect(kind { $0.fields.set("Upgrade", "h2c") } == .upgrade)
        #expect(kind { $0.fields.remove("Connection") } == .connection)
        #expect(kind { $0.fields.set("Sec-WebSocket-Version", "8") } == .version)
        #expect(kind { $0.fields.set("Sec-WebSocket-Key", "c2hvcnQ=") } == .key)
        #expect(kind { $0.fields.set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZ!==") } == .key)
        #expect(kind { $0.fields.append("Sec-WebSocket-Key", PintleTesting.WebSocketWire.key) } == .key)
        #expect(kind { $0.fields.append("Sec-WebSocket-Extensions", "a;") } == .extensions)
    }

    @Test func `a client and a server of ours agree`() throws {
        for settings in [WebSocketCompression(), Self.forgetful, Self.settings { $0.clientNoContextTakeover = true }] {
            let client = OpeningHandshake(protocols: ["chat"], compression: settings)
            let server = ServerHandshake(protocols: ["chat"], compression: WebSocketCompression())
            var request = RequestHead(
                method: "GET", target: .origin(path: "/"), fields: ["Connection": "Upgrade", "Upgrade": "websocket"])
            for (name, value) in client.fields.pairs { request.fields.append(name, value) }
            let answer = try server.answer(to: request)
            #expect(try client.agreement(with: answer.head) == answer.agreement)
        }
    }
}
