// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Destinations of bodies, and the values made of them.
@Suite(.timeLimit(.minutes(15))) struct OperationOutputTests {
    let stage: SessionStage
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    private func started(
        _ request: SessionRequest, to output: TransferOperation.Output = .memory
    ) -> TransferOperation {
        let operation = TransferOperation(request, in: self.stage.session, to: output)
        operation.start()
        return operation
    }

    @Test func `OPS-17 OPS-18 OPS-22 the error of a sink is the operation's and ends its connection`() async throws {
        let origin = try HalfwayOrigin.make()
        let sink = RecordingSink(room: 100)
        let operation = self.started(request(origin.port), to: .sink(sink))
        let error = await operation.end()
        #expect(error?.code == .cannotWrite && error?.underlying as? RecordingSink.Full == .init(after: 0))
        #expect(await sink.closings == 1)
        try origin.waitUntilQuiet()
    }

    @Test func `OPS-17 a sink that cannot be closed fails an operation that had gone well`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let sink = RecordingSink(closingFailure: .init(after: 4))
        let error = await self.started(request(origin.port), to: .sink(sink)).end()
        #expect(error?.code == .cannotWrite && error?.underlying as? RecordingSink.Full == .init(after: 4))
        #expect(await sink.bytes == Array("done".utf8))
    }

    @Test func `OPS-19 a file that cannot be opened is reported, and nothing is counted`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let path = "\(self.folder.path)/missing/file"
        let operation = self.started(request(origin.port), to: .file(path: path))
        let error = await operation.end()
        #expect(error?.code == .cannotWrite && error?.message.contains(path) == true)
        #expect(operation.progress.received == 0)
    }

    @Test func `OPS-20 a body in memory is there when all is over`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let operation = self.started(request(origin.port))
        #expect(await operation.end() == nil)
        #expect(operation.responseData == ByteBuffer(string: "done") && operation.response?.status == 200)
    }

    @Test func `OPS-20 memory takes no more than the session's limit`() async throws {
        var configuration = SessionConfiguration()
        configuration.bodyLimit = 3
        let stage = try SessionStage(configuration: configuration)
        let origin = try RawOrigin(answering: response("done"))
        let operation = TransferOperation(request(origin.port), in: stage.session)
        operation.start()
        #expect(await operation.end()?.code == .tooLarge)
    }

    @Test func `OPS-21 OPS-23 a body in a file is appended to it, and is no data`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let path = try self.folder.write("before ", to: "file")
        for _ in 0..<2 {
            let operation = self.started(request(origin.port), to: .file(path: path))
            let result = try await operation.value()
            #expect(result.file == path && operation.responseData == nil && operation.responseString == nil)
        }
        #expect(fileBytes(path) == Array("before donedone".utf8))
        let empty = try RawOrigin(answering: response(""))
        let nothing = "\(self.folder.path)/nothing"
        #expect(await self.started(request(empty.port), to: .file(path: nothing)).end() == nil)
        #expect(fileBytes(nothing) == [])
    }

    @Test func `OPS-21 OPS-23 a sink gets the body and is closed once`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let sink = RecordingSink()
        let operation = self.started(request(origin.port), to: .sink(sink))
        #expect(await operation.end() == nil && operation.responseData == nil)
        #expect(await sink.bytes == Array("done".utf8))
        #expect(await sink.closings == 1)
        #expect(await sink.restarts == 0)
    }

    @Test(
        arguments: [
            ("", [0xC3, 0xA4], "ä"), ("; charset=utf-8", [0xC3, 0xA4], "ä"), ("; charset=iso-8859-1", [0xE4], "ä"),
            ("; charset=Shift_JIS", [0x93, 0xFA], "日"), ("; charset=\"shift_jis\"", [0x93, 0xFA], "日"),
            ("; charset=invalid", [0xC3, 0xA4], "ä"), ("; charset=invalid", [0xE4], nil),
        ] as [(String, [UInt8], String?)])
    func `OPS-24 text is decoded as its charset says`(charset: String, bytes: [UInt8], text: String?) async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\(charset)\r\nContent-Length: \(bytes.count)\r\n\r\n")
            try connection.stream.send(bytes)
        }
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        #expect(operation.responseString == nil)
        operation.start()
        #expect(await operation.end() == nil && operation.responseString == text)
    }

    @Test func `OPS-25 what may only come from the cache is a miss where the cache is not asked`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        var only = request(origin.port)
        only.cachePolicy = .onlyCache
        #expect(await self.started(only).end()?.code == .cacheMiss)
        let path = "\(self.folder.path)/file"
        let error = await sessionError { _ = try await self.stage.session.download(only, to: .file(path)) }
        #expect(error?.code == .cacheMiss && origin.connections.isEmpty)
    }

    @Test(arguments: [1, 5]) func `OPS-26 the hook is asked about each redirect`(count: Int) async throws {
        let origin = try NginxOrigin(
            locations: "location ~ ^/go/(1+)1$ { return 302 /go/$1; }\nlocation = /go/1 { return 302 /hello; }\n")
        let path = "/go/" + String(repeating: "1", count: count)
        let seen = Watched<[UInt16]>([])
        let hooks = SessionHooks { hooks in
            hooks.willRedirect = { _, request, response in
                seen.change { $0.append(response.status) }
                return request
            }
        }
        let stage = try SessionStage(hooks: hooks)
        let operation = TransferOperation(request(origin.httpPort, path), in: stage.session)
        operation.start()
        let result = try await operation.value()
        #expect(result.url.path == "/hello" && result.metrics.redirectCount == count)
        #expect(seen.current == Array(repeating: 302, count: count))
        let plain = self.started(request(origin.httpPort, path))
        #expect(await plain.end() == nil && plain.responseString == "hello\n")
    }

    @Test func `OPS-27 a challenge is answered with the credential, once`() async throws {
        let origin = try RawOrigin { connection in
            while true {
                let isGood = try connection.readRequest()["Authorization"] == "Basic bWU6Z29vZA=="
                let fields = "Content-Length: 0\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\r\n"
                try connection.send("HTTP/1.1 \(isGood ? "200 OK" : "401 Unauthorized")\r\n\(fields)")
            }
        }
        let authority = request(origin.port).url.authority
        for (password, status) in [("good", 200), ("bad", 401)] as [(String, UInt16)] {
            var configuration = SessionConfiguration()
            configuration.credentials[Origin(.http, authority)] = try Credential(user: "me", password: password)
            let stage = try SessionStage(configuration: configuration)
            let operation = TransferOperation(request(origin.port), in: stage.session)
            operation.start()
            #expect(await operation.end() == nil && operation.response?.status == status)
        }
        #expect(origin.requests.count == 4)
    }

    @Test func `HOP-01 HOP-02 HOP-03 a serializer judges and decodes what has arrived`() async throws {
        let origin = try NginxOrigin()
        let operation = self.started(request(origin.httpPort, "/json"))
        #expect(try await operation.value(decodedBy: HTTPResponseSerializer()).count > 0)
        let document = try await operation.value(decodedBy: JSONResponseSerializer(rule: .init(removesNulls: true)))
        #expect(document == ["a": 1, "list": [1, 2]])
        let html = self.started(request(origin.httpPort, "/html"))
        let error = await sessionError { _ = try await html.value(decodedBy: JSONResponseSerializer()) }
        #expect(
            error?.code == .rejected && (error?.underlying as? RejectedResponse)?.violation.kind == .responseContentType
        )
        #expect(html.error == nil)
    }

    @Test func `HOP-04 status 200 and 204 are values, 404 and 500 errors, with https too`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let origin = try NginxOrigin(https: [pki.leaf(dns: ["localhost"], signedBy: root)])
        let secure = try SessionStage(policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
        let https = TransferOperation(
            request(origin.httpsPort, "/hello", scheme: .https, host: "localhost"), in: secure.session)
        https.start()
        #expect(await https.end() == nil && https.responseString == "hello\n")
        let serializer = HTTPResponseSerializer()
        #expect(try await self.started(request(origin.httpPort, "/hello")).value(decodedBy: serializer).count == 6)
        #expect(try await self.started(request(origin.httpPort, "/status/204")).value(decodedBy: serializer) == [])
        for status in [404, 500] {
            let operation = self.started(request(origin.httpPort, "/status/\(status)"))
            let error = await sessionError { _ = try await operation.value(decodedBy: serializer) }
            #expect(error?.code == .rejected && operation.response?.status == UInt16(status))
        }
    }
}
