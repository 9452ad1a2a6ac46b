// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Spans of exchanges for OpenTelemetry, and the trace context of requests.
struct TracingTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let context = "traceparent: 00-\(trace)-00f067aa0ba902b7-01\r\ntracestate: a=1\r\n"

    private let receiver: SpanReceiver
    private let origin: RawOrigin

    init() throws {
        self.receiver = try SpanReceiver()
        self.origin = try PintleTesting.origin { request in
            let path = request.head.startLine.split(separator: " ")[1]
            if request.head["If-None-Match"] != nil { return answer(304, ["ETag: \"1\""]) }
            if path.hasPrefix("/kept") { return answer(200, ["ETag: \"1\"", "Cache-Control: max-age=60"], "kept") }
            if path.hasPrefix("/checked") { return answer(200, ["ETag: \"1\"", "Cache-Control: no-cache"], "checked") }
            return answer(path.hasPrefix("/missing") ? 404 : 200, [], "done")
        }
    }

    /// Stops the proxy, which delivers its spans before its end.
    private func spans(of pintle: PintleProcess) throws -> [SpanReceiver.Span] {
        #expect(try pintle.stop() == 0)
        return try self.receiver.spans()
    }

    private func contexts() -> [[Substring]] {
        self.origin.requests.map { ($0.head["traceparent"] ?? "").split(separator: "-") }
    }

    // MARK: Spans

    @Test func `a forwarded request has two spans, and the origin is told the second`() throws {
        let pintle = try PintleProcess(self.receiver.section() + "routes: [{name: site}]")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(self.origin.port)/missing?key=secret")
        #expect(result.status == 404)
        let spans = try self.spans(of: pintle)
        try #require(spans.map(\.kind) == [2, 3])
        let (server, client) = (spans[0], spans[1])
        #expect(server.parent == nil && client.parent == server.id && client.traceID == server.traceID)
        #expect(self.contexts() == [["00", Substring(server.traceID), Substring(client.id), "01"]])
        #expect(server.start <= client.start && client.start <= client.end && client.end <= server.end)
        for span in spans {
            #expect(span["http.request.method"] == "GET" && span["http.response.status_code"] == "404")
            #expect(span["url.full"] == "http://127.0.0.1:\(self.origin.port)/missing?key=***")
            #expect(span["server.address"] == "127.0.0.1" && span["server.port"] == "\(self.origin.port)")
            #expect(span["network.peer.address"] == "127.0.0.1" && span["network.protocol.version"] == "1.1")
        }
        #expect(server["client.address"] == "127.0.0.1" && server["pintle.route"] == "site")
        #expect(server["pintle.decision"] == "allow" && server["error.type"] == nil)
        #expect(client["error.type"] == "404")
        let exchange = try #require(pintle.exchanges.first)
        #expect(spans.allSatisfy { $0["pintle.exchange.id"] == exchange["id"] as? String })
        let post = try #require(self.receiver.posts.first)
        #expect(post.head.startLine == "POST /v1/traces HTTP/1.1" && post.head["Content-Type"] == "application/json")
        #expect(!self.receiver.text.contains("secret"))
    }

    @Test(arguments: [("", false), ("off", true)])
    func `values of queries are as the log has them`(redact: String, isShown: Bool) throws {
        let log = "{format: json, exchanges: \"-\"\(redact.isEmpty ? "" : ", redact: \(redact)")}"
        let pintle = try PintleProcess(self.receiver.section(), log: log)
        _ = try pintle.ask(get(self.origin.port, "/?key=secret"))
        _ = try self.spans(of: pintle)
        #expect(self.receiver.text.contains("key=secret") == isShown && self.receiver.text.contains("key="))
    }

    @Test func `what the proxy answers itself has one span`() throws {
        let pintle = try PintleProcess(self.receiver.section() + "destinations: {deny: [denied.test]}")
        #expect(try Curl.run(proxy: pintle.port, "http://denied.test/").status == 403)
        let bad = try pintle.ask("GET / HTTP/1.1\r\n\r\n")
        #expect(bad.status == 400)
        let spans = try self.spans(of: pintle)
        #expect(spans.map(\.kind) == [2, 2])
        #expect(spans[0]["error.type"] == "destination-denied" && spans[0]["pintle.decision"] == "deny")
        #expect(spans[0]["pintle.rule"]?.contains("denied.test") == true, "\(spans[0])")
    }

    @Test func `an origin that cannot be reached has a span that says so`() throws {
        let port = try FreePort.find()
        let pintle = try PintleProcess(self.receiver.section())
        #expect(try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(port)/").status == 502)
        let spans = try self.spans(of: pintle)
        #expect(spans.map(\.kind) == [2, 3])
        #expect(spans.allSatisfy { $0["error.type"] == "connect-failure" }, "\(spans)")
    }

    @Test func `a tunnel has one span`() throws {
        let pintle = try PintleProcess(self.receiver.section())
        let url = "http://127.0.0.1:\(self.origin.port)/"
        #expect(try Curl.run(proxy: pintle.port, "--proxytunnel", url).text == "done")
        let spans = try self.spans(of: pintle)
        #expect(spans.map(\.kind) == [2] && spans.first?["http.request.method"] == "CONNECT")
        #expect(self.origin.requests[0].head["traceparent"] == nil)
    }

    @Test func `a hit of the cache has one span, and a validation its own context`() throws {
        let pintle = try PintleProcess(self.receiver.section() + "routes: [{name: r, cache: {policy: protocol}}]")
        let client = try pintle.connect()
        for path in ["/kept", "/kept", "/checked", "/checked", "/checked", "/checked"] {
            try client.send(get(self.origin.port, path))
            #expect(try client.readResponse().status == 200)
        }
        client.close()
        let spans = try self.spans(of: pintle)
        #expect(spans.map(\.kind) == [2, 3, 2, 2, 3, 2, 3, 2, 3, 2, 3])
        #expect(
            spans.filter { $0.kind == 2 }.map { $0["pintle.cache"] } == [
                "miss", "hit", "miss", "validated", "validated", "validated",
            ])
        let clients = spans.filter { $0.kind == 3 }
        #expect(clients.map { $0["http.response.status_code"] } == ["200", "200", "304", "304", "304"])
        #expect(self.contexts() == clients.map { ["00", Substring($0.traceID), Substring($0.id), "01"] })
    }

    // MARK: Context

    @Test func `each of equal requests has its own trace`() throws {
        let pintle = try PintleProcess(self.receiver.section())
        let client = try pintle.connect()
        for _ in 0..<5 {
            try client.send(get(self.origin.port))
            #expect(try client.readResponse().text == "done")
        }
        client.close()
        let spans = try self.spans(of: pintle).filter { $0.kind == 3 }
        #expect(Set(spans.map(\.traceID)).count == 5 && Set(spans.map(\.id)).count == 5)
        #expect(self.contexts() == spans.map { ["00", Substring($0.traceID), Substring($0.id), "01"] })
    }

    @Test(arguments: [
        ("", true), ("continue: trusted", true), ("continue: [127.0.0.0/8]", true), ("continue: 10.0.0.0/8", false),
        ("continue: off", false),
    ])
    func `the trace of a client is continued if the client is named`(rule: String, isContinued: Bool) throws {
        let pintle = try PintleProcess(self.receiver.section(rule))
        _ = try pintle.ask(get(self.origin.port, "/", fields: Self.context))
        let spans = try self.spans(of: pintle)
        try #require(spans.map(\.kind) == [2, 3])
        #expect(spans.allSatisfy { ($0.traceID == Self.trace) == isContinued })
        #expect(spans[0].parent == (isContinued ? "00f067aa0ba902b7" : nil))
        #expect(spans.allSatisfy { $0.state == (isContinued ? "a=1" : nil) })
        let request = self.origin.requests[0].head
        #expect(request.values("traceparent") == ["00-\(spans[0].traceID)-\(spans[1].id)-01"])
        #expect(request["tracestate"] == (isContinued ? "a=1" : nil))
    }

    @Test func `if there are users, they are the trusted clients`() throws {
        let folder = try TemporaryFolder()
        try folder.write("ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K\n", to: "users")
        let pintle = try PintleProcess(
            self.receiver.section() + "clients: {basic_auth: {users: users}}", folder: folder)
        let arguments = ["-H", "traceparent: 00-\(Self.trace)-00f067aa0ba902b7-01"]
        let url = "http://127.0.0.1:\(self.origin.port)/"
        #expect(try Curl.run(proxy: pintle.port, arguments + ["--proxy-user", "ben:other", url]).text == "done")
        #expect(try Curl.run(proxy: pintle.port, arguments + ["--proxy-user", "ben:wrong", url]).status == 407)
        let spans = try self.spans(of: pintle)
        #expect(spans.map(\.kind) == [2, 3, 2])
        #expect(spans.map { $0.traceID == Self.trace } == [true, true, false], "\(spans)")
    }

    @Test(arguments: ["00", "01"])
    func `a continued trace is recorded if the client records it, whatever the fraction is`(flags: String) throws {
        let pintle = try PintleProcess(self.receiver.section("sample: \(flags == "00" ? 1 : 0)"))
        _ = try pintle.ask(
            get(self.origin.port, fields: "traceparent: 00-\(Self.trace)-00f067aa0ba902b7-\(flags)\r\n"))
        #expect(try self.spans(of: pintle).count == (flags == "00" ? 0 : 2))
        #expect(self.contexts().map { $0.last } == [Substring(flags)])
    }

    @Test func `a trace that is not chosen is told to the origin as such, and to nobody else`() throws {
        let pintle = try PintleProcess(self.receiver.section("sample: 0"))
        _ = try pintle.ask(get(self.origin.port))
        #expect(try self.spans(of: pintle).isEmpty && self.receiver.server.connections.isEmpty)
        #expect(self.contexts().map { $0.last } == ["00"])
    }

    @Test func `a route may keep the context from its origins`() throws {
        let pintle = try PintleProcess(
            self.receiver.section() + "routes: [{name: r, request: {headers: {remove: [TraceParent]}}}]")
        _ = try pintle.ask(get(self.origin.port, fields: Self.context))
        #expect(try self.spans(of: pintle).map(\.traceID) == [Self.trace, Self.trace])
        #expect(self.origin.requests[0].head["traceparent"] == nil)
    }

    @Test func `without traces nothing is touched`() throws {
        let pintle = try PintleProcess()
        _ = try pintle.ask(get(self.origin.port, fields: Self.context))
        _ = try pintle.ask(get(self.origin.port))
        #expect(self.origin.requests.map { $0.head["tracestate"] } == ["a=1", nil])
        #expect(
            self.origin.requests.map { $0.head["traceparent"] } == ["00-\(Self.trace)-00f067aa0ba902b7-01", nil])
        #expect(try pintle.stop() == 0)
    }

    // MARK: The receiver

    @Test(arguments: [429, 503])
    func `spans are sent again when the receiver asks for that`(status: Int) throws {
        let receiver = try SpanReceiver { number in
            number == 0 ? answer(status, ["Retry-After: 0"]) : answer(200, [], "{}")
        }
        let pintle = try PintleProcess(receiver.section())
        _ = try pintle.ask(get(self.origin.port))
        #expect(try pintle.stop() == 0)
        #expect(receiver.posts.count == 2 && receiver.posts[0].body == receiver.posts[1].body)
        #expect(try SpanReceiver.spans(of: receiver.posts[1]).count == 2)
        let warnings = try pintle.waitForMessages("traces.incomplete")
        #expect(warnings.map { $0["lost_spans"] as? Int } == [0], "\(warnings)")
    }

    @Test func `spans that the receiver does not want are lost, and counted`() throws {
        let receiver = try SpanReceiver { _ in answer(400, [], "{}") }
        let pintle = try PintleProcess(receiver.section())
        for _ in 0..<3 { _ = try pintle.ask(get(self.origin.port)) }
        #expect(try pintle.stop() == 0)
        #expect(receiver.posts.count == 1)
        let warning = try #require(try pintle.waitForMessages("traces.incomplete").first)
        #expect(
            warning["lost_spans"] as? Int == 6 && warning["reason"] as? String == "the receiver answers with status 400"
        )
    }

    @Test func `spans go out while the proxy serves, and in time`() throws {
        let pintle = try PintleProcess(self.receiver.section())
        _ = try pintle.ask(get(self.origin.port))
        try self.receiver.server.waitForRequests(1)
        #expect(try self.receiver.spans().count == 2)
        #expect(try pintle.stop() == 0)
        #expect(self.receiver.posts.count == 1)
    }

    @Test func `a receiver that is away disturbs nobody, and there is one warning`() throws {
        let port = try FreePort.find()
        let pintle = try PintleProcess("tracing: {otlp: \"http://127.0.0.1:\(port)\"}")
        for _ in 0..<3 { #expect(try pintle.serves("http://127.0.0.1:\(self.origin.port)/")) }
        _ = try pintle.waitForMessages("traces.incomplete")
        for _ in 0..<3 { #expect(try pintle.serves("http://127.0.0.1:\(self.origin.port)/")) }
        let start = ContinuousClock.now
        #expect(try pintle.stop() == 0)
        #expect(start.duration(to: .now) < .seconds(5))
        // The second one is about the losses, at the end.
        let warnings = try pintle.waitForMessages("traces.incomplete", 2)
        #expect(warnings.map { $0["lost_spans"] as? Int } == [0, 12], "\(warnings)")
    }

    @Test func `a receiver that is slow costs exchanges their spans and not their time`() throws {
        let release = Watched(false)
        let receiver = try SpanReceiver { _ in
            try release.wait(for: "the release") { $0 }
            return answer(200, [], "{}")
        }
        let pintle = try PintleProcess(
            receiver.section() + "destinations: {deny: [denied.test]}", log: "{format: json, exchanges: off}")
        // Refused here, so that there is no origin to wait for.
        let request = "GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n"
        let client = try pintle.connect()
        // More than wait together: 4096 in the mailbox, and as many with the exporter, which is stuck with its first batch.
        let (rounds, width) = (120, 100)
        for _ in 0..<rounds {
            try client.send(String(repeating: request, count: width))
            for _ in 0..<width { #expect(try client.readResponse().status == 403) }
        }
        client.close()
        _ = try receiver.server.waitForRequests(1)
        release.change { $0 = true }
        #expect(try pintle.stop() == 0)
        let delivered = Set(try receiver.spans().map(\.id)).count
        let warning = try #require(try pintle.waitForMessages("traces.incomplete").last)
        let lost = (warning["lost_spans"] as? Int ?? 0) + (warning["lost_exchanges"] as? Int ?? 0)
        // On a busy machine the exporter may give up waiting for an answer to spans that the receiver has read.
        #expect(
            lost > 0 && delivered <= rounds * width && delivered + lost >= rounds * width, "\(delivered) \(warning)")
        #expect(receiver.posts.allSatisfy { ((try? SpanReceiver.spans(of: $0).count) ?? 0) <= 512 })
    }

    @Test func `the receiver stays as long as the proxy runs, and the other keys change with the file`() throws {
        let folder = try TemporaryFolder()
        let log = "log: {format: json, exchanges: \"-\"}"
        let pintle = try PintleProcess(self.receiver.section(), folder: folder)
        func reload(_ section: String) throws -> ChildProcess {
            try folder.write("version: 1\n\(log)\n\(section)", to: "pintle.yaml")
            return try PintleProcess.run(["reload"], environment: ["XDG_STATE_HOME": folder.path])
        }
        for section in ["tracing: off\n", "tracing: {otlp: \"http://127.0.0.1:1\"}\n"] {
            let refused = try reload(section)
            #expect(refused.exitCode != 0)
            #expect(refused.errors.contains { $0.contains("tracing.otlp cannot change") }, "\(refused.errors)")
        }
        #expect(try reload(self.receiver.section("sample: 0")).exitCode == 0)
        _ = try pintle.ask(get(self.origin.port))
        #expect(try self.spans(of: pintle).isEmpty)
        #expect(self.contexts().map { $0.last } == ["00"])
    }
}
