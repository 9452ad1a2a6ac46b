// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Requests for destinations that are asked about, and answers on the page (`destinations.ask`).
struct AskTests {
    private static let asking = "destinations: {default: deny, ask: [localhost]}"

    /// Sends a request that waits, and returns its connection once there are `count` questions so far.
    private func hold(
        _ stage: AdminStage, _ path: String = "/", host: String = "localhost", questions count: Int = 1
    ) throws -> SocketStream {
        let client = try stage.pintle.connect()
        let authority = "\(host):\(stage.origin.port)"
        try client.send("GET http://\(authority)\(path) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        _ = try stage.pintle.waitForMessages("ask", count)
        return client
    }

    // MARK: Answers

    @Test func `a request waits until it is allowed, once or for this run`() throws {
        let stage = try AdminStage(Self.asking)
        let first = try self.hold(stage, "/a?token=secret")
        let question = try #require(try stage.questions().first)
        #expect(question["host"] as? String == "localhost:\(stage.origin.port)")
        #expect(question["url"] as? String == "http://localhost:\(stage.origin.port)/a")
        #expect(question["rule"] as? String == "destinations.ask[0] \"localhost\"")
        #expect(stage.origin.connections.isEmpty)
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try first.readResponse().text == "12345")
        // The next one waits again: its question is the third line, behind the answer to the first.
        let second = try self.hold(stage, questions: 3)
        #expect(try stage.reply("allow", "run").status == 204)
        #expect(try second.readResponse().status == 200)
        try second.send(get(stage.origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        #expect(try second.readResponse().status == 200)
        let lines = try stage.pintle.waitForExchanges(3)
        let rule = "destinations.ask[0] \"localhost\", granted on the page, "
        #expect(
            lines.map { $0["rule"] as? String } == ["\(rule)once", "\(rule)for this run", "\(rule)for this run"])
        #expect(lines.allSatisfy { $0["decision"] as? String == "allow" })
    }

    @Test func `a denied request gets the rule and the reason, and nothing is sent`() throws {
        let stage = try AdminStage(Self.asking)
        for (scope, words) in [("once", "denied on the page"), ("run", "denied on the page, for this run")] {
            let client = try self.hold(stage, questions: scope == "once" ? 1 : 3)
            #expect(try stage.reply("deny", scope).status == 204)
            let answer = try client.readResponse()
            #expect(answer.status == 403 && answer.text.contains("destination-denied"), "\(answer)")
            #expect(answer.text.contains("is denied by destinations.ask[0] \\\"localhost\\\": \(words)\""), "\(answer)")
        }
        let last = try Curl.run(proxy: stage.pintle.port, "http://localhost:\(stage.origin.port)/")
        #expect(last.status == 403 && last.text.contains("denied on the page, for this run"))
        #expect(stage.origin.connections.isEmpty)
    }

    @Test func `an answer is taken once, and only in its form`() throws {
        let stage = try AdminStage(Self.asking)
        let client = try self.hold(stage)
        let id = try #require(try stage.questions().first?["id"] as? String)
        for body in [
            "", "{}", "{\"answer\": \"yes\", \"for\": \"once\"}", "{\"answer\": \"allow\", \"for\": \"ever\"}",
        ] {
            #expect(try stage.ask("/api/questions/\(id)", "-d", body).status == 400)
        }
        #expect(try stage.reply("allow", "once", to: "unknown").status == 404)
        #expect(try stage.reply("allow", "once", to: id).status == 204)
        #expect(try stage.reply("deny", "run", to: id).status == 404)
        #expect(try client.readResponse().status == 200)
    }

    @Test func `a question that nothing can answer refuses at once`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(Self.asking)
        let answer = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/")
        #expect(answer.status == 403 && answer.text.contains("nothing can answer"), "\(answer)")
    }

    // MARK: Bounds

    @Test func `a question without an answer refuses its requests in time`() throws {
        let stage = try AdminStage(
            "\(Self.asking)\nask: {timeout: 1s}\nlimits: {header_timeout: 500ms, idle_timeout: 500ms}")
        let client = try self.hold(stage)
        let answer = try client.readResponse()
        #expect(answer.status == 403 && answer.text.contains("not answered within 1s (ask.timeout)"), "\(answer)")
        #expect(try stage.questions().isEmpty)
    }

