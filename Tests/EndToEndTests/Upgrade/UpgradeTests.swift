// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Upgrades (RFC 9110 §7.8): the offers, the permitted answers, and the end.
struct UpgradeTests {
    let pintle: PintleProcess

    init() throws {
        self.pintle = try PintleProcess("limits: {tunnels: 2}")
    }

    /// A request that offers `protocols`.
    private func offer(
        _ port: Int, _ protocols: String = "Upgrade: echo\r\n", connection: String = "Upgrade", version: String = "1.1"
    ) -> String {
        "GET http://127.0.0.1:\(port)/ HTTP/\(version)\r\nHost: x\r\nConnection: \(connection)\r\n\(protocols)\r\n"
    }

    private static let switching = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

    /// Switches protocols, and echoes all bytes until they end.
    private static func echo(before answer: String = "") throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(answer + Self.switching)
            while let bytes = try connection.stream.readSome() { try connection.stream.send(bytes) }
            connection.stream.finishSending()
        }
    }

    // MARK: Upgrades that pass

    @Test func `what a client sends behind its request, and an origin behind its head, is not lost`() throws {
        let origin = try Self.echo(before: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        let client = try self.pintle.connect()
        try client.send(self.offer(origin.port) + "early bird\r\n")
        #expect(try client.readHead()["Link"] == "</a>", "interim responses come first")
        let head = try client.readHead()
        #expect(head.status == 101 && head["Upgrade"] == "echo", "\(head)")
        #expect(try client.readLine() == "early bird")
        let talker = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(Self.switching + "welcome\r\n")
            _ = try connection.waitForEnd()
        }
        let second = try self.pintle.connect()
        try second.send(self.offer(talker.port))
        #expect(try second.readHead().status == 101)
        #expect(try second.readLine() == "welcome")
    }

    @Test(.enabled(if: !runsUnderSanitizer), arguments: ["answered", "cut off", "given up"])
    func `upgrades that come to nothing leave nothing behind`(end: String) throws {
        let body = String(repeating: "x", count: 300_000)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(end == "cut off" ? String(response(body).dropLast(1)) : response(body))
        }
        var asked = 0
        func ask(_ count: Int) throws {
            for _ in 0..<count {
                let client = try self.pintle.connect()
                try client.send(self.offer(origin.port))
                let head = try client.readHead()
                #expect(head.status == 200)
                switch end {
                case "answered": #expect(try client.readBody(of: head).body.count == body.utf8.count)
                case "cut off": _ = try client.readToEnd()
                default: client.reset()
                }
                // Two may be under way, and a reset has to be noticed first.
                asked += 1
                _ = try self.pintle.waitForExchanges(asked)
            }
        }
        try ask(50)
        let before = try self.pintle.memory("VmRSS")
        try ask(200)
        // If a buffer of each stayed, it would be 64 KiB or more.
        #expect(try self.pintle.memory("VmRSS") - before < 200 * 20)
    }

    @Test func `each side may finish before the other`() throws {
        let origin = try Self.echo()
        let client = try self.pintle.connect()
        try client.send(self.offer(origin.port))
        #expect(try client.readHead().status == 101)
        try client.send("abc")
        client.finishSending()
        let rest = try client.readToEnd()
        #expect(rest.bytes == Array("abc".utf8) && rest.ending == .closed)
        let heard = Watched<[UInt8]?>(nil)
        let speaker = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(Self.switching)
            connection.stream.finishSending()
            let bytes = try connection.stream.readToEnd().bytes
            heard.change { $0 = bytes }
        }
        let second = try self.pintle.connect()
        try second.send(self.offer(speaker.port))
        #expect(try second.readHead().status == 101)
        #expect(try second.readToEnd().ending == .closed)
        try second.send("still here")
        second.close()
        #expect(try heard.wait(for: "the origin to hear the end") { $0 != nil } == Array("still here".utf8))
    }

    @Test func `one that is idle for too long is closed, and its place is free again`() throws {
        let pintle = try PintleProcess("limits: {tunnels: 1, tunnel_idle_timeout: 200ms}")
        let origin = try Self.echo()
        for number in 1...2 {
            let client = try pintle.connect()
            try client.send(self.offer(origin.port))
            #expect(try client.readHead().status == 101)
            #expect(try client.readToEnd().bytes.isEmpty)
            try pintle.waitForExchanges(number)
        }
        let records = pintle.exchanges
        #expect((records[0]["error"] as? String)?.contains("tunnel_idle_timeout") == true, "\(records)")
    }

    @Test func `they count as tunnels`() throws {
        let origin = try Self.echo()
        let open = try (0..<2).map { _ in
            let client = try self.pintle.connect()
            try client.send(self.offer(origin.port))
            #expect(try client.readHead().status == 101)
            return client
        }
        let third = try self.pintle.ask(self.offer(origin.port))
        #expect(third.status == 503 && third.text.contains("limits.tunnels"), "\(third)")
        for client in open { client.close() }
    }

    @Test(arguments: [
        ("tcp", "Content-Length: 29\r\n", "{\"Detach\":false,\"Tty\":false} ", ""),
        ("tcp", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", ""),
        ("SPDY/3.1", "Content-Length: 0\r\n", "", ""), ("tcp", "Content-Length: 2\r\n", "{}", "early"),
    ])
    func `LOOK-79 a request with content upgrades behind it, and half-closing works`(
        name: String, framing: String, content: String, early: String
    ) throws {
        let bodies = Watched<[String]>([])
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            bodies.change { $0.append(request.text) }
            try connection.send("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: \(name)\r\n\r\n")
            while let bytes = try connection.stream.readSome() { try connection.stream.send(bytes) }
            try connection.stream.send(Array("bye".utf8))
            connection.stream.finishSending()
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                + "Upgrade: \(name)\r\n\(framing)\r\n\(content)\(early)")
        let head = try client.readHead()
        #expect(head.status == 101 && head["Upgrade"] == name, "\(head)")
        try client.send("ping")
        client.finishSending()
        let rest = try client.readToEnd()
        #expect(rest.bytes == Array("\(early)pingbye".utf8) && rest.ending == .closed)
        let request = try #require(origin.requests.first)
        #expect(request["Upgrade"] == name && request["Connection"] == "Upgrade", "\(request)")
        #expect(bodies.current.first.map { content.contains($0) } == true)
    }

    @Test func `LOOK-79 an origin cannot switch before it has the request`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send(Self.switching)
            _ = try connection.waitForEnd()
        }
        let client = try self.pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                + "Upgrade: echo\r\nContent-Length: 10\r\n\r\nhalf")
        #expect(try client.readHead().status == 502)
    }

    // MARK: Upgrades that do not pass

    @Test(arguments: [
        ("Upgrade: h2c\r\n", "Upgrade", "1.1"), ("Upgrade: HTTP/2.0, TLS/1.2\r\n", "Upgrade", "1.1"),
        ("Upgrade: echo\r\n", "keep-alive", "1.1"), ("Upgrade: echo\r\n", "Upgrade", "1.0"),
    ])
    func `an offer that may not pass is taken away, and the request goes on`(
        protocols: String, connection: String, version: String
    ) throws {
        let origin = try RawOrigin(answering: response("plain"))
        let answer = try self.pintle.ask(
            self.offer(origin.port, protocols, connection: connection, version: version) + "{}")
        #expect(answer.status == 200 && answer.text == "plain", "\(answer)")
        let request = try #require(origin.requests.first)
        #expect(request["Upgrade"] == nil && request["Connection"] == nil, "\(request)")
    }

    @Test func `of several protocols those pass that carry no requests`() throws {
        let origin = try Self.echo()
        let client = try self.pintle.connect()
        try client.send(self.offer(origin.port, "Upgrade: h2c, echo\r\nUpgrade: other/2\r\n"))
        #expect(try client.readHead().status == 101)
        #expect(origin.requests.first?.head.values("Upgrade") == ["echo, other/2"])
        client.close()
    }

    @Test(arguments: [
        "request: {serialize: json}", "response: {body: json}", "response: {max_body: 1MiB}",
    ])
    func `a route with rules for bodies takes no Upgrade`(rules: String) throws {
        let origin = try RawOrigin(answering: response("{}", fields: "Content-Type: application/json\r\n"))
        let pintle = try PintleProcess("routes: [{name: ruled, match: {hosts: [\"127.0.0.1\"]}, \(rules)}]")
        #expect(try pintle.ask(self.offer(origin.port)).status == 200)
        #expect(try #require(origin.requests.first)["Upgrade"] == nil)
    }

    @Test func `a route that names statuses has to name 101`() throws {
        let origin = try Self.echo()
        func pintle(_ response: String) throws -> PintleProcess {
            try PintleProcess(
                "routes: [{name: ruled, match: {hosts: [\"127.0.0.1\"]}, response: {\(response)}}]")
        }
        let strict = try pintle("status: [\"200-299\"]")
        let refusal = try strict.ask(self.offer(origin.port))
        #expect(refusal.status == 502 && refusal.text.contains("urn:pintle:problem:response-status"), "\(refusal)")
        let lenient = try pintle("status: [\"200-299\"], on_violation: report")
        let reporting = try lenient.connect()
        try reporting.send(self.offer(origin.port))
        let marked = try reporting.readHead()
        #expect(marked.status == 101 && marked["Pintle-Violation"] == "response-status", "\(marked)")
        let naming = try pintle("status: [101], headers: {set: {X-Way: through}}")
        let allowing = try naming.connect()
        try allowing.send(self.offer(origin.port))
        let head = try allowing.readHead()
        #expect(head.status == 101 && head["X-Way"] == "through", "\(head)")
        try allowing.send("ping\r\n")
        #expect(try allowing.readLine() == "ping")
    }

    @Test func `an origin cannot switch without being asked, nor to what was not offered`() throws {
        let unasked = try RawOrigin(answering: Self.switching)
        let answer = try self.pintle.ask(get(unasked.port))
        #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:upstream-protocol"), "\(answer)")
        for fields in ["Upgrade: other\r\n", "Upgrade: echo, other\r\n", ""] {
            let origin = try RawOrigin(
                answering: "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n\(fields)\r\n")
            let answer = try self.pintle.ask(self.offer(origin.port))
            #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:upstream-protocol"), "\(answer)")
            #expect(try origin.connections[0].readToEnd().bytes.isEmpty)
        }
    }

    // MARK: Other answers

    @Test(arguments: [
        ("Content-Length: 4\r\n\r\nbody", "body"), ("\r\nbody", "body"), ("Content-Length: 0\r\n\r\n", ""),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\nX-Sum: 1\r\n\r\n", "body"),
        ("Content-Length: 4\r\n\r\nbody and more", "body"),
    ])
    func `an origin that does not switch is answered for like any other`(rest: String, body: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 426 Upgrade Required\r\nConnection: upgrade\r\nUpgrade: newer\r\n\(rest)")
        }
        let client = try self.pintle.connect()
        for _ in 0..<2 {
            try client.send(self.offer(origin.port, connection: "Upgrade, keep-alive"))
            let answer = try client.readResponse()
            #expect(answer.status == 426 && answer.text == body, "\(answer)")
            #expect(answer["Upgrade"] == nil && answer["Connection"] == nil && answer["Via"] != nil, "\(answer)")
            if rest.contains("X-Sum") { #expect(answer.trailers.map(\.name) == ["X-Sum"]) }
        }
        #expect(try self.pintle.waitForExchanges(2).allSatisfy { $0["status"] as? Int == 426 })
        #expect(origin.connections.count == 2, "each on a connection of its own")
    }

    @Test func `a large answer comes at the pace of the client that reads it`() throws {
        let body = pattern(5_000_000)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            try connection.stream.send(body)
        }
        let client = try self.pintle.connect(receiveBuffer: 4096)
        try client.send(self.offer(origin.port))
        let answer = try client.readResponse()
        #expect(answer.status == 200 && answer.body == body)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `a truncated or broken answer never looks complete`(answer: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(answer)
        }
        let client = try self.pintle.connect()
        try client.send(self.offer(origin.port))
        #expect(throws: TestFailure.self) { try client.readResponse() }
        #expect(try self.pintle.waitForExchanges(1)[0]["error"] as? String != nil)
    }

    @Test(arguments: [
        "", "HTTP/1.1 101\r\n", "not http\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 101 X\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 40_000),
    ])
    func `what is no answer is 502 upstream-protocol`(answer: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(answer)
        }
        let result = try self.pintle.ask(self.offer(origin.port))
        #expect(result.status == 502 && result.text.contains("urn:pintle:problem:upstream-protocol"), "\(result)")
    }

    @Test func `an origin that never answers is 504 after the route's time`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(
            "routes: [{name: short, match: {hosts: [\"127.0.0.1\"]}, request: {timeout: 200ms}}]")
        let answer = try pintle.ask(self.offer(origin.port))
        #expect(answer.status == 504 && answer.text.contains("urn:pintle:problem:upstream-timeout"), "\(answer)")
        try origin.waitUntilQuiet()
    }

    @Test func `a client that leaves before the answer takes the request with it`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let client = try self.pintle.connect()
        try client.send(self.offer(origin.port))
        try origin.waitForRequests(1)
        client.reset()
        try origin.waitUntilQuiet()
        #expect(try self.pintle.waitForExchanges(1)[0]["error"] as? String == "the client closed the connection")
    }

    @Test func `an origin that cannot be reached, or not by TLS, is a problem`() throws {
        let port = try FreePort.find()
        let refused = try self.pintle.ask(self.offer(port))
        #expect(refused.status == 502 && refused.text.contains("urn:pintle:problem:connect-failure"), "\(refused)")
        let origin = try RawOrigin { connection in
            _ = try connection.stream.readSome()
            try connection.send("HTTP/1.1 400 no TLS here\r\n\r\n")
        }
        let secure = self.offer(origin.port).replacing("http://", with: "https://")
        let answer = try self.pintle.ask(secure)
        #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:tls-failure"), "\(answer)")
        let guarded = try PintleProcess("destinations: {deny: [\"127.0.0.0/8\"]}")
        let denied = try guarded.ask(self.offer(origin.port))
        #expect(denied.status == 403, "\(denied)")
    }
}
