// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag
private typealias Kind = HTTP2Bytes.Kind

/// Answers that end before their requests, as when an origin refuses a large upload.
struct HTTP2EarlyAnswerTests {
    /// More than the windows of a stream and of a connection have room for at once.
    private static let size = 3_000_000

    /// A proxy before an origin that refuses content by the first bytes of its request.
    private func stage() throws -> HTTP2Stage {
        try HTTP2Stage { connection in
            let head = try connection.readRequestHead()
            guard head.startLine.hasPrefix("POST") else {
                return try connection.send(response("ok", fields: "Connection: close\r\n"))
            }
            try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 8\r\n\r\ntoo long")
            _ = try connection.waitForEnd()
        }
    }

    /// A client that has got the whole answer to the first bytes of its content.
    private func answeredClient(of stage: HTTP2Stage) throws -> HTTP2Client {
        let client = try stage.client()
        try client.greet()
        try client.send(HTTP2Case.post([("content-length", "\(Self.size)")]))
        try client.send(Bytes.frame(Kind.data, on: 1, [UInt8](repeating: 0x61, count: 100)))
        try #require(try client.read { $0.answers[1]?.isComplete == true })
        #expect(client.answers[1]?.status == 413 && client.answers[1]?.text == "too long")
        return client
    }

    /// Sends content up to a byte of the request, as the windows allow.
    private func upload(from start: Int, to end: Int, over client: HTTP2Client) throws {
        var sent = start
        while sent < end {
            let stream = (client.settings[4] ?? 65_535) + client.enlargements[1, default: 0]
            let connection = 65_535 + client.enlargements[0, default: 0]
            let count = min(stream - sent, connection - sent, end - sent, 1 << 14)
            guard count > 0 else {
                try #require(try client.next() != nil)
                try #require(client.answers[1]?.reset == nil)
                continue
            }
            sent += count
            let flags = sent == Self.size ? Flag.endStream : 0
            try client.send(Bytes.frame(Kind.data, flags, on: 1, [UInt8](repeating: 0x61, count: count)))
        }
    }

    @Test func `a client that is answered early may send all of its content`() throws {
        let stage = try self.stage()
        let client = try self.answeredClient(of: stage)
        try self.upload(from: 100, to: Self.size / 2, over: client)
        // Another stream is served meanwhile.
        try client.send(Bytes.headers(HTTP2Case.get, on: 3))
        #expect(try client.answer(on: 3).text == "ok")
        try self.upload(from: Self.size / 2, to: Self.size, over: client)
        try client.send(Bytes.headers(HTTP2Case.get, on: 5))
        #expect(try client.answer(on: 5).text == "ok")
        #expect(client.answers[1]?.reset == nil && client.goAway == nil)
        try Patience.wait(for: "nothing to be held") { try stage.pintle.counters()["held_bytes"] as? Int == 0 }
    }

    @Test func `a client that is answered early may end short of its length`() throws {
        let stage = try self.stage()
        let client = try self.answeredClient(of: stage)
        try client.send(Bytes.data("the end"))
        try client.send(Bytes.headers(HTTP2Case.get, on: 3))
        #expect(try client.answer(on: 3).text == "ok")
        #expect(client.answers[1]?.reset == nil && client.goAway == nil)
    }

    @Test func `a client that is answered early and goes silent is told to stop`() throws {
        let stage = try self.stage()
        let client = try self.answeredClient(of: stage)
        try client.send(Bytes.data("more", isLast: false))
        try #require(try client.read { $0.answers[1]?.reset != nil })
        #expect(client.answers[1]?.reset == .noError && client.goAway == nil)
        try client.send(Bytes.headers(HTTP2Case.get, on: 3))
        #expect(try client.answer(on: 3).text == "ok")
    }

    @Test func `only half of the streams wait for clients that are answered early`() throws {
        let stage = try HTTP2Stage()
        let client = try stage.client()
        try client.greet()
        // A path without a slash is refused with 400.
        let request = HTTP2Case.request("POST", "path")
        try client.send((0..<129).flatMap { Bytes.headers(request, Flag.endHeaders, on: 2 * $0 + 1) })
        try client.read { client in client.answers.values.contains { $0.reset != nil } }
        // The one that is too many is reset at once, and the others after some time.
        #expect(client.answers[2 * 128 + 1]?.reset == .noError)
        #expect(client.answers[2 * 128 + 1]?.status == 400)
    }
}
