// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// WebSockets from a client to an origin and back.
struct WebSocketTests {
    /// Puts nginx, which does the TLS, before an origin.
    private static func secureSite(_ port: Int, more: String = "") throws -> PrivateSite {
        try PrivateSite(
            locations: """
                location /ws {
                    \(more)
                    proxy_pass http://127.0.0.1:\(port);
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection upgrade;
                    proxy_read_timeout 60s;
                }

                """)
    }

    /// Sends the handshake and reads the answer.
    private static func open(
        _ pintle: PintleProcess, _ target: String, host: String = "site.test", more: String = ""
    ) throws -> (stream: SocketStream, head: MessageHead) {
        let client = try pintle.connect()
        try client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(WebSocketWire.handshake)\(more)\r\n")
        return (client, try client.readHead())
    }

    /// True if messages of all lengths come back.
    private static func echoes(_ client: SocketStream) throws -> Bool {
        for count in [0, 5, 126, 70_000] {
            try client.sendFrame(.binary, pattern(count))
            guard try client.readFrame() == WebSocketWire.Frame(kind: .binary, payload: pattern(count)) else {
                return false
            }
        }
        try client.sendFrame(.close, [0x03, 0xE8])
        let answer = try client.readFrame()
        return try answer.kind == .close && client.readToEnd().bytes.isEmpty
    }