    @Test func `as many questions wait as may, and requests of one host share theirs`() throws {
        let stage = try AdminStage("destinations: {default: ask}\nask: {waiting: 1}")
        let clients = [try self.hold(stage), try self.hold(stage)]
        #expect(try stage.questions().map { $0["waiting"] as? Int } == [2])
        let other = try Curl.run(proxy: stage.pintle.port, "http://other.localhost:\(stage.origin.port)/")
        #expect(other.status == 403 && other.text.contains("1 question waits for an answer already"), "\(other)")
        #expect(try stage.reply("allow", "once").status == 204)
        for client in clients { #expect(try client.readResponse().status == 200) }
    }

    @Test func `the question closes with its last client`() throws {
        let stage = try AdminStage(Self.asking)
        let clients = [try self.hold(stage), try self.hold(stage)]
        clients[0].reset()
        _ = try stage.pintle.waitForExchanges(1)
        #expect(try stage.questions().map { $0["waiting"] as? Int } == [1])
        clients[1].reset()
        let lines = try stage.pintle.waitForExchanges(2)
        #expect(try stage.questions().isEmpty)
        #expect(lines.allSatisfy { ($0["error"] as? String)?.contains("closed the connection") == true }, "\(lines)")
    }

    @Test func `an upload waits at its client`() throws {
        let stage = try AdminStage(Self.asking)
        let client = try stage.pintle.connect()
        let host = "localhost:\(stage.origin.port)"
        try client.send("POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 100000\r\n\r\n")
        _ = try stage.pintle.waitForMessages("ask")
        try client.send([UInt8](repeating: 65, count: 100_000))
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try client.readResponse().status == 200)
        #expect(stage.origin.requests.first?.body.count == 100_000)
    }

    // MARK: Limits of an answer

    @Test func `addresses are judged as ever`() throws {
        let stage = try AdminStage("destinations: {default: deny, ask: [localhost], private_addresses: deny}")
        let client = try self.hold(stage)
        #expect(try stage.reply("allow", "run").status == 204)
        let answer = try client.readResponse()
        #expect(answer.status == 403 && answer.text.contains("is loopback"), "\(answer)")
        let literal = try Curl.run(proxy: stage.pintle.port, "http://127.0.0.1:\(stage.origin.port)/")
        #expect(literal.status == 403 && literal.text.contains("is loopback"), "\(literal)")
        #expect(stage.origin.connections.isEmpty)
    }

    @Test func `answers for this run survive a reload, and new rules come first`() throws {
        let stage = try AdminStage(Self.asking)
        let client = try self.hold(stage)
        #expect(try stage.reply("allow", "run").status == 204)
        #expect(try client.readResponse().status == 200)
        #expect(try stage.ask("/api/reload", "-X", "POST").status == 200)
        let again = try Curl.run(proxy: stage.pintle.port, "http://localhost:\(stage.origin.port)/")
        #expect(again.status == 200)
    }

    // MARK: Ways

