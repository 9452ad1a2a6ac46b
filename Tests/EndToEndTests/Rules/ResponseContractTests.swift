// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Demands of a route on responses, and the answers to clients if they are not met.
struct ResponseContractTests {
    private func pintle(_ response: String, more: String = "") throws -> PintleProcess {
        try PintleProcess("\(more)\nroutes: [{name: api, response: \(response)}]")
    }

    private func origin(_ body: String, type: String? = "application/json", status: String = "200 OK") throws
        -> RawOrigin
    {
        let fields = type.map { "Content-Type: \($0)\r\n" } ?? ""
        return try RawOrigin(answering: response(body, status: status, fields: fields))
    }

    private func fetch(_ pintle: PintleProcess, _ origin: RawOrigin, _ more: String...) throws -> Curl.Result {
        try Curl.run(proxy: pintle.port, more + ["http://127.0.0.1:\(origin.port)/"])
    }

    @Test func `a response that keeps the contract passes unchanged`() throws {
        let nginx = try NginxOrigin()
        let pintle = try self.pintle("{status: [200-299], content_types: [application/json], body: json}")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(nginx.httpPort)/json")
        #expect(result.status == 200 && result.text == #"{"a":1,"gone":null,"list":[1,null,2]}"#, "\(result)")
        #expect(result["Content-Length"] == "37")
    }

    @Test func `an unacceptable status is a problem that says what the origin answered`() throws {
        let nginx = try NginxOrigin()
        let pintle = try self.pintle("{status: [200-299, 404]}")
        let accepted = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(nginx.httpPort)/status/404")
        #expect(accepted.status == 404 && accepted.text == #"{"error":"none"}"#, "\(accepted)")
        let refused = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(nginx.httpPort)/status/500")
        #expect(refused.status == 502 && refused.problem == "response-status", "\(refused)")
        #expect(refused.json["upstream_status"] as? Int == 500)
        #expect(refused.json["upstream_content_type"] as? String == "application/json")
        #expect(refused["Proxy-Status"]?.contains("error=proxy_internal_response") == true)
        #expect(!refused.text.contains("\"error\":\"all\""), "the rejected body goes no further")
    }

    @Test func `an unacceptable media type is a problem`() throws {
        let nginx = try NginxOrigin()
        let pintle = try self.pintle("{content_types: [application/json]}")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(nginx.httpPort)/html")
        #expect(result.status == 502 && result.problem == "response-content-type", "\(result)")
        #expect(result.json["upstream_content_type"] as? String == "text/html")
    }

