// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Failures that routes are asked to show (contract §8).
struct FaultTests {
    private static let body = String(repeating: "0123456789", count: 10_000)

    /// Serves a body of 100,000 bytes, in chunks for paths that end with `chunks`.
    private static func origin() throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.contains("chunks") {
                    let chunks = "186A0\r\n\(Self.body)\r\n0\r\n\r\n"
                    try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
                } else {
                    try connection.send(response(Self.body))
                }
            }
        }
    }

    private func proxy(_ faults: String, _ more: String = "") throws -> PintleProcess {
        try PintleProcess("routes: [{name: r, faults: [\(faults)]\(more)}]")
    }

    @Test func `two failures, and then success`() throws {
        let origin = try Self.origin()
        let pintle = try self.proxy("{when: {first: 2, per: url}, reset: before_response}")
        for path in ["a", "b"] {
            let codes = try (0..<3).map { _ in
                try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/\(path)").exitCode
            }
            // 56: the connection was reset.
            #expect(codes == [56, 56, 0])
        }
        let lines = try pintle.waitForExchanges(6)
        #expect(lines.map { $0["source"] as? String } == ["fault", "fault", "origin", "fault", "fault", "origin"])
        #expect(lines[0]["error"] as? String == "broken off by faults[0] of the route" && lines[0]["status"] == nil)
        #expect(origin.requests.count == 2)
    }

    @Test(arguments: ["whole", "chunks"])
    func `a reset within the response ends in a connection that is reset`(path: String) throws {
        let origin = try Self.origin()
        let pintle = try self.proxy("{reset: within_response}", ", response: {body: any, status: [404]}")
        let answer = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/\(path)")
        #expect(answer.exitCode == 56 && answer.status == 200, "\(answer)")
        #expect(answer["Pintle-Simulated"] == "fault" && answer.body.count < 100_000, "\(answer.body.count)")
    }

    @Test(arguments: ["whole", "chunks"])
    func `a truncated response has the bytes that were asked for`(path: String) throws {
        let origin = try Self.origin()
        let pintle = try self.proxy("{truncate: {after: 1KiB}}")
        let answer = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/\(path)")
        #expect(answer.exitCode == 18 && answer.text == String(Self.body.prefix(1024)), "\(answer)")
        let none = try self.proxy("{truncate: {after: 200KiB}}")
        #expect(try Curl.run(proxy: none.port, "http://127.0.0.1:\(origin.port)/\(path)").text == Self.body)
    }

    @Test func `a delay comes before the request, and a pace holds for the response`() throws {
        let origin = try Self.origin()
        let pintle = try self.proxy("{when: {paths: [\"/late\"]}, delay: 300ms}, {throttle: 400KiB/s}")
        let answer = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/late")
        #expect(answer.text == Self.body && answer["Pintle-Simulated"] == "fault", "\(answer)")
        _ = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/chunks")
        let times = try pintle.waitForExchanges(2).map { $0["duration_ms"] as? Int ?? 0 }
        // 100,000 bytes at 400 KiB/s take 244 ms; the last piece is not waited for.
        #expect(times[0] >= 450 && times[1] >= 150, "\(times)")
    }

    @Test func `a body that is sent during a delay arrives whole`() throws {
        let origin = try Self.origin()
        let pintle = try self.proxy("{delay: 100ms}")
        let folder = try TemporaryFolder()
        let text = String(repeating: "y", count: 1_000_000)
        let file = try folder.write(text, to: "body")
        let url = "http://127.0.0.1:\(origin.port)/chunks"
        for more in [[], ["-H", "Transfer-Encoding: chunked"]] {
            let answer = try Curl.run(proxy: pintle.port, ["--data-binary", "@\(file)", url] + more)
            #expect(answer.text == Self.body, "\(answer)")
        }
        #expect(origin.requests.allSatisfy { $0.text == text } && origin.requests.count == 2)
    }

    @Test func `a status is the client's to see, whatever the route demands`() throws {
        let pintle = try self.proxy(
            "{when: {first: 1}, status: 503, headers: {Retry-After: \"30\"}, json: {error: busy}}",
            ", response: {status: [200], body: json}, mock: [{json: {}}]")
        let answer = try Curl.run(proxy: pintle.port, "http://a.test/")
        #expect(answer.status == 503 && answer["Retry-After"] == "30" && answer["Pintle-Simulated"] == "fault")
        #expect(answer.json["error"] as? String == "busy", "\(answer)")
        #expect(try Curl.run(proxy: pintle.port, "http://a.test/").status == 200)
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.map { $0["source"] as? String } == ["fault", "mock"])
        // The second came back too early.
        #expect(lines[1]["violations"] as? [String] == ["early-retry"], "\(lines[1])")
        #expect(lines[0]["violations"] == nil)
    }

    @Test func `a limit answers with 429 and its fields`() throws {
        let pintle = try self.proxy("{limit: {requests: 2, per: 1h}}", ", mock: [{body: ok}]")
        let answers = try (0..<3).map { _ in try Curl.run(proxy: pintle.port, "http://a.test/") }
        #expect(answers.map(\.status) == [200, 200, 429])
        #expect(answers.map { $0["X-RateLimit-Remaining"] } == ["1", "0", "0"])
        #expect(answers[2]["RateLimit"]?.hasPrefix("\"default\";r=0;t=") == true && answers[2]["Retry-After"] != nil)
        #expect(answers.map { $0["Pintle-Simulated"] } == ["mock", "mock", "fault"])
    }

    @Test func `a fault ends the stream of HTTP/2 alone`() throws {
        let stage = try HTTP2Stage(
            route: ["faults: [{when: {paths: [\"/reset\"]}, reset: before_response}]", "mock: [{body: fine}]"])
        let client = try stage.client()
        try client.greet()
        try client.send(HTTP2Bytes.headers(HTTP2Case.request("GET", "/reset"), on: 1))
        while client.answers[1]?.reset == nil { try #require(try client.next() != nil) }
        try client.send(HTTP2Bytes.headers(HTTP2Case.request("GET", "/"), on: 3))
        while client.answers[3]?.isComplete != true { try #require(try client.next() != nil) }
        #expect(client.answers[3]?.text == "fine")
    }

    @Test func `a client that leaves during a delay leaves nothing behind`() throws {
        let pintle = try self.proxy("{delay: 1h}")
        let client = try pintle.connect()
        try client.send("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        try pintle.waitForCounter("active", 1)
        client.reset()
        try pintle.waitForCounter("active", 0)
        #expect(try pintle.waitForExchanges(1)[0]["error"] as? String == "the client closed the connection")
    }

    @Test func `run shows a named set of faults, and says how many answers were simulated`() throws {
        let stage = try RunStage(
            """
            faults:
              bad-day: [{when: {first: 1}, status: 503}]
            routes: [{name: r, mock: [{body: fine}]}]
            """)
        let command = [
            "/bin/sh", "-c", "for i in 1 2 3; do curl -s -o /dev/null -w '%{http_code} ' http://a.test/; done",
        ]
        let run = try stage.run(["--faults", "bad-day", "--report", "json=report.json"], command)
        #expect(run.output == ["503 200 200 "], "\(run.output)")
        #expect(run.errors.contains { $0.contains("2 of 3 answers were mocks, 1 was a fault") }, "\(run.errors)")
        let simulated = try stage.report().object("summary").object("simulated")
        #expect(simulated["mock"] as? Int == 2 && simulated["fault"] as? Int == 1, "\(simulated)")
        let wrong = try stage.run(["--faults", "good-day"], ["true"])
        #expect(wrong.exitCode == 125)
        #expect(wrong.errors.contains { $0.contains("--faults good-day: there is no such set in") }, "\(wrong.errors)")
    }
}