    @Test func `a redirect to a host that is asked about waits, too`() throws {
        let stage = try AdminStage(
            "destinations: {ask: [localhost]}\nroutes: [{name: r, match: {hosts: [\"127.0.0.1\"]}, redirects: follow}]")
        let port = stage.origin.port
        let moved = try RawOrigin(
            answering: response("", status: "302 Found", fields: "Location: http://localhost:\(port)/new\r\n"))
        let client = try stage.pintle.connect()
        try client.send(get(moved.port))
        _ = try stage.pintle.waitForMessages("ask")
        #expect(try stage.questions().first?["url"] as? String == "http://localhost:\(port)/new")
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try client.readResponse().text == "12345")
    }

    @Test func `an answer of the cache waits like any other`() throws {
        let stage = try AdminStage(
            "\(Self.asking)\nroutes: [{name: r, match: {hosts: [localhost]}, cache: {policy: prefer_cache}}]")
        for number in 0..<2 {
            let client = try self.hold(stage, questions: 1 + 2 * number)
            #expect(try stage.reply("allow", "once").status == 204)
            #expect(try client.readResponse().status == 200)
        }
        let denied = try self.hold(stage, questions: 5)
        #expect(try stage.reply("deny", "once").status == 204)
        #expect(try denied.readResponse().status == 403)
    }

    @Test func `a CONNECT waits, and its tunnel is relayed`() throws {
        let stage = try AdminStage(Self.asking)
        let host = "localhost:\(stage.origin.port)"
        let client = try stage.pintle.connect()
        try client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        _ = try stage.pintle.waitForMessages("ask")
        #expect(try stage.questions().first?["method"] as? String == "CONNECT")
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try client.readHead().startLine.hasPrefix("HTTP/1.1 200 "))
        try client.send("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.readResponse().text == "12345")
    }

    @Test func `an answer for an intercepted CONNECT is for the requests inside`() throws {
        let site = try PrivateSite()
        let authority = try CertificateAuthority(named: "Test CA")
        try AuthorityFolder("\(site.folder.path)/pintle/ca").keep(authority)
        try site.folder.write(authority.certificatePEM, to: "ca.pem")
        let environment = ["XDG_DATA_HOME": site.folder.path]
        let pintle = try PintleProcess(
            """
            admin: "127.0.0.1:0"
            destinations: {default: deny, ask: [localhost]}
            interception: {hosts: [localhost]}
            trust: {site: {hosts: [localhost], roots: [root.pem]}}
            """, environment: environment, folder: site.folder)
        let stage = try AskedProcess(pintle, in: site.folder)
        let url = "https://localhost:\(site.origin.httpsPort)"
        let curl = try ChildProcess(
            "/usr/bin/env",
            [
                "curl", "-sS", "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(site.folder.path)/ca.pem",
                "-w", "%{http_code}\\n", "-o", "/dev/null", "\(url)/html", "-o", "/dev/null", "\(url)/echo",
            ], environment: RunStage.environment, folder: site.folder.path)
        _ = try pintle.waitForMessages("ask")
        #expect(try stage.reply("allow", "once").status == 204)
        try curl.waitForExit()
        #expect(curl.output == ["200", "200"], "\(curl.lines)")
        let lines = try pintle.waitForExchanges(3)
        #expect(Set(lines.map { $0["rule"] as? String }).count == 1, "\(lines)")
    }

    @Test func `requests of HTTP/2 wait on their streams, and others pass meanwhile`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try folder.write(pki.leaf("proxy", dns: ["proxy.test"], ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            """
            listen_tls: {certificate: proxy.pem, key: proxy.key}
            admin: "127.0.0.1:0"
            destinations: {default: deny, ask: [localhost], allow: ["127.0.0.1"]}
            """, arguments: ["--listen", "https://127.0.0.1:0"], environment: ["XDG_DATA_HOME": folder.path],
            folder: folder)
        let stage = try AskedProcess(pintle, in: folder)
        let client = HTTP2Client(try TLSStream(port: pintle.ports[1], protocols: ["h2", "http/1.1"]))
        try client.greet()
        func request(_ host: String) -> [HTTP2Bytes.Field] {
            [(":method", "GET"), (":scheme", "http"), (":authority", "\(host):\(origin.port)"), (":path", "/")]
        }
        try client.send(HTTP2Bytes.headers(request("localhost")))
        _ = try pintle.waitForMessages("ask")
        try client.send(HTTP2Bytes.headers(request("127.0.0.1"), on: 3))
        #expect(try client.answer(on: 3).status == 200)
        #expect(client.answers[1] == nil)
        #expect(try stage.reply("allow", "once").status == 204)
        #expect(try client.answer(on: 1).text == "done")
        // A stream that its client resets withdraws the question.
        try client.send(HTTP2Bytes.headers(request("localhost"), on: 5))
        _ = try pintle.waitForMessages("ask", 3)
        try client.send(HTTP2Bytes.reset(on: 5))
        _ = try pintle.waitForExchanges(3)
        #expect(try stage.questions().isEmpty)
    }
}

/// A proxy with an admin endpoint that answers questions.
struct AskedProcess {
    let address: String
    let token: String

    init(_ pintle: PintleProcess, in folder: TemporaryFolder) throws {
        let line = try pintle.waitForMessages("ready")[0]
        self.address = String((line["admin"] as? String ?? "").dropLast())
        let file = "\(folder.path)/pintle/run/\(pintle.process.pid).token"
        self.token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    /// - Parameter link: as `pintle run --devtools` prints it.
    init(link: String) throws {
        let parts = link.components(separatedBy: "/#token=")
        guard parts.count == 2 else { throw TestFailure("\(link) is no link") }
        (self.address, self.token) = (parts[0], parts[1])
    }

    private func ask(_ arguments: [String]) throws -> Curl.Result {
        try Curl.run(["-H", "Authorization: Bearer \(self.token)"] + arguments)
    }

    func questions() throws -> [PintleProcess.Object] {
        try self.ask(["\(self.address)/api/questions"]).json["questions"] as? [PintleProcess.Object] ?? []
    }

    /// Answers the oldest question, or another one.
    func reply(_ answer: String, _ scope: String, to id: String? = nil) throws -> Curl.Result {
        let first = try self.questions().first?["id"] as? String
        guard let id = id ?? first else { throw TestFailure("there is no question") }
        return try self.ask([
            "-d", "{\"answer\": \"\(answer)\", \"for\": \"\(scope)\"}", "\(self.address)/api/questions/\(id)",
        ])
    }
}

extension AdminStage {
    private func asked() throws -> AskedProcess { try AskedProcess(self.pintle, in: self.folder) }
    func questions() throws -> [PintleProcess.Object] { try self.asked().questions() }
    func reply(_ answer: String, _ scope: String, to id: String? = nil) throws -> Curl.Result {
        try self.asked().reply(answer, scope, to: id)
    }
}
