// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleTesting
import PintleTrust
import PintleWebSocket
import Testing

@testable import PintleSession

/// Outcomes of the request for a WebSocket.
@Suite(.timeLimit(.minutes(15))) struct WebSocketHandshakeTests {
    @Test(arguments: [401, 404, 426, 200])
    func `another answer than a 101 is an error with status, fields and the beginning of the body`(
        status: Int
    ) async throws {
        let origin = try origin { _ in
            answer(status, ["X-Why: because", "Content-Type: text/plain"], String(repeating: "no ", count: 50_000))
        }
        let stage = try SessionStage()
        let error = await sessionError { _ = try await stage.socket(origin.port) }
        #expect(error?.code == .rejected)
        let response = try #require(error?.underlying as? RejectedResponse)
        #expect(response.head.status == UInt16(status) && response.head.fields["X-Why"] == "because")
        #expect(response.body.count == 64 * 1024 && response.body.starts(with: "no no ".utf8))
        #expect(
            response.violation.message == "127.0.0.1:\(origin.port) answered \(status) to the handshake of a WebSocket")
        #expect(stage.session.tasks.isEmpty)
    }

    @Test(arguments: [
        ("Sec-WebSocket-Accept: x", WebSocketHandshakeError.Kind.accept), ("", .accept),
        ("OWN\r\nSec-WebSocket-Protocol: chat", .subprotocol), ("OWN\r\nSec-WebSocket-Extensions: foo", .extensions),
    ])
    func `a 101 that opens no WebSocket is an error, and its connection is closed`(
        fields: String, kind: WebSocketHandshakeError.Kind
    ) async throws {
        let hasEnded = Watched(false)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            let accept = WebSocketWire.accept(request["Sec-WebSocket-Key"] ?? "")
            let lines = fields.replacing("OWN", with: "Sec-WebSocket-Accept: \(accept)")
            let end = lines.isEmpty ? "\r\n" : "\r\n\r\n"
            try connection.send(
                "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\(lines)\(end)")
            _ = try connection.waitForEnd()
            hasEnded.change { $0 = true }
        }
        let stage = try SessionStage()
        let error = await sessionError { _ = try await stage.socket(origin.port) }
        #expect(error?.code == .malformedResponse && (error?.underlying as? WebSocketHandshakeError)?.kind == kind)
        try await hasEnded.reach("the end of the connection") { $0 }
    }

    @Test func `redirects, challenges and cookies are those of every task, and each request has a key of its own`()
        async throws
    {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequestHead()
                switch (request.startLine.split(separator: " ")[1], request["Authorization"]) {
                case ("/old", _):
                    try connection.send(answer(302, ["Location: /new", "Set-Cookie: a=1"]))
                case (_, nil):
                    try connection.send(answer(401, ["WWW-Authenticate: Basic realm=\"chat\""]))
                case (_, .some):
                    try connection.send(WebSocketWire.switching(for: request, fields: "Set-Cookie: b=2\r\n"))
                    let peer = WebSocketPeer(connection.stream)
                    return try peer.finish(after: peer.readFrame(8))
                }
            }
        }
        var configuration = SessionConfiguration()
        configuration.cookies = .jar
        let url = try HTTPURL("http://127.0.0.1:\(origin.port)/")
        configuration.credentials = [url.origin: try Credential(user: "u", password: "p")]
        let stage = try SessionStage(configuration: configuration)
        let socket = try await stage.socket(origin.port, "/old")
        #expect(socket.url.path == "/new" && socket.task.metrics.redirectCount == 1)
        await socket.close()
        let requests = origin.requests
        #expect(requests.map { $0["Authorization"] } == [nil, nil, "Basic dTpw"])
        #expect(requests.map { $0["Cookie"] } == [nil, "a=1", "a=1"])
        #expect(stage.session.cookieJar?.header(for: url) == "a=1; b=2")
        #expect(Set(requests.compactMap { $0["Sec-WebSocket-Key"] }).count == 3)
    }

    @Test func `what cannot be asked for is refused before anything is sent`() async throws {
        let origin = try echoOrigin()
        let stage = try SessionStage()
        func code(_ change: (inout SessionRequest, inout WebSocketOptions) -> Void) async throws -> SessionError.Code? {
            var asked = try SessionRequest(webSocket: "ws://127.0.0.1:\(origin.port)/")
            var options = WebSocketOptions()
            change(&asked, &options)
            return await sessionError { _ = try await stage.session.webSocket(asked, options: options) }?.code
        }
        #expect(try await code { asked, _ in asked.method = "POST" } == .invalidRequest)
        #expect(try await code { asked, _ in asked.fields.append("Sec-WebSocket-Key", "x") } == .invalidRequest)
        #expect(try await code { asked, _ in asked.fields.append("Upgrade", "x") } == .invalidRequest)
        #expect(try await code { _, options in options.subprotocols = ["a b"] } == .invalidRequest)
        #expect(try await code { _, options in options.subprotocols = ["a", "a"] } == .invalidRequest)
        let wrongURL = await sessionError { _ = try await stage.session.webSocket("ftp://127.0.0.1/") }
        #expect(wrongURL?.code == .invalidURL && origin.requests.isEmpty)
    }

    @Test(arguments: ["ws", "WS", "http"])
    func `a URL of either kind leads to the same place`(scheme: String) throws {
        let asked = try SessionRequest(webSocket: "\(scheme)://Example.com/chat?x=1#y", fields: ["X-A": "1"])
        #expect(asked.url.description == "http://example.com/chat?x=1" && asked.fields["X-A"] == "1")
        let secure = try SessionRequest(webSocket: "\(scheme)s://example.com:8443")
        #expect(secure.url.description == "https://example.com:8443/" && secure.method == "GET")
    }

    @Test func `a session whose policy pins asks nobody in clear text`() async throws {
        let origin = try echoOrigin()
        let leaf = try TestPKI().root()
        let stage = try SessionStage(policy: .init(pinning: .publicKey, pins: [leaf.pin], roots: .system))
        #expect(await sessionError { _ = try await stage.socket(origin.port) }?.code == .cleartext)
        #expect(origin.requests.isEmpty)
    }

    @Test func `hooks see the response and the end, and may stop it`() async throws {
        let origin = try echoOrigin()
        let hooks = RecordedHooks { answers in
            answers.response = { _, head in head.status == 101 ? .cancel : .allow }
        }
        let stage = try SessionStage(hooks: hooks)
        #expect(await sessionError { _ = try await stage.socket(origin.port) }?.code == .cancelled)
        try await hooks.errors.reach("the end") { $0.count == 1 }
        #expect(hooks.errors.current.first??.code == .cancelled)
        try origin.waitUntilQuiet()
    }
}
