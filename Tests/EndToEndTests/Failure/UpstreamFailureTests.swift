// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Origins that cannot be reached or do not answer: a clear problem, and the next request works.
struct UpstreamFailureTests {
    let good: RawOrigin

    init() throws { self.good = try RawOrigin(answering: response("done")) }

    private var url: String { "http://127.0.0.1:\(self.good.port)/" }

    @Test(.enabled(if: MachineNetwork.hasDefaultRoute, "without a network the answer is network-unreachable"))
    func `a host that does not resolve is dns-failure`() throws {
        let pintle = try PintleProcess()
        let result = try Curl.run(proxy: pintle.port, "http://no-such-host.invalid/")
        #expect(result.status == 502 && result.problem == "dns-failure", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=dns_") == true)
        #expect((result.json["detail"] as? String)?.contains("no-such-host.invalid") == true)
        #expect(try pintle.serves(self.url))
    }

    @Test func `a refused connection is connect-failure`() throws {
        let pintle = try PintleProcess()
        let port = try FreePort.find()
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(port)/")
        #expect(result.status == 502 && result.problem == "connect-failure", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=connection_refused") == true)
        #expect(try pintle.serves(self.url))
    }

    @Test func `an origin that stalls before its head is upstream-timeout`() throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let pintle = try PintleProcess("routes: [{name: short, request: {timeout: 300ms}}]")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 504 && result.problem == "upstream-timeout", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=http_response_timeout") == true)
        try ended.wait(for: "the connection to the stalled origin to be closed") { $0 }
        #expect(try pintle.serves(self.url))
    }

    @Test func `an origin that stalls within its body breaks the answer off`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("routes: [{name: short, request: {timeout: 300ms}}]")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 200 && [18, 56].contains(result.exitCode), "\(result)")
        #expect(try pintle.serves(self.url))
    }

    @Test func `an origin that drips is not silent`() throws {
        let body = "drip by drip"
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            for byte in body.utf8 { try connection.stream.send([byte]) }
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess("routes: [{name: short, request: {timeout: 5s}}]")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.exitCode == 0 && result.text == body, "\(result)")
    }

    @Test func `an origin whose TLS handshake stalls is connect-timeout`() throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let pintle = try PintleProcess(
            """
            routes: [{name: short, match: {hosts: [site.test]}, upstream: "https://localhost:\(origin.port)",
            request: {connect_timeout: 300ms}}]
            """)
        let result = try Curl.run(proxy: pintle.port, "http://site.test/")
        #expect(result.status == 504 && result.problem == "connect-timeout", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=connection_timeout") == true)
    }

    @Test func `a client that goes away while it waits cancels the request upstream`() throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
            ended.change { $0 = true }
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send(get(origin.port))
        try origin.waitForRequests(1)
        client.reset()
        try ended.wait(for: "the origin to see the end") { $0 }
        #expect(try pintle.waitForExchanges(1).count == 1)
        #expect(try pintle.counters()["cancelled"] as? Int == 1)
        #expect(try pintle.serves(self.url))
    }

    @Test func `a client that goes away while it downloads cancels the request upstream`() throws {
        let ended = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let block = pattern(1 << 16)
            // Ends with an error when the proxy takes no more bytes.
            do { for _ in 0..<15_000 { try connection.stream.send(block) } } catch { ended.change { $0 = true } }
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect(receiveBuffer: 4096)
        try client.send(get(origin.port))
        _ = try client.read(10_000)
        client.reset()
        try ended.wait(for: "the origin to be stopped") { $0 }
        try pintle.waitForExchanges(1)
        #expect(try pintle.serves(self.url))
    }

    @Test func `a client that goes away while it uploads cancels the request upstream`() throws {
        let ended = Watched<Int?>(nil)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            let rest = try connection.stream.readToEnd()
            ended.change { $0 = rest.bytes.count }
        }
        let pintle = try PintleProcess()
        let client = try pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n0123456789")
        try origin.waitForRequests(1)
        client.close()
        let received = try ended.wait(for: "the origin to see the end") { $0 != nil }
        #expect((received ?? 0) <= 10, "an incomplete body is not completed")
        #expect(try pintle.serves(self.url))
    }

    @Test func `a request head that never ends is answered with 408`() throws {
        let pintle = try PintleProcess("limits: {header_timeout: 300ms}")
        let client = try pintle.connect()
        try client.send("GET http://127.0.0.1:\(self.good.port)/ HTTP/1.1\r\nHost:")
        let answer = try client.readResponse()
        #expect(answer.status == 408 && answer.text.contains("urn:pintle:problem:request-timeout"), "\(answer)")
        #expect(try client.readToEnd().bytes.isEmpty)
    }

    @Test func `a request body that stops coming is answered with 408`() throws {
        let pintle = try PintleProcess("limits: {body_timeout: 300ms}")
        let client = try pintle.connect()
        try client.send(
            "POST http://127.0.0.1:\(self.good.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        let answer = try client.readResponse()
        #expect(answer.status == 408 && answer.text.contains("urn:pintle:problem:request-timeout"), "\(answer)")
        #expect(try client.readToEnd().bytes.isEmpty)
    }

    @Test func `an idle connection is closed without a word`() throws {
        let pintle = try PintleProcess("limits: {idle_timeout: 300ms}")
        let client = try pintle.connect()
        try client.send(get(self.good.port))
        #expect(try client.readResponse().text == "done")
        let rest = try client.readToEnd()
        #expect(rest.bytes.isEmpty && rest.ending == .closed)
    }
}
