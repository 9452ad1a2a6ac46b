// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Bytes that arrive after a pause, and the use of those that arrived before.
@Suite(.timeLimit(.minutes(15))) struct OperationPauseTests {
    let stage: SessionStage
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    @Test func `OPS-11 HOP-05 HOP-06 the rest is asked for with Range and If-Range`() async throws {
        let origin = try HalfwayOrigin.make()
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        operation.start()
        await operation.reach(500)
        operation.pause()
        #expect(operation.state == .paused && operation.progress.received == 500)
        operation.resume()
        #expect(operation.state == .executing)
        let body = try await operation.value(decodedBy: HTTPResponseSerializer())
        #expect(body == HalfwayOrigin.bytes && operation.response?.status == 206)
        #expect(operation.progress.received == 1000 && operation.progress.expectedToReceive == 1000)
        #expect(try await operation.value().metrics.transactions.count == 2)
        let seen = origin.requests
        #expect(seen.count == 2 && seen[0]["Range"] == nil && seen[0]["If-Range"] == nil)
        #expect(seen[1]["Range"] == "bytes=500-" && seen[1]["If-Range"] == "\"abc\"")
        #expect(operation.request.fields["Range"] == nil)
    }

    @Test func `HOP-05 a date validates where there is no entity tag`() async throws {
        let date = "Sat, 01 Jan 2000 00:00:00 GMT"
        let origin = try HalfwayOrigin.make(
            fields: "Last-Modified: \(date)\r\nDate: Mon, 03 Jan 2000 00:00:00 GMT\r\n")
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        await operation.interrupt()
        #expect(try await Array(operation.value().body.readableBytesView) == HalfwayOrigin.bytes)
        #expect(origin.requests[1]["If-Range"] == date)
    }

    @Test func `OPS-14 HOP-05 a file and a sink go on where they were`() async throws {
        let origin = try HalfwayOrigin.make()
        let path = try self.folder.write("before", to: "file")
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .file(path: path))
        await operation.interrupt()
        #expect(await operation.end() == nil && origin.requests[1]["Range"] == "bytes=500-")
        #expect(fileBytes(path) == Array("before".utf8) + HalfwayOrigin.bytes)
        let second = try HalfwayOrigin.make()
        let sink = RecordingSink()
        let other = TransferOperation(request(second.port), in: self.stage.session, to: .sink(sink))
        await other.interrupt()
        #expect(await other.end() == nil)
        #expect(await sink.bytes == HalfwayOrigin.bytes)
        #expect(await sink.restarts == 0)
        #expect(await sink.closings == 1)
    }

    @Test func `OPS-14 HOP-06 any number of pauses bring the same bytes`() async throws {
        let bytes = [UInt8].pattern(600_000)
        // Each connection brings 100,000 bytes and then nothing more, but for the last one, which brings the rest.
        let origin = try RawOrigin { connection in
            let range = try connection.readRequest()["Range"]
            let offset = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let status =
                range == nil ? "200 OK\r\n" : "206 Partial\r\nContent-Range: bytes \(offset)-599999/600000\r\n"
            try connection.send("HTTP/1.1 \(status)ETag: \"abc\"\r\nContent-Length: \(600_000 - offset)\r\n\r\n")
            try connection.stream.send(Array(bytes[offset..<(connection.number < 4 ? offset + 100_000 : 600_000)]))
            _ = try connection.waitForEnd()
        }
        let operation = TransferOperation(
            request(origin.port), in: self.stage.session, to: .file(path: "\(self.folder.path)/out"))
        operation.start()
        for part in 1...4 {
            await operation.reach(UInt64(part) * 100_000)
            operation.pause()
            operation.resume()
        }
        let result = try await operation.value()
        #expect(result.response.status == 206 && fileBytes("\(self.folder.path)/out") == bytes)
        #expect(operation.progress.received == 600_000 && result.metrics.transactions.count == 5)
        #expect(
            origin.requests.map { $0["Range"] } == [
                nil, "bytes=100000-", "bytes=200000-", "bytes=300000-", "bytes=400000-",
            ])
    }

    @Test func `HOP-07 a pause before any data makes the request again as it was`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            if connection.number == 0 { _ = try connection.waitForEnd() }
            try connection.send(response("done"))
        }
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        operation.start()
        try await origin.reachRequests(1)
        operation.pause()
        operation.resume()
        #expect(await operation.end() == nil && operation.responseString == "done")
        #expect(origin.requests.count == 2 && origin.requests[1]["Range"] == nil)
    }

    @Test func `HOP-08 steering what has finished leaves its request and result alone`() async throws {
        let origin = try RawOrigin(answering: response("done", fields: "ETag: \"a\"\r\n"))
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        operation.start()
        #expect(await operation.end() == nil)
        operation.pause()
        #expect(operation.request == request(origin.port) && operation.responseString == "done")
    }

    @Test(arguments: [HalfwayOrigin.Answer.whole, .otherBytes, .otherValidator, .unsatisfied])
    func `HOP-09 what does not continue the body begins it again at zero`(answer: HalfwayOrigin.Answer) async throws {
        let origin = try HalfwayOrigin.make(answering: answer)
        let path = try self.folder.write("before", to: "file")
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .file(path: path))
        await operation.interrupt()
        #expect(await operation.end() == nil && operation.response?.status == 200)
        #expect(fileBytes(path) == Array("before".utf8) + HalfwayOrigin.newBytes)
        #expect(operation.progress.received == 800 && operation.progress.expectedToReceive == 800)
        #expect(origin.requests.count == (answer == .whole ? 2 : 3))
    }

    @Test(arguments: ["ETag: \"abc\"\r\n", ""])
    func `HOP-09 an error after a pause fails the operation, and what is held stays`(fields: String) async throws {
        let origin = try HalfwayOrigin.make(answering: .failure, fields: fields)
        let path = try self.folder.write("before", to: "file")
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .file(path: path))
        await operation.interrupt()
        let error = await operation.end()
        let rejected = try #require(error?.underlying as? RejectedResponse)
        #expect(error?.code == .rejected && rejected.head.status == 503 && rejected.body == Array("busy".utf8))
        #expect(fileBytes(path) == Array("before".utf8) + HalfwayOrigin.bytes.prefix(500))
        #expect(operation.progress.received == 500 && operation.response?.status == 200)
    }

    @Test func `a part that was not asked for fails the operation, and what is held stays`() async throws {
        let origin = try HalfwayOrigin.make(answering: .alwaysOtherBytes)
        let path = try self.folder.write("before", to: "file")
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .file(path: path))
        await operation.interrupt()
        let error = await operation.end()
        #expect(error?.code == .malformedResponse && origin.requests.count == 3)
        #expect(error?.message == "127.0.0.1:\(origin.port) was asked for the whole and sent a part (206)")
        #expect(fileBytes(path) == Array("before".utf8) + HalfwayOrigin.bytes.prefix(500))
    }

    @Test(arguments: ["", "ETag: W/\"abc\"\r\n"])
    func `HOP-05 HOP-09 without a strong validator everything is asked for again`(fields: String) async throws {
        let origin = try HalfwayOrigin.make(fields: fields)
        let sink = RecordingSink()
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .sink(sink))
        await operation.interrupt()
        #expect(await operation.end() == nil && origin.requests[1]["Range"] == nil)
        #expect(await sink.bytes == HalfwayOrigin.newBytes)
        #expect(await sink.restarts == 1)
    }

    @Test func `HOP-05 a range of the caller's own is asked for again as it was`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            let head =
                "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 5-8/100\r\nContent-Length: 4\r\n\r\n"
            try connection.send(head + "do")
            if connection.number == 0 { _ = try connection.waitForEnd() }
            try connection.send("ne")
        }
        var request = request(origin.port)
        request.fields.append("Range", "bytes=5-8")
        let operation = TransferOperation(request, in: self.stage.session)
        operation.start()
        await operation.reach(2)
        operation.pause()
        operation.resume()
        #expect(await operation.end() == nil && operation.responseString == "done")
        #expect(origin.requests.map { $0["Range"] } == ["bytes=5-8", "bytes=5-8"])
    }

    @Test func `a rest that ends before the whole is an error`() async throws {
        let origin = try RawOrigin { connection in
            guard try connection.readRequest()["Range"] != nil else {
                try connection.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 10\r\n\r\n01234")
                _ = try connection.waitForEnd()
                return
            }
            try connection.send(
                "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 5-6/10\r\nContent-Length: 2\r\n\r\n56")
        }
        let operation = TransferOperation(request(origin.port), in: self.stage.session)
        operation.start()
        await operation.reach(5)
        operation.pause()
        operation.resume()
        let error = await operation.end()
        #expect(error?.code == .truncated)
        #expect(error?.message == "127.0.0.1:\(origin.port) has sent 7 bytes of 10; ask again to go on")
    }

    /// A sink that takes its bytes slowly.
    private actor SlowSink: BodySink {
        let asked = Watched(0)
        let isOpen = Watched(false)
        private(set) var bytes: [UInt8] = []

        func write(_ bytes: ByteBuffer) async throws {
            self.asked.change { $0 += 1 }
            try await self.isOpen.reach("the sink's gate") { $0 }
            self.bytes += bytes.readableBytesView
        }
    }

    @Test func `OPS-14 a piece that is being written at the pause is written before the rest is asked for`()
        async throws
    {
        let origin = try HalfwayOrigin.make()
        let sink = SlowSink()
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .sink(sink))
        operation.start()
        try await sink.asked.reach("the first piece") { $0 == 1 }
        operation.pause()
        operation.resume()
        operation.pause()
        operation.resume()
        #expect(operation.state == .executing && operation.progress.received == 0)
        sink.isOpen.change { $0 = true }
        #expect(await operation.end() == nil)
        #expect(await sink.bytes == HalfwayOrigin.bytes)
        #expect(origin.requests.map { $0["Range"] } == [nil, "bytes=500-"])
    }

    /// A sink as short as can be.
    private actor Plain: BodySink {
        func write(_ bytes: ByteBuffer) {}
    }

    @Test func `HOP-09 a sink that cannot begin again fails the operation`() async throws {
        let origin = try HalfwayOrigin.make(answering: .whole)
        let operation = TransferOperation(request(origin.port), in: self.stage.session, to: .sink(Plain()))
        await operation.interrupt()
        let error = await operation.end()
        #expect(
            error?.code == .cannotWrite && (error?.underlying as? SessionError)?.message.contains("restart") == true)
    }

    @Test func `OPS-11 OPS-32 a body is sent again after a pause`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            if connection.number == 0 { _ = try connection.waitForEnd() }
            try connection.send(response("done"))
        }
        let operation = TransferOperation(
            request(origin.port, method: "POST"), in: self.stage.session, from: .bytes(ByteBuffer(string: "body")))
        operation.start()
        try await origin.reachRequests(1)
        operation.pause()
        operation.resume()
        #expect(await operation.end() == nil && operation.responseString == "done")
        #expect(origin.requests.map(\.text) == ["body", "body"] && operation.progress.sent == 4)
    }
}
