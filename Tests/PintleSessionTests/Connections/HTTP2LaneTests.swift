// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleTesting
import Testing

@testable import PintleSession

/// Origins of HTTP/2 that refuse streams, or take no more of them (RFC 9113 §6.8, §8.7).
struct HTTP2LaneTests {
    /// The script of an origin for its connection of that number.
    private typealias Connection = @Sendable (_ number: Int, _ peer: inout HTTP2Peer) throws -> Void

    private static func origin(_ script: @escaping Connection) throws -> RawOrigin {
        try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            try script(connection.number, &peer)
            _ = try connection.waitForEnd()
        }
    }

    private let stage: SessionStage

    init() throws {
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        self.stage = try SessionStage(configuration: configuration)
    }

    // MARK: Silence

    @Test func `a connection that has said nothing to a request carries no other one`() async throws {
        let isSettled = Watched(false)
        let origin = try Self.origin { number, peer in
            try peer.answer(try peer.nextRequest().stream, "done")
            guard number == 0 else { return }
            try peer.settle()
            isSettled.change { $0 = true }
            while true { _ = try peer.nextRequest() }
        }
        #expect(try await self.stage.data(for: request(origin.port)).text == "done")
        while !isSettled.current { await Task.yield() }
        let error = await self.stage.failure(of: request(origin.port, timeout: .milliseconds(200)))
        #expect(error?.code == .timeout)
        #expect(try await self.stage.data(for: request(origin.port)).text == "done")
        #expect(origin.connections.count == 2)
    }

    @Test func `a connection that speaks while one request waits in vain carries the next one`() async throws {
        let isOver = Watched(false)
        let origin = try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            _ = try peer.nextRequest()
            let ping = HTTP2Bytes.frame(HTTP2Bytes.Kind.ping, on: 0, [UInt8](repeating: 0, count: 8))
            while (try? isOver.wait(for: "the end of the first", seconds: 0.01) { $0 }) == nil {
                try connection.stream.send(ping)
            }
            try peer.answer(try peer.nextRequest().stream, "done")
            _ = try connection.waitForEnd()
        }
        let error = await self.stage.failure(of: request(origin.port, timeout: .seconds(4)))
        #expect(error?.code == .timeout)
        isOver.change { $0 = true }
        #expect(try await self.stage.data(for: request(origin.port)).text == "done")
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: [1, 1_000_001, 1 << 30 - 1])
    func `a connection takes requests as long as numbers for their streams are left`(number: Int) {
        #expect(!HTTP2Connection.isLast(number))
    }

    @Test(arguments: [1 << 30 + 1, 0x7FFF_FFFF])
    func `a connection takes no more requests long before their numbers come to an end`(number: Int) {
        #expect(HTTP2Connection.isLast(number))
    }

    // MARK: Refused streams

    @Test(arguments: ["GET", "POST", "PATCH"])
    func `a request whose stream is refused is sent once more, with its body, over another connection`(
        method: String
    ) async throws {
        let bodies = Watched<[String]>([])
        let origin = try Self.origin { number, peer in
            let request = try peer.nextRequest()
            bodies.change { $0.append(String(decoding: request.body, as: UTF8.self)) }
            if number == 0 {
                try peer.reset(request.stream, .refusedStream)
            } else {
                try peer.answer(request.stream, "done")
            }
        }
        let source = method == "GET" ? nil : UploadSource.bytes(ByteBuffer(string: "body"))
        #expect(try await self.stage.data(for: request(origin.port, method: method), from: source).text == "done")
        #expect(origin.connections.count == 2)
        #expect(bodies.current == (method == "GET" ? ["", ""] : ["body", "body"]))
    }

    @Test func `a request whose stream is refused twice has failed`() async throws {
        let count = Watched(0)
        let origin = try Self.origin { _, peer in
            while true {
                let request = try peer.nextRequest()
                count.change { $0 += 1 }
                try peer.reset(request.stream, .refusedStream)
            }
        }
        let error = await self.stage.failure(of: request(origin.port))
        #expect(error?.code == .connectionBroken, "\(String(describing: error))")
        #expect(count.current == 2)
    }

    @Test func `a stream that is refused within its answer is not asked for again`() async throws {
        let count = Watched(0)
        let origin = try Self.origin { _, peer in
            let request = try peer.nextRequest()
            count.change { $0 += 1 }
            try peer.begin(request.stream)
            try peer.reset(request.stream, .refusedStream)
        }
        let error = await self.stage.failure(of: request(origin.port))
        #expect(error?.code == .truncated, "\(String(describing: error))")
        #expect(count.current == 1)
    }

    @Test(arguments: [HTTP2Peer.Code.noError, .internalError, .http11Required])
    func `a stream that is reset for another reason is not asked for again`(code: HTTP2Peer.Code) async throws {
        let count = Watched(0)
        let origin = try Self.origin { _, peer in
            let request = try peer.nextRequest()
            count.change { $0 += 1 }
            try peer.reset(request.stream, code)
        }
        let error = await self.stage.failure(of: request(origin.port))
        #expect(error?.code == .connectionBroken, "\(String(describing: error))")
        #expect(count.current == 1)
    }

    @Test func `LOOK-69 a streamed body is kept and sent again to an origin that refused its stream`() async throws {
        let bodies = Watched<[[UInt8]]>([])
        let origin = try Self.origin { number, peer in
            let request = try peer.nextRequest()
            bodies.change { $0.append(request.body) }
            if number == 0 {
                try peer.reset(request.stream, .refusedStream)
            } else {
                try peer.answer(request.stream, "done")
            }
        }
        let source = UploadSource.stream(BodyStream(pieces([1, 2], [3], [UInt8](repeating: 4, count: 30_000))))
        #expect(try await self.stage.data(for: request(origin.port, method: "POST"), from: source).text == "done")
        #expect(bodies.current == Array(repeating: [1, 2, 3] + [UInt8](repeating: 4, count: 30_000), count: 2))
    }

    // MARK: Origins that go away

    @Test func `what was under way when an origin goes away is answered, and the next request goes elsewhere`()
        async throws
    {
        let origin = try Self.origin { number, peer in
            let request = try peer.nextRequest()
            if number == 0 { try peer.goAway(last: request.stream) }
            try peer.answer(request.stream, "over \(number)")
        }
        #expect(try await self.stage.data(for: request(origin.port)).text == "over 0")
        #expect(try await self.stage.data(for: request(origin.port)).text == "over 1")
        #expect(origin.connections.count == 2)
        // Nothing is under way on the first any more.
        while origin.connections[0].knownEnding == nil { await Task.yield() }
        #expect(origin.connections[0].knownEnding == .closed)
    }

    @Test func `streams that an origin which goes away has not looked at are asked for elsewhere`() async throws {
        let origin = try Self.origin { number, peer in
            if number == 0 {
                let requests = [try peer.nextRequest(), try peer.nextRequest(), try peer.nextRequest()]
                let first = requests.map(\.stream).min() ?? 0
                try peer.goAway(last: first)
                try peer.answer(first, "over 0")
            } else {
                while true { try peer.answer(try peer.nextRequest().stream, "over \(number)") }
            }
        }
        // All three tasks use one connection.
        let tasks = try (0..<3).map { _ in
            try self.stage.session.uploadTask(
                request(origin.port, method: "POST"), from: .bytes(ByteBuffer(string: "body")))
        }
        for task in tasks { task.resume() }
        var answers: [String] = []
        for task in tasks { answers.append(try await task.value().text) }
        #expect(answers.sorted() == ["over 0", "over 1", "over 1"])
        #expect(origin.connections.count == 2)
    }

    @Test func `LOOK-69 a request that is turned away by GOAWAY has not been sent, and may be refused once as well`()
        async throws
    {
        let origin = try Self.origin { number, peer in
            let request = try peer.nextRequest()
            switch number {
            case 0: try peer.goAway(last: 0)
            case 1: try peer.reset(request.stream, .refusedStream)
            default: try peer.answer(request.stream, "over \(number)")
            }
        }
        let result = try await self.stage.data(for: request(origin.port, method: "POST"), from: .bytes(ByteBuffer()))
        #expect(result.text == "over 2" && result.metrics.transactions.map(\.retries) == [2])
    }

    @Test func `an origin that goes away while nothing is asked is not asked again on its connection`() async throws {
        let origin = try Self.origin { number, peer in
            let request = try peer.nextRequest()
            try peer.answer(request.stream, "over \(number)")
            if number == 0 { try peer.goAway(last: request.stream) }
        }
        #expect(try await self.stage.data(for: request(origin.port)).text == "over 0")
        while origin.connections[0].knownEnding == nil { await Task.yield() }
        let second = try await self.stage.data(for: request(origin.port, method: "POST"), from: .bytes(ByteBuffer()))
        #expect(second.text == "over 1" && origin.connections.count == 2)
    }
}
