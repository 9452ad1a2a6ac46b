// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Origins that send bytes they must not send, or never stop sending.
struct HostileOriginTests {
    let pintle: PintleProcess
    let good: RawOrigin

    init() throws {
        self.pintle = try PintleProcess("engine: {threads: 1}")
        self.good = try RawOrigin(answering: response("done"))
    }

    // MARK: Bodies that must not exist

    @Test(arguments: ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"])
    func `HEAD with content is refused, and nothing of it reaches the origin`(rest: String) throws {
        let answer = try self.pintle.ask(
            "HEAD http://127.0.0.1:\(self.good.port)/ HTTP/1.1\r\nHost: x\r\n\(rest)", method: "HEAD")
        #expect(answer.status == 400, "\(answer)")
        #expect(self.good.connections.isEmpty)
        #expect(try self.pintle.ask(get(self.good.port)).text == "done")
    }

    /// Answers without a body that have one all the same: a whole response, which must not become the next answer.
    enum Smuggling: String, CaseIterable, CustomTestStringConvertible {
        case behind204, behind204WithLength, behind204WithChunks, behind304, behind304WithLength
        case behindHead, behindHeadWithLength, behindHeadWithChunks

        var testDescription: String { self.rawValue }
        var method: String { self.rawValue.hasPrefix("behindHead") ? "HEAD" : "GET" }

        var bytes: String {
            let evil = response("evil")
            let length = "Content-Length: \(evil.utf8.count)\r\n\r\n\(evil)"
            let chunks = "\(String(evil.utf8.count, radix: 16))\r\n\(evil)\r\n0\r\n\r\n"
            return switch self {
            case .behind204: "HTTP/1.1 204 No Content\r\n\r\n\(evil)"
            case .behind204WithLength: "HTTP/1.1 204 No Content\r\n\(length)"
            case .behind204WithChunks: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
            case .behind304: "HTTP/1.1 304 Not Modified\r\n\r\n\(evil)"
            case .behind304WithLength: "HTTP/1.1 304 Not Modified\r\n\(length)"
            case .behindHead: "HTTP/1.1 200 OK\r\n\r\n\(evil)"
            case .behindHeadWithLength: "HTTP/1.1 200 OK\r\n\(length)"
            case .behindHeadWithChunks: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
            }
        }
    }

    @Test(arguments: Smuggling.allCases)
    func `a body where there can be none never becomes the next answer`(smuggling: Smuggling) throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                try connection.send(request.head.startLine.contains("/bad") ? smuggling.bytes : response("fine"))
            }
        }
        let bad = "\(smuggling.method) http://127.0.0.1:\(origin.port)/bad HTTP/1.1\r\nHost: x\r\n\r\n"
        let client = try self.pintle.connect()
        try client.send(bad + get(origin.port, "/next", fields: "Connection: close\r\n"))
        let first = try client.readResponse(to: smuggling.method)
        #expect([200, 204, 304, 502].contains(first.status), "\(first)")
        let rest = String(decoding: try client.readToEnd().bytes, as: UTF8.self)
        // The proxy may give up the connection; if there is an answer, it is the right one.
        #expect(rest.isEmpty || rest.hasSuffix("\r\n\r\nfine"), "\(rest)")
        #expect(try self.pintle.ask(get(origin.port, "/other")).text == "fine")
        #expect(!client.receivedText.contains("evil"), "\(client.receivedText)")
    }

    // MARK: Lengths

    @Test(arguments: ["9223372036854775808", "18446744073709551616", "99999999999999999999999999"])
    func `a length beyond all numbers is a problem, and the next request works`(length: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc")
            _ = try connection.waitForEnd()
        }
        let result = try Curl.run(proxy: self.pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 502 && result.problem == "upstream-protocol", "\(result)")
        #expect(try self.pintle.ask(get(self.good.port)).text == "done")
    }

    @Test(arguments: ["100", "9223372036854775807"])
    func `an answer shorter than its length is incomplete for the client`(length: String) throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhalf of it")
        }
        let result = try Curl.run(proxy: self.pintle.port, "http://127.0.0.1:\(origin.port)/")
        // 18 and 56: cut. A problem in place of the answer is as honest.
        #expect([18, 52, 56].contains(result.exitCode) || result.status == 502, "\(result)")
        #expect(try self.pintle.waitForExchanges(1)[0]["error"] != nil)
        #expect(try self.pintle.ask(get(self.good.port)).text == "done")
    }

    // MARK: No end

    /// A part of an answer that an origin may send without end.
    enum Endless: String, CaseIterable, CustomTestStringConvertible {
        case head, headLine, interimResponses, trailers, trailerLine

        var testDescription: String { self.rawValue }
        var isBehindTheHead: Bool { self == .trailers || self == .trailerLine }

        var beginning: String {
            switch self {
            case .head: "HTTP/1.1 200 OK\r\n"
            case .headLine: "HTTP/1.1 200 OK\r\nX-Long: "
            case .interimResponses: ""
            case .trailers: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
            case .trailerLine: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Long: "
            }
        }

        var more: String {
            switch self {
            case .head, .trailers: "X-More: and more\r\n"
            case .headLine, .trailerLine: "and more and more "
            case .interimResponses: "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
            }
        }
    }

    @Test(arguments: Endless.allCases)
    func `what has no end is ended soon, and others are served meanwhile`(endless: Endless) throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            defer { ended.change { $0 = true } }
            _ = try connection.readRequest()
            try connection.send(endless.beginning)
            let block = String(repeating: endless.more, count: 100)
            while true { try connection.send(block) }
        }
        let client = try self.pintle.connect()
        try client.send(get(origin.port, fields: "Connection: close\r\n"))
        try origin.waitForRequests(1)
        #expect(try self.pintle.ask(get(self.good.port)).text == "done")
        let text = String(decoding: try client.readToEnd().bytes, as: UTF8.self)
        if endless.isBehindTheHead {
            #expect(!text.contains("\r\n0\r\n"), "the answer must not look complete: \(text.suffix(200))")
        } else {
            #expect(!text.contains("HTTP/1.1 200"), "\(text.suffix(500))")
            #expect(text.contains("HTTP/1.1 502 "), "\(text.suffix(500))")
        }
        try ended.wait(for: "the origin to be stopped") { $0 }
        let record = try self.pintle.waitForExchanges(2).first { $0["host"] as? String == "127.0.0.1:\(origin.port)" }
        #expect(record?["error"] != nil, "\(record ?? [:])")
        let peak = try self.pintle.memory("VmHWM")
        #expect(peak < BoundedMemoryTests.limit)
        #expect(try self.pintle.ask(get(self.good.port)).text == "done")
    }

    // MARK: Errors of one request do not become the next one's

    @Test func `a bad certificate is not the reason of the next failure`() throws {
        let pki = TestPKI()
        let origin = try NginxOrigin(https: [try pki.selfSigned(dns: ["localhost"])])
        let closed = try FreePort.find()
        let client = try self.pintle.connect()
        for _ in 0..<3 {
            for (port, problem) in [(origin.httpsPort, "certificate-invalid"), (closed, "connect-failure")] {
                try client.send("GET https://localhost:\(port)/hello HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
                let answer = try client.readResponse()
                #expect(answer.status == 502 && answer.text.contains("urn:pintle:problem:\(problem)"), "\(answer.text)")
            }
        }
    }
}
