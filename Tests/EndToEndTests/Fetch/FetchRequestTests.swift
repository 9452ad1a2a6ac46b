// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Requests that `fetch` sends.
struct FetchRequestTests {
    private let origin: RawOrigin
    private let url: String

    init() throws {
        self.origin = try RawOrigin(answering: response("fine"))
        self.url = "http://127.0.0.1:\(self.origin.port)/things"
    }

    /// Runs it and returns the request that arrived.
    private func sent(_ arguments: String..., environment: [String: String] = [:]) throws -> Message {
        let before = self.origin.requests.count
        let process = try PintleProcess.run(["fetch"] + arguments, environment: environment)
        try #require(process.exitCode == 0 && process.output == ["fine"], "\(process.lines)")
        return self.origin.requests[before]
    }

    @Test func `a plain request says who asks, and nothing else`() throws {
        let request = try self.sent(self.url)
        #expect(request.head.startLine == "GET /things HTTP/1.1")
        #expect(request.head.fields.map(\.name) == ["Host", "User-Agent", "Accept"])
        #expect(request["User-Agent"]?.hasPrefix("pintle/") == true && request["Accept"] == "*/*")
    }

    @Test func `the method and the fields are those of the command line`() throws {
        let request = try self.sent(
            "PURGE", self.url, "--header", "X-One: 1", "--header", "x-one:2", "--header", "User-Agent: mine",
            "--header", "Authorization: Bearer env:TOKEN", environment: ["TOKEN": "s3cret"])
        #expect(request.head.startLine == "PURGE /things HTTP/1.1")
        #expect(request.head.values("X-One") == ["1", "2"] && request["User-Agent"] == "mine")
        #expect(request["Authorization"] == "Bearer s3cret")
    }

    @Test func `parameters are the query of GET`() throws {
        let request = try self.sent(self.url, "--param", "q=a b", "--param", "n=1")
        #expect(request.head.startLine == "GET /things?n=1&q=a%20b HTTP/1.1" && request.body.isEmpty)
    }

    @Test(arguments: [
        ("http", "application/x-www-form-urlencoded", "a=1&b=2"), ("json", "application/json", #"{"a":"1","b":"2"}"#),
    ])
    func `parameters are the body of POST`(format: String, type: String, body: String) throws {
        let request = try self.sent("POST", self.url, "--param", "a=1", "--param", "b=2", "--serialize", format)
        #expect(request["Content-Type"] == type && request.text == body)
    }

    @Test func `parameters can be a property list`() throws {
        let request = try self.sent(self.url, "--param", "a=1", "--serialize", "plist")
        #expect(request.head.startLine.hasPrefix("POST ") && request["Content-Type"] == "application/x-plist")
        #expect(request.text.contains("<key>a</key>") && request.text.contains("<string>1</string>"))
    }

    @Test func `a form with a file is multipart`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(pattern(3 << 20), to: "photo.png")
        let request = try self.sent(self.url, "--form", "title=A b", "--form", "photo=@\(file)")
        let boundary = try #require(request["Content-Type"]?.split(separator: "boundary=").last)
        let start =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA b\r\n--\(boundary)\r\n"
            + "Content-Disposition: form-data; name=\"photo\"; filename=\"photo.png\"\r\nContent-Type: image/png\r\n\r\n"
        #expect(request.body == Array(start.utf8) + pattern(3 << 20) + Array("\r\n--\(boundary)--\r\n".utf8))
    }

    @Test func `a form of fields is urlencoded, and multipart when that is said`() throws {
        let plain = try self.sent(self.url, "--form", "b=1", "--form", "a=ä")
        #expect(plain.text == "b=1&a=%C3%A4" && plain["Content-Type"] == "application/x-www-form-urlencoded")
        let multipart = try self.sent(self.url, "--form", "b=1", "--serialize", "multipart")
        #expect(multipart["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        let parameters = try self.sent(self.url, "--param", "b=1", "--serialize", "multipart")
        #expect(parameters.text.contains("name=\"b\"\r\n\r\n1\r\n"))
    }

    @Test func `a JSON file is sent as it is`() throws {
        let folder = try TemporaryFolder()
        // Larger than any buffer on the way.
        let text = " {\"list\": [" + (0..<300_000).map { "\($0)" }.joined(separator: " ,") + "]}\n"
        let request = try self.sent("PUT", self.url, "--json", try folder.write(text, to: "body.json"))
        #expect(request.text == text && request["Content-Type"] == "application/json")
        #expect(request["Content-Length"] == "\(text.utf8.count)")
    }

    @Test func `a JSON document can come on standard input`() throws {
        let process = try fetch(self.url, "--json", "-", input: " [1, 2]\n")
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(self.origin.requests.first?.text == " [1, 2]\n")
    }

    @Test func `what is not JSON is not sent`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("{\"a\": nul}", to: "body.json")
        for process in [try fetch(self.url, "--json", file), try fetch(self.url, "--json", "-", input: "{\"a\": nul}")]
        {
            #expect(process.exitCode == 2, "\(process.lines)")
            #expect(process.errors.first?.contains("is not JSON: line 1, column 7 ") == true, "\(process.lines)")
        }
        let missing = try fetch(self.url, "--json", "\(folder.path)/missing.json")
        #expect(missing.exitCode == 4, "\(missing.lines)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `a throttled body rests after each packet`() throws {
        let process = try fetch(
            self.url, "--form", "a=\(String(repeating: "x", count: 998))", "--throttle", "250/50ms", "--metrics")
        #expect(self.origin.requests.first?.body.count == 1000)
        let time = metrics(process.errors).first?["total_us"] as? Int
        #expect(time.map { $0 >= 150_000 } == true, "four packets have three rests between them: \(process.lines)")
    }

    @Test func `proxies of the environment are ignored`() throws {
        let proxy = "http://127.0.0.1:\(try FreePort.find())"
        let request = try self.sent(
            self.url, environment: ["http_proxy": proxy, "HTTP_PROXY": proxy, "ALL_PROXY": proxy, "all_proxy": proxy])
        #expect(request.head.startLine == "GET /things HTTP/1.1")
    }

    @Test func `redirects are followed`() throws {
        let target = self.url
        let origin = try RawOrigin(
            answering: "HTTP/1.1 303 See Other\r\nLocation: \(target)?x=1\r\nContent-Length: 4\r\n\r\ngone")
        let process = try fetch("http://127.0.0.1:\(origin.port)/", "--form", "a=1", "--metrics")
        #expect(
            process.output == ["fine"] && self.origin.requests.map(\.head.startLine) == ["GET /things?x=1 HTTP/1.1"])
        let report = try #require(metrics(process.errors).first)
        #expect(report["redirects"] as? Int == 1 && (report["requests"] as? [Any])?.count == 2)
        #expect(report["final_url"] as? String == "\(target)?x=***")
    }

    @Test func `redirects end somewhere`() throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
        let process = try fetch("http://127.0.0.1:\(origin.port)/")
        #expect(process.exitCode == 4 && origin.requests.count == 21, "\(process.lines)")
    }
}
