// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The library's own interface: a request in, a response with a streaming body out.
@Suite(.timeLimit(.minutes(15))) struct SessionSendTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    @Test func `GET returns head, length, body and metrics`() async throws {
        let origin = try NginxOrigin()
        let answer = try await self.stage.fetch(request(origin.httpPort, "/hello"))
        #expect(answer.head.status == 200 && answer.head.fields["Content-Type"] == "text/plain")
        #expect(answer.length == 6 && answer.text == "hello\n")
        #expect(answer.metrics.httpVersion == "1.1" && answer.metrics.address == "127.0.0.1")
        #expect(!answer.metrics.reusedConnection && answer.metrics.total > .zero)
        let (connect, firstByte) = (try #require(answer.metrics.connect), try #require(answer.metrics.firstByte))
        #expect(connect <= firstByte && firstByte <= answer.metrics.total && answer.metrics.tls == nil)
    }

    @Test func `a second request uses the connection of the first`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        for number in 0..<5 {
            let answer = try await self.stage.fetch(request(origin.port))
            #expect(answer.text == "done" && answer.metrics.reusedConnection == (number > 0))
        }
        #expect(origin.connections.count == 1)
        #expect(self.stage.session.runningTransfers() == 0)
    }

    @Test func `a request of a session that was closed has failed, and ends nothing else`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        self.stage.session.close()
        await #expect(throws: SessionError.self) { _ = try await self.stage.fetch(request(origin.port)) }
        #expect(self.stage.session.runningTransfers() == 0 && origin.connections.isEmpty)
    }

    @Test func `a target of megabytes is sent whole, and the connection goes on`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let long = "/" + String(repeating: "x", count: 2_000_001)
        #expect(try await self.stage.fetch(request(origin.port, long)).text == "done")
        #expect(try await self.stage.fetch(request(origin.port, "/last")).text == "done")
        #expect(origin.requests.map(\.head.startLine) == ["GET \(long) HTTP/1.1", "GET /last HTTP/1.1"])
        #expect(origin.connections.count == 1)
    }

    @Test func `a body of known bytes is sent with its length`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let answer = try await self.stage.fetch(
            request(origin.port, method: "POST"), from: .bytes(ByteBuffer(string: "all of it")))
        #expect(answer.text == "done")
        let seen = try await origin.reachRequests(1)[0]
        #expect(seen.text == "all of it" && seen["Content-Length"] == "9")
    }

    @Test func `a body from a stream is sent chunked, whole and in order`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        let pieces = (0..<300).map { String(repeating: "\($0 % 10)", count: 1000) }
        for piece in pieces { feed.yield(ByteBuffer(string: piece)) }
        feed.finish()
        let answer = try await self.stage.fetch(request(origin.port, method: "POST"), from: .stream(BodyStream(stream)))
        #expect(answer.text == "done")
        let seen = try await origin.reachRequests(1)[0]
        #expect(seen.text == pieces.joined() && seen["Transfer-Encoding"] == "chunked")
    }

    @Test func `a stream of known length is sent with it`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
        feed.yield(ByteBuffer(string: "abc"))
        feed.yield(ByteBuffer(string: "de"))
        feed.finish()
        _ = try await self.stage.fetch(
            request(origin.port, method: "PUT"), from: .stream(BodyStream(stream, length: 5)))
        let seen = try await origin.reachRequests(1)[0]
        #expect(seen.text == "abcde" && seen["Content-Length"] == "5" && seen["Transfer-Encoding"] == nil)
    }

    @Test func `an empty body is a body of no bytes`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        _ = try await self.stage.fetch(request(origin.port, method: "POST"), from: .bytes(ByteBuffer()))
        #expect(try await origin.reachRequests(1)[0]["Content-Length"] == "0")
    }

    @Test func `cancelling the task ends the transfer and the connection`() async throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let stage = self.stage
        let task = Task { try await stage.fetch(request(origin.port)) }
        try await origin.reachRequests(1)
        task.cancel()
        let error = await sessionError { _ = try await task.value }
        #expect(error?.code == .cancelled)
        try await ended.reach("the origin to see the end") { $0 }
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `a task that is cancelled before it sends never connects`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = self.stage
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await stage.fetch(request(origin.port))
        }
        let error = await sessionError { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `letting go of the body ends the transfer`() async throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        do {
            let response = try await self.stage.session.stream(request(origin.port))
            for try await piece in response.body {
                #expect(String(buffer: piece) == "some")
                break
            }
        }
        try await ended.reach("the origin to see the end") { $0 }
    }

    @Test func `LOOK-58 a reader that is slow holds the origin back`() async throws {
        let total = 32 << 20
        let sent = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let block = [UInt8](repeating: 7, count: 1 << 16)
            for _ in 0..<(total >> 16) {
                try connection.stream.send(block)
                sent.change { $0 += block.count }
            }
        }
        let response = try await self.stage.session.stream(request(origin.port))
        try await self.stage.waitUntilStill(sent)
        #expect(sent.current < total, "the session took the whole body from the origin")
        var read = 0
        for try await piece in response.body { read += piece.readableBytes }
        #expect(read == total && sent.current == total)
    }

    @Test func `many requests at once are all answered`() async throws {
        let origin = try NginxOrigin()
        let stage = self.stage
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await stage.fetch(request(origin.httpPort, "/hello")).text } }
            for try await text in group { #expect(text == "hello\n") }
        }
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `no more connections are made to a host than the configuration allows`() async throws {
        var configuration = SessionConfiguration()
        configuration.connectionsPerHost = 3
        let stage = try SessionStage(configuration: configuration)
        let origin = try RawOrigin(answering: response("done"))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await stage.fetch(request(origin.port)).text } }
            for try await text in group { #expect(text == "done") }
        }
        #expect(origin.connections.count <= 3)
    }

    @Test func `closing the session cancels what is running`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let stage = try SessionStage()
        let task = Task { try await stage.fetch(request(origin.port)) }
        try await origin.reachRequests(1)
        stage.session.close()
        #expect(await sessionError { _ = try await task.value }?.code == .cancelled)
    }
}
