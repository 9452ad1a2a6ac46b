// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Event streams over several connections (WHATWG HTML §9.2.3).
@Suite(.timeLimit(.minutes(5))) struct EventSourceTests {
    let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"
    private static let enough = "HTTP/1.1 204 No Content\r\n\r\n"

    /// An origin that answers each connection with the next of `answers` and closes it, and the rest with the last.
    private func origin(_ answers: String...) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(answers[min(connection.number, answers.count - 1)])
        }
    }

    /// Does not wait for long.
    private static let soon: EventReconnection = {
        var reconnection = EventReconnection()
        reconnection.delay = .milliseconds(2)
        reconnection.bounds = .milliseconds(1) ... .milliseconds(20)
        return reconnection
    }()

    /// Records the events of a source, in words.
    private final class Log: Sendable {
        let lines = Watched<[String]>([])

        func note(_ change: EventSource.Change) {
            switch change {
            case .opened(let head): self.lines.change { $0.append("opened \(head.status)") }
            case .waiting(let pause, let error):
                self.lines.change { $0.append("waiting \(pause) after \(error?.code.rawValue ?? "the end")") }
            }
        }
    }

    private func events(_ source: EventSource) async throws -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for try await event in source { events.append(event) }
        return events
    }

    private func failure(_ source: EventSource) async -> SessionError? {
        await sessionError { _ = try await self.events(source) }
    }

    // MARK: Content codings

    @Test func `events of a coded stream are there as soon as they have come`() async throws {
        // Two events in gzip, with the encoder flushed between them.
        let first: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 74, 73, 44, 73, 180, 82, 72, 203, 44, 42, 46, 225, 226, 2, 0, 0, 0, 255,
            255,
        ]
        let second: [UInt8] = [75, 1, 115, 138, 83, 147, 243, 243, 82, 184, 184, 0, 104, 190, 150, 90, 27, 0, 0, 0]
        let hasRead = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n")
            try connection.stream.send(first)
            try hasRead.wait(for: "the first event to be read") { $0 }
            try connection.stream.send(second)
        }
        let source = self.stage.session.serverSentEvents(request(origin.port), reconnection: nil)
        var data: [String] = []
        for try await event in source {
            data.append(event.data)
            hasRead.change { $0 = true }
        }
        #expect(data == ["first", "second"])
    }

    @Test func `a coding that the session does not undo is told, and nothing of it is read as events`() async throws {
        let origin = try self.origin(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\nxyz")
        var wanted = request(origin.port)
        wanted.decompression = .off
        let error = await self.failure(self.stage.session.serverSentEvents(wanted, reconnection: nil))
        #expect(error?.code == .rejected && error?.message.contains("content coding") == true)
    }

    // MARK: Connecting again

    @Test func `a stream that ends is asked for again after the time that it tells, from its last event on`()
        async throws
    {
        let origin = try self.origin(
            "\(Self.head)data:a\n\nretry:7\nid:7\ndata:b\n\nid:8\ndata:lost", "\(Self.head)data:c\n\nid\n\n",
            "\(Self.head)retry:50\n\n", Self.enough)
        let log = Log()
        let source = self.stage.session.serverSentEvents(
            request(origin.port), reconnection: Self.soon, onChange: { log.note($0) })
        let events = try await self.events(source)
        #expect(
            events == [
                ServerSentEvent(data: "a"), ServerSentEvent(data: "b", id: "7", retry: .milliseconds(7)),
                ServerSentEvent(data: "c", id: "7"),
            ])
        #expect(origin.requests.map { $0["Last-Event-ID"] } == [nil, "7", nil, nil])
        for request in origin.requests {
            #expect(request["Accept"] == "text/event-stream" && request["Cache-Control"] == "no-cache")
        }
        let (seven, twenty) = (Duration.milliseconds(7), Duration.milliseconds(20))
        #expect(
            log.lines.current == [
                "opened 200", "waiting \(seven) after the end", "opened 200", "waiting \(seven) after the end",
                "opened 200", "waiting \(twenty) after the end",
            ])
    }

    @Test func `a stream that breaks off is asked for again`() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        let origin = try self.origin("\(chunked)d\r\nid:1\ndata:a\n\n\r\n", "\(Self.head)data:b\n\n", Self.enough)
        let log = Log()
        let source = self.stage.session.serverSentEvents(
            request(origin.port), reconnection: Self.soon, onChange: { log.note($0) })
        #expect(try await self.events(source).map(\.data) == ["a", "b"])
        #expect(log.lines.current.dropFirst().first == "waiting \(Duration.milliseconds(2)) after truncated")
        #expect(origin.requests.map { $0["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test func `an origin that cannot be reached is tried again after longer and longer times`() async throws {
        var reconnection = Self.soon
        reconnection.failureLimit = 6
        let log = Log()
        let source = self.stage.session.serverSentEvents(
            request(try FreePort.find()), reconnection: reconnection, onChange: { log.note($0) })
        #expect(await self.failure(source)?.code == .connectionRefused)
        let pauses = [2, 4, 8, 16, 20].map { "waiting \(Duration.milliseconds($0)) after connectionRefused" }
        #expect(log.lines.current == pauses)
    }

    @Test func `a connection that is made ends the row of failures`() async throws {
        let origin = try self.origin("", "", Self.head, "", Self.enough)
        var reconnection = Self.soon
        reconnection.failureLimit = 3
        let log = Log()
        let source = self.stage.session.serverSentEvents(
            request(origin.port), reconnection: reconnection, onChange: { log.note($0) })
        #expect(try await self.events(source).isEmpty)
        #expect(log.lines.current.filter { $0.hasPrefix("waiting") }.count == 4, "\(log.lines.current)")
    }

    @Test func `the first request may name an event of an earlier process`() async throws {
        let origin = try self.origin("\(Self.head)data:a\n\n", Self.enough)
        let source = self.stage.session.serverSentEvents(
            request(origin.port, fields: ["Last-Event-ID": "of the request", "Accept": "*/*"]), lastEventID: " é 5 ",
            reconnection: Self.soon)
        #expect(try await self.events(source) == [ServerSentEvent(data: "a", id: " é 5 ")])
        let requests = origin.requests
        #expect(requests.map { $0["Last-Event-ID"] } == ["é 5", "é 5"] && requests[0].head.values("Accept") == ["*/*"])
    }

    // MARK: The end

    @Test func `no content is the end`() async throws {
        let origin = try self.origin(Self.enough)
        let source = self.stage.session.serverSentEvents(request(origin.port))
        var iterator = source.makeAsyncIterator()
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(origin.requests.count == 1)
    }

    @Test func `without reconnection a stream ends as it does`() async throws {
        let origin = try self.origin("\(Self.head)data:a\n\n")
        let source = self.stage.session.serverSentEvents(request(origin.port), reconnection: nil)
        #expect(try await self.events(source).map(\.data) == ["a"])
        let refused = self.stage.session.serverSentEvents(request(try FreePort.find()), reconnection: nil)
        #expect(await self.failure(refused)?.code == .connectionRefused)
        #expect(origin.requests.count == 1)
    }

    @Test func `a request that may not be sent twice is sent once`() async throws {
        let origin = try self.origin("\(Self.head)data:a\n\n", "\(Self.head)data:b\n\n", Self.enough)
        let body = UploadSource.bytes(ByteBuffer(string: "{}"))
        let once = self.stage.session.serverSentEvents(
            request(origin.port, method: "POST"), from: body, reconnection: Self.soon)
        #expect(try await self.events(once).map(\.data) == ["a"])
        var reconnection = Self.soon
        reconnection.methods.insert("POST")
        let again = self.stage.session.serverSentEvents(
            request(origin.port, method: "POST"), from: body, reconnection: reconnection)
        #expect(try await self.events(again).map(\.data) == ["b"])
        #expect(origin.requests.map(\.text) == ["{}", "{}", "{}"])
    }

    // MARK: Failures for good

    @Test(arguments: [
        (
            "500 Broken", "Content-Type: text/event-stream\r\n",
            "Request failed: internal server error (500), expected 200"
        ),
        ("206 Some", "Content-Type: text/event-stream\r\n", "Request failed: partial content (206), expected 200"),
        ("200 OK", "Content-Type: text/plain\r\n", "Request failed: unacceptable content-type: text/plain"),
        (
            "200 OK", "Content-Type: text/event-streambogus\r\n",
            "Request failed: unacceptable content-type: text/event-streambogus"
        ),
        ("200 OK", "", "Request failed: no content-type"),
    ])
    func `another status or media type fails for good`(status: String, fields: String, message: String) async throws {
        let origin = try self.origin("HTTP/1.1 \(status)\r\n\(fields)\r\ndata:why\n\n")
        let source = self.stage.session.serverSentEvents(request(origin.port), reconnection: Self.soon)
        var iterator = source.makeAsyncIterator()
        var error: SessionError?
        do throws(SessionError) {
            _ = try await iterator.next()
        } catch let failure {
            error = failure
        }
        #expect(error?.code == .rejected && error?.message == message)
        let rejected = error?.underlying as? RejectedResponse
        #expect(rejected?.body == (status == "200 OK" ? [] : Array("data:why\n\n".utf8)))
        #expect(try await iterator.next() == nil)
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: ["text/event-stream", "Text/Event-Stream ; charset=utf-8", "text/event-stream;"])
    func `parameters and letter case of the media type do not count`(type: String) async throws {
        let origin = try self.origin("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\ndata:a\n\n")
        let source = self.stage.session.serverSentEvents(request(origin.port), reconnection: nil)
        #expect(try await self.events(source).map(\.data) == ["a"])
    }

    @Test func `an event that is too long fails for good`() async throws {
        let origin = try self.origin("\(Self.head)data:a\n\ndata:12345\ndata:12345\n\n")
        let source = self.stage.session.serverSentEvents(request(origin.port), limit: 10, reconnection: Self.soon)
        let error = await self.failure(source)
        let cause = TextStreamError(.tooLong, line: 4, "an event of more than 10 bytes")
        #expect(error?.code == .tooLarge && error?.underlying as? TextStreamError == cause)
        #expect(origin.requests.count == 1)
    }

    @Test func `an ID that no field can carry fails before a request is made with another`() async throws {
        let origin = try self.origin("\(Self.head)id:a\u{1}b\ndata:a\n\n")
        let source = self.stage.session.serverSentEvents(request(origin.port), reconnection: Self.soon)
        #expect(await self.failure(source)?.code == .invalidRequest)
        #expect(origin.requests.count == 1)
    }

    // MARK: Letting go

    /// An origin that sends an event and keeps the stream open, and notes when the peer has ended it.
    private func openOrigin(_ ended: Watched<Bool>) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("\(Self.head)data:a\n\n")
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
    }

    @Test func `cancelling the reader ends the connection`() async throws {
        let (ended, seen) = (Watched(false), Watched(0))
        let origin = try self.openOrigin(ended)
        let source = self.stage.session.serverSentEvents(request(origin.port))
        let reader = Task { for try await _ in source { seen.change { $0 += 1 } } }
        try await seen.reach("an event") { $0 == 1 }
        reader.cancel()
        #expect(await sessionError { try await reader.value }?.code == .cancelled)
        try await ended.reach("the origin to see the end") { $0 }
        #expect(origin.requests.count == 1)
    }

    @Test func `letting go of the iterator ends the connection`() async throws {
        let ended = Watched(false)
        let origin = try self.openOrigin(ended)
        for try await event in self.stage.session.serverSentEvents(request(origin.port)) {
            #expect(event.data == "a")
            break
        }
        try await ended.reach("the origin to see the end") { $0 }
    }

    @Test(arguments: [false, true])
    func `a long pause ends with the reader, and with the session`(endsSession: Bool) async throws {
        let origin = try self.origin("\(Self.head)data:a\n\n")
        let log = Log()
        let source = self.stage.session.serverSentEvents(
            request(origin.port),
            reconnection: {
                var reconnection = EventReconnection()
                reconnection.bounds = .seconds(86_400) ... .seconds(86_400)
                return reconnection
            }(), onChange: { log.note($0) })
        let reader = Task { try await self.events(source) }
        try await log.lines.reach("a pause") { $0.last?.hasPrefix("waiting") == true }
        if endsSession { await self.stage.session.invalidateAndCancel() } else { reader.cancel() }
        let error = await sessionError { _ = try await reader.value }
        #expect(error?.code == (endsSession ? .invalidated : .cancelled))
    }

    // MARK: A client of one service

    @Test func `a service answers parameters with a stream`() async throws {
        let origin = try self.origin("\(Self.head)event: token\ndata: {\"text\":\"Hi\"}\n\ndata: [DONE]\n\n")
        var api = try HTTPSession(self.stage.session, base: "http://127.0.0.1:\(origin.port)/v1")
        api.requestSerializer = JSONRequestSerializer()
        let source = try api.serverSentEvents("answers", method: "POST", body: .parameters(["stream": true]))
        #expect(
            try await self.events(source) == [
                ServerSentEvent(event: "token", data: "{\"text\":\"Hi\"}"), ServerSentEvent(data: "[DONE]"),
            ])
        let sent = try await origin.reachRequests(1)[0]
        #expect(sent.head.startLine == "POST /v1/answers HTTP/1.1" && sent.text == "{\"stream\":true}")
    }
}

