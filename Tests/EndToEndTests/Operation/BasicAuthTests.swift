// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Clients that must say who they are.
struct BasicAuthTests {
    private static let users = """
        ana:$2y$04$abcdefghijklmnopqrstuuWXKr2BvN6MFBGmbO8G1GNLW0JIJkxnC
        ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K

        """

    private let origin: RawOrigin
    private let pintle: PintleProcess

    init() throws {
        self.origin = try RawOrigin(answering: response("done"))
        let folder = try TemporaryFolder()
        try folder.write(Self.users, to: "users.htpasswd")
        self.pintle = try PintleProcess(
            "clients: {basic_auth: {realm: the office, users: users.htpasswd}}", folder: folder)
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/" }

    @Test(arguments: [[], ["--proxytunnel"], ["-d", "a=b"]], [nil, "ana:wrong", "eve:other", "ben:", ":other"])
    func `nobody else gets through, and is told how to`(arguments: [String], user: String?) throws {
        let credentials = user.map { ["--proxy-user", $0] } ?? []
        let result = try Curl.run(proxy: self.pintle.port, arguments + credentials + [self.url])
        #expect(result.head.startLine == "HTTP/1.1 407 Proxy Authentication Required", "\(result)")
        #expect(result["Proxy-Authenticate"] == "Basic realm=\"the office\", charset=\"UTF-8\"")
        #expect(result["Proxy-Status"]?.contains("error=http_request_denied") == true, "\(result.head)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: [[], ["--proxytunnel"], ["--proxy-anyauth"]], ["ana:pass:wörd", "ben:other"])
    func `a user gets through, and the password goes no further`(arguments: [String], user: String) throws {
        for _ in 0..<2 {
            let result = try Curl.run(proxy: self.pintle.port, arguments + ["--proxy-user", user, self.url])
            #expect(result.text == "done", "\(result)")
        }
        for request in self.origin.requests { #expect(request.head["Proxy-Authorization"] == nil) }
        try self.pintle.waitForExchanges(2)
        let log = self.pintle.process.lines.map(\.text).joined()
        #expect(!log.contains("pass:w") && !log.contains("other") && !log.contains("Basic"), "\(log)")
    }

    @Test(arguments: [[], ["--proxytunnel"]])
    func `LOOK-47 the log names the user, and nobody who has not proved to be one`(
        arguments: [String]
    ) throws {
        for user in ["ana:pass:wörd", "ana:pass:wörd", "ben:wrong"] {
            _ = try Curl.run(proxy: self.pintle.port, arguments + ["--proxy-user", user, self.url])
        }
        let users = try self.pintle.waitForExchanges(3).map { $0["user"] as? String }
        #expect(users == ["ana", "ana", nil])
    }

    @Test(arguments: [[], ["--proxytunnel"]])
    func `what follows + in a user's name is a tag, and needs the user's password (contract §4)`(
        arguments: [String]
    ) throws {
        for user in ["ana+suite-42:pass:wörd", "ana+:pass:wörd", "ben+suite-42:pass:wörd"] {
            _ = try Curl.run(proxy: self.pintle.port, arguments + ["--proxy-user", user, self.url])
        }
        let records = try self.pintle.waitForExchanges(3)
        #expect(records.map { $0["user"] as? String } == ["ana", "ana", nil])
        #expect(records.map { $0["tag"] as? String } == ["suite-42", "", nil])
    }

    @Test func `a user whose name has a + is that user`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.users.replacing("ben:", with: "ben+x:"), to: "users.htpasswd")
        let pintle = try PintleProcess("clients: {basic_auth: {users: users.htpasswd}}", folder: folder)
        #expect(try Curl.run(proxy: pintle.port, "--proxy-user", "ben+x:other", self.url).text == "done")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["user"] as? String == "ben+x" && record["tag"] == nil, "\(record)")
    }

    @Test(arguments: [[], ["--proxytunnel"]])
    func `without users the whole name is a tag (contract §4)`(arguments: [String]) throws {
        let pintle = try PintleProcess("destinations: {connect_ports: any}")
        for proxy in ["http://suite-42@127.0.0.1:\(pintle.port)", "http://a%2Bb:c@127.0.0.1:\(pintle.port)"] {
            _ = try Curl.run(proxy: pintle.port, arguments + ["-x", proxy, self.url])
        }
        let records = try pintle.waitForExchanges(2)
        #expect(records.map { $0["tag"] as? String } == ["suite-42", "a+b"])
        #expect(records.allSatisfy { $0["user"] == nil })
        for request in self.origin.requests { #expect(request.head["Proxy-Authorization"] == nil) }
    }

    @Test func `a body waits until it is known who sends it, and is not lost`() throws {
        let folder = try TemporaryFolder()
        let body = pattern(300_000)
        let up = try folder.write(body, to: "up")
        let result = try Curl.run(
            proxy: self.pintle.port, "--proxy-user", "ben:other", "-H", "Expect:", "--data-binary", "@\(up)", self.url)
        #expect(result.text == "done", "\(result)")
        #expect(try self.origin.waitForRequests(1)[0].body == body)
    }

    @Test func `a connection serves one who says later who it is`() throws {
        let client = try self.pintle.connect()
        let line = "GET \(self.url) HTTP/1.1\r\nHost: x\r\n"
        try client.send(line + "\r\n")
        #expect(try client.readResponse().status == 407)
        try client.send(line + "Proxy-Authorization: Basic YmVuOm90aGVy\r\n\r\n")
        #expect(try client.readResponse().text == "done")
        try client.send(line + "\r\n")
        #expect(try client.readResponse().status == 407, "it is the request that is let through, not the connection")
        let twice = "Proxy-Authorization: Basic YmVuOm90aGVy\r\n"
        try client.send(line + twice + twice + "\r\n")
        #expect(try client.readResponse().status == 407)
        #expect(self.origin.requests.count == 1)
    }

    @Test func `requests in a row, with right and wrong passwords, keep their order`() throws {
        let client = try self.pintle.connect()
        let words = ["YmVuOm90aGVy", "YmVuOndyb25n", "YmVuOm90aGVy", "ZXZlOm90aGVy"]
        try client.send(
            words.map { "GET \(self.url) HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic \($0)\r\n\r\n" }.joined())
        let statuses = try words.map { _ in try client.readResponse().status }
        #expect(statuses == [200, 407, 200, 407])
    }

    @Test func `a client that leaves while it is looked at leaves nothing behind`() throws {
        for _ in 0..<20 {
            let client = try self.pintle.connect()
            try client.send(
                "GET \(self.url) HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic YmVuOndyb25n\r\n\r\n")
            client.reset()
        }
        let counters = try self.pintle.counters()
        let result = try Curl.run(proxy: self.pintle.port, "--proxy-user", "ben:other", self.url)
        #expect(result.text == "done", "\(result) \(counters)")
    }

    @Test func `a client outside clients allow is not even asked`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.users, to: "u")
        let pintle = try PintleProcess("clients: {allow: [10.0.0.0/8], basic_auth: {users: u}}", folder: folder)
        let answer = try pintle.ask("GET \(self.url) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.status == 403 && answer["Proxy-Authenticate"] == nil, "\(answer)")
    }

    @Test func `explain says that there are users`() throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.users, to: "u")
        let file = try folder.write("version: 1\nclients: {basic_auth: {users: u}}\n", to: "p.yaml")
        let process = try PintleProcess.run(["explain", "-c", file, "GET", "http://a.test/"])
        #expect(
            process.output.contains("clients      must be one of 2 users of clients.basic_auth"), "\(process.lines)")
        try folder.write("eve:plain\n", to: "u")
        let broken = try PintleProcess.run(["check", "-c", file])
        #expect(broken.exitCode == 3 && broken.errors.contains { $0.contains("u, line 1: the hash of \"eve\"") })
    }
}
