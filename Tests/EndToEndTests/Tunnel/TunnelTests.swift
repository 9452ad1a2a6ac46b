// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// CONNECT: traffic of curl and raw clients through it, and refusals.
struct TunnelTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess("limits: {tunnels: 2}") }

    private func open(_ port: Int, on pintle: PintleProcess? = nil) throws -> SocketStream {
        let client = try (pintle ?? self.pintle).connect()
        try client.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        let head = try client.readHead()
        guard head.status == 200 else { throw TestFailure("the tunnel was refused: \(head)") }
        guard head["Content-Length"] == nil, head["Transfer-Encoding"] == nil else {
            throw TestFailure("RFC 9110 §9.3.6: no framing in a 200 to CONNECT: \(head)")
        }
        return client
    }

    @Test func `curl tunnels to nginx over http and over TLS of its own`() throws {
        let pki = TestPKI()
        let root = try pki.root()
        let origin = try NginxOrigin(https: [try pki.leaf(dns: ["localhost"], signedBy: root)])
        let body = pattern(2_000_003)
        try origin.serve(body, as: "down")
        let folder = try TemporaryFolder()
        let roots = try folder.write(root.certificatePEM, to: "root.pem")
        let up = try folder.write(body, to: "up")
        let plain = try Curl.run(
            proxy: self.pintle.port, "--proxytunnel", "http://127.0.0.1:\(origin.httpPort)/files/down")
        #expect(plain.exitCode == 0 && plain.body == body)
        #expect(plain["Via"] == nil, "nobody touches what is inside a tunnel")
        let base = "https://localhost:\(origin.httpsPort)"
        let secure = try Curl.run(proxy: self.pintle.port, "--cacert", roots, "\(base)/files/down")
        #expect(secure.exitCode == 0 && secure.body == body, "\(secure.errors)")
        let sent = try Curl.run(proxy: self.pintle.port, "--cacert", roots, "-T", up, "\(base)/store/up")
        #expect(sent.status == 201 && origin.stored("up") == body, "\(sent)")
        let foreign = try Curl.run(proxy: self.pintle.port, "\(base)/hello")
        #expect(foreign.exitCode == 60, "the client itself verifies: \(foreign)")
    }

    @Test func `what a client sends right behind CONNECT is not lost`() throws {
        let origin = try RawOrigin { connection in
            try connection.send("echo: " + (try connection.stream.readLine()) + "\r\n")
        }
        let client = try self.pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\nearly bird\r\n")
        #expect(try client.readHead().status == 200)
        #expect(try client.readLine() == "echo: early bird")
    }

    @Test func `an origin that speaks first is heard`() throws {
        let origin = try RawOrigin { connection in
            try connection.send("220 ready\r\n")
            _ = try connection.waitForEnd()
        }
        #expect(try self.open(origin.port).readLine() == "220 ready")
    }

    @Test func `a client that has finished sending still gets its answer`() throws {
        let origin = try RawOrigin { connection in
            let sent = try connection.stream.readToEnd()
            guard sent.ending == .closed else { return }
            try connection.stream.send(sent.bytes.reversed())
        }
        let client = try self.open(origin.port)
        try client.send("abc")
        client.finishSending()
        let answer = try client.readToEnd()
        #expect(answer.bytes == Array("cba".utf8) && answer.ending == .closed)
    }

    @Test func `an origin that has finished sending still gets what comes`() throws {
        let heard = Watched<[UInt8]?>(nil)
        let origin = try RawOrigin { connection in
            try connection.send("done\r\n")
            connection.stream.finishSending()
            let rest = try connection.stream.readToEnd().bytes
            heard.change { $0 = rest }
        }
        let client = try self.open(origin.port)
        #expect(try client.readLine() == "done")
        #expect(try client.readToEnd().ending == .closed)
        try client.send("still here")
        client.close()
        #expect(try heard.wait(for: "the origin to hear the end") { $0 != nil } == Array("still here".utf8))
    }

    @Test func `large amounts pass both ways at once, whole`() throws {
        let body = pattern(8_000_000)
        let origin = try RawOrigin { connection in
            while let bytes = try connection.stream.readSome() {
                try connection.stream.send(bytes)
                connection.stream.forgetTaken()
            }
        }
        let client = try self.open(origin.port)
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            try client.send(body)
            client.finishSending()
        }
        let echoed = try client.readToEnd()
        #expect(echoed.bytes == body && echoed.ending == .closed, "\(echoed.bytes.count) bytes")
        #expect(failure.current == nil)
    }

    @Test func `the bytes of a tunnel are in its line and in the counters`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.stream.read(1000)
            try connection.stream.send(pattern(5000))
            _ = try connection.waitForEnd()
        }
        let client = try self.open(origin.port)
        try client.send(pattern(1000))
        #expect(try client.read(5000) == pattern(5000))
        let during = try self.pintle.counters()
        #expect(during["tunnels_active"] as? Int == 1 && during["active"] as? Int == 1, "\(during)")
        client.close()
        let record = try self.pintle.waitForExchanges(1)[0]
        #expect(record["mode"] as? String == "tunnel" && record["method"] as? String == "CONNECT", "\(record)")
        #expect(record["bytes_in"] as? Int == 1000 && record["bytes_out"] as? Int == 5000, "\(record)")
        #expect(record["host"] as? String == "127.0.0.1:\(origin.port)" && record["status"] as? Int == 200)
        let after = try self.pintle.counters()
        #expect(after["tunnels_opened"] as? Int == 1 && after["tunnels_active"] as? Int == 0, "\(after)")
        #expect(after["bytes_up"] as? Int == 1000 && after["bytes_down"] as? Int == 5000, "\(after)")
    }

    @Test func `a client that breaks off ends the tunnel at the origin`() throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        try self.open(origin.port).reset()
        try ended.wait(for: "the origin to see the end") { $0 }
    }

    @Test func `an origin that breaks off ends the tunnel at the client`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.stream.readLine()
            connection.stream.reset()
        }
        let client = try self.open(origin.port)
        try client.send("go\r\n")
        #expect(try client.readToEnd().bytes.isEmpty)
    }

    @Test func `a refused destination is 403 with the reason in the status line`() throws {
        let origin = try RawOrigin(answering: response("never"))
        for (rules, reason) in [
            ("{deny: [localhost]}", "http_request_denied"),
            ("{deny: [\"127.0.0.0/8\", \"::1/128\"]}", "destination_ip_prohibited"),
        ] {
            let pintle = try PintleProcess("destinations: \(rules)")
            let result = try Curl.run(
                proxy: pintle.port, "--proxytunnel", "http://localhost:\(origin.port)/")
            #expect(result.exitCode == 56, "\(result)")
            #expect(result.head.startLine == "HTTP/1.1 403 Destination Denied By Policy", "\(result)")
            #expect(result["Proxy-Status"]?.contains("error=\(reason)") == true, "\(result.head)")
        }
        #expect(origin.connections.isEmpty)
    }

    @Test(arguments: ["destinations: {connect_ports: [443]}", "listen"])
    func `a port that is not for tunnels is 403 with the rule`(rule: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let isExposed = rule == "listen"
        let pintle = try PintleProcess(
            isExposed ? "destinations: {private_addresses: allow}" : rule,
            arguments: isExposed ? ["--listen", "0.0.0.0:0"] : [])
        let result = try Curl.run(proxy: pintle.port, "--proxytunnel", "http://127.0.0.1:\(origin.port)/")
        #expect(result.exitCode == 56 && result.head.startLine.hasPrefix("HTTP/1.1 403 "), "\(result)")
        #expect(result["Proxy-Status"]?.contains("is denied by destinations.connect_ports") == true, "\(result.head)")
        #expect(origin.connections.isEmpty)
    }

    @Test(.enabled(if: MachineNetwork.hasDefaultRoute, "without a network the answer is network-unreachable"))
    func `a host that does not resolve is 502 dns-failure`() throws {
        let answer = try self.pintle.ask("CONNECT no-such-host.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:dns-failure"), "\(answer)")
        #expect(answer["Proxy-Status"]?.contains("error=dns_") == true)
    }

    @Test func `a port where nobody listens is 502 connect-failure`() throws {
        let port = try FreePort.find()
        let answer = try self.pintle.ask("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:connect-failure"), "\(answer)")
        #expect(answer["Proxy-Status"]?.contains("error=connection_refused") == true)
    }

    @Test func `a client may go on after a refused CONNECT`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let port = try FreePort.find()
        let client = try self.pintle.connect()
        try client.send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().status == 502)
        try client.send(get(origin.port))
        #expect(try client.readResponse().text == "done")
    }

    @Test func `tunnels beyond the limit are refused, and one that ends makes room`() throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let first = try self.open(origin.port)
        let second = try self.open(origin.port)
        let third = try self.pintle.ask("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(third.status == 503 && third.text.contains("limits.tunnels"), "\(third)")
        first.close()
        try self.pintle.waitForExchanges(2)
        _ = try self.open(origin.port)
        second.close()
    }

    @Test func `a tunnel that is idle for too long is closed`() throws {
        let pintle = try PintleProcess("limits: {tunnel_idle_timeout: 200ms}")
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let client = try self.open(origin.port, on: pintle)
        #expect(try client.readToEnd().bytes.isEmpty)
        #expect(try pintle.waitForExchanges(1)[0]["error"] as? String != nil)
    }

    @Test func `LOOK-15 a client has only its share of the tunnels`() throws {
        let pintle = try PintleProcess("limits: {tunnels: 10, tunnels_per_client: 1}")
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let first = try self.open(origin.port, on: pintle)
        let second = try pintle.ask("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(second.status == 503 && second.text.contains("limits.tunnels_per_client (1)"), "\(second)")
        first.close()
        try pintle.waitForExchanges(2)
        _ = try self.open(origin.port, on: pintle)
    }

    @Test func `LOOK-15 a tunnel in which nothing is said is closed long before one that is idle`() throws {
        let pintle = try PintleProcess("limits: {header_timeout: 200ms}")
        let origin = try RawOrigin { connection in
            try connection.send("echo: " + (try connection.stream.readLine()) + "\r\n")
            _ = try connection.waitForEnd()
        }
        let silent = try self.open(origin.port, on: pintle)
        let spoken = try self.open(origin.port, on: pintle)
        try spoken.send("word\r\n")
        #expect(try spoken.readLine() == "echo: word")
        #expect(try silent.readToEnd().bytes.isEmpty)
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["error"] as? String == "nothing was sent in the tunnel within limits.header_timeout")
        #expect(pintle.exchanges.count == 1, "the tunnel that was used stays")
    }

    @Test func `a program that drains does not end while a tunnel opens that was the last thing under way`() throws {
        let mayOpen = Watched(false)
        let parent = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try mayOpen.wait(for: "the program to drain") { $0 }
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            _ = try connection.waitForEnd()
        }
        // One thread, so that the closing of a connection shows that it drains.
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            upstream_proxy: {url: "http://127.0.0.1:\(parent.port)"}
            limits: {drain_timeout: 1h, header_timeout: 1s}
            """)
        let client = try pintle.connect()
        try client.send("CONNECT a.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        try parent.waitForRequests(1)
        let idle = try pintle.connect()
        try idle.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try idle.readResponse().status == 200)
        pintle.process.signal(SIGTERM)
        #expect(try idle.readToEnd().ending == .closed)
        idle.close()
        mayOpen.change { $0 = true }
        #expect(try client.readHead().status == 200)
        // A program that took itself for empty would be gone long before it gives up a tunnel in which nothing is said.
        #expect(try client.readToEnd().bytes.isEmpty)
        let record = try #require(try pintle.waitForExchanges(2).last)
        #expect(
            record["error"] as? String == "nothing was sent in the tunnel within limits.header_timeout", "\(record)")
        #expect(try pintle.process.waitForExit() == 0)
    }
}
