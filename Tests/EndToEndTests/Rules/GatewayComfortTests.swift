// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Gateways for people and browsers: answers of routes, permissions for web pages, addresses of upstreams, and fields about clients.
struct GatewayComfortTests {
    private static let health =
        "{name: health, match: {paths: [\"/healthz\"]}, respond: {json: {up: true}, headers: {X-A: b}}}"

    // MARK: Answers of routes

    @Test func `a route answers, and the log says that Pintle did`() throws {
        let pintle = try PintleProcess("routes: [\(Self.health)]")
        let answer = try Curl.run(["http://127.0.0.1:\(pintle.port)/healthz"])
        #expect(answer.status == 200 && answer.text == #"{"up":true}"#, "\(answer)")
        #expect(answer["Content-Type"] == "application/json" && answer["X-A"] == "b" && answer["Date"] != nil)
        #expect(answer["Pintle-Simulated"] == nil && answer["Proxy-Status"] == nil, "\(answer)")
        let head = try Curl.run(["--head", "http://127.0.0.1:\(pintle.port)/healthz"])
        // curl writes the head itself.
        #expect(head.status == 200 && head["Content-Length"] == "11" && !head.text.contains("true"), "\(head)")
        let line = try pintle.waitForExchanges(2)[0]
        #expect(line["source"] as? String == "pintle" && line["route"] as? String == "health", "\(line)")
        #expect(line["decision"] as? String == "allow" && line["upstream_status"] == nil, "\(line)")
    }

