// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Changes of a route to requests: fields, parameters, and their format.
struct RequestRuleTests {
    let origin: RawOrigin

    init() throws { self.origin = try RawOrigin(answering: response("done")) }

    private func pintle(_ request: String, more: String = "") throws -> PintleProcess {
        try PintleProcess("\(more)\nroutes: [{name: r, request: \(request)}]")
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/x" }

    @Test func `fields are removed, then defaulted, then set, then added`() throws {
        let pintle = try self.pintle(
            """
            {headers: {remove: [X-A, x-b], default: {X-A: again, X-C: default, X-D: default},
            set: {X-E: set}, add: {X-E: added, X-F: added}}}
            """)
        let answer = try pintle.ask(
            get(self.origin.port, fields: "X-A: 1\r\nX-B: 1\r\nx-b: 2\r\nX-C: own\r\nX-E: 1\r\nx-e: 2\r\nX-F: 1\r\n"))
        #expect(answer.text == "done")
        let request = try self.origin.waitForRequests(1)[0]
        #expect(request.head.values("X-A") == ["again"])
        #expect(request.head.values("X-B") == [])
        #expect(request.head.values("X-C") == ["own"])
        #expect(request.head.values("X-D") == ["default"])
        #expect(request.head.values("X-E") == ["set", "added"])
        #expect(request.head.values("X-F") == ["1", "added"])
    }

    @Test func `a form becomes JSON with the route's parameters over it`() throws {
        let pintle = try self.pintle("{serialize: json, parameters: {source: pintle, tags: [a, b], n: 1}}")
        let result = try Curl.run(
            proxy: pintle.port, "-d", "name=J%C3%BCrgen+K&source=client", "-H", "Content-MD5: x", self.url)
        #expect(result.text == "done", "\(result)")
        let request = try self.origin.waitForRequests(1)[0]
        #expect(request.text == #"{"name":"Jürgen K","source":"pintle","tags":["a","b"],"n":1}"#)
        #expect(request["Content-Type"] == "application/json")
        #expect(request["Content-Length"] == "\(request.body.count)" && request["Transfer-Encoding"] == nil)
        #expect(request["Content-MD5"] == nil, "it described another body")
    }

    @Test func `a chunked form becomes JSON as well`() throws {
        let pintle = try self.pintle("{serialize: json, parameters: {b: 2}}")
        let result = try Curl.run(proxy: pintle.port, "-d", "a=1", "-H", "Transfer-Encoding: chunked", self.url)
        #expect(result.text == "done", "\(result)")
        let request = try self.origin.waitForRequests(1)[0]
        #expect(request.text == #"{"a":"1","b":2}"#, "\(request)")
        #expect(request["Transfer-Encoding"] == nil)
    }

    @Test func `JSON becomes a form`() throws {
        let pintle = try self.pintle("{serialize: http, parameters: {z: \"a b\"}}")
        let result = try Curl.run(
            proxy: pintle.port, "-H", "Content-Type: application/json", "-d", #"{"k":["1","2"],"d":{"x":"ü&"}}"#,
            self.url)
        #expect(result.text == "done", "\(result)")
        let request = try self.origin.waitForRequests(1)[0]
        #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
        // AFNetworking sorts dictionaries by key.
        #expect(request.text == "d%5Bx%5D=%C3%BC%26&k%5B%5D=1&k%5B%5D=2&z=a%20b", "\(request.text)")
    }

    @Test(arguments: ["GET", "HEAD", "DELETE"])
    func `parameters of a method without a body go into the query`(method: String) throws {
        for form in ["http", "json"] {
            let pintle = try self.pintle("{serialize: \(form), parameters: {source: \"a b\"}}")
            let client = try pintle.connect()
            try client.send("\(method) \(self.url)?q=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().status == 200)
            let request = try #require(try self.origin.waitForRequests(1).last)
            #expect(request.head.startLine == "\(method) /x?q=1&source=a%20b HTTP/1.1")
            #expect(request.body.isEmpty && request["Content-Type"] == nil)
        }
    }

    @Test func `uri_methods says whose parameters go into the query`() throws {
        let pintle = try self.pintle("{serialize: json, uri_methods: [POST], parameters: {a: 1}}")
        _ = try Curl.run(proxy: pintle.port, "-d", "", self.url)
        _ = try Curl.run(proxy: pintle.port, "-X", "DELETE", self.url)
        let requests = try self.origin.waitForRequests(2)
        #expect(requests[0].head.startLine == "POST /x?a=1 HTTP/1.1")
        #expect(requests[1].head.startLine == "DELETE /x HTTP/1.1")
        #expect(requests[1].text == #"{"a":1}"#)
    }

    @Test func `serialize none passes the body as it is`() throws {
        let pintle = try self.pintle("{headers: {set: {X-A: 1}}, serialize: none}")
        let result = try Curl.run(proxy: pintle.port, "-d", "a=1&&&", self.url)
        #expect(result.text == "done", "\(result)")
        #expect(try self.origin.waitForRequests(1)[0].text == "a=1&&&")
    }

    @Test(arguments: [
        ("text/plain", "words"), ("application/json", "{\"a\":"), ("application/json", "[1]"), ("", "a=1"),
        ("application/x-www-form-urlencoded; charset=klingon", "a=1"),
    ])
    func `a body that cannot be merged is a problem, and nothing is sent`(type: String, body: String) throws {
        let pintle = try self.pintle("{serialize: json, parameters: {b: 2}}")
        let result = try Curl.run(proxy: pintle.port, "-H", "Content-Type:\(type)", "--data-binary", body, self.url)
        #expect(result.status == 422 && result.problem == "unserializable-request", "\(result)")
        #expect(result.json["route"] as? String == "r")
        #expect(self.origin.connections.isEmpty)
        #expect(try pintle.serves(self.url))
    }

    @Test func `a compressed body cannot be merged`() throws {
        let pintle = try self.pintle("{serialize: json, parameters: {b: 2}}")
        let result = try Curl.run(proxy: pintle.port, "-H", "Content-Encoding: gzip", "-d", "a=1", self.url)
        #expect(result.status == 422 && result.problem == "unserializable-request", "\(result)")
    }

    @Test(arguments: [false, true])
    func `a body over limits body_buffer is refused where a rule needs all of it`(isChunked: Bool) throws {
        let pintle = try self.pintle("{serialize: json}", more: "limits: {body_buffer: 10KiB}")
        let folder = try TemporaryFolder()
        let fits = try folder.write("a=" + String(repeating: "x", count: 10 * 1024 - 2), to: "fits")
        let over = try folder.write("a=" + String(repeating: "x", count: 10 * 1024 - 1), to: "over")
        let chunked = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
        let accepted = try Curl.run(proxy: pintle.port, ["--data-binary", "@\(fits)", self.url] + chunked)
        #expect(accepted.status == 200, "\(accepted)")
        let refused = try Curl.run(proxy: pintle.port, ["--data-binary", "@\(over)", self.url] + chunked)
        #expect(refused.status == 413 && refused.problem == "body-too-large", "\(refused)")
        #expect(refused["Proxy-Status"]?.contains("error=http_request_error") == true)
        #expect(self.origin.requests.count == 1)
        #expect(try pintle.serves(self.url))
    }

    @Test func `a body over the buffer streams where no rule needs it`() throws {
        let pintle = try self.pintle("{headers: {set: {X-A: 1}}}", more: "limits: {body_buffer: 1KiB}")
        let folder = try TemporaryFolder()
        let file = try folder.write(pattern(200_000), to: "body")
        let result = try Curl.run(proxy: pintle.port, "--data-binary", "@\(file)", self.url)
        #expect(result.status == 200, "\(result)")
        #expect(try self.origin.waitForRequests(1)[0].body == pattern(200_000))
    }

    @Test func `head limits are answered with 431`() throws {
        let pintle = try PintleProcess("limits: {header_bytes: 4KiB, header_line: 1KiB, header_count: 10}")
        let long = "X-A: \(String(repeating: "a", count: 1100))\r\n"
        let many = (0..<12).map { "X-\($0): 1\r\n" }.joined()
        let large = (0..<8).map { "X-\($0): \(String(repeating: "b", count: 700))\r\n" }.joined()
        for fields in [long, many, large] {
            let client = try pintle.connect()
            try client.send(get(self.origin.port, fields: fields))
            let answer = try client.readResponse()
            #expect(answer.status == 431 && answer.text.contains("header-too-large"), "\(answer)")
            #expect(try client.readToEnd().bytes.isEmpty)
        }
        #expect(self.origin.connections.isEmpty)
        #expect(try pintle.serves(self.url))
    }
}
