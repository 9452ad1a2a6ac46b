// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Answers that are kept (`cache`), as clients and origins see them. The rules themselves are tested beside them.
struct CacheTests {
    static let configuration = """
        routes:
          - name: kept
            match: {paths: ["/**"]}
            cache: {policy: protocol}
        cache: {disk: off}
        """

    @Test func `a fresh answer is given again, with its age, and says where it comes from`() throws {
        let origin = try RawOrigin(answering: response("hello", fields: "Cache-Control: max-age=60\r\n"))
        let pintle = try PintleProcess(Self.configuration)
        let first = try pintle.ask(get(origin.port, "/a"))
        #expect(first.text == "hello" && first["Age"] == nil)
        #expect(first["Cache-Status"] == "pintle;fwd=uri-miss;fwd-status=200;ttl=60;stored")
        let second = try pintle.ask(get(origin.port, "/a"))
        #expect(second.text == "hello" && second["Age"] != nil && second["Content-Length"] == "5")
        #expect(second["Cache-Status"]?.hasPrefix("pintle;hit;ttl=") == true)
        // Byte for byte: another path is another resource.
        #expect(try pintle.ask(get(origin.port, "/%61"))["Cache-Status"]?.contains("uri-miss") == true)
        #expect(origin.requests.count == 2)
        let lines = try pintle.waitForExchanges(3)
        #expect(lines.map { $0["cache"] as? String } == ["miss", "hit", "miss"])
        #expect(lines.map { $0["upstream_status"] as? Int } == [200, nil, 200])
        let counters = try pintle.counters()
        #expect(counters["cache_hits"] as? Int == 1 && counters["cache_misses"] as? Int == 2)
    }

    @Test func `what is kept answers HEAD, ranges and conditions`() throws {
        let origin = try RawOrigin(
            answering: response("0123456789", fields: "Cache-Control: max-age=60\r\nETag: \"v1\"\r\n"))
        let pintle = try PintleProcess(Self.configuration)
        _ = try pintle.ask(get(origin.port))
        let head = try pintle.ask(
            get(origin.port).replacingOccurrences(of: "GET ", with: "HEAD "), method: "HEAD")
        #expect(head.body.isEmpty && head["Content-Length"] == "10" && head["ETag"] == "\"v1\"")
        let part = try pintle.ask(get(origin.port, fields: "Range: bytes=2-4\r\n"))
        #expect(part.head.status == 206 && part.text == "234" && part["Content-Range"] == "bytes 2-4/10")
        let unchanged = try pintle.ask(get(origin.port, fields: "If-None-Match: \"v1\"\r\n"))
        #expect(unchanged.head.status == 304 && unchanged["ETag"] == "\"v1\"")
        let beyond = try pintle.ask(get(origin.port, fields: "Range: bytes=20-\r\n"))
        #expect(beyond.head.status == 416 && beyond["Content-Range"] == "bytes */10")
        #expect(origin.requests.count == 1)
    }

