// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The fields of a serialized request's body, and requests that are left alone.
struct SerializedRequestTests {
    let origin: RawOrigin
    let folder: TemporaryFolder

    init() throws {
        self.origin = try RawOrigin(answering: response("done"))
        self.folder = try TemporaryFolder()
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/x" }

    private func ask(_ rules: String, _ arguments: String...) throws -> Curl.Result {
        let pintle = try PintleProcess("routes: [{name: r, request: \(rules)}]")
        return try Curl.run(proxy: pintle.port, arguments + [self.url])
    }

    private func sent(_ rules: String, _ arguments: String...) throws -> Message {
        let pintle = try PintleProcess("routes: [{name: r, request: \(rules)}]")
        let result = try Curl.run(proxy: pintle.port, arguments + [self.url])
        #expect(result.status == 200, "\(result)")
        return try self.origin.waitForRequests(1)[0]
    }

    @Test func `a body of the route alone has its own type, and nothing that was said of an empty one`() throws {
        let request = try self.sent(
            "{serialize: json, parameters: {source: pintle}}", "-X", "POST", "-d", "", "-H", "Content-Encoding: gzip",
            "-H", "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==")
        #expect(request.text == #"{"source":"pintle"}"#)
        #expect(request["Content-Type"] == "application/json")
        #expect(request["Content-Encoding"] == nil && request["Content-MD5"] == nil)
    }

    @Test(arguments: ["json", "plist", "multipart"])
    func `an empty body that becomes none keeps its length`(form: String) throws {
        let request = try self.sent("{serialize: \(form)}", "-X", "POST", "-H", "Content-Type:", "-d", "")
        #expect(request["Content-Length"] == "0" && request.body.isEmpty)
    }

    @Test func `parameters that make too long a target are refused, and go nowhere`() throws {
        for size in [70_000, 7_900_000] {
            let file = try self.folder.write("a=" + String(repeating: "x", count: size), to: "form")
            let result = try self.ask("{serialize: http}", "-X", "DELETE", "--data-binary", "@\(file)")
            #expect(result.status == 413 && result.problem == "body-too-large", "\(result)")
        }
        #expect(self.origin.requests.isEmpty)
        let long = try self.folder.write("a=" + String(repeating: "x", count: 50_000), to: "form")
        let request = try self.sent("{serialize: http}", "-X", "DELETE", "--data-binary", "@\(long)")
        #expect(request.head.startLine.utf8.count > 50_000)
    }

    @Test func `HEAD, TRACE and a bare OPTIONS get no body`() throws {
        let rules = "{serialize: http, uri_methods: [GET, DELETE], parameters: {s: 1}}"
        let head = try self.sent(rules, "-I")
        #expect(head.head.startLine == "HEAD /x?s=1 HTTP/1.1" && head.body.isEmpty)
        let pintle = try PintleProcess("routes: [{name: r, request: \(rules)}]")
        for method in ["TRACE", "OPTIONS"] {
            let result = try Curl.run(proxy: pintle.port, "-X", method, self.url)
            #expect(result.status == 200, "\(result)")
            let request = try #require(self.origin.requests.last)
            #expect(request.head.startLine == "\(method) /x HTTP/1.1")
            #expect(request.body.isEmpty && request["Content-Length"] == nil)
        }
    }

    @Test func `a HEAD that says it has no body is forwarded`() throws {
        let pintle = try PintleProcess()
        let result = try Curl.run(proxy: pintle.port, "-I", "-H", "Content-Length: 0", self.url)
        #expect(result.status == 200, "\(result)")
    }

    @Test func `a body that says that it is too long is refused before it is sent`() throws {
        let pintle = try PintleProcess("routes: [{name: r, request: {serialize: json}}]")
        let answer = try pintle.ask(
            "POST \(self.url) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n",
            method: "POST")
        #expect(answer.status == 413, "\(answer)")
        #expect(self.origin.requests.isEmpty)
    }

    @Test func `LOOK-58 a throttled body from a serializer is in memory once`() throws {
        let mayRead = Watched(false)
        let origin = try RawOrigin { connection in
            let head = try connection.readRequestHead()
            try mayRead.wait(for: "the test to go on") { $0 }
            _ = try connection.stream.read(Int(head["Content-Length"] ?? "") ?? 0)
            try connection.send(response("done"))
        }
        let pintle = try PintleProcess(
            """
            limits: {header_timeout: 1s}
            routes: [{name: r, request: {serialize: json, throttle: {packet: 16KiB, delay: 1ms}}}]
            """)
        let document = #"{"a":""# + String(repeating: "x", count: 7 << 20) + #""}"#
        let client = try pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(document.utf8.count)\r\n\r\n\(document)")
        try origin.waitForRequests(1)
        // A thousand packets become due in this time, which the origin does not read.
        try pintle.waitForHeaderTimeout()
        mayRead.change { $0 = true }
        #expect(try client.readResponse().text == "done")
        #expect(try pintle.memory("VmHWM") < 160 * 1024)
    }
}
