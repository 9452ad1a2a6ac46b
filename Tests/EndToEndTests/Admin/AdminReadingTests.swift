// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The answers of the admin endpoint about real traffic.
struct AdminReadingTests {
    private let stage: AdminStage

    init() throws {
        self.stage = try AdminStage(
            """
            destinations: {default: allow, deny: ["*.ads.example"], private_addresses: allow}
            routes:
              - {name: site, match: {hosts: [127.0.0.1]}, request: {headers: {set: {X-Team: core}}}}
              - {name: idle, match: {hosts: [idle.example]}}
            """)
    }

    /// The answer once the exchange of an earlier request has ended, which is told after its response.
    private func wait(for count: Int) throws -> [PintleProcess.Object] {
        var found: [PintleProcess.Object] = []
        try Patience.wait(for: "\(count) exchanges") {
            found = try self.stage.exchanges()
            return found.count == count
        }
        return found
    }

    @Test func `the list has the records of the log, the newest first`() throws {
        for number in 0..<3 { try self.stage.pass("/\(number)?token=secret", "-H", "Authorization: Basic YTpi") }
        let found = try self.wait(for: 3)
        let logged = try self.stage.pintle.waitForExchanges(3)
        let own: Set<String> = ["process", "pid"]
        #expect(Set(found.map { $0["id"] as? String }) == Set(logged.map { $0["id"] as? String }))
        for exchange in found {
            let line = try #require(logged.first { $0["id"] as? String == exchange["id"] as? String })
            // The process of a client may be found after the line was written.
            let (kept, written) = (exchange.filter { !own.contains($0.key) }, line.filter { !own.contains($0.key) })
            #expect(NSDictionary(dictionary: kept) == NSDictionary(dictionary: written))
        }
        #expect((found[0]["url"] as? String)?.hasSuffix("/2?token=***") == true, "\(found[0])")
        // Pages of one.
        let first = try self.stage.ask("/api/exchanges?limit=1").json
        #expect(first["more"] as? Bool == true)
        let next = try self.stage.exchanges("?limit=5&before=\(found[0]["id"] ?? "")")
        #expect(next.map { $0["id"] as? String } == found.dropFirst().map { $0["id"] as? String })
    }

    @Test func `filters choose, and a fault has its place`() throws {
        try self.stage.pass("/a")
        try self.stage.pass("/b", "-H", "X-Mark: 7")
        _ = try self.wait(for: 2)
        #expect(try self.stage.exchanges("?filter=~u+%22/b%22").count == 1)
        #expect(try self.stage.exchanges("?filter=~hq+X-Mark").count == 1)
        #expect(try self.stage.exchanges("?filter=~ts+text/plain").count == 2)
        #expect(try self.stage.exchanges("?filter=~deny").isEmpty)
        let faulty = try self.stage.ask("/api/exchanges?filter=~c+200+~x")
        #expect(faulty.status == 400 && faulty.json["place"] as? Int == 7, "\(faulty)")
        #expect(try self.stage.ask("/api/exchanges?limit=0").status == 400)
        #expect(try self.stage.ask("/api/exchanges?before=none").status == 404)
    }