    @Test func `a connection is kept after an answer, whatever body was sent`() throws {
        let pintle = try PintleProcess("limits: {body_buffer: 64KiB}\nroutes: [\(Self.health)]")
        let small = "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
        let stream = try pintle.connect()
        for _ in 0..<2 {
            try stream.send(small)
            #expect(try stream.readResponse().text == #"{"up":true}"#)
        }
        // A body that cannot be held is not read, and does not matter either.
        try stream.send("POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        let answer = try stream.readResponse()
        #expect(answer.status == 200 && answer["Connection"] == "close", "\(answer)")
    }

    @Test func `a client that asks before it sends a body gets the answer at once`() throws {
        let pintle = try PintleProcess("routes: [\(Self.health)]")
        let stream = try pintle.connect()
        try stream.send(
            "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(try stream.readResponse().status == 200)
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `a route answers in an intercepted tunnel, and no origin is looked for`(language: String) throws {
        let folder = try TemporaryFolder()
        try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let pintle = try PintleProcess(
            """
            interception: {hosts: [nowhere.test]}
            routes: [\(Self.health), {name: fresh, match: {hosts: [nowhere.test]}, respond: {status: 204}, cors: {origins: "*"}}]
            """, environment: ["XDG_DATA_HOME": folder.path], folder: folder)
        let stream = try TLSStream(to: "nowhere.test:443", through: pintle.port, protocols: [language])
        if language == "h2" {
            let client = HTTP2Client(stream)
            try client.greet()
            try client.send(
                HTTP2Bytes.headers([
                    (":method", "GET"), (":scheme", "https"), (":authority", "nowhere.test"), (":path", "/healthz"),
                ]))
            #expect(try client.answer().text == #"{"up":true}"#)
        } else {
            try stream.send(
                "GET / HTTP/1.1\r\nHost: nowhere.test\r\nOrigin: https://app.example\r\nConnection: close\r\n\r\n")
            let head = String(decoding: stream.readToEnd().bytes, as: UTF8.self)
            #expect(
                head.hasPrefix("HTTP/1.1 204 ") && head.contains("\r\nAccess-Control-Allow-Origin: *\r\n"), "\(head)")
        }
        let line = try #require(try pintle.waitForExchanges(2).first { $0["method"] as? String == "GET" })
        #expect(line["mode"] as? String == "intercept" && line["source"] as? String == "pintle", "\(line)")
        #expect(line["address"] == nil && line["error"] == nil, "\(line)")
    }

    // MARK: Web pages

    @Test func `a browser's preflight is answered, and its request gets the permission`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "Access-Control-Allow-Origin: *\r\n"))
        let pintle = try PintleProcess(
            """
            routes:
              - name: api
                match: {methods: [PUT]}
                upstream: "http://127.0.0.1:\(origin.port)/"
                cors: {origins: ["https://app.example"], headers: [Content-Type]}
            """)
        let url = "http://127.0.0.1:\(pintle.port)/a"
        let page = ["-H", "Origin: https://app.example"]
        let preflight = try Curl.run(
            ["-X", "OPTIONS", "-H", "Access-Control-Request-Method: PUT", url] + page)
        #expect(preflight.status == 204 && preflight["Access-Control-Allow-Methods"] == "PUT", "\(preflight)")
        #expect(preflight["Access-Control-Allow-Origin"] == "https://app.example" && preflight["Content-Length"] == nil)
        #expect(origin.requests.isEmpty)
        let answer = try Curl.run(["-X", "PUT", url] + page)
        #expect(answer.text == "done" && answer["Access-Control-Allow-Origin"] == "https://app.example", "\(answer)")
        #expect(answer["Vary"] == "Origin", "\(answer)")
        let stranger = try Curl.run(
            ["-X", "OPTIONS", "-H", "Access-Control-Request-Method: PUT", url, "-H", "Origin: https://evil.example"])
        let reason = "the origin https://evil.example is not in cors.origins of routes[0] \"api\""
        #expect(stranger.status == 403 && stranger.text == reason + "\n", "\(stranger)")
        let line = try pintle.waitForExchanges(3)[2]
        #expect(line["error"] as? String == reason && line["source"] as? String == "pintle", "\(line)")
    }

    // MARK: Addresses and clients

    @Test func `redirects and cookies of an upstream lead back to the gateway`() throws {
        let origin = try RawOrigin { connection in
            let host = try connection.readRequest()["Host"] ?? ""
            try connection.send(
                response(
                    "", status: "302 Found",
                    fields: "Location: http://\(host)/base/in?a=b\r\nSet-Cookie: s=1; Domain=127.0.0.1; Path=/base\r\n"
                        + "Set-Cookie: t=2; Path=/\r\nConnection: close\r\n"))
        }
        let pintle = try PintleProcess(
            """
            routes:
              - {name: shop, match: {paths: ["/shop/**"]}, upstream: "http://127.0.0.1:\(origin.port)/base", strip_prefix: /shop}
              - {name: raw, match: {paths: ["/raw/**"]}, upstream: "http://127.0.0.1:\(origin.port)/base", rewrite_upstream: off}
            """)
        let shop = try pintle.ask("GET /shop/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(shop.status == 302 && shop["Location"] == "/shop/in?a=b", "\(shop)")
        #expect(shop.head.values("Set-Cookie") == ["s=1; Path=/shop", "t=2; Path=/shop"], "\(shop)")
        let raw = try pintle.ask("GET /raw/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(raw["Location"] == "http://127.0.0.1:\(origin.port)/base/in?a=b", "\(raw)")
    }

    @Test func `a client over TLS is told to have come by https, and gets paths`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try folder.write(pki.leaf("proxy", dns: ["proxy.test"], ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        try folder.write(root.certificatePEM, to: "root.pem")
        let origin = try RawOrigin(
            answering: response("done", status: "201 Created", fields: "Content-Location: http://127.0.0.1/a\r\n"))
        let pintle = try PintleProcess(
            """
            listen_tls: {certificate: proxy.pem, key: proxy.key}
            routes: [{name: up, upstream: "http://127.0.0.1:\(origin.port)/", request: {forwarded: rfc7239}}]
            """, arguments: ["--listen", "https://127.0.0.1:0"], folder: folder)
        let address = "127.0.0.1:\(pintle.ports[1])"
        for version in ["--http2", "--http1.1"] {
            let answer = try Curl.run([version, "--cacert", "\(folder.path)/root.pem", "https://\(address)/a"])
            #expect(answer.status == 201 && answer.text == "done", "\(answer)")
        }
        for request in try origin.waitForRequests(2) {
            #expect(request["Forwarded"] == "for=127.0.0.1;host=\"\(address)\";proto=https")
        }
    }

    @Test func `an origin is told of the client that asks, also if others ask the same`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            """
            clients: {allow: ["127.0.0.0/8"]}
            routes:
              - name: up
                upstream: "http://127.0.0.1:\(origin.port)/"
                request: {forwarded: {fields: x_forwarded, trusted_proxies: ["127.0.0.3"]}}
            """)
        let url = "http://127.0.0.1:\(pintle.port)/a"
        for address in ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2", "127.0.0.3"] {
            _ = try Curl.run(["--interface", address, "-H", "X-Forwarded-For: 10.1.1.1", url])
        }
        let told = try origin.waitForRequests(5).map { $0["X-Forwarded-For"] }
        #expect(told == ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2", "10.1.1.1, 127.0.0.3"])
        let first = origin.requests[0]
        #expect(first["X-Forwarded-Host"] == "127.0.0.1:\(pintle.port)" && first["X-Forwarded-Proto"] == "http")
    }
}
