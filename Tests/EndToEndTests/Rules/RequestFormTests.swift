// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Conversion of requests from any format of a client to the format of a route.
struct RequestFormTests {
    let origin: RawOrigin
    let folder: TemporaryFolder

    init() throws {
        self.origin = try RawOrigin(answering: response("done"))
        self.folder = try TemporaryFolder()
    }

    private var url: String { "http://127.0.0.1:\(self.origin.port)/x" }

    /// Sends a request through a route, and returns it as the origin got it.
    private func sent(_ rules: String, _ arguments: String...) throws -> Message {
        let pintle = try PintleProcess("routes: [{name: r, request: \(rules)}]")
        let result = try Curl.run(proxy: pintle.port, arguments + [self.url])
        #expect(result.text == "done", "\(result)")
        return try self.origin.waitForRequests(1)[0]
    }

    private func refused(_ rules: String, _ arguments: String...) throws -> Curl.Result {
        let pintle = try PintleProcess("routes: [{name: r, request: \(rules)}]")
        let before = self.origin.requests.count
        let result = try Curl.run(proxy: pintle.port, arguments + [self.url])
        #expect(self.origin.requests.count == before, "what is refused goes nowhere")
        return result
    }

    private func propertyList(_ body: [UInt8]) throws -> NSDictionary {
        try #require(try PropertyListSerialization.propertyList(from: Data(body), format: nil) as? NSDictionary)
    }

