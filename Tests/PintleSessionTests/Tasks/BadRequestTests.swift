// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Invalid requests: each is refused before a connection is made, with a sentence that names its fault.
@Suite(.timeLimit(.minutes(15))) struct BadRequestTests {
    private let origin: RawOrigin
    private let stage: SessionStage

    init() throws {
        self.origin = try RawOrigin(answering: response("reached"))
        self.stage = try SessionStage()
    }

    @Test(arguments: ["", "GE T", "GET\r\nX: 1", "GET\0", "G(T", "MÉTHODE"])
    func `a method that is no token is refused`(method: String) async throws {
        let error = await self.stage.failure(of: request(self.origin.port, method: method))
        #expect(error?.code == .invalidRequest && error?.message == "\(method.debugDescription) is not a method")
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `CONNECT is refused`() async throws {
        let error = await self.stage.failure(of: request(self.origin.port, method: "CONNECT"))
        #expect(error?.code == .invalidRequest && error?.message.contains("CONNECT") == true)
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: ["", "X Test", "X:", "X\r\nY", "X\0", "Ü"])
    func `a field name that is no token is refused`(name: String) async throws {
        let error = await self.stage.failure(of: request(self.origin.port, fields: [name: "value"]))
        #expect(error?.code == .invalidRequest && error?.message == "\(name.debugDescription) is not a field name")
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: ["a\r\nX-Smuggled: b", "a\nb", "a\rb", "a\0b", " a", "a\t", "a\u{7F}"])
    func `a field value with a line end or control characters is refused, and not repeated`(value: String) async throws
    {
        let error = await self.stage.failure(of: request(self.origin.port, fields: ["X-Secret": value]))
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == "the value of X-Secret has control characters, or white space at its ends")
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: ["Connection", "keep-alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade"])
    func `a field that belongs to the connection is refused`(name: String) async throws {
        let error = await self.stage.failure(of: request(self.origin.port, fields: [name: "chunked"]))
        #expect(error?.code == .invalidRequest && error?.message.hasPrefix(name) == true)
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `fields of the configuration are checked too`() async throws {
        var configuration = SessionConfiguration()
        configuration.additionalFields = ["X-Test": "a\r\nb"]
        let stage = try SessionStage(configuration: configuration)
        #expect(await stage.failure(of: request(self.origin.port))?.code == .invalidRequest)
        #expect(self.origin.connections.isEmpty)
    }

    @Test(
        arguments: [
            ("", "scheme"), ("/only/a/path", "scheme"), ("ftp://host/", "http"), ("file:///etc/passwd", "http"),
            ("http://", "host"), ("http://user:secret@host/", "user"), ("http://host:0/", "port"),
            ("http://host:70000/", "port"), ("http://ho st/", "byte 9"), ("http://host/a\r\nb", "byte 13"),
            ("http://host\\@other/", "byte 11"),
        ])
    func `a text that is no URL of a request is refused, and not repeated`(text: String, word: String) async throws {
        let error = await sessionError { _ = try SessionRequest("GET", text) }
        #expect(error?.code == .invalidURL, "\(text)")
        let words = error.map { "\($0.message) \($0)" } ?? ""
        #expect(words.contains(word) && !words.contains("secret"), "\(text): \(words)")
    }

    @Test func `a Content-Length that contradicts the body never reaches the wire`() async throws {
        let lie: Fields = ["Content-Length": "1"]
        _ = try await self.stage.data(
            for: request(self.origin.port, method: "PUT", fields: lie), from: .bytes(ByteBuffer(string: "four")))
        _ = try await self.stage.data(for: request(self.origin.port, fields: lie))
        let seen = self.origin.requests
        #expect(seen[0].head.values("Content-Length") == ["4"] && seen[0].text == "four")
        #expect(seen[1].head.values("Content-Length").isEmpty && seen[1]["Transfer-Encoding"] == nil)
    }

    @Test(arguments: ["abc", "-1", "5, 5", "18446744073709551616"])
    func `a Content-Length that is no number is refused`(value: String) async throws {
        let error = await self.stage.failure(
            of: request(self.origin.port, method: "PUT", fields: ["Content-Length": value]),
            from: .stream(BodyStream(pieces([1, 2, 3, 4, 5]))))
        #expect(error?.code == .invalidRequest && error?.message.contains("Content-Length") == true)
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `unusual but correct requests arrive as they are`() async throws {
        let fields: Fields = ["X-Empty": "", "X-Twice": "1", "x-twice": "2", "Host": "other.example", "Accept": "a/b"]
        _ = try await self.stage.data(
            for: request(self.origin.port, "/a/../b//c?d=%20&e#f", method: "M-SEARCH", fields: fields))
        let seen = try #require(self.origin.requests.first)
        #expect(seen.head.startLine == "M-SEARCH /a/../b//c?d=%20&e HTTP/1.1")
        #expect(seen.head.values("X-Twice") == ["1", "2"] && seen["X-Empty"] == "")
        #expect(seen.head.values("Host") == ["other.example"] && seen.head.values("Accept") == ["a/b"])
    }

    @Test func `a source that cannot be read fails its task, and says why`() async throws {
        let missing = await self.stage.failure(
            of: request(self.origin.port, method: "PUT"), from: .file(path: "/nowhere/at/all"))
        #expect(missing?.code == .unreadableSource && missing?.message == "/nowhere/at/all cannot be read")
        #expect(missing?.cause == "no such file or folder")
        let folder = await self.stage.failure(
            of: request(self.origin.port, method: "PUT"), from: .file(path: "/tmp"))
        #expect(folder?.code == .unreadableSource && folder?.message.contains("not a regular file") == true)
        let failing = AsyncThrowingStream<ByteBuffer, any Error> { $0.finish(throwing: Refusal(reason: "dry")) }
        let stream = await self.stage.failure(
            of: request(self.origin.port, method: "PUT"), from: .stream(BodyStream(failing)))
        #expect(stream?.code == .unreadableSource && stream?.underlying as? Refusal == Refusal(reason: "dry"))
    }
}