/// The delays of an event source.
struct EventReconnectionTests {
    @Test(
        arguments: [
            (0, 5_000, 5_000), (1, 5_000, 5_000), (2, 5_000, 10_000), (3, 5_000, 20_000), (6, 5_000, 120_000),
            (1_000_000, 5_000, 120_000), (0, 0, 100), (4, 0, 800), (0, 500_000, 120_000), (2, Int64.max, 120_000),
            (Int.max, 1, 120_000),
        ] as [(Int, Int64, Int64)])
    func `the time doubles with each further failure, within bounds`(failures: Int, told: Int64, pause: Int64) {
        let reconnection = EventReconnection()
        #expect(reconnection.pause(after: failures, retry: .milliseconds(told)) == .milliseconds(pause))
    }

    @Test func `the time is the configuration's until another is told`() {
        var reconnection = EventReconnection()
        #expect(reconnection.pause(after: 0, retry: nil) == .seconds(3))
        reconnection.bounds = .zero ... .zero
        #expect(reconnection.pause(after: Int.max, retry: .seconds(1)) == .zero)
        reconnection.failureLimit = 2
        #expect(reconnection.pause(after: 1, retry: nil) != nil && reconnection.pause(after: 2, retry: nil) == nil)
        reconnection.failureLimit = 0
        #expect(reconnection.pause(after: 0, retry: nil) != nil && reconnection.pause(after: 1, retry: nil) == nil)
    }
}
