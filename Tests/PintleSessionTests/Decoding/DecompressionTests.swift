// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Bodies in content codings: the codings that are requested, and the body that a program gets.
@Suite(.timeLimit(.minutes(15))) struct DecompressionTests {
    private static let all = "gzip, deflate, br, zstd"
    private let plain = sampleBytes(3000) + [UInt8](repeating: 0x61, count: 600_000) + sampleBytes(3000)

    private func stage(_ decompression: Decompression = .on) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.decompression = decompression
        return try SessionStage(configuration: configuration)
    }

    // MARK: Asking

    @Test func `nginx is asked for what it can, and a program sees what was meant`() async throws {
        let gzip = "gzip on; gzip_types *; gzip_min_length 1; gzip_vary on;"
        let origin = try NginxOrigin(
            locations: "location /coded/ { \(gzip) return 200 \"$http_accept_encoding\"; }\n")
        let result = try await SessionStage().data(for: request(origin.httpPort, "/coded/"))
        #expect(result.text == Self.all && result.contentCodings == ["gzip"])
        let fields = result.response.fields
        #expect(!fields.contains("Content-Encoding") && !fields.contains("Content-Length"))
        #expect(fields["Vary"] == "Accept-Encoding")
    }

    @Test func `nothing is asked for where it is off, and what comes is left as it is`() async throws {
        let coded = try Coding.gzip.encode(self.plain)
        let origin = try CodedOrigin(coded, "Content-Encoding: gzip")
        let result = try await self.stage(.off).data(for: request(origin.port))
        #expect(Array(result.body.readableBytesView) == coded && result.contentCodings.isEmpty)
        #expect(result.response.fields["Content-Encoding"] == "gzip" && origin.accepted == [nil])
        var one = request(origin.port)
        one.decompression = .off
        #expect(try await self.stage(.on).data(for: one).body.readableBytes == coded.count)
        one.decompression = .on
        #expect(try await self.stage(.off).data(for: one).body.readableBytes == self.plain.count)
        #expect(origin.accepted == [nil, nil, Self.all])
    }

    @Test func `a request that says what it accepts is left alone, and its answer is decoded all the same`()
        async throws
    {
        let origin = try CodedOrigin(try Coding.br.encode(self.plain), "Content-Encoding: br")
        let result = try await self.stage().data(for: request(origin.port, fields: ["Accept-Encoding": "br;q=1"]))
        #expect(Array(result.body.readableBytesView) == self.plain && origin.accepted == ["br;q=1"])
        var configuration = SessionConfiguration()
        configuration.additionalFields = ["Accept-Encoding": "identity"]
        _ = try await SessionStage(configuration: configuration).data(for: request(origin.port))
        #expect(origin.accepted.last == "identity")
    }

    @Test func `no coding is asked for with HEAD and Range, and parts are left as they are`() async throws {
        let part = try CodedOrigin(
            [1, 2, 3], "Content-Encoding: gzip", "Content-Range: bytes 0-2/9", status: "206 Part")
        let result = try await self.stage().data(for: request(part.port, fields: ["Range": "bytes=0-2"]))
        #expect(Array(result.body.readableBytesView) == [1, 2, 3] && part.accepted == [nil])
        #expect(result.response.fields["Content-Encoding"] == "gzip" && result.response.fields["Content-Length"] == "3")
        let whole = try CodedOrigin([1, 2, 3], "Content-Encoding: gzip")
        let head = try await self.stage().data(for: request(whole.port, method: "HEAD"))
        #expect(head.response.fields["Content-Encoding"] == "gzip" && head.response.fields["Content-Length"] == "3")
        #expect(whole.accepted == [nil])
        let unchanged = try CodedOrigin([], "Content-Encoding: gzip", status: "304 Not Modified")
        let none = try await self.stage().data(for: request(unchanged.port))
        #expect(none.response.fields["Content-Encoding"] == "gzip" && none.contentCodings.isEmpty)
    }

    // MARK: Decoding

    @Test(arguments: Coding.allCases)
    func `data, streams and downloads come without their coding, however they were cut`(coding: Coding) async throws {
        let folder = try TemporaryFolder()
        let coded = try coding.encode(self.plain)
        for piece in [nil, 1000, 7] {
            let origin = try CodedOrigin(
                coded, "Content-Encoding: \(coding.name)", "ETag: \"1\"", "Content-Digest: sha-256=:x:", piece: piece)
            let hooks = RecordedHooks()
            let stage = try SessionStage(hooks: hooks)
            let data = try await stage.data(for: request(origin.port))
            #expect(Array(data.body.readableBytesView) == self.plain && data.contentCodings == [coding.name])
            #expect(data.response.fields["ETag"] == "\"1\"" && !data.response.fields.contains("Content-Digest"))
            #expect(hooks.received.current == self.plain)
            let stream = try await stage.session.stream(request(origin.port))
            #expect(stream.length == nil && stream.contentCodings == [coding.name])
            #expect(try await Array(stream.body.collect(upTo: 1 << 20).readableBytesView) == self.plain)
            let task = try stage.session.downloadTask(
                request(origin.port), to: .file(folder.path("out"), resuming: false))
            task.resume()
            #expect(try await task.value().contentCodings == [coding.name] && folder.bytes("out") == self.plain)
            #expect(task.progress.received == UInt64(self.plain.count) && task.progress.expectedToReceive == nil)
            #expect(origin.accepted == [Self.all, Self.all, Self.all])
        }
    }

    @Test func `codings over each other, members behind each other and no byte at all are decoded`() async throws {
        let stage = try self.stage()
        let twice = try CodedOrigin(
            Coding.zstd.encode(Coding.gzip.encode(self.plain)), "Content-Encoding: gzip",
            "Content-Encoding: identity, zstd")
        let result = try await stage.data(for: request(twice.port))
        #expect(Array(result.body.readableBytesView) == self.plain && result.contentCodings == ["gzip", "zstd"])
        let members = try Coding.gzip.encode([1, 2]) + Coding.gzip.encode([]) + Coding.gzip.encode([3])
        let several = try CodedOrigin(members, "Content-Encoding: x-gzip")
        #expect(try await Array(stage.data(for: request(several.port)).body.readableBytesView) == [1, 2, 3])
        let empty = try CodedOrigin([], "Content-Encoding: br")
        #expect(try await stage.data(for: request(empty.port)).body.readableBytes == 0)
    }

    @Test(arguments: ["compress", "gzip, aws-chunked", "identity", "gzip, gzip, gzip, gzip, gzip"])
    func `what is not known is left as it is, and says so`(codings: String) async throws {
        let coded = try Coding.gzip.encode([1, 2])
        let origin = try CodedOrigin(coded, "Content-Encoding: \(codings)")
        let result = try await self.stage().data(for: request(origin.port))
        #expect(Array(result.body.readableBytesView) == coded && result.contentCodings.isEmpty)
        #expect(result.response.fields["Content-Encoding"] == codings)
    }

    @Test func `nothing is decoded twice`() async throws {
        let folder = try TemporaryFolder()
        let stage = try self.stage()
        let json = try CodedOrigin(
            Coding.gzip.encode(Array("{\"a\":1}".utf8)), "Content-Encoding: gzip", "Content-Type: application/json")
        let api = try HTTPSession(stage.session, base: "http://127.0.0.1:\(json.port)/")
        let answer = try await api.get("x", as: JSONResponseSerializer())
        #expect(answer.value == ["a": 1] && !answer.head.fields.contains("Content-Encoding"))
        let file = try await stage.session.download(
            request(json.port), to: .file(folder.path("out"), resuming: false), accepting: .json)
        #expect(file.contentCodings == ["gzip"] && folder.bytes("out") == Array("{\"a\":1}".utf8))
        // A packed file that is sent in a coding is still packed.
        let packed = try Coding.gzip.encode([1, 2, 3])
        let archive = try CodedOrigin(Coding.gzip.encode(packed), "Content-Encoding: gzip")
        #expect(try await Array(stage.data(for: request(archive.port)).body.readableBytesView) == packed)
    }

    @Test func `what a contract rejects is shown without its coding`() async throws {
        let folder = try TemporaryFolder()
        let origin = try CodedOrigin(
            Coding.br.encode(Array("no such thing".utf8)), "Content-Encoding: br", status: "404 None")
        let stage = try self.stage()
        let error = await sessionError {
            _ = try await stage.download(request(origin.port), to: .file(folder.path("out")))
        }
        let rejected = try #require(error?.underlying as? RejectedResponse)
        #expect(String(decoding: rejected.body, as: UTF8.self) == "no such thing" && rejected.head.status == 404)
    }

    @Test func `redirects and challenges in codings are followed`() async throws {
        let coded = try Coding.gzip.encode(Array("inside".utf8))
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let head =
                    request["Authorization"] != nil
                    ? "200 OK" : request.target == "/" ? "302 Go\r\nLocation: /x" : "401 X\r\nWWW-Authenticate: Bearer"
                try connection.send(
                    "HTTP/1.1 \(head)\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
                try connection.stream.send(coded)
            }
        }
        let hooks = RecordedHooks { $0.challenge = { _ in .bearer("x") } }
        let result = try await SessionStage(hooks: hooks).data(for: request(origin.port))
        #expect(result.text == "inside" && origin.connections.count == 1)
        #expect(origin.requests.map { $0["Accept-Encoding"] } == [Self.all, Self.all, Self.all])
    }

    @Test func `the cache gets what the program gets`() async throws {
        let offered = Watched<[CachedResponse]>([])
        let hooks = RecordedHooks {
            $0.cache = { response in
                offered.change { $0.append(response) }
                return nil
            }
        }
        var configuration = SessionConfiguration()
        configuration.cache = NoCache()
        let origin = try CodedOrigin(Coding.gzip.encode(self.plain), "Content-Encoding: gzip")
        _ = try await SessionStage(configuration: configuration, hooks: hooks).data(for: request(origin.port))
        #expect(offered.current.map(\.body.readableBytes) == [self.plain.count])
        #expect(offered.current.map { $0.head.fields.contains("Content-Encoding") } == [false])
    }

    private struct NoCache: ResponseCache {
        @concurrent func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? { nil }
        @concurrent func store(_ response: CachedResponse, to request: SessionRequest) async {}
    }
}
