// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Answers that are too long for memory: they go to the disk while they come, and answer from there.
struct LongAnswerTests {
    private static let length = 6 << 20
    private static let body = String(decoding: pattern(Self.length).map { 0x20 + $0 % 64 }, as: UTF8.self)
    private static let fresh = "Cache-Control: max-age=600\r\nETag: \"v1\"\r\n"
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// The memory has room for bodies of at most 128 KiB.
    private func start(_ cache: String = "memory: 1MiB") throws -> PintleProcess {
        try PintleProcess(
            "cache: {\(cache)}\nroutes: [{name: kept, cache: {policy: protocol}, coalesce: {}}]", folder: self.folder)
    }

    private func isHit(_ answer: Message) -> Bool { answer["Cache-Status"]?.contains(";hit") == true }

    /// Asks until the answer is on the disk: it counts a moment after its last byte has come.
    private func hit(_ port: Int, _ path: String, through pintle: PintleProcess) throws -> Message {
        let deadline = Date(timeIntervalSinceNow: Patience.seconds)
        while Date() < deadline {
            let answer = try pintle.ask(get(port, path))
            #expect(answer.text == Self.body)
            if self.isHit(answer) { return answer }
        }
        throw TestFailure("it is never kept")
    }

    /// The body in chunks, so that its length is not known before its end.
    private static func chunked(_ body: String) -> String {
        let bytes = Array(body.utf8)
        let chunks = stride(from: 0, to: bytes.count, by: 50_000).map { start in
            let chunk = bytes[start..<min(start + 50_000, bytes.count)]
            return "\(String(chunk.count, radix: 16))\r\n\(String(decoding: chunk, as: UTF8.self))\r\n"
        }
        return "HTTP/1.1 200 OK\r\n\(Self.fresh)Transfer-Encoding: chunked\r\n\r\n\(chunks.joined())0\r\n\r\n"
    }

