// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Answers that go past the cache, as clients and origins see them: parts, HEAD, and conditions of the client's own.
struct PassingAnswerTests {
    private static let content = "0123456789abcdefghij"
    private static let fresh = "Cache-Control: max-age=60\r\nETag: \"v1\"\r\n"

    /// A 206 with the bytes that a request asks for.
    private static func part(_ request: Message, fields: String = Self.fresh) -> String {
        let ends = (request["Range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let last = ends.count > 1 ? ends[1] : Self.content.count - 1
        let bytes = Self.content.dropFirst(ends.first ?? 0).prefix(last + 1 - (ends.first ?? 0))
        return response(
            String(bytes), status: "206 Partial Content",
            fields: "\(fields)Content-Range: bytes \(ends.first ?? 0)-\(last)/\(Self.content.count)\r\n")
    }

    private static func range(_ value: String, more: String = "") -> String { "Range: bytes=\(value)\r\n\(more)" }

    private func isHit(_ answer: Message) -> Bool { answer["Cache-Status"]?.contains(";hit") == true }

    // MARK: Parts

    @Test func `parts are kept, joined, and become the whole`() throws {
        let origin = try RawOrigin { connection in
            while true { try connection.send(Self.part(try connection.readRequest())) }
        }
        let pintle = try PintleProcess(CacheTests.configuration)
        let first = try pintle.ask(get(origin.port, fields: Self.range("5-9")))
        #expect(first.head.status == 206 && first.text == "56789" && first["Content-Range"] == "bytes 5-9/20")
        #expect(first["Cache-Status"] == "pintle;fwd=uri-miss;fwd-status=206;stored")
        let within = try pintle.ask(get(origin.port, fields: Self.range("6-8")))
        #expect(within.text == "678" && within["Content-Range"] == "bytes 6-8/20" && self.isHit(within))
        // The range overlaps the stored part; the missing bytes are fetched.
        let second = try pintle.ask(get(origin.port, fields: Self.range("0-6")))
        #expect(second.text == "0123456" && second["Cache-Status"]?.contains("fwd=partial") == true)
        let both = try pintle.ask(get(origin.port, fields: Self.range("0-9")))
        #expect(both.text == "0123456789" && self.isHit(both))
        #expect(try pintle.ask(get(origin.port, fields: Self.range("10-"))).text == "abcdefghij")
        let whole = try pintle.ask(get(origin.port))
        #expect(whole.head.status == 200 && whole.text == Self.content && whole["Content-Range"] == nil)
        #expect(self.isHit(whole) && origin.requests.count == 3)
    }

    @Test func `a whole that has been joined outlives the process`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin { connection in
            while true { try connection.send(Self.part(try connection.readRequest())) }
        }
        let configuration = "routes: [{name: kept, cache: {policy: protocol}}]"
        var pintle = try PintleProcess(configuration, folder: folder)
        for range in ["10-", "0-9"] { _ = try pintle.ask(get(origin.port, fields: Self.range(range))) }
        #expect(try pintle.stop() == 0)
        pintle = try PintleProcess(configuration, folder: folder)
        let whole = try pintle.ask(get(origin.port))
        #expect(whole.text == Self.content && self.isHit(whole) && origin.requests.count == 2)
    }

    @Test func `a part of another state takes the place of what was kept`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let tag = request["Range"]?.contains("10-") == true ? "v2" : "v1"
                try connection.send(Self.part(request, fields: "Cache-Control: max-age=60\r\nETag: \"\(tag)\"\r\n"))
            }
        }
        let pintle = try PintleProcess(CacheTests.configuration)
        for range in ["0-9", "10-19"] { _ = try pintle.ask(get(origin.port, fields: Self.range(range))) }
        #expect(self.isHit(try pintle.ask(get(origin.port, fields: Self.range("12-14")))))
        #expect(!self.isHit(try pintle.ask(get(origin.port, fields: Self.range("0-9")))))
    }

    @Test(arguments: [
        ("Cache-Control: max-age=60\r\nETag: W/\"v1\"\r\n", "partial"),
        ("Cache-Control: no-store\r\nETag: \"v1\"\r\n", "no-store"),
        ("Cache-Control: max-age=60\r\nETag: \"v1\"\r\nSet-Cookie: a=b\r\n", "set-cookie"),
    ])
    func `a part that must not be kept goes on to its client alone`(fields: String, reason: String) throws {
        let origin = try RawOrigin { connection in
            while true { try connection.send(Self.part(try connection.readRequest(), fields: fields)) }
        }
        let pintle = try PintleProcess(CacheTests.configuration)
        for _ in 0..<2 {
            let answer = try pintle.ask(get(origin.port, fields: Self.range("0-4")))
            #expect(answer.text == "01234")
            #expect(answer["Cache-Status"] == "pintle;fwd=uri-miss;fwd-status=206;detail=\(reason)")
        }
        #expect(origin.requests.count == 2)
    }

    @Test func `a long part goes through as it is and is not kept`() throws {
        let text = String(repeating: "x", count: 300_000)
        let origin = try RawOrigin(
            answering: response(
                text, status: "206 Partial Content", fields: "\(Self.fresh)Content-Range: bytes 0-299999/900000\r\n"))
        let pintle = try PintleProcess(
            "cache: {memory: 1MiB, disk: off}\nroutes: [{name: kept, cache: {policy: protocol}}]")
        for _ in 0..<2 {
            let answer = try pintle.ask(get(origin.port, fields: Self.range("0-299999")))
            #expect(answer.text == text && answer["Cache-Status"]?.contains("stored") == false)
        }
        #expect(origin.requests.count == 2)
    }

    // MARK: Bodies that break off

    /// Sends half of an answer, and the rest when it may.
    private func halfway(_ mayGoOn: Watched<Bool>) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                guard request["Range"] != nil else {
                    try connection.send(response("", fields: "Cache-Control: no-store\r\n"))
                    continue
                }
                let answer = Self.part(request)
                try connection.send(String(answer.dropLast(5)))
                _ = try mayGoOn.wait(for: "the rest") { $0 }
                try connection.send(String(answer.suffix(5)))
            }
        }
    }

    @Test func `what has come is kept where the client leaves in the middle`() throws {
        let mayGoOn = Watched(false)
        let origin = try self.halfway(mayGoOn)
        let pintle = try PintleProcess(CacheTests.configuration + "\nengine: {threads: 1}")
        let client = try pintle.connect()
        try client.send(get(origin.port, fields: Self.range("0-9")))
        _ = try client.readHead()
        #expect(try client.read(5) == Array("01234".utf8))
        client.reset()
        _ = try pintle.waitForExchanges(1)
        let known = try pintle.ask(get(origin.port, fields: Self.range("1-4")))
        #expect(known.text == "1234" && self.isHit(known))
        mayGoOn.change { $0 = true }
        let rest = try pintle.ask(get(origin.port, fields: Self.range("5-9")))
        #expect(rest.text == "56789" && rest["Cache-Status"]?.contains("fwd=partial") == true)
        #expect(self.isHit(try pintle.ask(get(origin.port, fields: Self.range("0-9")))))
        #expect(origin.requests.count == 2)
    }

    @Test func `what is removed while it is under way is not kept`() throws {
        let mayGoOn = Watched(false)
        let origin = try self.halfway(mayGoOn)
        let pintle = try PintleProcess(CacheTests.configuration)
        let client = try pintle.connect()
        try client.send(get(origin.port, fields: Self.range("0-9")))
        _ = try client.readHead()
        let post = "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
        #expect(try pintle.ask(post, method: "POST").head.status == 200)
        mayGoOn.change { $0 = true }
        #expect(try client.read(10) == Array("0123456789".utf8))
        let again = try pintle.ask(get(origin.port, fields: Self.range("0-9")))
        #expect(again.text == "0123456789" && again["Cache-Status"]?.contains("fwd=uri-miss") == true)
        #expect(self.isHit(try pintle.ask(get(origin.port, fields: Self.range("0-9")))))
        #expect(origin.requests.count == 3)
    }

    @Test(arguments: ["", "If-None-Match: \"old\"\r\n"])
    func `what has come of the whole is kept where the origin breaks off`(condition: String) throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                guard request["Range"] == nil else {
                    try connection.send(Self.part(request))
                    continue
                }
                return try connection.send(String(response(Self.content, fields: Self.fresh).dropLast(8)))
            }
        }
        let pintle = try PintleProcess(CacheTests.configuration)
        let client = try pintle.connect()
        try client.send(get(origin.port, fields: condition))
        _ = try client.readHead()
        #expect(try client.readToEnd().bytes == Array(Self.content.utf8.prefix(12)))
        _ = try pintle.waitForExchanges(1)
        let known = try pintle.ask(get(origin.port, fields: Self.range("0-11")))
        #expect(known.text == "0123456789ab" && self.isHit(known))
        #expect(try pintle.ask(get(origin.port, fields: Self.range("12-"))).text == "cdefghij")
        let whole = try pintle.ask(get(origin.port))
        #expect(whole.text == Self.content && self.isHit(whole) && origin.requests.count == 2)
    }

    // MARK: HEAD and conditions

    private static let stale = "Cache-Control: max-age=0\r\nETag: \"v1\"\r\n"

    private func head(_ port: Int) -> String { get(port).replacingOccurrences(of: "GET ", with: "HEAD ") }

    /// An origin that answers GET with a stale body, and HEAD with other fields.
    private func origin(answeringHeadWith fields: String) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let isHead = try connection.readRequest().head.startLine.hasPrefix("HEAD")
                let answer = response("body", fields: isHead ? fields : Self.stale)
                try connection.send(isHead ? String(answer.dropLast(4)) : answer)
            }
        }
    }

    @Test func `the answer to HEAD brings what is kept up to date`() throws {
        let origin = try self.origin(answeringHeadWith: "X: new\r\n\(Self.fresh)")
        let pintle = try PintleProcess(CacheTests.configuration)
        _ = try pintle.ask(get(origin.port))
        let head = try pintle.ask(self.head(origin.port), method: "HEAD")
        #expect(head["X"] == "new" && head["Cache-Status"] == "pintle;fwd=stale;fwd-status=200")
        let kept = try pintle.ask(get(origin.port))
        #expect(kept.text == "body" && kept["X"] == "new" && self.isHit(kept) && origin.requests.count == 2)
    }

    @Test func `the answer to HEAD removes what has changed`() throws {
        let origin = try self.origin(answeringHeadWith: "ETag: \"v2\"\r\n")
        let pintle = try PintleProcess(CacheTests.configuration)
        _ = try pintle.ask(get(origin.port))
        _ = try pintle.ask(self.head(origin.port), method: "HEAD")
        #expect(try pintle.ask(get(origin.port))["Cache-Status"]?.contains("fwd=uri-miss") == true)
        #expect(origin.requests.last?["If-None-Match"] == nil && origin.requests.count == 3)
    }

    @Test(arguments: [("\"v1\"", true), ("\"v0\"", false)])
    func `a 304 to a client's own condition brings what is kept up to date, if it is about that`(
        tag: String, isAbout: Bool
    ) throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if let known = request["If-None-Match"] {
                    try connection.send(
                        "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \(known)\r\n\r\n")
                } else {
                    try connection.send(response("body", fields: Self.stale))
                }
            }
        }
        let pintle = try PintleProcess(CacheTests.configuration)
        _ = try pintle.ask(get(origin.port))
        let unchanged = try pintle.ask(get(origin.port, fields: "If-None-Match: \(tag)\r\n"))
        #expect(unchanged.head.status == 304 && unchanged["Cache-Status"] == "pintle;fwd=stale;fwd-status=304")
        let kept = try pintle.ask(get(origin.port))
        #expect(kept.head.status == 200 && kept.text == "body" && self.isHit(kept) == isAbout)
        #expect(origin.requests.count == (isAbout ? 2 : 3))
    }

    @Test func `a full answer to a client's own condition or range is kept`() throws {
        let origin = try RawOrigin(answering: response("body", fields: Self.fresh))
        let pintle = try PintleProcess(CacheTests.configuration)
        let changed = try pintle.ask(get(origin.port, "/a", fields: "If-None-Match: \"v0\"\r\n"))
        #expect(changed.text == "body" && changed["Cache-Status"] == "pintle;fwd=uri-miss;fwd-status=200;stored")
        #expect(try pintle.ask(get(origin.port, "/b", fields: Self.range("0-1"))).text == "body")
        for path in ["/a", "/b"] { #expect(self.isHit(try pintle.ask(get(origin.port, path)))) }
        #expect(origin.requests.count == 2)
    }
}