    @Test(arguments: ["{\"a\":", "{'a':1}", "[1,]", "NaN", "{\"a\":1}x"])
    func `a body that is not JSON is a problem`(body: String) throws {
        let origin = try self.origin(body)
        let pintle = try self.pintle("{body: json}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 502 && result.problem == "response-body", "\(result)")
        #expect(result.json["upstream_status"] as? Int == 200)
    }

    @Test(arguments: ["json", "[json, plist]"])
    func `LOOK-43 all that is broken is told, in the order status, type, body`(body: String) throws {
        let origin = try self.origin("<p>sorry</p>", status: "503 Busy")
        let pintle = try self.pintle("{status: [200-299], body: \(body)}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 502 && result.problem == "response-status", "\(result)")
        #expect(result.json["detail"] as? String == "Request failed: service unavailable (503)")
        let causes = result.json["causes"] as? [String] ?? []
        #expect(causes.count == 1 && causes[0].contains("JSON"), "\(result)")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["violations"] as? [String] == ["response-status", "response-body"], "\(record)")
        let counted = try pintle.counters()["violations"] as? [String: Int]
        #expect(counted?["response-status"] == 1 && counted?["response-body"] == 1, "\(counted ?? [:])")
    }

    @Test(arguments: [false, true])
    func `LOOK-43 what is only reported is told of head and body, however they come`(isSlow: Bool) throws {
        let origin = try self.origin(#"{"a":1}x"#, status: "404 None")
        let rule = isSlow ? "[json, image]" : "json"
        let pintle = try self.pintle("{status: [200-299], body: \(rule), on_violation: report}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 404, "\(result)")
        #expect(result.head.values("Pintle-Violation") == ["response-status", "response-body"], "\(result)")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["violations"] as? [String] == ["response-status", "response-body"], "\(record)")
        let error = record["error"] as? String ?? ""
        #expect(error.hasPrefix("Request failed: not found (404); Request failed: "), "\(record)")
    }

    @Test func `LOOK-43 a body beyond its limit does not hide a wrong status`() throws {
        let origin = try self.origin("[1,2,3,4,5,6,7,8]", status: "404 None")
        let pintle = try self.pintle("{status: [200-299], body: json, max_body: 8, on_violation: report}")
        let result = try self.fetch(pintle, origin)
        #expect(result.head.values("Pintle-Violation") == ["response-status", "body-too-large"], "\(result)")
    }

    @Test func `LOOK-44 a status that is not the one demanded says which was`() throws {
        let origin = try self.origin("{}")
        let pintle = try self.pintle("{status: [201]}")
        let result = try self.fetch(pintle, origin)
        #expect(result.json["detail"] as? String == "Request failed: ok (200), expected 201", "\(result)")
    }

    @Test func `nulls are removed from objects and not from arrays, and the length follows`() throws {
        let origin = try RawOrigin(
            answering: response(
                #"{"a":1,"gone":null,"list":[1,null,{"x":null}]}"#,
                fields: "Content-Type: application/json\r\nETag: \"1\"\r\n"))
        let pintle = try self.pintle("{body: json, remove_nulls: true}")
        let result = try self.fetch(pintle, origin)
        #expect(result.text == #"{"a":1,"list":[1,{}]}"# || result.text == #"{"a":1,"list":[1,null,{}]}"#, "\(result)")
        #expect(result["Content-Length"] == "\(result.body.count)")
        #expect(result["ETag"] == nil, "it named other bytes")
    }

    @Test(arguments: ["route", "global"])
    func `in report mode the response passes unchanged, marked and counted`(place: String) throws {
        let origin = try self.origin("not json", status: "500 Oh")
        let pintle =
            place == "route"
            ? try self.pintle("{status: [200], body: json, on_violation: report}")
            : try self.pintle("{status: [200], body: json}", more: "enforcement: report")
        let result = try self.fetch(pintle, origin)
        #expect(result.exitCode == 0 && result.status == 500 && result.text == "not json", "\(result)")
        #expect(result["Content-Length"] == "8" && result["Content-Type"] == "application/json")
        let marks = result.head.values("Pintle-Violation")
        #expect(marks == ["response-status", "response-body"], "\(result)")
        #expect(try pintle.waitForExchanges(1)[0]["violations"] as? [String] == marks)
    }

    @Test func `a problem names type, title, status, detail, instance and route`() throws {
        let origin = try self.origin("x")
        let pintle = try self.pintle("{status: [201]}")
        let result = try self.fetch(pintle, origin)
        #expect(result["Content-Type"] == "application/problem+json")
        #expect(result.json["type"] as? String == "urn:pintle:problem:response-status")
        #expect(result.json["status"] as? Int == 502)
        #expect(result.json["title"] as? String == result.head.reason)
        #expect((result.json["detail"] as? String)?.isEmpty == false)
        #expect(result.json["route"] as? String == "api")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(result.json["instance"] as? String == record["id"] as? String)
    }

    @Test(arguments: ["text/plain", "text/html, text/*;q=0.5", "application/json;q=0, text/plain"])
    func `a client that takes no JSON gets the problem as text`(accept: String) throws {
        let origin = try self.origin("x")
        let pintle = try self.pintle("{status: [201]}")
        let result = try self.fetch(pintle, origin, "-H", "Accept: \(accept)")
        #expect(result.status == 502 && result["Content-Type"] == "text/plain; charset=utf-8", "\(result)")
        #expect(result.text.contains("urn:pintle:problem:response-status"))
    }

    @Test func `a response over the buffer is a violation`() throws {
        let origin = try self.origin("[\"" + String(repeating: "x", count: 3000) + "\"]")
        let pintle = try self.pintle("{body: json}", more: "limits: {body_buffer: 2KiB}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 502 && result.problem == "body-too-large", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=http_response_body_size") == true)
        let reporting = try self.pintle(
            "{body: json, remove_nulls: true, on_violation: report}", more: "limits: {body_buffer: 2KiB}")
        let passed = try self.fetch(reporting, origin)
        #expect(passed.status == 200 && passed.body.count == 3004, "\(passed)")
        #expect(passed["Pintle-Violation"] == "body-too-large")
    }

    @Test func `what is only reported is checked as it streams, and needs no buffer`() throws {
        let good = "[\"" + String(repeating: "x", count: 300_000) + "\"]"
        let pintle = try self.pintle("{body: json, on_violation: report}", more: "limits: {body_buffer: 2KiB}")
        let passed = try self.fetch(pintle, try self.origin(good))
        #expect(passed.status == 200 && passed.text == good && passed["Pintle-Violation"] == nil)
        #expect(passed["Content-Length"] == "300004")
        let bad = String(good.dropLast())
        let reported = try self.fetch(pintle, try self.origin(bad))
        #expect(reported.status == 200 && reported.text == bad && reported["Pintle-Violation"] == nil)
        let records = try pintle.waitForExchanges(2)
        #expect(records[0]["violations"] == nil, "\(records[0])")
        #expect(records[1]["violations"] as? [String] == ["response-body"], "\(records[1])")
    }

    @Test func `a violation that is found late goes into a trailer`() throws {
        let chunk = String(repeating: "x", count: 0x20000)
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1\r\n\"\r\n20000\r\n\(chunk)\r\n0\r\n\r\n")
        let pintle = try self.pintle("{body: {json: {fragments: true}}, on_violation: report}")
        let answer = try pintle.ask(get(origin.port))
        #expect(
            answer.body.count == 0x20001 && answer.trailers.map(\.value) == ["response-body"], "\(answer.head)")
    }

    @Test func `a response without a body keeps a JSON contract`() throws {
        let nginx = try NginxOrigin()
        let pintle = try self.pintle("{status: [200-299], content_types: [application/json], body: json}")
        let empty = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(nginx.httpPort)/status/204")
        #expect(empty.status == 204, "\(empty)")
        let head = try Curl.run(proxy: pintle.port, "-I", "http://127.0.0.1:\(nginx.httpPort)/json")
        #expect(head.status == 200 && head["Content-Length"] == "37", "\(head)")
    }

    @Test func `bodies that are checked are asked for in codings that can be undone`() throws {
        let origin = try self.origin("{}")
        let pintle = try self.pintle("{body: json}")
        #expect(try self.fetch(pintle, origin, "-H", "Accept-Encoding: exotic, gzip;q=0.5").status == 200)
        #expect(try self.fetch(pintle, origin, "-H", "Accept-Encoding: exotic").status == 200)
        let requests = try origin.waitForRequests(2)
        #expect(requests.map { $0.head.values("Accept-Encoding") } == [["gzip;q=0.5"], ["identity"]])
    }

    @Test func `a truncated body that is checked is the origin's fault, not a violation`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"a\":1")
        }
        let pintle = try self.pintle("{body: json}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 502 && result.problem == "upstream-protocol", "\(result)")
    }

    @Test func `chunked JSON is checked whole`() throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n")
        let pintle = try self.pintle("{body: json}")
        let result = try self.fetch(pintle, origin)
        #expect(result.status == 200 && result.text == "{\"a\":1}", "\(result)")
    }
}
