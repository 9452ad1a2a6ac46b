// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The framing and delaying of requests, and the effect of answers on both.
@Suite(.timeLimit(.minutes(15))) struct RequestFramingTests {
    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    @Test(arguments: [false, true])
    func `a refused expectation is the response, and the request is not made again`(isStream: Bool) async throws {
        let bodies = Watched<[[UInt8]]>([])
        let origin = try RawOrigin { connection in
            let isPlain = try connection.readRequestHead().values("Expect").isEmpty
            try connection.send(isPlain ? answer(200, [], "plain") : answer(417, [], "do not expect"))
            guard !isPlain else { return }
            let body = try connection.stream.readToEnd().bytes
            bodies.change { $0.append(body) }
        }
        let source = isStream ? UploadSource.stream(BodyStream(pieces([1, 2, 3]))) : .bytes(ByteBuffer(string: "abc"))
        let asked = request(origin.port, method: "PUT", fields: ["Expect": "100-continue"])
        let result = try await self.stage.data(for: asked, from: source)
        #expect(result.status == 417 && result.text == "do not expect")
        // The origin may still wait for the body, and would take the next bytes on this connection for it.
        #expect(try await self.stage.data(for: request(origin.port)).text == "plain")
        #expect(origin.requests.count == 2 && origin.connections.count == 2)
        try await bodies.reach("the end of the refused request") { $0 == [[]] }
    }

    @Test(arguments: ["417 Expectation Failed", "302 Found", "200 OK", "204 No Content"])
    func `an answer without content to an expectation is told, and the connection is nobody else's`(
        status: String
    ) async throws {
        let origin = try RawOrigin { connection in
            let isPlain = try connection.readRequestHead().values("Expect").isEmpty
            let length = status.hasPrefix("204") ? "" : "Content-Length: 0\r\n"
            try connection.send(isPlain ? answer(200, [], "plain") : "HTTP/1.1 \(status)\r\n\(length)\r\n")
            if !isPlain { _ = try connection.stream.readToEnd() }
        }
        let asked = request(origin.port, method: "PUT", fields: ["Expect": "100-continue"])
        let result = try await self.stage.data(for: asked, from: .bytes(ByteBuffer(string: "abc")))
        #expect(status.hasPrefix("\(result.status)") && result.text.isEmpty)
    }

    @Test(arguments: [SessionConfiguration.HTTPVersion.http1, .http2])
    func `a body whose expectation is met, or passed over, arrives whole`(
        version: SessionConfiguration.HTTPVersion
    ) async throws {
        let nginx = try NginxOrigin(http2: version == .http2)
        var configuration = SessionConfiguration()
        configuration.httpVersion = version
        let stage = try SessionStage(configuration: configuration)
        let asked = request(nginx.httpPort, "/store/x", method: "PUT", fields: ["Expect": "100-continue"])
        let bytes = [UInt8].pattern(300_000)
        #expect(try await stage.data(for: asked, from: .bytes(ByteBuffer(bytes: bytes))).status == 201)
        #expect(nginx.stored("x") == bytes)
    }

    @Test func `an expectation that is refused late is the response, though the body cannot be had again`() async throws
    {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            // The first byte of the body comes when the client has waited long enough for 100 Continue.
            _ = try connection.stream.read(1)
            try connection.send(answer(417, [], "too late"))
            _ = try connection.waitForEnd()
        }
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        feed.yield(ByteBuffer(string: "abc"))
        let asked = request(origin.port, method: "PUT", fields: ["Expect": "100-continue"])
        let result = try await self.stage.data(for: asked, from: .stream(BodyStream(stream)))
        #expect(result.status == 417 && result.text == "too late" && origin.connections.count == 1)
        feed.finish()
    }

    @Test(arguments: [("POST", "0"), ("PUT", "0"), ("PATCH", "0"), ("DELETE", nil), ("GET", nil)])
    func `a request whose method expects a body says when it has none`(method: String, length: String?) async throws {
        let origin = try RawOrigin(answering: response("done"))
        #expect(try await self.stage.data(for: request(origin.port, method: method)).text == "done")
        #expect(origin.requests.first?["Content-Length"] == length)
    }

    @Test func `HEAD with a body is refused`() async throws {
        let origin = try RawOrigin(answering: response("reached"))
        let error = await self.stage.failure(
            of: request(origin.port, method: "HEAD"), from: .bytes(ByteBuffer(string: "abc")))
        #expect(error?.code == .invalidRequest && error?.message == "HEAD has no body; send it by another method")
        #expect(origin.connections.isEmpty)
    }
}