    @Test func `an answer takes the place of all that its request would have got, in memory and on disk`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin { connection in
            while true {
                let isFirst = try connection.readRequest()["If-None-Match"] == nil
                let fields = isFirst ? "max-age=0\r\nVary: X-Kind\r\nETag: \"1\"" : "max-age=600\r\nETag: \"2\""
                try connection.send(response(isFirst ? "old" : "new", fields: "Cache-Control: \(fields)\r\n"))
            }
        }
        let configuration = "routes: [{name: kept, cache: {policy: protocol}}]"
        var pintle = try PintleProcess(configuration, folder: folder)
        let request = get(origin.port, fields: "X-Kind: a\r\n")
        // The second one is stored beside no other: the one that varies would answer before it, and be stale for ever.
        #expect(try (0..<4).map { _ in try pintle.ask(request).text } == ["old", "new", "new", "new"])
        #expect(try pintle.stop() == 0)
        pintle = try PintleProcess(configuration, folder: folder)
        let last = try pintle.ask(request)
        #expect(last.text == "new" && last["Cache-Status"]?.contains(";hit") == true && origin.requests.count == 2)
    }

    @Test func `what is kept of an address that may not be dialled any more does not answer`() throws {
        let origin = try RawOrigin(answering: response("hello", fields: "Cache-Control: max-age=60\r\n"))
        let folder = try TemporaryFolder()
        let name = "http://localhost:\(origin.port)/"
        let request = "GET \(name) HTTP/1.1\r\nHost: localhost:\(origin.port)\r\n\r\n"
        let pintle = try PintleProcess(Self.configuration, folder: folder)
        for _ in 0..<2 { #expect(try pintle.ask(request).text == "hello") }
        let path = "\(folder.path)/pintle.yaml"
        let before = try String(contentsOfFile: path, encoding: .utf8)
        try "\(before)\ndestinations: {deny: [\"127.0.0.0/8\", \"::1/128\"]}\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        pintle.process.signal(SIGHUP)
        try pintle.waitForMessages("reloaded \(path)")
        let answer = try pintle.ask(request)
        #expect(answer.head.status == 403 && answer.text.contains("destination-denied"), "\(answer)")
    }

    @Test func `a stale answer is confirmed by the origin and then given`() throws {
        let origin = try RawOrigin { connection in
            while true {
                if try connection.readRequest()["If-None-Match"] == "\"v1\"" {
                    // The stored answer is fresh from here on.
                    try connection.send(
                        "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=60\r\n\r\n")
                } else {
                    try connection.send(response("body", fields: "Cache-Control: max-age=0\r\nETag: \"v1\"\r\n"))
                }
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        #expect(try pintle.ask(get(origin.port)).text == "body")
        let confirmed = try pintle.ask(get(origin.port))
        #expect(confirmed.head.status == 200 && confirmed.text == "body")
        #expect(confirmed["Cache-Status"]?.hasPrefix("pintle;fwd=stale;fwd-status=304") == true)
        let fresh = try pintle.ask(get(origin.port))
        #expect(fresh["Cache-Status"]?.contains(";hit") == true && fresh.text == "body")
        #expect(try pintle.waitForExchanges(3).map { $0["cache"] as? String } == ["miss", "validated", "hit"])
    }

    @Test(arguments: [
        ("Cache-Control: no-store\r\n", "", "no-store"), ("Cache-Control: private, max-age=60\r\n", "", "private"),
        ("Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n", "", "set-cookie"),
        ("Cache-Control: max-age=60\r\n", "Authorization: Bearer x\r\n", "authorization"),
        ("Cache-Control: max-age=60\r\nVary: *\r\n", "", "vary-any"), ("", "", "never-usable"),
        ("Cache-Control: no-cache\r\n", "", "never-usable"),
    ])
    func `what must not be kept is not`(answer: String, request: String, reason: String) throws {
        let origin = try RawOrigin(answering: response("mine", fields: answer))
        let pintle = try PintleProcess(Self.configuration)
        for _ in 0..<2 {
            let message = try pintle.ask(get(origin.port, fields: request))
            #expect(message.text == "mine")
            #expect(message["Cache-Status"] == "pintle;fwd=uri-miss;fwd-status=200;detail=\(reason)")
        }
        #expect(origin.requests.count == 2)
    }

    @Test func `a field that may change the answer goes past the cache both ways`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                let host = request["X-Forwarded-Host"] ?? "good.test"
                try connection.send(response("link to \(host)", fields: "Cache-Control: max-age=60\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        let poisoned = try pintle.ask(get(origin.port, fields: "X-Forwarded-Host: evil.test\r\n"))
        #expect(poisoned.text == "link to evil.test" && poisoned["Cache-Status"]?.contains("stored") == false)
        #expect(try pintle.ask(get(origin.port)).text == "link to good.test")
        #expect(try pintle.ask(get(origin.port, fields: "x-FORWARDED-host: evil.test\r\n")).text == "link to evil.test")
        #expect(try pintle.ask(get(origin.port)).text == "link to good.test")
        #expect(origin.requests.count == 3)
    }

    @Test func `answers vary by the fields that the origin names`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let language = try connection.readRequest()["Accept-Language"] ?? "none"
                try connection.send(
                    response(language, fields: "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n"))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        for _ in 0..<2 {
            for language in ["de", "fr"] {
                #expect(try pintle.ask(get(origin.port, fields: "Accept-Language: \(language)\r\n")).text == language)
            }
        }
        #expect(origin.requests.count == 2)
    }

    @Test func `a method that changes things removes the answers of its URL`() throws {
        let origin = try RawOrigin(answering: response("x", fields: "Cache-Control: max-age=60\r\n"))
        let pintle = try PintleProcess(Self.configuration)
        for _ in 0..<2 { _ = try pintle.ask(get(origin.port, "/a")) }
        _ = try pintle.ask(
            "POST http://127.0.0.1:\(origin.port)/a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", method: "POST")
        #expect(try pintle.ask(get(origin.port, "/a"))["Cache-Status"]?.contains("uri-miss") == true)
        #expect(origin.requests.map(\.head.startLine).map { $0.prefix(4) } == ["GET ", "POST", "GET "])
    }

    @Test func `a stale answer is given where the origin is away and has allowed it`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                response("old", fields: "Cache-Control: max-age=0, stale-if-error=600\r\nETag: \"v\"\r\n"))
        }
        let pintle = try PintleProcess(Self.configuration)
        _ = try pintle.ask(get(origin.port))
        origin.stop()
        let stale = try pintle.ask(get(origin.port))
        #expect(stale.head.status == 200 && stale.text == "old" && stale["Age"] != nil)
        #expect(try pintle.waitForExchanges(2)[1]["cache"] as? String == "stale")
    }

    @Test func `a stale answer stands in for an origin that fails a client with conditions or a range`() throws {
        let status = Watched("200 OK")
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let fields =
                    status.current == "200 OK"
                    ? "Cache-Control: max-age=0, stale-if-error=600\r\nETag: \"v\"\r\n" : ""
                try connection.send(response("old", status: status.current, fields: fields))
            }
        }
        let pintle = try PintleProcess(Self.configuration)
        #expect(try pintle.ask(get(origin.port)).text == "old")
        func expectStandIns(_ failure: String) throws {
            let cases = [
                ("If-None-Match: \"v\"\r\n", 304, ""), ("If-None-Match: \"w\"\r\n", 200, "old"),
                ("Range: bytes=1-1\r\n", 206, "l"),
            ]
            for (fields, code, text) in cases {
                let answer = try pintle.ask(get(origin.port, fields: fields))
                #expect(answer.status == code && answer.text == text, "\(fields)")
                #expect(answer["Cache-Status"]?.hasPrefix("pintle;fwd=stale;\(failure)ttl=") == true)
            }
        }
        status.change { $0 = "503 Service Unavailable" }
        try expectStandIns("fwd-status=503;")
        let own = "Cache-Control: no-cache\r\nRange: bytes=1-1\r\n"
        #expect(try pintle.ask(get(origin.port, fields: own)).status == 503)
        status.change { $0 = "403 Forbidden" }
        #expect(try pintle.ask(get(origin.port, fields: "Range: bytes=1-1\r\n")).status == 403)
        #expect(try pintle.waitForExchanges(6)[1]["cache"] as? String == "stale")
    }

    @Test func `prefer_cache answers however old, and only_cache asks nobody`() throws {
        let origin = try RawOrigin(
            answering: response("x", fields: "Cache-Control: max-age=0\r\nETag: \"v\"\r\n"))
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            routes:
              - {name: only, match: {headers: {X-Only: "*"}}, cache: {policy: only_cache}}
              - {name: prefer, cache: {policy: prefer_cache}}
            """)
        let missing = try pintle.ask(get(origin.port, fields: "X-Only: yes\r\nAccept: application/json\r\n"))
        #expect(missing.head.status == 504 && missing.text.contains("urn:pintle:problem:cache-miss"))
        #expect(missing["Proxy-Status"]?.contains("proxy_internal_response") == true)
        for _ in 0..<2 { #expect(try pintle.ask(get(origin.port)).text == "x") }
        #expect(try pintle.ask(get(origin.port, fields: "X-Only: yes\r\n")).text == "x")
        #expect(origin.requests.count == 1)
    }

    @Test func `what one trust policy has accepted is no answer under another`() throws {
        let (pki, folder) = (TestPKI(), try TemporaryFolder())
        let root = try pki.root()
        let origin = try NginxOrigin(https: [try pki.leaf(dns: ["localhost"], signedBy: root)])
        try origin.serve(Array("kept".utf8), as: "a")
        let pem = try folder.write(root.certificatePEM, to: "root.pem")
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            trust:
              lax: {roots: ["\(pem)"]}
              strict: {roots: ["\(pem)"], pinning: public_key, pins: ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}
            routes:
              - {name: strict, match: {headers: {X-Strict: "*"}}, upstream: "https://localhost:\(origin.httpsPort)/",
                 trust: strict, cache: {policy: prefer_cache}}
              - {name: lax, upstream: "https://localhost:\(origin.httpsPort)/", trust: lax, cache: {policy: prefer_cache}}
            """)
        let request = "GET /files/a HTTP/1.1\r\nHost: localhost\r\n"
        for _ in 0..<2 { #expect(try pintle.ask(request + "\r\n").text == "kept") }
        let refused = try pintle.ask(request + "X-Strict: yes\r\nAccept: application/json\r\n\r\n")
        #expect(refused.head.status == 502 && refused.text.contains("pin-mismatch"))
        let outcomes = try pintle.waitForExchanges(3).map { $0["cache"] as? String }
        // The file has no explicit lifetime, and was modified just now.
        #expect(outcomes == ["miss", "stale", "miss"])
    }
}
