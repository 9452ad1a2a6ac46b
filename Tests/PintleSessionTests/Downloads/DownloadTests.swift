// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Downloads that nothing disturbs.
@Suite(.timeLimit(.minutes(15))) struct DownloadTests {
    let stage: SessionStage
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    private var out: String { self.folder.path("out") }

    @Test func `TDL-11 TDL-14 a download is a whole file at its destination, and its body is not kept`() async throws {
        let origin = try NginxOrigin()
        let bytes = sampleBytes(3_000_000)
        try origin.serve(bytes, as: "big")
        let result = try await self.stage.session.download(request(origin.httpPort, "/files/big"), to: .file(self.out))
        #expect(result.file == self.out && result.response.status == 200 && result.body.readableBytes == 0)
        #expect(self.folder.bytes("out") == bytes && self.folder.names == ["out"])
        #expect(self.stage.session.tasks.isEmpty)
    }

    @Test func `the destination never stands for half of a download`() async throws {
        let bytes = sampleBytes(600_000)
        let goesOn = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")
            try connection.stream.send(Array(bytes[..<400_000]))
            try goesOn.wait(for: "the rest to be wanted") { $0 }
            try connection.stream.send(Array(bytes[400_000...]))
        }
        try self.folder.write("older", to: "out")
        let task = try self.stage.session.downloadTask(request(origin.port), to: .file(self.out))
        let progress = task.progressStream
        task.resume()
        for await step in progress where step.received == 400_000 { break }
        #expect(self.folder.bytes("out") == Array("older".utf8))
        #expect(self.folder.bytes("out.part") == Array(bytes[..<400_000]))
        goesOn.change { $0 = true }
        _ = try await task.value()
        #expect(self.folder.bytes("out") == bytes && self.folder.names == ["out"])
        #expect(task.progress.fractionReceived == 1 && task.progress.received == 600_000)
    }

    @Test func `bodies without a length are whole: chunked, and up to the end of the connection`() async throws {
        let chunked = try RawOrigin(
            answering:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n3\r\nefg\r\n0\r\nX-T: 1\r\n\r\n")
        _ = try await self.stage.session.download(request(chunked.port), to: .file(self.out))
        #expect(self.folder.bytes("out") == Array("abcdefg".utf8))
        let closing = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.0 200 OK\r\n\r\nup to the end")
        }
        _ = try await self.stage.session.download(request(closing.port), to: .file(self.out))
        #expect(self.folder.bytes("out") == Array("up to the end".utf8) && self.folder.names == ["out"])
    }

    @Test func `an empty body, 204 and HEAD make an empty file`() async throws {
        let origin = try NginxOrigin()
        try origin.serve([], as: "empty")
        for (path, method) in [("/files/empty", "GET"), ("/status/204", "GET"), ("/hello", "HEAD")] {
            let destination = DownloadDestination.file(self.out)
            _ = try await self.stage.session.download(
                request(origin.httpPort, path, method: method), to: destination)
            #expect(self.folder.bytes("out") == [], "\(method) \(path)")
        }
        #expect(self.folder.names == ["out"])
    }

    @Test func `a redirect is followed and its body is no part of the file`() async throws {
        let origin = try NginxOrigin(locations: "location = /go { return 302 /hello; }\n")
        let result = try await self.stage.session.download(request(origin.httpPort, "/go"), to: .file(self.out))
        #expect(result.url.path == "/hello" && self.folder.bytes("out") == Array("hello\n".utf8))
    }

    @Test func `TDL-12 what an origin says about an error is not written, but can be read`() async throws {
        let origin = try NginxOrigin()
        try self.folder.write("older", to: "out")
        for status in [404, 500] as [UInt16] {
            let task = try self.stage.session.downloadTask(
                request(origin.httpPort, "/status/\(status)"), to: .file(self.out))
            task.resume()
            let error = await sessionError { _ = try await task.value() }
            let rejected = error?.underlying as? RejectedResponse
            #expect(error?.code == .rejected && rejected?.head.status == status && task.response?.status == status)
            #expect(rejected.map { String(decoding: $0.body, as: UTF8.self) }?.hasPrefix("{\"error\"") == true)
            #expect(task.partialDownload == nil)
        }
        #expect(self.folder.bytes("out") == Array("older".utf8) && self.folder.names == ["out"])
    }

    @Test func `of a long refusal 64 KiB are kept`() async throws {
        let origin = try NginxOrigin(locations: "location /refused { error_page 405 =500 /files/big; return 405; }\n")
        try origin.serve(sampleBytes(1_000_000), as: "big")
        let error = await sessionError {
            _ = try await self.stage.session.download(request(origin.httpPort, "/refused"), to: .file(self.out))
        }
        #expect((error?.underlying as? RejectedResponse)?.body == Array(sampleBytes(1_000_000)[..<65_536]))
        #expect(self.folder.names.isEmpty)
    }

    @Test func `a contract about the body is kept by the whole file`() async throws {
        let origin = try NginxOrigin()
        try origin.serve(Array(#"{"a":1}"#.utf8), as: "good.json")
        try origin.serve(Array((#"{"a":"# + String(repeating: "[", count: 100_000)).utf8), as: "bad.json")
        let session = self.stage.session
        _ = try await session.download(
            request(origin.httpPort, "/files/good.json"), to: .file(self.out), accepting: .json)
        #expect(self.folder.bytes("out") == Array(#"{"a":1}"#.utf8))
        let task = try session.downloadTask(
            request(origin.httpPort, "/files/bad.json"), to: .file(self.out), accepting: .json)
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        let rejected = error?.underlying as? RejectedResponse
        #expect(error?.code == .rejected && rejected?.head.status == 200 && rejected?.body.count == 65_536)
        #expect(task.partialDownload == nil && self.folder.bytes("out") == Array(#"{"a":1}"#.utf8))
        #expect(self.folder.names == ["out"])
    }

    @Test func `a contract that rewrites bodies is refused`() async throws {
        let origin = try NginxOrigin()
        var contract = ResponseContract.json
        contract.body = .json(.init(removesNulls: true))
        let error = await sessionError {
            _ = try await self.stage.session.download(
                request(origin.httpPort, "/json"), to: .file(self.out), accepting: contract)
        }
        #expect(error?.code == .invalidRequest && self.folder.names.isEmpty)
    }

    @Test func `SES-39 a download's metrics are there with its end`() async throws {
        let origin = try NginxOrigin()
        let hooks = MetricsHooks()
        let stage = try SessionStage(hooks: hooks)
        let events = stage.session.eventStream()
        let result = try await stage.session.download(request(origin.httpPort, "/hello"), to: .file(self.out))
        #expect(result.metrics.transactions.count == 1 && result.metrics.total > .zero)
        for await event in events {
            guard case .taskCompleted(let task) = event else { continue }
            #expect(task.metrics == result.metrics && hooks.seen.current == [result.metrics])
            break
        }
    }
}

private struct MetricsHooks: HookSet {
    let seen = Watched<[TaskMetrics]>([])

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.collectedMetrics = { [seen] _, metrics in seen.change { $0.append(metrics) } }
        }
    }
}
