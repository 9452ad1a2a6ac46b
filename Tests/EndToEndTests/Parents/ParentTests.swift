// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Requests through an upstream proxy: `upstream_proxy`, with a second Pintle in that role.
struct ParentTests {
    private let origin: RawOrigin
    private let folder: TemporaryFolder

    init() throws {
        self.origin = try RawOrigin(answering: response("done"))
        self.folder = try TemporaryFolder()
        try self.folder.write(
            "ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K\n", to: "users.htpasswd")
        try self.folder.write("other\n", to: "secret")
    }

    private func child(_ port: Int, _ more: String = "", rules: String = "", scheme: String = "http") throws
        -> PintleProcess
    {
        try PintleProcess(
            "via: child\nupstream_proxy: {url: \"\(scheme)://127.0.0.1:\(port)\"\(more)}\n\(rules)", folder: self.folder
        )
    }

    /// An upstream proxy that admits only ben.
    private func gatekeeper() throws -> PintleProcess {
        let folder = try TemporaryFolder()
        try folder.write(
            String(decoding: fileBytes("\(self.folder.path)/users.htpasswd") ?? [], as: UTF8.self), to: "users.htpasswd"
        )
        return try PintleProcess("clients: {basic_auth: {users: users.htpasswd}}", folder: folder)
    }

    private static let credential = ", username: ben, password: \"file:secret\""

    @Test func `requests and tunnels go by a parent that wants a credential`() throws {
        let parent = try self.gatekeeper()
        let child = try self.child(parent.port, Self.credential)
        let url = "http://localhost:\(self.origin.port)/a?b"
        let plain = try Curl.run(proxy: child.port, url)
        #expect(plain.text == "done", "\(plain)")
        let tunnelled = try Curl.run(proxy: child.port, "--proxytunnel", url)
        #expect(tunnelled.text == "done", "\(tunnelled)")
        let seen = try #require(self.origin.requests.first)
        #expect(seen.head.values("Via") == ["1.1 child", "1.1 pintle"], "\(seen.head)")
        #expect(seen["Proxy-Authorization"] == nil)
        #expect(seen["Proxy-Connection"] == nil && seen.head.startLine == "GET /a?b HTTP/1.1")
        let log = try parent.waitForExchanges(2)
        #expect(log.map { $0["mode"] as? String } == ["forward", "tunnel"], "\(log)")
        #expect(log[1]["host"] as? String == "localhost:\(self.origin.port)")
        try child.waitForExchanges(2)
        let words = child.process.lines.map(\.text).joined()
        #expect(!words.contains("other") && !words.contains("Basic"))
    }

