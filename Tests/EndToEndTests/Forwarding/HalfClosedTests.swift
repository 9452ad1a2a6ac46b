// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Clients that have finished sending, and wait for their answers (RFC 9112 §9.6).
struct HalfClosedTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess("limits: {idle_timeout: 1h, tunnel_idle_timeout: 1h}") }

    /// Answers each request when the test says so, and notes how its connections end.
    private struct LateOrigin {
        let origin: RawOrigin
        let isDue = Watched(false)

        init(_ answer: String) throws {
            let isDue = self.isDue
            self.origin = try RawOrigin { connection in
                while true {
                    _ = try connection.readRequest()
                    try isDue.wait(for: "the answer to be due") { $0 }
                    try connection.send(answer)
                }
            }
        }
    }

    @Test(arguments: [
        response("done"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n",
    ])
    func `the answer comes, says that it is the last, and the connection closes`(answer: String) throws {
        let late = try LateOrigin(answer)
        let client = try self.pintle.connect()
        try client.send(get(late.origin.port))
        client.finishSending()
        try late.origin.waitForRequests(1)
        late.isDue.change { $0 = true }
        let message = try client.readResponse()
        #expect(message.status == 200 && message.text == "done", "\(message)")
        #expect(message.head.values("Connection").map { $0.lowercased() } == ["close"], "\(message)")
        let rest = try client.readToEnd()
        #expect(rest.bytes.isEmpty && rest.ending == .closed)
    }

    @Test func `a whole body and pipelined requests are served to the last`() throws {
        let origin = try RawOrigin { connection in
            while case let request = try connection.readRequest() { try connection.send(response(request.text + "!")) }
        }
        let body = String(repeating: "x", count: 300_000)
        let post = "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n"
        let client = try self.pintle.connect()
        try client.send(
            "\(post)Content-Length: \(body.utf8.count)\r\n\r\n\(body)\(get(origin.port))"
                + "\(post)Transfer-Encoding: chunked\r\n\r\n3\r\nend\r\n0\r\n\r\n")
        client.finishSending()
        #expect(try client.readResponse().text == body + "!")
        #expect(try client.readResponse().text == "!")
        #expect(try client.readResponse().text == "end!")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test(arguments: ["", "GET http://x/ HTTP/1.1\r\nHost", "\r\n"])
    func `the end where no request is complete closes the connection`(start: String) throws {
        let client = try self.pintle.connect()
        try client.send(start)
        client.finishSending()
        let rest = try client.readToEnd()
        #expect(rest.bytes.isEmpty && rest.ending == .closed)
    }

    @Test func `a body that is cut off is not completed`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.waitForEnd()
        }
        for body in ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
            let client = try self.pintle.connect()
            try client.send("POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(body)")
            client.finishSending()
            #expect(try client.readToEnd().bytes.isEmpty)
        }
        let records = try self.pintle.waitForExchanges(2)
        #expect(records.allSatisfy { $0["error"] as? String == "the client closed the connection" }, "\(records)")
        try origin.waitUntilQuiet()
    }

    @Test func `one that is gone after all takes its request with it`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let client = try self.pintle.connect()
        try client.send(get(origin.port))
        client.finishSending()
        try origin.waitForRequests(1)
        client.reset()
        try origin.waitUntilQuiet()
        #expect(try self.pintle.waitForExchanges(1)[0]["address"] as? String == "127.0.0.1")
        #expect(try self.pintle.counters()["cancelled"] as? Int == 1)
    }

    @Test func `one that has closed is noticed when it is written to`() throws {
        let due = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try due.wait(for: "the client to be gone") { $0 }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let block = pattern(1 << 16)
            for _ in 0..<15_000 { try connection.stream.send(block) }
        }
        let client = try self.pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        client.close()
        due.change { $0 = true }
        #expect(try self.pintle.waitForExchanges(1)[0]["error"] as? String == "the client closed the connection")
        try origin.waitUntilQuiet()
    }

    @Test(arguments: ["CONNECT", "GET"])
    func `a tunnel for one that has said everything brings the answer`(method: String) throws {
        let origin = try RawOrigin { connection in
            if method == "GET" {
                _ = try connection.readRequestHead()
                try connection.send("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
            }
            try connection.stream.send(try connection.stream.readToEnd().bytes.reversed())
        }
        let target = method == "GET" ? "http://127.0.0.1:\(origin.port)/" : "127.0.0.1:\(origin.port)"
        let client = try self.pintle.connect()
        try client.send("\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nabc")
        client.finishSending()
        #expect([101, 200].contains(try client.readHead().status))
        let rest = try client.readToEnd()
        #expect(rest.bytes == Array("cba".utf8) && rest.ending == .closed)
    }
}
