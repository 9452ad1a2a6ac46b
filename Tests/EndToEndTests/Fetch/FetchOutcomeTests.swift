// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Outcomes of `fetch` for responses: standard output, standard error, exit code.
struct FetchOutcomeTests {
    /// An origin with one answer, as a URL.
    private func origin(_ answer: String) throws -> (origin: RawOrigin, url: String) {
        let origin = try RawOrigin(answering: answer)
        return (origin, "http://127.0.0.1:\(origin.port)/")
    }

    @Test func `a body is written as it came`() throws {
        let nginx = try NginxOrigin()
        let bytes = pattern(5 << 20)
        try nginx.serve(bytes, as: "data")
        let folder = try TemporaryFolder()
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "'\(PintleProcess.binary)' fetch http://127.0.0.1:\(nginx.httpPort)/files/data > '\(folder.path)/out'",
            ])
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        #expect(contents("\(folder.path)/out") == bytes && process.lines.isEmpty)
    }

    @Test func `a body is written before its end has arrived`() throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst\n\r\n")
            try release.wait(for: "the test to go on") { $0 }
            try connection.send("4\r\nlast\r\n0\r\n\r\n")
        }
        let process = try ChildProcess(
            PintleProcess.binary, ["fetch", "http://127.0.0.1:\(origin.port)/", "--expect-type", "text/plain"])
        // Without a Content-Type, an expected type is broken by the first byte.
        #expect(try process.waitForExit() == 1 && process.output.isEmpty, "\(process.lines)")
        let other = try ChildProcess(PintleProcess.binary, ["fetch", "http://127.0.0.1:\(origin.port)/"])
        try other.waitForLine("the first chunk") { $0 == "first" }
        release.change { $0 = true }
        #expect(try other.waitForExit() == 0 && other.output == ["first", "last"], "\(other.lines)")
    }

    @Test(arguments: ["-i", "--include"])
    func `the head precedes the body on request, as soon as it has come`(option: String) throws {
        let release = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 203 Not So\r\nx-Case: One\r\nX-case: \u{9B}2J\r\nContent-Length: 4\r\n\r\n")
            try release.wait(for: "the test to go on") { $0 }
            try connection.send("body")
        }
        let process = try ChildProcess(
            PintleProcess.binary, ["fetch", option, "http://127.0.0.1:\(origin.port)/"])
        try process.waitForLine("the end of the head") { $0 == "\r" }
        release.change { $0 = true }
        #expect(try process.waitForExit() == 0)
        #expect(
            process.output == [
                "HTTP/1.1 203 Not So\r", "x-Case: One\r", "X-case: \\u009b2J\r", "Content-Length: 4\r", "\r", "body",
            ], "\(process.lines)")
    }

    @Test func `the head of HTTP/2 has no reason, and what was not expected has no head`() throws {
        let (origin, url) = try self.origin(response("{", fields: "Content-Type: text/plain\r\n"))
        let unexpected = try fetch("-i", url, "--expect-type", "application/json")
        #expect(unexpected.exitCode == 1 && unexpected.output.isEmpty, "\(unexpected.lines)")
        #expect(origin.requests.count == 1)
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(https: [try pki.leaf(ip: ["127.0.0.1"], signedBy: root)], http2: true)
        try nginx.serve(Array("x".utf8), as: "data")
        let roots = try TemporaryFolder()
        let process = try fetch(
            "-i", "https://127.0.0.1:\(nginx.httpsPort)/files/data", "--roots",
            try roots.write(root.certificatePEM, to: "root.pem"))
        #expect(process.exitCode == 0 && process.output.first == "HTTP/2 200\r", "\(process.lines)")
    }

    @Test func `an error's body is written all the same, and the exit code is 1`() throws {
        let (origin, url) = try self.origin(response("no such thing", status: "404 Not Found"))
        let process = try fetch(url)
        #expect(process.exitCode == 1 && process.output == ["no such thing"])
        #expect(process.errors == ["pintle fetch: Request failed: not found (404)"])
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [
        (["--expect-status", "404"], 0, ""),
        (["--expect-status", "200-299,404"], 0, ""),
        (["--expect-status", "2xx"], 1, "Request failed: not found (404)"),
        (["--expect-status", "4xx", "--expect-type", "text/plain"], 0, ""),
        (
            ["--expect-status", "404", "--expect-type", "text/html"], 1,
            "Request failed: unacceptable content-type: text/plain"
        ),
    ])
    func `with expectations a response is written only when it keeps them`(
        options: [String], code: Int32, message: String
    ) throws {
        let (origin, url) = try self.origin(
            response("no such thing", status: "404 Not Found", fields: "Content-Type: text/plain; charset=utf-8\r\n"))
        let process = try PintleProcess.run(["fetch", url] + options)
        #expect(process.exitCode == code && process.output == (code == 0 ? ["no such thing"] : []))
        #expect(process.errors == (code == 0 ? [] : ["pintle fetch: \(message)"]))
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [
        ("json", "{\"a\":1}", 0), ("json", "{\"a\":}", 1), ("xml", "<a><b/></a>", 0), ("xml", "<a><b></a>", 1),
        ("plist", "<?xml version=\"1.0\"?><plist version=\"1.0\"><string>x</string></plist>", 0), ("plist", "<a/>", 1),
        ("image", "GIF89a", 1),
    ])
    func `an expected body is checked before it is written`(kind: String, body: String, code: Int32) throws {
        let (origin, url) = try self.origin(response(body))
        let process = try fetch(url, "--expect-body", kind)
        #expect(process.exitCode == code && process.output == (code == 0 ? [body] : []), "\(process.lines)")
        #expect(process.errors.count == (code == 0 ? 0 : 1) && origin.requests.count == 1)
    }

    @Test func `an expected image is decoded`() throws {
        // One white pixel.
        let image: [UInt8] = [
            0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1,
            0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B,
        ]
        let nginx = try NginxOrigin()
        try nginx.serve(image, as: "pixel.gif")
        try nginx.serve(Array(image.dropLast(8)), as: "cut.gif")
        let folder = try TemporaryFolder()
        let base = "http://127.0.0.1:\(nginx.httpPort)/files"
        let whole = try fetch("\(base)/pixel.gif", "--expect-body", "image", "-o", "\(folder.path)/pixel.gif")
        #expect(whole.exitCode == 0 && contents("\(folder.path)/pixel.gif") == image, "\(whole.lines)")
        let cut = try fetch("\(base)/cut.gif", "--expect-body", "image", "-o", "\(folder.path)/cut.gif")
        #expect(cut.exitCode == 1 && contents("\(folder.path)/cut.gif") == nil, "\(cut.lines)")
    }

    @Test func `a body that is too long to be checked is refused`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \((64 << 20) + 1)\r\n\r\n[")
            let spaces = [UInt8](repeating: 0x20, count: 1 << 20)
            for _ in 0..<64 { try connection.stream.send(spaces) }
        }
        let process = try fetch("http://127.0.0.1:\(origin.port)/", "--expect-body", "json")
        #expect(process.exitCode == 4 && process.output.isEmpty, "\(process.lines)")
        #expect(process.errors.first?.contains("longer than 67108864 bytes") == true, "\(process.lines)")
    }

    @Test func `a body that ends early is written as far as it came, and the exit code is 4`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf\n")
        }
        let process = try fetch("http://127.0.0.1:\(origin.port)/")
        #expect(process.exitCode == 4 && process.output == ["half"])
        #expect(process.errors.first?.contains("closed before the response was complete") == true, "\(process.lines)")
    }

    @Test func `who cannot be reached is named, and the exit code is 4`() throws {
        let port = try FreePort.find()
        let refused = try fetch("http://127.0.0.1:\(port)/")
        #expect(refused.exitCode == 4)
        #expect(refused.errors.first?.hasPrefix("pintle fetch: 127.0.0.1:\(port) refused the connection") == true)
        let unknown = try fetch("http://nowhere.invalid/")
        #expect(unknown.exitCode == 4 && unknown.errors.first?.contains("nowhere.invalid has no address") == true)
    }

    @Test(arguments: [
        ["http://a.test/", "--nonsense"], [], ["ftp://a.test/"], ["http://user:s3cret@a.test/"],
        ["http://a.test/", "--serialize", "yaml"], ["http://a.test/", "--expect-body", "any"],
        ["http://127.0.0.1/", "--header", "Transfer-Encoding: chunked"],
    ])
    func `a command line that makes no sense exits with 2 and repeats no secret`(arguments: [String]) throws {
        let process = try PintleProcess.run(["fetch"] + arguments)
        #expect(process.exitCode == 2 && process.output.isEmpty && !process.errors.isEmpty, "\(process.lines)")
        #expect(!process.errors.contains { $0.contains("s3cret") })
    }

    @Test func `a reader that leaves ends it with 4`() throws {
        let nginx = try NginxOrigin()
        try nginx.serve(pattern(8 << 20), as: "data")
        let process = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "{ '\(PintleProcess.binary)' fetch http://127.0.0.1:\(nginx.httpPort)/files/data; echo exit $? >&2; } | "
                    + "head -c 10 > /dev/null",
            ])
        try process.waitForExit()
        #expect(process.errors.last == "exit 4", "\(process.lines)")
        #expect(process.errors.first?.contains("nobody reads it") == true, "\(process.lines)")
    }

    @Test func `a server cannot steer the terminal by what it sends`() throws {
        let (origin, url) = try self.origin(response("x", fields: "Content-Type: text/\u{9B}31m\u{202E}plain\r\n"))
        let process = try fetch(url, "--expect-type", "text/plain")
        #expect(process.exitCode == 1 && origin.requests.count == 1)
        #expect(
            process.errors == ["pintle fetch: Request failed: unacceptable content-type: text/??31m???plain"])
    }
}