    @Test(arguments: ["", ", username: ben, password: wrong"])
    func `a parent that lets nobody in is a problem of the proxy, not of the client`(credential: String) throws {
        let parent = try self.gatekeeper()
        let child = try self.child(parent.port, credential)
        for arguments in [[], ["--proxytunnel"], ["-d", "a=b"]] {
            let result = try Curl.run(
                proxy: child.port, arguments + ["--proxy-user", "ben:other", "http://localhost:\(self.origin.port)/"])
            #expect(result.status == 502 && result["Proxy-Authenticate"] == nil, "\(result)")
            #expect(result["Proxy-Status"]?.contains("127.0.0.1:\(parent.port) answered 407") == true, "\(result.head)")
        }
        let result = try Curl.run(proxy: child.port, "http://localhost:\(self.origin.port)/")
        #expect(result.problem == "connect-failure" && !result.text.contains("wrong"), "\(result)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `a parent that takes other credentials than Basic is said to`() throws {
        let parent = try RawOrigin(
            answering: answer(407, ["Proxy-Authenticate: Digest realm=\"r\", nonce=\"1\""]))
        let child = try self.child(parent.port, ", username: ben, password: wrong")
        for arguments in [[], ["--proxytunnel"]] {
            let result = try Curl.run(proxy: child.port, arguments + ["http://site.example/"])
            #expect(result.status == 502, "\(result)")
            #expect(
                result["Proxy-Status"]?.contains(
                    "it asks for digest, and a credential of the configuration is sent as Basic only") == true,
                "\(result.head)")
        }
    }

    @Test func `what a client says of itself is not for the parent`() throws {
        let parent = try RawOrigin(answering: response("parent"))
        let child = try self.child(parent.port)
        let result = try Curl.run(proxy: child.port, "--proxy-user", "ana:secret", "http://site.example/")
        #expect(result.text == "parent")
        let seen = try #require(parent.requests.first)
        #expect(seen.head.startLine == "GET http://site.example/ HTTP/1.1" && seen["Proxy-Authorization"] == nil)
        _ = try Curl.run(proxy: child.port, "--proxytunnel", "--proxy-user", "ana:secret", "http://site.example/")
        let tunnel = try #require(parent.requests.first { $0.head.startLine == "CONNECT site.example:80 HTTP/1.1" })
        #expect(tunnel["Proxy-Authorization"] == nil && tunnel.head.values("Via") == ["1.1 child"])
    }

    @Test func `what no_proxy names is reached directly`() throws {
        let parent = try RawOrigin(answering: response("parent"))
        let child = try self.child(parent.port, ", no_proxy: [localhost]")
        let near = try Curl.run(proxy: child.port, "http://localhost:\(self.origin.port)/")
        let far = try Curl.run(proxy: child.port, "http://127.0.0.1:\(self.origin.port)/")
        let tunnel = try Curl.run(proxy: child.port, "--proxytunnel", "http://localhost:\(self.origin.port)/")
        #expect(near.text == "done" && far.text == "parent" && tunnel.text == "done")
        #expect(parent.connections.count == 1)
    }

    @Test func `the environment's proxies are used when the configuration says so`() throws {
        let parent = try RawOrigin(answering: response("parent"))
        let environment = ["http_proxy": "http://u:p@127.0.0.1:\(parent.port)", "no_proxy": "localhost"]
        let child = try PintleProcess("upstream_proxy: env", environment: environment)
        #expect(try Curl.run(proxy: child.port, "http://site.example/").text == "parent")
        #expect(parent.requests.first?["Proxy-Authorization"] == "Basic dTpw")
        #expect(try Curl.run(proxy: child.port, "http://localhost:\(self.origin.port)/").text == "done")
        // https_proxy is not there.
        #expect(
            try Curl.run(proxy: child.port, "--proxytunnel", "http://127.0.0.1:\(self.origin.port)/").text == "done")
        let deaf = try PintleProcess("", environment: environment)
        #expect(try Curl.run(proxy: deaf.port, "http://127.0.0.1:\(self.origin.port)/").text == "done")
    }

    @Test func `by SOCKS the parent resolves the name, and every byte goes through`() throws {
        let socks = try SOCKSServer(demanding: (user: "ben", password: "other"))
        let banner = try RawOrigin { connection in
            try connection.send("220 ready\r\n")
            _ = try connection.stream.readLine()
            try connection.send("221 bye\r\n")
        }
        let child = try self.child(socks.port, Self.credential, scheme: "socks5")
        #expect(try Curl.run(proxy: child.port, "http://localhost:\(self.origin.port)/").text == "done")
        #expect(self.origin.requests.first?.head.startLine == "GET / HTTP/1.1")
        try self.talk(by: child, to: banner.port)
        #expect(try socks.waitForDestinations(2).allSatisfy { $0.hasPrefix("localhost:") })
    }

    @Test func `a server that speaks first is heard through a parent's tunnel`() throws {
        let banner = try RawOrigin { connection in
            try connection.send("220 ready\r\n")
            _ = try connection.stream.readLine()
            try connection.send("221 bye\r\n")
        }
        let parent = try PintleProcess()
        try self.talk(by: try self.child(parent.port), to: banner.port)
    }

    private func talk(by child: PintleProcess, to port: Int) throws {
        let client = try child.connect()
        try client.send("CONNECT localhost:\(port) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
        #expect(try client.readLine() == "HTTP/1.1 200 Connection Established")
        #expect(try client.readLine() == "")
        #expect(try client.readLine() == "220 ready")
        try client.send("QUIT\r\n")
        #expect(try client.readLine() == "221 bye")
    }

    @Test(arguments: ["http", "https", "socks5"]) func `an upgrade goes through a tunnel of the parent`(scheme: String)
        throws
    {
        let echo = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")
            while let bytes = try connection.stream.readSome() { try connection.stream.send(bytes) }
            connection.stream.finishSending()
        }
        let root = try TestPKI().root()
        let leaf = try TestPKI().leaf(dns: ["localhost"], ip: ["127.0.0.1"], signedBy: root)
        try self.folder.write(root.certificatePEM, to: "root.pem")
        let parent = try PintleProcess()
        let terminator = scheme == "https" ? try TLSTerminator(leaf, leadingTo: parent.port) : nil
        let socks = scheme == "socks5" ? try SOCKSServer() : nil
        let child = try self.child(
            terminator?.port ?? socks?.port ?? parent.port,
            rules: "trust: {parents: {hosts: [\"127.0.0.1\"], roots: [root.pem]}}", scheme: scheme)
        let client = try child.connect()
        try client.send(
            "GET http://localhost:\(echo.port)/ HTTP/1.1\r\nHost: x\r\nCookie: own\r\nConnection: Upgrade\r\n"
                + "Upgrade: echo\r\n\r\nhello\r\n")
        #expect(try client.readHead().status == 101)
        #expect(try client.readLine() == "hello")
        client.close()
        if scheme != "socks5" {
            #expect(try parent.waitForExchanges(1)[0]["mode"] as? String == "tunnel")
        }
    }

    @Test(arguments: ["http", "socks5"]) func `a parent that is not there is named`(scheme: String) throws {
        let closed = try RawOrigin { _ in }
        closed.stop()
        let child = try self.child(closed.port, scheme: scheme)
        for arguments in [[], ["--proxytunnel"]] {
            let result = try Curl.run(proxy: child.port, arguments + ["http://site.example/"])
            #expect(result.status == 502, "\(result)")
            #expect(
                result["Proxy-Status"]?.contains("the proxy 127.0.0.1:\(closed.port) refused the connection") == true,
                "\(result.head)")
        }
    }

    @Test func `a parent's refusal of a tunnel is told with its status`() throws {
        let parent = try PintleProcess("destinations: {deny: [site.example]}")
        let child = try self.child(parent.port)
        let result = try Curl.run(proxy: child.port, "--proxytunnel", "http://site.example/")
        #expect(result.status == 502)
        #expect(result["Proxy-Status"]?.contains("answered 403 to the tunnel to site.example:80") == true)
    }

    @Test func `a parent that is this proxy itself is refused`() throws {
        let port = try FreePort.find()
        let child = try PintleProcess(
            "upstream_proxy: {url: \"http://localhost:\(port)\"}", arguments: ["--listen", "127.0.0.1:\(port)"])
        for arguments in [[], ["--proxytunnel"]] {
            let result = try Curl.run(proxy: child.port, arguments + ["http://site.example/"])
            #expect(result.status == 403, "\(result)")
            #expect(result["Proxy-Status"]?.contains("is where this proxy listens: a loop") == true, "\(result.head)")
        }
        // The rule that allows the name has not refused the address.
        for line in try child.waitForExchanges(2) {
            #expect(line["decision"] as? String == "deny" && line["rule"] as? String == nil, "\(line)")
        }
    }

    @Test func `a loop over a parent is found, by tunnels too`() throws {
        let (one, two) = (try FreePort.find(), try FreePort.find())
        func proxy(_ name: String, on port: Int, by parent: Int) throws -> PintleProcess {
            try PintleProcess(
                "via: \(name)\nupstream_proxy: {url: \"http://localhost:\(parent)\"}",
                arguments: ["--listen", "127.0.0.1:\(port)"])
        }
        let first = try proxy("one", on: one, by: two)
        let second = try proxy("two", on: two, by: one)
        #expect(try Curl.run(proxy: first.port, "http://site.example/").problem == "loop-detected")
        let tunnel = try Curl.run(proxy: first.port, "--proxytunnel", "http://site.example/")
        #expect(tunnel.status == 502)
        // The request went round once: the first proxy recognised it, and answered the second with 508.
        let log = try second.waitForExchanges(2)[1]
        #expect((log["error"] as? String)?.contains("answered 508 to the tunnel to site.example:80") == true, "\(log)")
        #expect(try first.waitForExchanges(4).filter { $0["status"] as? Int == 508 }.count == 3)
    }

    @Test func `the parent's address is exempt from rules, and literal addresses are not`() throws {
        let parent = try RawOrigin(answering: response("parent"))
        let child = try self.child(
            parent.port, rules: "destinations: {private_addresses: deny, deny: [\"127.0.0.0/8\"]}")
        #expect(try Curl.run(proxy: child.port, "http://site.example/").text == "parent")
        #expect(try Curl.run(proxy: child.port, "http://127.0.0.1:\(self.origin.port)/").status == 403)
        #expect(try Curl.run(proxy: child.port, "http://10.0.0.1/").problem == "destination-denied")
        #expect(parent.connections.count == 1)
    }

    @Test func `a reload takes requests another way, and old connections are not used`() throws {
        let first = try RawOrigin(answering: response("first"))
        let second = try RawOrigin(answering: response("second"))
        let child = try self.child(first.port)
        let client = try child.connect()
        let asked = "GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n"
        try client.send(asked)
        #expect(try client.readResponse().text == "first")
        for (way, expected) in [("{url: \"http://127.0.0.1:\(second.port)\"}", "second"), ("off", "done")] {
            try self.folder.write(
                "version: 1\nlog: {format: json, exchanges: \"-\"}\nvia: child\nupstream_proxy: \(way)\n",
                to: "pintle.yaml")
            child.process.signal(SIGHUP)
            _ = try child.waitForMessages("reloaded \(self.folder.path)/pintle.yaml", expected == "done" ? 2 : 1)
            try client.send(
                expected == "done" ? get(self.origin.port) : asked)
            #expect(try client.readResponse().text == expected)
        }
        #expect(first.requests.count == 1 && second.requests.count == 1)
    }
}