    @Test func `a WebSocket to an http origin is echoed, in absolute form and by a gateway route`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let url = "http://127.0.0.1:\(origin.port)"
        let pintle = try PintleProcess("routes: [{name: chat, match: {hosts: [site.test]}, upstream: \"\(url)\"}]")
        for target in ["\(url)/chat?room=1", "/chat?room=1"] {
            let (client, head) = try Self.open(pintle, target)
            #expect(head.startLine == "HTTP/1.1 101 Switching Protocols")
            #expect(head.values("Connection") == ["Upgrade"] && head.values("Upgrade") == ["websocket"], "\(head)")
            #expect(head["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(head["Via"] == "1.1 pintle" && head["Content-Length"] == nil, "\(head)")
            #expect(try Self.echoes(client))
        }
        for request in origin.requests {
            #expect(request.head.startLine == "GET /chat?room=1 HTTP/1.1")
            #expect(request.head.values("Connection") == ["Upgrade"], "\(request)")
            #expect(request["Upgrade"] == "websocket" && request["Host"] == "127.0.0.1:\(origin.port)")
            #expect(request["Sec-WebSocket-Version"] == "13" && request["Via"] == "1.1 pintle", "\(request)")
        }
        let records = try pintle.waitForExchanges(2)
        #expect(records.map { $0["mode"] as? String } == ["forward", "gateway"], "\(records)")
        for record in records {
            #expect(record["status"] as? Int == 101 && record["upstream_status"] as? Int == 101, "\(record)")
            // Masks and lengths are of the client's frames, which are longer than the origin's.
            #expect(record["bytes_in"] as? Int == 70_131 + 8 + 8 + 16 + 10, "\(record)")
            #expect(record["decision"] as? String == "allow" && record["http"] as? String == "1.1")
            #expect(record["first_byte_ms"] != nil, "\(record)")
        }
    }

    @Test func `a WebSocket to an https origin passes after its pins`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle("roots: [root.pem], pinning: public_key, pins: [\"\(site.leaf.pin)\"]")
        let port = site.origin.httpsPort
        for (target, host) in [("https://localhost:\(port)/ws", "localhost"), ("http://site.test/ws", "site.test")] {
            let (client, head) = try Self.open(pintle, target, host: host)
            #expect(head.status == 101, "\(head)")
            #expect(try Self.echoes(client))
        }
        for record in try pintle.waitForExchanges(2) {
            #expect(record["trust"] as? String == "site" && record["pin"] as? String == "\(site.leaf.pin)", "\(record)")
            #expect(
                (record["tls"] as? String)?.hasPrefix("TLSv1.") == true && record["status"] as? Int == 101, "\(record)")
        }
    }

    @Test func `a wrong pin is a problem, and nothing reaches the origin`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle("roots: [root.pem], pinning: public_key, pins: [\"\(site.backup.pin)\"]")
        let client = try pintle.connect()
        try client.send("GET http://site.test/ws HTTP/1.1\r\nHost: site.test\r\n\(WebSocketWire.handshake)\r\n")
        let answer = try client.readResponse()
        #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:pin-mismatch"), "\(answer)")
        #expect(origin.requests.isEmpty)
        #expect((try pintle.waitForExchanges(1)[0]["violations"] as? [String]) == ["pin-mismatch"])
    }

    @Test func `with enforcement report a wrong pin passes, marked`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle(
            "roots: [root.pem], pinning: public_key, pins: [\"\(site.backup.pin)\"], enforcement: report")
        let (client, head) = try Self.open(pintle, "http://site.test/ws")
        #expect(head.status == 101 && head["Pintle-Violation"] == "pin-mismatch", "\(head)")
        #expect(try Self.echoes(client))
    }

    @Test func `the policy's certificate is shown to an origin that asks for it`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let staff = try pki.root("Staff")
        let authorities = try folder.write(staff.certificatePEM, to: "staff.pem")
        let site = try PrivateSite(
            locations: """
                ssl_verify_client on;
                ssl_client_certificate \(authorities);
                location /ws {
                    proxy_pass http://127.0.0.1:\(origin.port);
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection upgrade;
                    proxy_set_header X-Who $ssl_client_s_dn;
                }

                """)
        _ = try site.folder.write(pki.client("alice", signedBy: staff), as: "alice")
        let pintle = try site.pintle("roots: [root.pem], client_certificate: {certificate: alice.pem, key: alice.key}")
        let (client, head) = try Self.open(pintle, "http://site.test/ws")
        #expect(head.status == 101, "\(head)")
        #expect(try Self.echoes(client))
        #expect(origin.requests.map { $0["X-Who"] } == ["CN=alice"])
    }

    @Test(arguments: [false, true])
    func `large messages pass both ways at once to a client that reads late`(isSecure: Bool) throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle("roots: [root.pem]")
        let target = isSecure ? "http://site.test/ws" : "http://127.0.0.1:\(origin.port)/ws"
        let (client, head) = try Self.open(pintle, target)
        #expect(head.status == 101)
        let body = pattern(300_000)
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            for _ in 0..<40 { try client.sendFrame(.binary, body) }
            try client.sendFrame(.close, [])
        }
        for number in 0..<40 {
            #expect(try client.readFrame().payload == body, "message \(number)")
            client.forgetTaken()
        }
        #expect(try client.readFrame().kind == .close)
        #expect(failure.current == nil)
        #expect(try pintle.memory("VmHWM") < 200_000)
    }

    @Test(arguments: [false, true])
    func `a thousand of them leave no descriptor behind`(isSecure: Bool) throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle("roots: [root.pem]")
        let target = isSecure ? "http://site.test/ws" : "http://127.0.0.1:\(origin.port)/ws"
        func round(_ count: Int) throws {
            let clients = try (0..<count).map { _ in try Self.open(pintle, target) }
            for (client, head) in clients {
                guard head.status == 101 else { throw TestFailure("\(head)") }
                try client.sendFrame(.text, [1])
                guard try client.readFrame().payload == [1] else { throw TestFailure("no echo") }
            }
            for (number, (client, _)) in clients.enumerated() {
                switch number % 3 {
                case 0: client.close()
                case 1: client.reset()
                default:
                    try client.sendFrame(.close, [])
                    _ = try client.readToEnd()
                }
            }
        }
        try round(100)
        try pintle.waitForExchanges(100)
        let before = try pintle.openDescriptors()
        for number in 2...10 {
            try round(100)
            try pintle.waitForExchanges(number * 100)
        }
        #expect(try pintle.openDescriptors() <= before)
        let counters = try pintle.counters()
        #expect(counters["tunnels_opened"] as? Int == 1000 && counters["tunnels_active"] as? Int == 0, "\(counters)")
        #expect(try pintle.serves("http://127.0.0.1:\(site.origin.httpPort)/hello"))
    }

    @Test func `an open WebSocket keeps no request to its host waiting`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle(
            "roots: [root.pem]", more: "engine: {threads: 1, connections_per_host: 1, idle_connections: 0}")
        let clients = try (0..<3).map { _ in try Self.open(pintle, "http://site.test/ws") }
        #expect(clients.allSatisfy { $0.head.status == 101 })
        let result = try site.fetch(pintle)
        #expect(result.status == 200 && result.text == "hello\n", "\(result)")
        for (client, _) in clients { #expect(try Self.echoes(client)) }
    }

    @Test func `a drain waits for open WebSockets, and closes them when its time is over`() throws {
        let origin = try RawOrigin(WebSocketWire.echo)
        let site = try Self.secureSite(origin.port)
        let pintle = try site.pintle("roots: [root.pem]", more: "limits: {drain_timeout: 400ms}")
        let (plain, _) = try Self.open(pintle, "http://127.0.0.1:\(origin.port)/ws")
        let (secure, _) = try Self.open(pintle, "http://site.test/ws")
        pintle.process.signal(15)
        for client in [plain, secure] {
            try client.sendFrame(.text, Array("still here".utf8))
            #expect(try client.readFrame().payload == Array("still here".utf8))
        }
        #expect(try plain.readToEnd().bytes.isEmpty && secure.readToEnd().bytes.isEmpty)
        #expect(try pintle.process.waitForExit() == 0)
    }
}
