// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Counters, the activity state, and the line of each exchange.
struct LogTests {
    @Test func `LOOK-45 counters are right for a known mix, on SIGUSR1 and at exit`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.contains("/bad") {
                    try connection.send(response("no", status: "500 No"))
                } else {
                    try connection.send(response("12345"))
                }
            }
        }
        let pintle = try PintleProcess(
            "routes: [{name: strict, match: {paths: [\"/s/**\"]}, response: {status: [200]}}]")
        let base = "http://127.0.0.1:\(origin.port)"
        for _ in 0..<3 { #expect(try Curl.run(proxy: pintle.port, "\(base)/s/ok").status == 200) }
        var problemBytes = 0
        for _ in 0..<2 {
            let refused = try Curl.run(proxy: pintle.port, "\(base)/s/bad")
            #expect(refused.status == 502)
            problemBytes += refused.body.count
        }
        #expect(try Curl.run(proxy: pintle.port, "-d", "1234567", "\(base)/other").status == 200)
        #expect(try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(try FreePort.find())/").status == 502)
        try pintle.waitForExchanges(7)
        let now = try pintle.counters()
        let expected = [
            "started": 7, "active": 0, "completed": 4, "failed": 3, "cancelled": 0, "bytes_up": 7, "pin_failures": 0,
        ]
        for (name, value) in expected { #expect(now[name] as? Int ?? 0 == value, "\(name) in \(now)") }
        #expect((now["violations"] as? [String: Int])?["response-status"] == 2, "\(now)")
        let strict = (now["routes"] as? [String: [String: any Sendable]])?["strict"] ?? [:]
        #expect(
            strict["started"] as? Int == 5 && strict["completed"] as? Int == 3 && strict["failed"] as? Int == 2,
            "\(now)")
        #expect(
            strict["bytes_down"] as? Int == 15 + problemBytes,
            "LOOK-45: the bytes of three answers of the origin, and of two problems: \(strict)")
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(5))")
        let atExit = try pintle.waitForMessages("activity.counters", 2)[1]
        for (name, value) in expected { #expect(atExit[name] as? Int ?? 0 == value, "\(name) in \(atExit)") }
    }

    @Test func `LOOK-45 counters of a tunnel and of a long stream move while they are open`() throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            let head = try connection.readRequestHead()
            if head.startLine.hasPrefix("GET") {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            }
            try release.wait(for: "the counters to move") { $0 }
        }
        let pintle = try PintleProcess("destinations: {connect_ports: any, require_sni_match: false}")
        let stream = try pintle.connect()
        try stream.send(get(origin.port))
        #expect(try stream.readHead().status == 200)
        let tunnel = try pintle.connect()
        try tunnel.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try tunnel.readHead().status == 200)
        try tunnel.send("POST / HTTP/1.1\r\n")
        var now: PintleProcess.Object = [:]
        try Patience.wait(for: "the bytes of both; there is \(now)") {
            now = try pintle.counters()
            return now["bytes_up"] as? Int == 17 && now["bytes_down"] as? Int == 4
        }
        #expect(now["active"] as? Int == 2, "\(now)")
        release.change { $0 = true }
    }

    @Test func `activity goes through its states`() throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try release.wait(for: "the test to go on") { $0 }
            try connection.send(response("done"))
        }
        let pintle = try PintleProcess(
            "activity: {activation_delay: 1ms, completion_delay: 1ms}", log: "{format: json, level: debug}")
        let client = try pintle.connect()
        try client.send(get(origin.port))
        func steps(_ count: Int) throws -> [String] {
            try pintle.waitForMessages("activity.state", count).map { "\($0["from"] ?? "")>\($0["to"] ?? "")" }
        }
        #expect(try steps(2) == ["not_active>delaying_start", "delaying_start>active"])
        release.change { $0 = true }
        #expect(try client.readResponse().text == "done")
        #expect(try steps(4).suffix(2) == ["active>delaying_end", "delaying_end>not_active"])
    }

    @Test func `activity shorter than its delay is never active`() throws {
        let origin = try RawOrigin(answering: response("done"))
        // Long enough for the exchange to be over on any machine: the delay is waited out, as in AFNetworking.
        let pintle = try PintleProcess("activity: {activation_delay: 3s}", log: "{format: json, level: debug}")
        _ = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        let steps = try pintle.waitForMessages("activity.state", 2).map { "\($0["from"] ?? "")>\($0["to"] ?? "")" }
        #expect(steps == ["not_active>delaying_start", "delaying_start>not_active"])
    }

    @Test func `counters are logged at intervals while they change`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("activity: {log_interval: 20ms}")
        _ = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        try pintle.process.waitForLine("the counters of one exchange") {
            $0.contains("activity.counters") && $0.contains("\"completed\":1")
        }
    }

    @Test func `the line of an exchange has the contract's keys`() throws {
        let origin = try RawOrigin(answering: response("12345"))
        let pintle = try PintleProcess("routes: [{name: r}]")
        let client = try pintle.connect()
        for _ in 0..<2 {
            try client.send(
                "POST http://127.0.0.1:\(origin.port)/p?key=secret HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
            _ = try client.readResponse()
        }
        let lines = try pintle.waitForExchanges(2)
        let (first, second) = (lines[0], lines[1])
        #expect(first["mode"] as? String == "forward" && first["method"] as? String == "POST")
        #expect(first["url"] as? String == "http://127.0.0.1:\(origin.port)/p?key=***")
        #expect(first["host"] as? String == "127.0.0.1:\(origin.port)" && first["address"] as? String == "127.0.0.1")
        #expect((first["client"] as? String)?.hasPrefix("127.0.0.1") == true)
        #expect(first["route"] as? String == "r" && first["decision"] as? String == "allow")
        #expect(first["status"] as? Int == 200 && first["upstream_status"] as? Int == 200)
        #expect(first["bytes_in"] as? Int == 3 && first["bytes_out"] as? Int == 5)
        #expect(first["http"] as? String == "1.1" && first["error"] == nil && first["violations"] == nil)
        for key in ["time", "id", "duration_ms", "connect_ms", "first_byte_ms"] { #expect(first[key] != nil, "\(key)") }
        #expect(first["source"] as? String == "origin")
        #expect(first["reused"] as? Bool == false && second["reused"] as? Bool == true)
        #expect(first["id"] as? String != second["id"] as? String)
        let known: Set<String> = [
            "time", "id", "client", "user", "tag", "process", "pid", "mode", "method", "url", "host", "address",
            "route", "rule",
            "decision", "revision", "trust", "pin", "chain", "assurance", "status", "upstream_status", "bytes_in",
            "bytes_out",
            "duration_ms", "connect_ms", "tls_ms", "first_byte_ms", "tls", "http", "reused", "retries", "cache",
            "source", "violations", "error",
        ]
        #expect(known.isSuperset(of: first.keys) && known.isSuperset(of: second.keys))
    }

    @Test func `TLS to the origin is in the line`() throws {
        let site = try PrivateSite()
        let pintle = try site.pintle("roots: [root.pem]")
        #expect(try site.fetch(pintle).status == 200)
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["trust"] as? String == "site" && line["tls_ms"] as? Int != nil, "\(line)")
        #expect(
            (line["tls"] as? String)?.hasPrefix("TLSv1.") == true || (line["tls"] as? String)?.hasPrefix("1.") == true,
            "\(line)")
    }

    @Test func `a denial names its rule in the line`() throws {
        let pintle = try PintleProcess("destinations: {deny: [a.test]}")
        #expect(try Curl.run(proxy: pintle.port, "http://a.test/").status == 403)
        let line = try pintle.waitForExchanges(1)[0]
        #expect(
            line["decision"] as? String == "deny"
                && (line["rule"] as? String)?.contains("destinations.deny[0]") == true, "\(line)")
    }

    @Test func `no secret is in any line, unless redaction is off`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "Set-Cookie: sid=SECRET\r\n"))
        let rules =
            "routes: [{name: r, allow_cleartext_credentials: true, request: {headers: {set: {Authorization: Bearer SECRET}}}}]"
        let pintle = try PintleProcess(rules)
        let arguments = ["-H", "Cookie: a=SECRET", "http://127.0.0.1:\(origin.port)/path?token=SECRET&b=SECRET"]
        #expect(try Curl.run(proxy: pintle.port, arguments).status == 200)
        _ = try Curl.run(proxy: pintle.port, "http://no-such-host.invalid/?token=SECRET")
        try pintle.waitForExchanges(2)
        #expect(!pintle.process.lines.contains { $0.text.contains("SECRET") }, "\(pintle.process.lines)")
        #expect(try origin.waitForRequests(1)[0]["Authorization"] == "Bearer SECRET")
        let open = try PintleProcess(rules, log: "{format: json, exchanges: \"-\", redact: off}")
        _ = try Curl.run(proxy: open.port, arguments)
        #expect(try open.waitForExchanges(1)[0]["url"] as? String == arguments[2])
    }

    @Test func `a client cannot forge a line`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("", log: "{format: text, exchanges: \"-\"}", arguments: [])
        let answer = try pintle.ask(get(origin.port, "/%0a%22id=1\"'\\|x"))
        #expect(answer.status == 200)
        try pintle.process.waitForLine("the exchange") { $0.contains("method=GET") }
        #expect(pintle.process.lines.count { $0.text.contains("id=") && $0.text.contains("mode=") } == 1)
    }

    @Test func `lines go to a file when one is named, and nowhere when off`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("", log: "{format: json, exchanges: lines.log}", folder: folder)
        #expect(try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/").status == 200)
        _ = try pintle.stop()
        let text = try String(contentsOfFile: "\(folder.path)/lines.log", encoding: .utf8)
        #expect(text.split(separator: "\n").count == 1 && text.contains("\"status\":200"))
        #expect(pintle.exchanges.isEmpty)
        let silent = try PintleProcess("", log: "{format: json, exchanges: off}")
        #expect(try Curl.run(proxy: silent.port, "http://127.0.0.1:\(origin.port)/").status == 200)
        _ = try silent.stop()
        #expect(silent.exchanges.isEmpty)
    }
}
