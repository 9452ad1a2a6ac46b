// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Bodies as sequences of their items.
@Suite(.timeLimit(.minutes(5))) struct BodyItemsTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private struct Item: Decodable, Sendable, Equatable {
        let id: Int
    }

    /// An origin whose body comes as `pieces`, one in each chunk, and is complete unless `isWhole` is false.
    private func origin(_ pieces: [String], isWhole: Bool = true) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in pieces {
                try connection.send("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
            }
            if isWhole { try connection.send("0\r\n\r\n") }
        }
    }

    private func body(_ pieces: [String], isWhole: Bool = true) async throws -> (RawOrigin, ResponseBody) {
        let origin = try self.origin(pieces, isWhole: isWhole)
        return (origin, try await self.stage.session.stream(request(origin.port)).body)
    }

    // MARK: Lines

    @Test func `lines come as they are, wherever the body is cut`() async throws {
        let (origin, body) = try await self.body(["\u{FEFF}one\ntw", "o\r", "\n\n", "fo", "ur"])
        var lines: [String] = []
        for try await line in body.lines() { lines.append(line) }
        #expect(lines == ["one", "two", "", "four"])
        origin.stop()
    }

    @Test(arguments: [false, true])
    func `the lines of a file of megabytes come from a real server`(http2: Bool) async throws {
        let pki = TestPKI()
        let root = try pki.root("Lines Root")
        let leaf = try pki.leaf("lines", dns: ["localhost"], signedBy: root)
        let origin = try NginxOrigin(https: [leaf], http2: http2)
        let expected = (0..<100_000).map { "line \($0) \(String(repeating: "ä", count: $0 % 50))" }
        try origin.serve(Array(expected.joined(separator: "\n").utf8), as: "lines")
        let stage = try SessionStage(policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
        let response = try await stage.session.stream(
            request(origin.httpsPort, "/files/lines", scheme: .https, host: "localhost"))
        var count = 0
        for try await line in response.body.lines(limit: 200) {
            guard line == expected[count] else { throw TestFailure("line \(count) is \(line)") }
            count += 1
        }
        #expect(count == expected.count)
        #expect(try await response.task.value().metrics.transactions.last?.httpVersion == (http2 ? "2" : "1.1"))
    }

    @Test func `a reader of lines that is slow holds the origin back`() async throws {
        let total = 32 << 20
        let sent = Watched(0)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let block = Array("\(String(repeating: "x", count: 4_095))\n".utf8)
            let blocks = Array(repeatElement(block, count: 16).joined())
            for _ in 0..<(total / blocks.count) {
                try connection.stream.send(blocks)
                sent.change { $0 += blocks.count }
            }
        }
        let response = try await self.stage.session.stream(request(origin.port))
        var lines = response.body.lines().makeAsyncIterator()
        #expect(try await lines.next()?.utf8.count == 4_095)
        try await self.stage.waitUntilStill(sent)
        #expect(sent.current < total, "the session took the whole body from the origin")
        var count = 1
        while try await lines.next() != nil { count += 1 }
        #expect(count == total / 4_096 && sent.current == total)
    }

    @Test func `a line that is too long is an error, ends the transfer, and nothing comes after it`() async throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nok\n12345")
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let body = try await self.stage.session.stream(request(origin.port)).body
        var lines = body.lines(limit: 4).makeAsyncIterator()
        #expect(try await lines.next() == "ok")
        do {
            _ = try await lines.next()
            Issue.record("the line was taken")
        } catch {
            #expect(error as? TextStreamError == TextStreamError(.tooLong, line: 2, "more than 4 bytes"))
        }
        #expect(try await lines.next() == nil)
        try await ended.reach("the origin to see the end") { $0 }
    }

    @Test func `a body that breaks off gives its whole lines, and then the error`() async throws {
        let (origin, body) = try await self.body(["one\ntwo"], isWhole: false)
        var lines: [String] = []
        let error = await sessionError { for try await line in body.lines() { lines.append(line) } }
        #expect(lines == ["one"] && error?.code == .truncated)
        origin.stop()
    }

    // MARK: JSON Lines

    @Test func `values of JSON Lines come as they arrive`() async throws {
        let sendsMore = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n{\"id\":1}\n{\"i")
            try sendsMore.wait(for: "the first value") { $0 }
            try connection.send("d\":2}\n\n{\"id\":3}")
        }
        let body = try await self.stage.session.stream(request(origin.port)).body
        var items: [Item] = []
        for try await item in body.jsonLines(as: Item.self) {
            items.append(item)
            sendsMore.change { $0 = true }
        }
        #expect(items == [Item(id: 1), Item(id: 2), Item(id: 3)])
    }

    @Test func `a line that is no such value is an error with its number`() async throws {
        let (origin, body) = try await self.body(["{\"id\":1}\n{\"id\":", "\"x\"}\n{\"id\":3}\n"])
        var items: [Item] = []
        let problem = "the JSON is not what is expected: id: this is no Int"
        await #expect(throws: TextStreamError(.invalidJSON, line: 2, problem)) {
            for try await item in body.jsonLines(as: Item.self) { items.append(item) }
        }
        #expect(items == [Item(id: 1)])
        origin.stop()
    }

    // MARK: Events

    @Test func `events come as they arrive, and what to reconnect with`() async throws {
        let (origin, body) = try await self.body([
            "id:1\r", "\nevent:add\ndata:x\n", "\nretry:70\nid:2\n\n", "data:y\n",
        ])
        var events = body.serverSentEvents(lastEventID: "0").makeAsyncIterator()
        #expect(events.lastEventID == "0" && events.retry == nil)
        #expect(try await events.next() == ServerSentEvent(event: "add", data: "x", id: "1"))
        #expect(try await events.next() == nil)
        #expect(events.lastEventID == "2" && events.retry == .milliseconds(70))
        origin.stop()
    }

    @Test func `cancelling who waits for an item ends the transfer`() async throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n\r\none\nunfinished")
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let body = try await self.stage.session.stream(request(origin.port)).body
        let seen = Watched(0)
        let reader = Task { for try await _ in body.lines() { seen.change { $0 += 1 } } }
        try await seen.reach("a line") { $0 == 1 }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await ended.reach("the origin to see the end") { $0 }
    }
}