    @Test(arguments: [false, true])
    func `clients share one that comes, and one that does not read holds up nobody`(isChunked: Bool) throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try mayAnswer.wait(for: "the clients") { $0 }
            try connection.send(isChunked ? Self.chunked(Self.body) : response(Self.body, fields: Self.fresh))
            _ = try connection.waitForEnd()
        }
        let pintle = try self.start()
        let clients = try (0..<12).map { _ in try pintle.connect(receiveBuffer: 4096) }
        for client in clients { try client.send(get(origin.port)) }
        try pintle.waitForCounter("active", clients.count)
        mayAnswer.change { $0 = true }
        for client in clients.dropFirst() { #expect(try client.readResponse().text == Self.body) }
        // Nothing but windows is in memory.
        #expect(try pintle.memory("VmHWM") < 128 << 10)
        #expect(try clients[0].readResponse().text == Self.body)
        #expect(try origin.waitForRequests(1).count == 1)
        let answer = try self.hit(origin.port, "/", through: pintle)
        #expect(answer["Content-Length"] == "\(Self.length)")
    }

    @Test func `one that is kept nowhere is over when it has come, and the next clients share another`() throws {
        let mayAnswer = Watched(1)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                _ = try mayAnswer.wait(for: "the clients") { $0 > 0 }
                mayAnswer.change { $0 -= 1 }
                try connection.send(Self.chunked(Self.body))
            }
        }
        let pintle = try self.start("memory: 1MiB, disk: off")
        #expect(try pintle.ask(get(origin.port)).text == Self.body)
        let clients = try (0..<2).map { _ in try pintle.connect() }
        for client in clients { try client.send(get(origin.port)) }
        try pintle.waitForCounter("active", clients.count)
        mayAnswer.change { $0 += 1 }
        // Both read at once: without a disk the slower one holds up the other.
        let (first, failure) = (Watched<String?>(nil), Watched<String?>(nil))
        inBackground(failure) {
            let text = try clients[0].readResponse().text
            first.change { $0 = text }
        }
        #expect(try clients[1].readResponse().text == Self.body)
        #expect(try first.wait(for: "the other client") { $0 != nil } == Self.body && failure.current == nil)
        #expect(origin.requests.count == 2)
    }

    @Test func `one that is kept nowhere puts an end to an earlier one that was kept`() throws {
        let isLong = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let short = response("short", fields: "Cache-Control: max-age=600\r\n")
                try connection.send(isLong.current ? Self.chunked(Self.body) : short)
            }
        }
        let pintle = try self.start("memory: 1MiB, disk: off")
        for _ in 0..<2 { #expect(try pintle.ask(get(origin.port)).text == "short") }
        isLong.change { $0 = true }
        for fields in ["Cache-Control: no-cache\r\n", ""] {
            #expect(try pintle.ask(get(origin.port, fields: fields)).text == Self.body)
        }
        #expect(origin.requests.count == 3)
    }

    @Test func `it answers whole, in part and by its head, and after the process has ended`() throws {
        let origin = try RawOrigin(answering: response(Self.body, fields: Self.fresh))
        var pintle = try self.start()
        #expect(try pintle.ask(get(origin.port, "/long")).text == Self.body)
        _ = try self.hit(origin.port, "/long", through: pintle)
        for _ in 0..<2 {
            let whole = try pintle.ask(get(origin.port, "/long"))
            #expect(whole.text == Self.body && self.isHit(whole) && whole["Age"] != nil)
            let part = try pintle.ask(get(origin.port, "/long", fields: "Range: bytes=5000000-5100000\r\n"))
            #expect(part.head.status == 206 && self.isHit(part))
            #expect(Array(part.text.utf8) == Array(Array(Self.body.utf8)[5_000_000...5_100_000]))
            let head = "HEAD" + get(origin.port, "/long").dropFirst("GET".count)
            let answer = try pintle.ask(head, method: "HEAD")
            #expect(answer.text.isEmpty && answer["Content-Length"] == "\(Self.length)" && self.isHit(answer))
            let same = try pintle.ask(get(origin.port, "/long", fields: "If-None-Match: \"v1\"\r\n"))
            #expect(same.head.status == 304 && self.isHit(same))
            #expect(try pintle.stop() == 0)
            pintle = try self.start()
        }
        #expect(origin.requests.count == 1)
    }

    @Test func `a stale one is confirmed, and its body stays where it is`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let isKnown = request["If-None-Match"] == "\"v1\""
                try connection.send(
                    isKnown
                        ? "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=600\r\n\r\n"
                        : response(Self.body, fields: "Cache-Control: max-age=0\r\nETag: \"v1\"\r\n"))
            }
        }
        let pintle = try self.start()
        _ = try self.hit(origin.port, "/", through: pintle)
        #expect(origin.requests.contains { $0["If-None-Match"] != nil })
    }

    @Test(arguments: [("HEAD", ""), ("GET", "If-None-Match: \"v0\"\r\n")])
    func `one on the disk learns from what goes past it`(method: String, fields: String) throws {
        let state = Watched("v1")
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let head =
                    "ETag: \"\(state.current)\"\r\nCache-Control: max-age=\(request["X-Stale"] == nil ? 600 : 1)\r\n"
                if request.head.startLine.hasPrefix("HEAD") {
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.length)\r\n\(head)\r\n")
                } else if request["If-None-Match"] != nil {
                    try connection.send("HTTP/1.1 304 Not Modified\r\n\(head)\r\n")
                } else {
                    try connection.send(response(Self.body, fields: head))
                }
            }
        }
        let pintle = try self.start()
        _ = try pintle.ask(get(origin.port))
        // No second answer may be on its way to the disk: it would replace the first at any later time.
        try Patience.wait(for: "the answer on the disk") {
            self.isHit(try pintle.ask(get(origin.port, fields: "Cache-Control: only-if-cached\r\n")))
        }
        // The client demands the answer of the origin, which has changed by now.
        state.change { $0 = "v2" }
        let count = origin.requests.count
        let passing = method + get(origin.port, fields: "\(fields)Cache-Control: no-cache\r\n").dropFirst("GET".count)
        _ = try pintle.ask(passing, method: method)
        #expect(origin.requests.count == count + 1)
        // The next request waits until the disk has compared the heads. A 304 about another tag says nothing of this one.
        let answer = try pintle.ask(get(origin.port))
        let words: Comment = "\(answer["Cache-Status"] ?? "-"), \(origin.requests.count - count) requests"
        #expect(answer["ETag"] == (method == "HEAD" ? "\"v2\"" : "\"v1\""), words)
        #expect(self.isHit(answer) == (method == "GET"), words)
    }

    @Test func `one on the disk ends with a newer answer that may not be stored, for a URL with such answers`() throws {
        let isOver = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                let isOwn = try connection.readRequest()["X-Own"] != nil || isOver.current
                let fields = "Vary: X-Own\r\nCache-Control: \(isOwn ? "private" : "max-age=600")\r\n"
                try connection.send(response(isOwn ? "own" : Self.body, fields: fields))
            }
        }
        let pintle = try self.start()
        _ = try self.hit(origin.port, "/", through: pintle)
        // From now on, requests for the URL do not wait for each other.
        #expect(try pintle.ask(get(origin.port, fields: "X-Own: a\r\n")).text == "own")
        #expect(self.isHit(try pintle.ask(get(origin.port))))
        isOver.change { $0 = true }
        #expect(try pintle.ask(get(origin.port, fields: "Cache-Control: no-cache\r\n")).text == "own")
        #expect(try pintle.ask(get(origin.port)).text == "own")
    }

    @Test func `what is removed while it comes is not found afterwards`() throws {
        let mayEnd = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let answer = response(Self.body, fields: Self.fresh)
                try connection.send(String(answer.prefix(answer.count / 2)))
                _ = try mayEnd.wait(for: "the removal") { $0 }
                try connection.send(String(answer.dropFirst(answer.count / 2)))
            }
        }
        let pintle = try self.start()
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        let purge = try PintleProcess.run(
            ["purge", "--all"], environment: ["XDG_STATE_HOME": self.folder.path, "PATH": "/usr/bin:/bin"])
        #expect(try purge.waitForExit() == 1)
        mayEnd.change { $0 = true }
        #expect(try client.readResponse().text == Self.body)
        let next = try pintle.ask(get(origin.port))
        #expect(next.text == Self.body && !self.isHit(next) && origin.requests.count == 2)
    }

    @Test func `many who ask at once for one that is on the disk take no memory for it`() throws {
        let origin = try RawOrigin(answering: response(Self.body, fields: Self.fresh))
        // The answer fits into memory, but after a restart it is only on the disk.
        var pintle = try self.start("memory: 100MiB")
        #expect(try pintle.ask(get(origin.port)).text == Self.body)
        #expect(try pintle.stop() == 0)
        pintle = try self.start("memory: 100MiB")
        let clients = try (0..<60).map { _ in try pintle.connect(receiveBuffer: 4096) }
        for client in clients { try client.send(get(origin.port)) }
        #expect(try clients[0].readResponse().text == Self.body)
        try pintle.waitForCounter("cache_hits", clients.count)
        #expect(try pintle.memory("VmHWM") < 160 << 10)
        for client in clients.dropFirst() { #expect(try client.readResponse().text == Self.body) }
        #expect(origin.requests.count == 1)
    }

    @Test func `variants on the disk are found beside those in memory`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let language = try connection.readRequest()["Accept-Language"] ?? ""
                try connection.send(response("in \(language)", fields: "\(Self.fresh)Vary: Accept-Language\r\n"))
            }
        }
        func ask(_ pintle: PintleProcess, _ language: String) throws -> Message {
            try pintle.ask(get(origin.port, fields: "Accept-Language: \(language)\r\n"))
        }
        var pintle = try self.start()
        for language in ["en", "de", "fr"] { #expect(try ask(pintle, language).text == "in \(language)") }
        #expect(try pintle.stop() == 0)
        pintle = try self.start()
        for language in ["de", "en", "fr", "de"] {
            let answer = try ask(pintle, language)
            #expect(answer.text == "in \(language)" && self.isHit(answer))
        }
        #expect(origin.requests.count == 3)
    }
}
