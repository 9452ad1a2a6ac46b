// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Clients that mean harm: their connection ends, others are served meanwhile, and the process keeps its size.
struct HTTP2FloodTests {
    /// Bytes that a client sends again and again.
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        /// Bytes that are sent once before.
        var opening: [UInt8] = []
        let frames: @Sendable (_ stream: Int) -> [UInt8]

        var testDescription: String { self.name }
    }

    private static let floods = [
        Flood(name: "rapid reset (CVE-2023-44487)") { Bytes.headers(HTTP2Case.get, on: $0) + Bytes.reset(on: $0) },
        Flood(name: "resets by a zero increment (CVE-2025-8671)") {
            HTTP2Case.post(on: $0) + Bytes.windowUpdate(0, on: $0)
        },
        Flood(name: "resets by an increment over the most (CVE-2025-8671)") {
            HTTP2Case.post(on: $0) + Bytes.windowUpdate(0x7FFF_FFFF, on: $0)
        },
        Flood(name: "resets by DATA behind the end (CVE-2025-8671)") {
            Bytes.headers(HTTP2Case.get, on: $0) + Bytes.data("a", on: $0)
        },
        Flood(name: "resets by HEADERS behind the end (CVE-2025-8671)") {
            Bytes.headers(HTTP2Case.get, on: $0) + Bytes.headers([("x", "y")], on: $0)
        },
        Flood(name: "resets by a length that does not hold (CVE-2025-8671)") {
            HTTP2Case.post([("content-length", "1")], on: $0) + Bytes.data("aa", on: $0)
        },
        Flood(name: "resets by trailers that are refused (CVE-2025-8671)") {
            HTTP2Case.post(on: $0) + Bytes.headers([("x", "a\u{1}")], on: $0)
        },
        Flood(name: "requests that are malformed") { Bytes.headers([("Upper", "1")], on: $0) },
        Flood(name: "CONTINUATION", opening: Bytes.frame(Kind.headers, on: 1, Bytes.block(HTTP2Case.get))) {
            Bytes.frame(Kind.continuation, on: 1, Bytes.literal("x-\($0)", "y"))
        },
        Flood(name: "empty CONTINUATION", opening: Bytes.frame(Kind.headers, on: 1, Bytes.block(HTTP2Case.get))) { _ in
            Bytes.frame(Kind.continuation, on: 1)
        },
        Flood(name: "SETTINGS") { _ in Bytes.settings([]) },
        Flood(name: "SETTINGS of many values") { number in
            Bytes.settings((0..<2000).map { ($0 & 1 == 0 ? 3 : 1, number &+ $0) })
        },
        Flood(name: "PING") { _ in
            [[UInt8]](repeating: Bytes.frame(Kind.ping, on: 0, Array(1...8)), count: 100).flatMap { $0 }
        },
        Flood(name: "empty DATA", opening: HTTP2Case.post()) { _ in Bytes.frame(Kind.data, on: 1) },
        Flood(name: "DATA of padding", opening: HTTP2Case.post()) { _ in
            Bytes.frame(Kind.data, Flag.padded, on: 1, [3, 0, 0, 0])
        },
        Flood(name: "a long entry of the table, referred to again and again") {
            Bytes.frame(
                Kind.headers, Flag.whole, on: $0,
                Bytes.block(HTTP2Case.get) + Bytes.literal("x", String(repeating: "v", count: 3900), 0x40)
                    + [UInt8](repeating: 0xBE, count: 4000))
        },
    ]

    /// Sends as much as the peer takes, and everything that it says is thrown away.
    private static func send(_ flood: Flood, over client: HTTP2Client) {
        do {
            try client.send(flood.opening)
            for number in 0..<20_000 { try client.send(flood.frames(2 * number + (flood.opening.isEmpty ? 1 : 3))) }
            try client.readToEnd()
        } catch {
            // A connection that the peer has ended takes no more.
        }
    }

    @Test(arguments: Self.floods)
    func `a flood ends its connection, and nobody else's`(flood: Flood) throws {
        let stage = try HTTP2Stage()
        let bystander = try stage.client()
        try bystander.greet()
        try bystander.send(Bytes.headers(HTTP2Case.get, on: 1))
        #expect(try bystander.answer(on: 1).status == 200)
        let (memory, hasEnded, failure) = (try stage.pintle.memory("VmRSS"), Watched(false), Watched<String?>(nil))
        inBackground(failure) {
            let client = try stage.client()
            try client.greet()
            Self.send(flood, over: client)
            hasEnded.change { $0 = true }
        }
        var number = 3
        repeat {
            try bystander.send(Bytes.headers(HTTP2Case.get, on: number))
            #expect(try bystander.answer(on: number).status == 200)
            number += 2
        } while !hasEnded.current && failure.current == nil
        #expect(failure.current == nil)
        #expect(try runsUnderSanitizer || stage.pintle.memory("VmRSS") - memory < 64 * 1024)
        #expect(stage.heldUp.isEmpty, "\(stage.heldUp)")
    }

    @Test func `a browser may change the priority of every picture of a page`() throws {
        let stage = try HTTP2Stage()
        let client = try stage.client()
        try client.greet()
        for number in 0..<1000 {
            let change: [UInt8] = [0x80, 0, 0, 0, UInt8(number % 256)]
            try client.send(Bytes.frame(Kind.priority, on: 2 * (number % 100) + 1, change))
        }
        try client.send(Bytes.headers(HTTP2Case.get, on: 1))
        #expect(try client.answer(on: 1).status == 200)
        #expect(client.goAway == nil)
    }

    /// Times that are short, for clients that do not move.
    private static let impatient = "limits: {body_timeout: 1s, idle_timeout: 1s, header_timeout: 1s}"

    /// An origin with a large file.
    private func large() throws -> (stage: HTTP2Stage, nginx: NginxOrigin) {
        let nginx = try NginxOrigin()
        try nginx.serve(pattern(2_000_000), as: "large")
        return (try HTTP2Stage(Self.impatient, leadingTo: nginx.httpPort), nginx)
    }

    private static let large = HTTP2Case.request("GET", "/files/large")

    @Test(arguments: [
        ("no window for streams", [(4, 0)]), ("one byte of window for streams", [(4, 1)]),
        ("the window of the connection alone", [(4, 0x7FFF_FFFF)]),
    ])
    func `who asks for much and takes nothing has the connection ended`(name: String, settings: [(Int, Int)]) throws {
        let (stage, nginx) = try self.large()
        defer { withExtendedLifetime(nginx) {} }
        let bystander = try stage.client()
        try bystander.greet()
        let memory = try stage.pintle.memory("VmRSS")
        let client = try stage.client()
        try client.greet(settings)
        for number in 0..<256 { try client.send(Bytes.headers(Self.large, on: 2 * number + 1)) }
        try bystander.send(Bytes.headers(HTTP2Case.request("GET", "/hello"), on: 1))
        #expect(try bystander.answer(on: 1).text == "hello\n")
        try client.readToEnd()
        #expect(try runsUnderSanitizer || stage.pintle.memory("VmHWM") - memory < 64 * 1024, "\(name)")
        #expect(client.answers.values.allSatisfy { !$0.isComplete })
        try stage.pintle.waitForExchanges(256)
    }

    @Test func `streams on which nothing comes end, and their connection with them`() throws {
        let stage = try HTTP2Stage(Self.impatient)
        let client = try stage.client()
        try client.greet()
        for number in 0..<256 { try client.send(HTTP2Case.post(on: 2 * number + 1)) }
        try client.readToEnd()
        #expect(client.answers.count == 256 && client.answers.values.allSatisfy { $0.status == 408 })
    }

    @Test(arguments: ["a greeting", "half a greeting", "half a header section", "half a frame"])
    func `a client that stops is not waited for`(at place: String) throws {
        let stage = try HTTP2Stage(Self.impatient)
        let client = try stage.client()
        switch place {
        case "a greeting": try client.greet()
        case "half a greeting": try client.send(Array(Bytes.magic.prefix(10)))
        case "half a header section":
            try client.greet()
            try client.send(Bytes.frame(Kind.headers, Flag.endStream, on: 1, Bytes.block(HTTP2Case.get)))
        default:
            try client.greet()
            try client.send(Array(Bytes.headers(HTTP2Case.get).prefix(20)))
        }
        try client.readToEnd()
        #expect(stage.origin.requests.isEmpty)
    }

    /// A client whose request is on its way to an origin that does not finish its handshake.
    ///
    /// - Parameter isFull: true if it has sent as much content as the proxy accepts before that.
    private func waitingClient(of stage: HTTP2Stage, isFull: Bool) throws -> HTTP2Client {
        let client = try stage.client()
        try client.greet()
        try client.send(HTTP2Case.post())
        let piece = Bytes.frame(Kind.data, on: 1, [UInt8](repeating: 0x61, count: isFull ? 1 << 14 : 1))
        for number in 1...5 {
            try client.send(piece)
            try self.ping(client, number)
        }
        return client
    }

    /// Waits until all that was sent was looked at.
    private func ping(_ client: HTTP2Client, _ number: Int) throws {
        try client.send(Bytes.frame(Kind.ping, on: 0, Array(1...8)))
        try client.read { $0.pongs.count == number || $0.goAway != nil }
    }

    @Test(arguments: ["DATA of one byte", "WINDOW_UPDATE"])
    func `LOOK-73 frames that waited are taken however many there are`(kind: String) throws {
        let isReleased = Watched(false)
        let stage = try HTTP2Stage(by: "https") { connection in
            _ = try connection.stream.read(1)
            try isReleased.wait(for: "the frames") { $0 }
        }
        let client = try self.waitingClient(of: stage, isFull: true)
        let frame = kind == "WINDOW_UPDATE" ? Bytes.windowUpdate(1) : Bytes.data("a", isLast: false)
        for _ in 0..<300 { try client.send([[UInt8]](repeating: frame, count: 100).flatMap { $0 }) }
        try self.ping(client, 6)
        let held = try #require(try stage.pintle.counters()["held_bytes"] as? Int)
        #expect(held >= 30_000 * 256, "\(held)")
        isReleased.change { $0 = true }
        #expect(try client.answer().status == 502)
        try self.ping(client, 7)
        #expect(client.pongs.count == 7 && client.goAway == nil)
    }

    @Test(arguments: [true, false])
    func `LOOK-73 a client that sends WINDOW_UPDATE for ever takes no memory`(hasEnded: Bool) throws {
        let isReleased = Watched(false)
        let stage = try HTTP2Stage(by: "https") { connection in
            _ = try connection.stream.read(1)
            try isReleased.wait(for: "the frames") { $0 }
        }
        defer { isReleased.change { $0 = true } }
        let client = try self.waitingClient(of: stage, isFull: !hasEnded)
        try client.send(Bytes.data("a", isLast: hasEnded))
        let memory = try stage.pintle.memory("VmRSS")
        let frames = [[UInt8]](repeating: Bytes.windowUpdate(1), count: 1000).flatMap { $0 }
        do {
            for _ in 0..<100 { try client.send(frames) }
            try self.ping(client, 6)
        } catch {
            // The connection has ended.
        }
        #expect(hasEnded ? client.pongs.count == 6 : client.goAway == .enhanceYourCalm)
        #expect(try runsUnderSanitizer || stage.pintle.memory("VmRSS") - memory < 64 * 1024)
    }

    @Test func `a client that pings in each round trip while content comes is served to the end`() throws {
        let (pieces, pinged) = (600, Watched(0))
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for number in 1...pieces {
                try connection.send("1\r\na\r\n")
                try pinged.wait(for: "the ping behind a piece") { $0 >= number }
            }
            try connection.send("0\r\n\r\n")
        }
        // The origin does not wait for a client that has failed.
        defer { pinged.change { $0 = .max } }
        let client = try stage.client()
        try client.greet()
        try client.send(Bytes.headers(HTTP2Case.get))
        for number in 1...pieces {
            try client.read { $0.answers[1]?.body.count ?? 0 >= number || $0.goAway != nil }
            try self.ping(client, number)
            pinged.change { $0 = number }
        }
        #expect(try client.answer().body.count == pieces)
        #expect(client.goAway == nil && client.pongs.count == pieces)
    }

    @Test func `a client that breaks off streams whose answer it has goes on`() throws {
        let stage = try HTTP2Stage { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("ok"))
            }
        }
        let client = try stage.client()
        try client.greet()
        // Clients do this if the length shows them that they have everything; a hundred at a time, so that there are many
        // in a moment.
        for round in 0..<20 {
            let streams = (0..<100).map { 200 * round + 2 * $0 + 1 }
            for stream in streams { try client.send(Bytes.headers(HTTP2Case.get, on: stream)) }
            for stream in streams {
                #expect(try client.answer(on: stream).status == 200)
                try client.send(Bytes.reset(on: stream))
            }
        }
        #expect(client.goAway == nil)
    }

    @Test func `what a client allows this side to remember takes no memory`() throws {
        // Each answer has other fields, of which each would be remembered.
        let stage = try HTTP2Stage { connection in
            var number = 0
            while true {
                _ = try connection.readRequest()
                number += 1
                let value = String(repeating: "\(number % 10)", count: 12_000)
                try connection.send(response("ok", fields: "X-\(connection.number)-\(number): \(value)\r\n"))
            }
        }
        let client = try stage.client()
        try client.greet([(1, 0xFFFF_FFFF)])
        func ask(_ number: Int) throws {
            try client.send(Bytes.headers(HTTP2Case.get, on: 2 * number + 1))
            #expect(try client.answer(on: 2 * number + 1).status == 200)
        }
        for number in 0..<1000 { try ask(number) }
        let memory = try stage.pintle.memory("VmRSS")
        for number in 1000..<3000 { try ask(number) }
        #expect(try stage.pintle.memory("VmRSS") - memory < 8 * 1024)
    }
}
