// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// Clients that speak HTTP/2 with the proxy itself: `listen: ["https://…"]`.
struct HTTP2ListenerTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try self.folder.write(
            pki.leaf("proxy", dns: ["proxy.test"], ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        try self.folder.write(root.certificatePEM, to: "root.pem")
    }

    private func pintle(_ more: String = "") throws -> PintleProcess {
        try PintleProcess(
            "listen_tls: {certificate: proxy.pem, key: proxy.key}\n\(more)",
            arguments: ["--listen", "https://127.0.0.1:0"], environment: ["XDG_DATA_HOME": self.folder.path],
            folder: self.folder)
    }

    private func client(_ pintle: PintleProcess) throws -> HTTP2Client {
        let stream = try TLSStream(port: pintle.ports[1], protocols: ["h2", "http/1.1"])
        #expect(stream.chosenProtocol == "h2")
        let client = HTTP2Client(stream)
        try client.greet()
        return client
    }

    private func request(_ method: String, _ authority: String, _ scheme: String = "http") -> [Bytes.Field] {
        [(":method", method), (":scheme", scheme), (":authority", authority), (":path", "/")]
    }

    private func connect(_ authority: String) -> [UInt8] {
        Bytes.headers([(":method", "CONNECT"), (":authority", authority)], Flag.endHeaders)
    }

    /// Waits for `count` bytes in a tunnel, and returns all that the client has got.
    private func read(_ count: Int, _ client: HTTP2Client) throws -> String {
        try client.read { ($0.answers[1]?.body.count ?? 0) >= count || $0.answers[1]?.reset != nil }
        return client.answers[1]?.text ?? ""
    }

    // MARK: Requests

    @Test func `requests are forwarded as those in absolute form, and logged like them`() throws {
        let pintle = try self.pintle()
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.client(pintle)
        let host = "127.0.0.1:\(origin.port)"
        try client.send(Bytes.headers(self.request("GET", host)))
        #expect(try client.answer().text == "done")
        try client.send(Bytes.headers(self.request("HEAD", host), on: 3))
        #expect(try client.answer(on: 3).status == 200)
        #expect(origin.requests.map(\.head.startLine) == ["GET / HTTP/1.1", "HEAD / HTTP/1.1"])
        #expect(origin.requests[0]["Via"] == "2 pintle" && origin.requests[0]["Host"] == host)
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.allSatisfy { $0["mode"] as? String == "forward" && $0["client"] as? String == "127.0.0.1" })
        #expect(lines[0]["url"] as? String == "http://\(host)/")
    }

    @Test func `a request for the listener itself takes a gateway route, and another does not`() throws {
        let origin = try RawOrigin(answering: response("behind"))
        let pintle = try self.pintle(
            "routes: [{name: gate, match: {paths: [\"/**\"]}, upstream: \"http://127.0.0.1:\(origin.port)/in/\"}]")
        let client = try self.client(pintle)
        try client.send(Bytes.headers(self.request("GET", "127.0.0.1:\(pintle.ports[1])", "https")))
        #expect(try client.answer().text == "behind")
        #expect(try pintle.waitForExchanges(1)[0]["mode"] as? String == "gateway")
    }

    @Test(arguments: [("proxy.test", 403), ("", 400), ("user@proxy.test:80", 400)])
    func `what goes nowhere is refused, and the connection serves on`(authority: String, status: Int) throws {
        let pintle = try self.pintle("destinations: {deny: [proxy.test]}")
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.client(pintle)
        try client.send(Bytes.headers(self.request("GET", authority)))
        let answer = try client.answer()
        #expect(answer.status == status, "\(answer)")
        try client.send(Bytes.headers(self.request("GET", "127.0.0.1:\(origin.port)"), on: 3))
        #expect(try client.answer(on: 3).text == "done")
    }

    // MARK: Tunnels

    @Test func `a stream is a tunnel, with an end in each direction`() throws {
        let pintle = try self.pintle()
        let origin = try RawOrigin { connection in
            let sent = try connection.stream.readToEnd().bytes
            try connection.stream.send(Array(sent.reversed()))
        }
        let client = try self.client(pintle)
        // Bytes that come before the answer wait.
        try client.send(self.connect("127.0.0.1:\(origin.port)") + Bytes.data("abc", isLast: false))
        try client.read { !($0.answers[1]?.heads.isEmpty ?? true) }
        #expect(client.answers[1]?.status == 200)
        try client.send(Bytes.data("def"))
        let answer = try client.answer()
        #expect(answer.text == "fedcba" && answer.isComplete && answer.reset == nil)
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["mode"] as? String == "tunnel" && line["method"] as? String == "CONNECT")
        #expect(line["bytes_in"] as? Int == 6 && line["bytes_out"] as? Int == 6)
        let counters = try pintle.counters()
        #expect(counters["tunnels_opened"] as? Int == 1 && counters["tunnels_active"] as? Int == 0)
        // The connection stays open.
        let other = try RawOrigin(answering: response("done"))
        try client.send(Bytes.headers(self.request("GET", "127.0.0.1:\(other.port)"), on: 3))
        #expect(try client.answer(on: 3).text == "done")
    }

    @Test func `megabytes pass in both directions at once`() throws {
        let pintle = try self.pintle()
        let origin = try RawOrigin { connection in
            while let bytes = try connection.stream.readSome() {
                connection.stream.forgetTaken()
                try connection.stream.send(bytes)
            }
        }
        let client = try self.client(pintle)
        try client.send(self.connect("127.0.0.1:\(origin.port)"))
        try client.read { !($0.answers[1]?.heads.isEmpty ?? true) }
        let body = pattern(1_000_000)
        for start in stride(from: 0, to: body.count, by: 10_000) {
            let piece = Array(body[start..<start + 10_000])
            try client.send(Bytes.frame(0, start + 10_000 == body.count ? 1 : 0, on: 1, piece))
            // Each piece comes back before the next, within both windows.
            try client.read { $0.answers[1]?.body.count == start + piece.count || $0.answers[1]?.reset != nil }
            try client.send(Bytes.windowUpdate(piece.count, on: 0) + Bytes.windowUpdate(piece.count, on: 1))
        }
        let answer = try client.answer()
        #expect(answer.body == body && answer.isComplete)
    }

    @Test func `an end that is none is none on the other side`() throws {
        let pintle = try self.pintle()
        let ending = Watched<SocketStream.Ending?>(nil)
        let origin = try RawOrigin { connection in
            guard try connection.stream.read(1) == [0x61] else { return connection.stream.reset() }
            try connection.send("there")
            let end = try connection.waitForEnd()
            ending.change { $0 = end }
        }
        let client = try self.client(pintle)
        try client.send(self.connect("127.0.0.1:\(origin.port)") + Bytes.data("a", isLast: false))
        #expect(try self.read(5, client) == "there")
        try client.send(Bytes.reset())
        try ending.wait(for: "the end") { $0 != nil }
        #expect(ending.current == .reset)
        // The other way round.
        let other = try self.client(pintle)
        try other.send(self.connect("127.0.0.1:\(origin.port)") + Bytes.data("b", isLast: false))
        #expect(try other.answer().reset == .connectError)
    }

    @Test func `a connection that ends breaks its tunnels`() throws {
        let pintle = try self.pintle()
        let ending = Watched<SocketStream.Ending?>(nil)
        let origin = try RawOrigin { connection in
            try connection.send("there")
            let end = try connection.waitForEnd()
            ending.change { $0 = end }
        }
        do {
            let client = try self.client(pintle)
            try client.send(self.connect("127.0.0.1:\(origin.port)"))
            #expect(try self.read(5, client) == "there")
        }
        try ending.wait(for: "the end") { $0 != nil }
        #expect(ending.current == .reset)
        try pintle.waitForExchanges(1)
    }

    @Test(arguments: [
        ("127.0.0.1:1", 502, "connect-failure"), ("denied.test:443", 403, "destination-denied"),
        ("127.0.0.1", 400, "bad-request"), ("user@127.0.0.1:1", 400, "bad-request"),
        ("127.0.0.1:1/x", 400, "bad-request"),
    ])
    func `a tunnel that is not opened is answered`(authority: String, status: Int, problem: String) throws {
        let pintle = try self.pintle("destinations: {deny: [denied.test]}")
        let client = try self.client(pintle)
        try client.send(self.connect(authority))
        let answer = try client.answer()
        #expect(answer.status == status && answer.problem == problem, "\(answer)")
        // The proxy resets the stream, since it does not need the client's bytes.
        try client.read { $0.answers[1]?.reset != nil }
        #expect(client.answers[1]?.reset == .noError)
    }

    @Test func `whoever must say who it is does so on each stream`() throws {
        try self.folder.write("ann:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n", to: "users")
        let pintle = try self.pintle("clients: {basic_auth: {realm: r, users: users}}")
        let origin = try RawOrigin(answering: response("done"))
        let client = try self.client(pintle)
        try client.send(self.connect("127.0.0.1:\(origin.port)"))
        let answer = try client.answer()
        #expect(answer.status == 407 && answer["proxy-authenticate"]?.hasPrefix("Basic") == true, "\(answer)")
    }

    @Test func `content beyond the window of a stream that is not read resets it`() throws {
        let silent = try RawOrigin { try $0.stream.readToEnd().bytes.isEmpty ? () : () }
        let pintle = try self.pintle("tunnels: {verify: [\"127.0.0.1\"]}")
        let client = try self.client(pintle)
        let piece = String(repeating: "a", count: 16_384)
        try client.send(self.connect("127.0.0.1:\(silent.port)"))
        for _ in 0..<16 { try client.send(Bytes.data(piece, isLast: false)) }
        #expect(try client.answer().reset == .flowControlError)
        #expect(client.goAway == nil)
    }

    @Test func `LOOK-78 a server that speaks first is heard in a stream whose tunnel is intercepted`() throws {
        try AuthorityFolder("\(self.folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let server = try RawOrigin { connection in
            try connection.send("220 mail\r\n")
            guard try connection.stream.readLine() == "QUIT" else { return }
            try connection.send("221 bye\r\n")
        }
        let pintle = try self.pintle("interception: {hosts: [\"127.0.0.1\"]}")
        let client = try self.client(pintle)
        try client.send(self.connect("127.0.0.1:\(server.port)"))
        #expect(try self.read(10, client) == "220 mail\r\n")
        try client.send(Bytes.data("QUIT\r\n"))
        #expect(try self.read(19, client) == "220 mail\r\n221 bye\r\n")
        #expect(try pintle.waitForExchanges(2).map { $0["mode"] as? String } == ["intercept", "tunnel"])
    }

    // MARK: Real clients

    private func node(_ script: String, _ arguments: String...) throws -> String {
        let file = try self.folder.write(script, to: "client.js")
        let process = try ChildProcess("/usr/bin/node", [file] + arguments, folder: self.folder.path)
        try process.waitForExit()
        return (process.lines.map(\.text) + process.errors).joined(separator: "\n")
    }

    @Test func `node tunnels to an intercepted host and to one that is not`() throws {
        try AuthorityFolder("\(self.folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try self.pintle(
            """
            routes:
              - {name: in, match: {hosts: [origin.test]}, connect: intercept, upstream: "http://127.0.0.1:\(origin.port)"}
            """)
        let text = try self.node(
            """
            const http2 = require("http2"), tls = require("tls");
            const proxy = http2.connect("https://127.0.0.1:" + process.argv[2], {rejectUnauthorized: false});
            const plain = proxy.request({":method": "CONNECT", ":authority": "127.0.0.1:" + process.argv[3]});
            let text = "";
            plain.on("response", () => plain.write("GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"));
            plain.on("data", data => { text += data; if (text.endsWith("done")) plain.end(); });
            plain.on("close", () => { console.log("plain", text.slice(-4)); inside(); });
            function inside() {
              const stream = proxy.request({":method": "CONNECT", ":authority": "origin.test:443"});
              stream.on("response", () => {
                const socket = tls.connect({socket: stream, ALPNProtocols: ["h2"], rejectUnauthorized: false}, () => {
                  const inner = http2.connect("https://origin.test", {createConnection: () => socket});
                  const request = inner.request({":path": "/"});
                  let text = "";
                  let status;
                  request.on("response", head => { status = head[":status"]; });
                  request.on("data", data => { text += data; });
                  request.on("end", () => { console.log("inside", socket.alpnProtocol, status, text); process.exit(); });
                });
              });
            }
            """, "\(pintle.ports[1])", "\(origin.port)")
        #expect(text == "plain done\ninside h2 200 done")
        #expect(origin.requests.last?["Via"] == "2 pintle")
    }
}