    @Test func `one exchange in full has its reasons with their lines, and no secret`() throws {
        try self.stage.pass("/?token=hidden", "-H", "Authorization: Bearer hidden", "-H", "X-Mark: 7")
        let id = try self.wait(for: 1)[0]["id"] as? String ?? ""
        let answer = try self.stage.ask("/api/exchanges/\(id)")
        #expect(!answer.text.contains("hidden") && !answer.text.contains("core"), "\(answer)")
        let request = answer.json["request"] as? [String: any Sendable]
        let fields = request?["fields"] as? [[String]] ?? []
        #expect(fields.contains(["X-Mark", "7"]) && fields.contains(["Authorization", "***"]), "\(fields)")
        let sent = answer.json["sent"] as? [String: any Sendable]
        #expect((sent?["fields"] as? [[String]])?.contains(["X-Team", "***"]) == true, "\(answer)")
        let why = answer.json["why"] as? [PintleProcess.Object] ?? []
        let route = try #require(why.first { $0["topic"] as? String == "route" })
        let place = route["place"] as? [String: any Sendable]
        #expect(
            (place?["file"] as? String)?.hasSuffix("pintle.yaml") == true && place?["line"] as? Int == 6, "\(route)")
        #expect(try self.stage.ask("/api/exchanges/none").status == 404)
    }

    @Test func `an explanation is for the client that user and tag name`() throws {
        let explain = "/api/explain?method=GET&url=http://site.example/"
        #expect(try self.stage.ask("\(explain)&tag=ci").status == 200)
        let refused = try self.stage.ask("\(explain)&header=Proxy-Authorization:+Basic+Y2k6")
        #expect(refused.status == 400 && refused.text.contains("give `user` and `tag` instead"), "\(refused)")
    }

    @Test func `an explanation has room for a request as long as the proxy takes`() throws {
        let value = String(repeating: "%3D", count: 8000)
        let answer = try self.stage.ask(
            "/api/explain?method=GET&url=http://site.example/&header=X-A:+\(value)&header=X-B:+\(value)")
        #expect(answer.status == 200 && answer.text.contains("site.example"), "\(answer.status)")
    }

    @Test func `the activity has the addresses of the listeners`() throws {
        #expect(
            try self.stage.ask("/api/activity").json["listeners"] as? [String]
                == ["127.0.0.1:\(self.stage.pintle.port)"])
    }

    @Test func `routes show what was used and what was not`() throws {
        try self.stage.pass("/")
        _ = try self.wait(for: 1)
        let routes = try self.stage.ask("/api/routes").json["routes"] as? [PintleProcess.Object] ?? []
        #expect(routes.map { $0["name"] as? String } == ["site", "idle"])
        #expect(routes.map { $0["used"] as? Bool } == [true, false])
    }

    @Test func `a route that answers itself shows its status in place of an upstream`() throws {
        let stage = try AdminStage(
            "routes: [{name: gone, match: {paths: [/old]}, respond: {status: 410}}, {name: rest}]")
        let routes = try stage.ask("/api/routes").json["routes"] as? [PintleProcess.Object] ?? []
        #expect(routes.map { $0["answer"] as? Int } == [410, nil])
    }

    /// The numbers of decisions, by the names of the rules, of those that have decided.
    private func decisions(_ stage: AdminStage) throws -> [String: Int] {
        let rules = try stage.ask("/api/routes").json["rules"] as? [PintleProcess.Object] ?? []
        return rules.reduce(into: [:]) { counts, rule in
            guard let name = rule["name"] as? String, let count = rule["count"] as? Int else { return }
            #expect(rule["used"] as? Bool == (count > 0), "\(rule)")
            if count > 0 { counts[name] = count }
        }
    }

    @Test func `rules show how often they have decided, and which never has, with its line`() throws {
        for _ in 0..<2 { try self.stage.pass("/") }
        #expect(try Curl.run(proxy: self.stage.pintle.port, "http://x.ads.example/").status == 403)
        _ = try self.wait(for: 3)
        #expect(
            try self.decisions(self.stage) == [
                "clients.allow[0] \"127.0.0.0/8\"": 3, "destinations.default": 2,
                "destinations.deny[0] \"*.ads.example\"": 1,
            ])
        let rules = try self.stage.ask("/api/routes").json["rules"] as? [PintleProcess.Object] ?? []
        let places = rules.compactMap { rule in (rule["place"] as? [String: any Sendable]).map { (rule, $0) } }
        // The networks of clients are defaults, and stand in no line.
        #expect(places.map { $0.0["name"] as? String } == ["destinations.deny[0] \"*.ads.example\""])
        #expect(places.first?.1["line"] as? Int == 4, "\(places)")
    }

    @Test func `rules about addresses, in report mode, for clients and for tunnels count`() throws {
        let stage = try AdminStage(
            """
            enforcement: report
            clients: {allow: ["10.0.0.0/8", "127.0.0.0/8"]}
            destinations: {default: deny, allow: ["127.0.0.0/8"], deny: ["*.ads.example"]}
            routes: [{name: closed, match: {hosts: [closed.example]}, connect: deny}]
            """)
        for _ in 0..<2 { #expect(try stage.pass("/").status == 200) }
        // The network allows the name once its address is known.
        let named = try Curl.run(proxy: stage.pintle.port, "http://localhost:\(stage.origin.port)/")
        #expect(named.status == 200)
        #expect(try Curl.run(proxy: stage.pintle.port, "http://x.ads.example/").status != 403)
        #expect(try Curl.run(proxy: stage.pintle.port, "https://closed.example/").exitCode == 56)
        try Patience.wait(for: "five exchanges") { try stage.exchanges().count == 5 }
        let decisions = try self.decisions(stage)
        #expect(decisions["clients.allow[1] \"127.0.0.0/8\""] == 5, "\(decisions)")
        #expect(decisions["destinations.deny[0] \"*.ads.example\""] == 1, "\(decisions)")
        #expect(decisions["destinations.allow[0] \"127.0.0.0/8\""] ?? 0 >= 3, "\(decisions)")
        #expect(decisions["routes[0] \"closed\", connect: deny"] == 1, "\(decisions)")
        // A reload begins anew.
        #expect(try stage.ask("/api/reload", "-X", "POST").status == 200)
        #expect(try self.decisions(stage).isEmpty)
    }

    @Test(arguments: [
        ("private_addresses: deny", "destinations.private_addresses"),
        ("default: deny, allow: [\"10.0.0.0/8\"]", "destinations.default"),
    ])
    func `a name that leads to a denied address has the rule that denies it, everywhere`(
        rules: String, name: String
    ) throws {
        let stage = try AdminStage("destinations: {\(rules)}")
        for arguments in [[], ["--proxytunnel"]] {
            let answer = try Curl.run(
                proxy: stage.pintle.port, arguments + ["http://localhost:\(stage.origin.port)/"])
            #expect(answer.head.startLine.hasPrefix("HTTP/1.1 403 "), "\(answer)")
        }
        try Patience.wait(for: "two exchanges") { try stage.exchanges().count == 2 }
        #expect(try self.decisions(stage) == ["clients.allow[0] \"127.0.0.0/8\"": 2, name: 2])
        for line in try stage.pintle.waitForExchanges(2) {
            let rule = try #require(line["rule"] as? String)
            #expect(rule.hasPrefix(name) && line["decision"] as? String == "deny", "\(line)")
            #expect((line["error"] as? String)?.contains("is denied by \(rule)") == true, "\(line)")
            let explained = try PintleProcess.run(
                ["explain", line["id"] as? String ?? ""], environment: ["XDG_STATE_HOME": stage.folder.path])
            #expect(explained.output.contains("decision     deny by \(rule)"), "\(explained.lines)")
        }
        #expect(try stage.exchanges("?filter=~rule+\(name)").count == 2)
    }

    @Test func `a refused client counts with the rule that refuses it`() throws {
        let stage = try AdminStage("clients: {allow: [\"10.0.0.0/8\"]}")
        #expect(try stage.pass("/").status == 403)
        try Patience.wait(for: "the exchange") { try stage.exchanges().count == 1 }
        #expect(try self.decisions(stage) == ["clients.allow": 1])
    }

    @Test func `connections that are being made are counted`() throws {
        // It accepts, and says nothing in the TLS handshake until the test ends.
        let silence = Watched(false)
        let origin = try RawOrigin { _ in try silence.wait(for: "the end") { $0 } }
        defer { silence.change { $0 = true } }
        let stage = try AdminStage(
            "routes: [{name: up, match: {hosts: [up.example]}, upstream: \"https://127.0.0.1:\(origin.port)\"}]")
        func connecting() throws -> String? {
            try stage.ask("/metrics").text.split(separator: "\n").first {
                $0.hasPrefix("pintle_upstream_connections{state=\"connecting\"}")
            }?.split(separator: " ").last.map(String.init)
        }
        #expect(try connecting() == "0")
        let client = try stage.pintle.connect()
        try client.send("GET http://up.example/ HTTP/1.1\r\nHost: up.example\r\n\r\n")
        try Patience.wait(for: "a connection that is being made") { try connecting() == "1" }
        client.close()
        try Patience.wait(for: "its end") { try connecting() == "0" }
    }

    @Test func `an archive has what the filter chooses, with fields`() throws {
        try self.stage.pass("/a", "-H", "Cookie: hidden")
        try self.stage.pass("/b")
        _ = try self.wait(for: 2)
        let answer = try self.stage.ask("/api/har?filter=~u+%22/a%22")
        let log = answer.json["log"] as? [String: any Sendable]
        let entries = log?["entries"] as? [PintleProcess.Object] ?? []
        #expect(entries.count == 1 && !answer.text.contains("hidden"), "\(answer)")
        let response = entries.first?["response"] as? [String: any Sendable]
        #expect((response?["content"] as? [String: any Sendable])?["mimeType"] as? String == "text/plain")
        #expect((entries.first?["_pintle"] as? [String: any Sendable])?["route"] as? String == "site")
    }

    @Test func `events come as exchanges end, and go on after the last one`() throws {
        let events = try ChildProcess(
            "/usr/bin/curl",
            ["-s", "-N", "-i", "-H", "Authorization: Bearer \(self.stage.token)", "\(self.stage.address)/api/events"])
        _ = try events.waitForLine("the counters") { $0.hasPrefix("data: {\"state\"") }
        try self.stage.pass("/first")
        _ = try events.waitForLine("the exchange") { $0.hasPrefix("data: ") && $0.contains("/first") }
        let id = try #require(events.output.last { $0.hasPrefix("id: ") }).dropFirst(4)
        events.signal(SIGKILL)
        for number in 0..<3 { try self.stage.pass("/later\(number)") }
        _ = try self.wait(for: 4)
        let resumed = try ChildProcess(
            "/usr/bin/curl",
            [
                "-s", "-N", "-H", "Authorization: Bearer \(self.stage.token)", "-H", "Last-Event-ID: \(id)",
                "\(self.stage.address)/api/events",
            ])
        _ = try resumed.waitForLine("the last") { $0.contains("/later2") }
        #expect(resumed.output.count { $0.hasPrefix("data: ") && $0.contains("/later") } == 3)
        #expect(!resumed.output.contains { $0.contains("/first") })
        resumed.signal(SIGKILL)
    }

    @Test func `a reader that does not read holds nothing up, and the proxy can end`() throws {
        let stream = try SocketStream(port: self.stage.port)
        try stream.send(
            "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(self.stage.token)\r\n\r\n")
        for number in 0..<50 { try self.stage.pass("/\(number)") }
        #expect(try self.stage.ask("/api/activity").status == 200)
        #expect(try self.stage.pintle.stop() == 0)
    }

    @Test func `what is under way is told until it has ended`() throws {
        let release = Watched(false)
        let slow = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
            try release.wait(for: "the release") { $0 }
            try connection.send("67890")
        }
        let client = try ChildProcess(
            "/usr/bin/curl",
            [
                "-s", "-N", "-x", "http://127.0.0.1:\(self.stage.pintle.port)",
                "http://127.0.0.1:\(slow.port)/slow?key=secret",
            ])
        func running(_ filter: String = "") throws -> [PintleProcess.Object] {
            try self.stage.ask("/api/running?filter=\(filter)").json["exchanges"] as? [PintleProcess.Object] ?? []
        }
        try Patience.wait(for: "the exchange") { try running().first?["bytes_out"] as? Int == 5 }
        let exchange = try running()[0]
        #expect((exchange["url"] as? String)?.hasSuffix("/slow?key=***") == true, "\(exchange)")
        #expect(exchange["route"] as? String == "site" && exchange["duration_ms"] is Int, "\(exchange)")
        #expect(try running("~route+idle").isEmpty && running("~route+site").count == 1)
        #expect(try self.stage.exchanges().isEmpty)
        release.change { $0 = true }
        #expect(try client.waitForExit() == 0)
        let ended = try self.wait(for: 1)
        #expect(ended[0]["id"] as? String == exchange["id"] as? String)
        #expect(try running().isEmpty)
    }

    @Test func `the counters of the endpoint, of status and of the log agree`() throws {
        for path in ["/", "/a"] { try self.stage.pass(path) }
        _ = try Curl.run(proxy: self.stage.pintle.port, "http://x.ads.example/")
        _ = try self.wait(for: 3)
        let counters = try self.stage.ask("/api/activity").json["counters"] as? [String: Int] ?? [:]
        #expect(counters["started"] == 3 && counters["completed"] == 2 && counters["failed"] == 1, "\(counters)")
        let logged = try self.stage.pintle.counters()
        for name in ["started", "completed", "failed", "bytes_down"] {
            #expect(logged[name] as? Int == counters[name], "\(name)")
        }
    }

    @Test func `another configuration is tried on the kept exchanges`() throws {
        for path in ["/a", "/b"] { try self.stage.pass(path) }
        _ = try self.wait(for: 2)
        let folder = try TemporaryFolder()
        func preview(_ rules: String) throws -> Curl.Result {
            let file = try folder.write("version: 1\n\(rules)\n", to: "next.yaml")
            return try self.stage.ask("/api/preview", "-X", "POST", "--data-binary", "@\(file)")
        }
        let denied = try preview("destinations: {deny: [\"127.0.0.1\"]}")
        #expect(denied.json["denied"] as? Int == 2 && denied.json["same"] as? Int == 0, "\(denied)")
        let same = try preview(
            "destinations: {private_addresses: allow}\nroutes: [{name: site, match: {hosts: [127.0.0.1]}, "
                + "request: {headers: {set: {X-Team: other}}}}]")
        #expect(same.json["same"] as? Int == 2, "\(same)")
        let other = try preview(
            "routes: [{name: new, match: {hosts: [127.0.0.1]}, request: {headers: {set: {X-New: a}}}}]")
        #expect(other.json["route"] as? Int == 2 && other.json["request"] as? Int == 2, "\(other)")
        let faulty = try preview("colour: red")
        #expect(faulty.status == 422 && faulty.text.contains(":2:1: unknown key"), "\(faulty)")
        let long = try preview(String(repeating: "#", count: 8 << 20))
        let detail = "the body is longer than the 8MiB that this endpoint takes, which no setting changes"
        #expect(long.status == 413 && long.text.contains(detail), "\(long.text.prefix(300))")
    }

    @Test func `a reload answers with the revision in force, and refuses an outdated one`() throws {
        let before = try self.stage.ask("/api/activity").json["revision"] as? String ?? ""
        try self.stage.pass("/before")
        #expect(before.count == 16)
        let settings = "\(self.stage.folder.path)/pintle.yaml"
        let text = try String(contentsOfFile: settings, encoding: .utf8)
        try (text + "\n# changed\n").write(toFile: settings, atomically: true, encoding: .utf8)
        let outdated = try self.stage.ask("/api/reload", "-X", "POST", "-H", "If-Match: \"0000000000000000\"")
        #expect(outdated.status == 412)
        let reloaded = try self.stage.ask("/api/reload", "-X", "POST", "-H", "If-Match: \"\(before)\"")
        let after = reloaded.json["revision"] as? String
        #expect(reloaded.status == 200 && after != before, "\(reloaded)")
        try "colour: red\n".write(toFile: settings, atomically: true, encoding: .utf8)
        let refused = try self.stage.ask("/api/reload", "-X", "POST")
        #expect(refused.status == 422 && refused.text.contains("unknown key"), "\(refused)")
        #expect(try self.stage.ask("/api/activity").json["revision"] as? String == after)
        try self.stage.pass("/after")
        let lines = try self.stage.pintle.waitForExchanges(2)
        #expect(lines.map { $0["revision"] as? String } == [before, after] && before.utf8.count == 16)
        #expect(try self.stage.exchanges("?filter=~rev+\(before)").count == 1)
        #expect(try self.stage.ask("/metrics").text.contains("pintle_config_info{revision=\"\(after ?? "")\"} 1"))
    }

    @Test func `a purge without a cache is refused with a sentence`() throws {
        let refused = try self.stage.ask("/api/purge", "-X", "POST", "-d", "{\"all\": true}")
        #expect(refused.status == 422 && refused.text.contains("routes[].cache"), "\(refused)")
        #expect(try self.stage.ask("/api/purge", "-X", "POST", "-d", "{}").status == 400)
    }

    @Test func `readiness ends when the proxy drains`() throws {
        #expect(try Curl.run("\(self.stage.address)/readyz").text == "ready\n")
        #expect(try Curl.run("\(self.stage.address)/healthz").text == "ok\n")
        #expect(
            try Curl.run("\(self.stage.address)/proxy.pac").text.contains("PROXY 127.0.0.1:\(self.stage.pintle.port)"))
        #expect(try Curl.run("\(self.stage.address)/ca.pem").status == 404)
    }
}