    @Test(arguments: ["xml", "binary"])
    func `LOOK-01 a form becomes a property list, arrays and all`(format: String) throws {
        let request = try self.sent(
            "{serialize: plist, plist: {format: \(format)}, parameters: {n: 1, l: [a]}}", "-d", "k=v&d[x]=%C3%A4")
        #expect(request["Content-Type"] == "application/x-plist")
        #expect(request["Content-Length"] == "\(request.body.count)")
        #expect(
            try self.propertyList(request.body) == ["k": "v", "d": ["x": "ä"], "n": 1, "l": ["a"]] as NSDictionary)
        #expect(request.body.starts(with: "bplist".utf8) == (format == "binary"))
    }

    @Test func `LOOK-01 a property list becomes JSON, and its dates are told of`() throws {
        let plist = """
            <?xml version="1.0"?><plist version="1.0"><dict><key>z</key><integer>1</integer><key>a</key>
            <array><true/><real>1.5</real></array></dict></plist>
            """
        let file = try self.folder.write(plist, to: "a.plist")
        let type = ["-H", "Content-Type: application/x-plist"]
        let request = try self.sent("{serialize: json}", type[0], type[1], "--data-binary", "@\(file)")
        #expect(request.text == #"{"a":[true,1.5],"z":1}"#)
        let dated = plist.replacingOccurrences(
            of: "<integer>1</integer>", with: "<date>2026-11-22T00:00:00Z</date>")
        let refused = try self.refused("{serialize: json}", type[0], type[1], "--data-binary", dated)
        #expect(refused.status == 422 && refused.problem == "unserializable-request", "\(refused)")
        #expect((refused.json["detail"] as? String)?.contains("parameters.z") == true, "\(refused)")
    }

    @Test func `a multipart form becomes JSON, nested by its names`() throws {
        let request = try self.sent(
            "{serialize: json, parameters: {s: p}}", "-F", "a[b]=1", "-F", "l[]=x", "-F", "l[]=y")
        #expect(request.text == #"{"a":{"b":"1"},"l":["x","y"],"s":"p"}"#)
    }

    @Test(arguments: ["json", "http", "plist"])
    func `a file has no form but multipart`(form: String) throws {
        let file = try self.folder.write([1, 2, 3], to: "photo.bin")
        let refused = try self.refused("{serialize: \(form)}", "-F", "a=1", "-F", "photo=@\(file)")
        #expect(refused.status == 422 && refused.problem == "unserializable-request", "\(refused)")
        #expect((refused.json["detail"] as? String)?.contains("parameters.photo") == true, "\(refused)")
    }

    @Test func `a file goes through multipart with its name, its type and every byte`() throws {
        let bytes = pattern(10_000)
        let file = try self.folder.write(bytes, to: "photo.png")
        let request = try self.sent(
            "{serialize: multipart, parameters: {source: pintle}}", "-F", "a=ü", "-F", "photo=@\(file)")
        let type = try #require(request["Content-Type"])
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(type.hasPrefix("multipart/form-data; boundary=pintle-"))
        #expect(request["Content-Length"] == "\(request.body.count)")
        let text = String(decoding: request.body, as: UTF8.self)
        #expect(text.hasPrefix("--\(boundary)\r\n") && text.hasSuffix("\r\n--\(boundary)--\r\n"))
        #expect(text.contains("name=\"a\"\r\n\r\nü\r\n"))
        #expect(text.contains("name=\"source\"\r\n\r\npintle\r\n"))
        #expect(text.contains("name=\"photo\"; filename=\"photo.png\"\r\nContent-Type: image/png\r\n\r\n"))
        #expect(Data(request.body).range(of: Data(bytes)) != nil)
    }

    @Test func `JSON goes into the query of a GET, and its body stays here`() throws {
        let request = try self.sent(
            "{serialize: multipart, parameters: {s: p}}", "-X", "GET", "-H", "Content-Type: application/json", "-d",
            #"{"a":[1,null,true]}"#)
        #expect(request.head.startLine == "GET /x?a%5B%5D=1&a%5B%5D&a%5B%5D=1&s=p HTTP/1.1")
        #expect(request.body.isEmpty && request["Content-Type"] == nil && request["Content-Length"] == nil)
    }

    @Test(arguments: ["gzip", "br", "zstd"])
    func `a compressed form is read`(coding: String) throws {
        let plain = try self.folder.write("a=1&b=\(String(repeating: "x", count: 1000))", to: "form")
        let packed = "\(plain).packed"
        let tool = try #require(["gzip": "gzip", "br": "brotli", "zstd": "zstd"][coding])
        let process = try ChildProcess("/bin/sh", ["-c", "/usr/bin/env \(tool) -c \(plain) > \(packed)"])
        #expect(try process.waitForExit() == 0)
        let request = try self.sent(
            "{serialize: json, json: {sorted_keys: true}, parameters: {A: 2}}", "-H", "Content-Encoding: \(coding)",
            "--data-binary", "@\(packed)")
        #expect(request.text == #"{"A":2,"a":"1","b":"\#(String(repeating: "x", count: 1000))"}"#)
        #expect(request["Content-Encoding"] == nil)
    }

    @Test func `a compressed body counts unfolded`() throws {
        let plain = try self.folder.write([UInt8](repeating: 0x61, count: 1 << 20), to: "form")
        let process = try ChildProcess("/bin/sh", ["-c", "/usr/bin/env gzip \(plain)"])
        #expect(try process.waitForExit() == 0)
        let pintle = try PintleProcess(
            "limits: {body_buffer: 64KiB}\nroutes: [{name: r, request: {serialize: json}}]")
        let result = try Curl.run(
            proxy: pintle.port, "-H", "Content-Encoding: gzip", "--data-binary", "@\(plain).gz", self.url)
        #expect(result.status == 413 && result.problem == "body-too-large", "\(result)")
    }

    @Test(arguments: ["pwr", "gzip, gzip, gzip, gzip, gzip", "gzip"])
    func `a body whose codings cannot be undone is refused`(coding: String) throws {
        let refused = try self.refused("{serialize: json}", "-H", "Content-Encoding: \(coding)", "-d", "a=1")
        #expect(refused.status == 422 && refused.problem == "unserializable-request", "\(refused)")
    }

    @Test func `string_encoding is of forms, and what it lacks is an error`() throws {
        let rules = "{serialize: multipart, string_encoding: iso-8859-1}"
        let json = ["-H", "Content-Type: application/json", "-d"]
        let refused = try self.refused(rules, json[0], json[1], json[2], #"{"a":"日"}"#)
        #expect(refused.status == 422 && refused.problem == "unserializable-request", "\(refused)")
        let request = try self.sent(rules, json[0], json[1], json[2], #"{"a":"ä"}"#)
        #expect(Data(request.body).range(of: Data([0x0D, 0x0A, 0x0D, 0x0A, 0xE4, 0x0D, 0x0A])) != nil)
    }

    @Test func `authorization is for requests that have none`() throws {
        let rules = "{authorization: {basic: {username: user, password: \"file:pass\"}}}"
        let yaml = "routes: [{name: r, allow_cleartext_credentials: true, request: \(rules)}]"
        try self.folder.write("password\n", to: "pass")
        let pintle = try PintleProcess(yaml, folder: self.folder)
        #expect(try Curl.run(proxy: pintle.port, self.url).text == "done")
        #expect(try Curl.run(proxy: pintle.port, "-H", "Authorization: Own x", self.url).text == "done")
        let requests = try self.origin.waitForRequests(2)
        #expect(requests.map { $0.head.values("Authorization") } == [["Basic dXNlcjpwYXNzd29yZA=="], ["Own x"]])
        let record = try pintle.waitForExchanges(2).map { "\($0)" }.joined()
        #expect(!record.contains("dXNlcjpwYXNzd29yZA"))
    }

    @Test func `a throttled body arrives whole, and not at once`() throws {
        let body = pattern(20_000)
        let file = try self.folder.write(body, to: "body")
        let clock = ContinuousClock()
        let start = clock.now
        let request = try self.sent("{throttle: {packet: 4KiB, delay: 50ms}}", "--data-binary", "@\(file)")
        #expect(request.body == body)
        // Four rests lie between five packets.
        #expect(clock.now - start >= .milliseconds(200))
        let pintle = try PintleProcess(
            "routes: [{name: r, request: {serialize: json, throttle: {packet: 1KiB, delay: 1ms}}}]")
        let long = String(repeating: "b", count: 5000)
        #expect(try Curl.run(proxy: pintle.port, "-d", "a=\(long)", self.url).text == "done")
        let second = try self.origin.waitForRequests(2)[1]
        #expect(second.text == #"{"a":"\#(long)"}"#)
        #expect(second["Content-Length"] == "5008")
    }
}
