// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Requests with curl through the proxy to nginx, and to an origin that returns the request that reached it.
struct MethodTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess() }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "x-Made~Up"])
    func `a request of any method reaches the origin as it is`(method: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let result = try Curl.run(
            proxy: self.pintle.port, "-X", method, "--data-binary", "some body", "http://127.0.0.1:\(origin.port)/a?b=c"
        )
        #expect(result.status == 200 && result.text == "done", "\(result)")
        let request = try origin.waitForRequests(1)[0]
        #expect(request.head.startLine == "\(method) /a?b=c HTTP/1.1")
        #expect(request.text == "some body")
        #expect(request["Content-Length"] == "9")
    }

    @Test(arguments: ["GET", "DELETE", "OPTIONS", "PROPFIND"])
    func `a request without a body gets none on the way`(method: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let result = try Curl.run(proxy: self.pintle.port, "-X", method, "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 200, "\(result)")
        let request = try origin.waitForRequests(1)[0]
        #expect(request["Content-Length"] == nil && request["Transfer-Encoding"] == nil, "\(request.head)")
        #expect(origin.connections[0].receivedText.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: ["POST", "PUT"])
    func `an empty body stays an empty body`(method: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let result = try Curl.run(
            proxy: self.pintle.port, "-X", method, "--data-binary", "", "http://127.0.0.1:\(origin.port)/")
        #expect(result.status == 200, "\(result)")
        // RFC 9110 §8.6: a method that expects content says that there is none.
        let request = try origin.waitForRequests(1)[0]
        #expect(request["Content-Length"] == "0", "\(request.head)")
    }

    @Test func `HEAD is answered with the length and without the body`() throws {
        let origin = try NginxOrigin()
        let result = try Curl.run(proxy: self.pintle.port, "-I", "http://127.0.0.1:\(origin.httpPort)/hello")
        #expect(result.exitCode == 0 && result.status == 200, "\(result)")
        #expect(result["Content-Length"] == "6")
        #expect(result.head.startLine == "HTTP/1.1 200 OK")
    }

    @Test(arguments: [true, false])
    func `HEAD is answered with the length over HTTP 2, too, however the stream ends`(endsWithHead: Bool) throws {
        let site = try PrivateSite()
        let side = try TLSServerSide(site.leaf, speaksHTTP2: true)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            var peer = try HTTP2Peer(connection.stream)
            let stream = try peer.nextRequest().stream
            // HEADERS with `:status` 200 and `content-length`, encoded with HPACK (RFC 7541 §6).
            let block = [0x88, 0x0F, 0x0D, 4] + Array("1234".utf8)
            try connection.stream.send(
                [0, 0, UInt8(block.count), 1, endsWithHead ? 5 : 4, 0, 0, 0, UInt8(stream)] + block)
            // An empty DATA.
            if !endsWithHead { try connection.stream.send([0, 0, 0, 0, 1, 0, 0, 0, UInt8(stream)]) }
            try peer.answer(try peer.nextRequest().stream, "next")
            _ = try connection.waitForEnd()
        }
        let pintle = try site.pintle("roots: [root.pem]")
        let client = try pintle.connect()
        try client.send("HEAD https://localhost:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = try client.readResponse(to: "HEAD")
        #expect(answer.status == 200 && answer["Content-Length"] == "1234", "\(answer)")
        #expect(answer["Transfer-Encoding"] == nil && answer["Connection"] == nil, "\(answer)")
        // No byte of a body is in front of the next answer.
        try client.send("GET https://localhost:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().text == "next")
        #expect(origin.connections.count == 1)
    }

    @Test func `nginx sees the target's host, whatever the client's Host said`() throws {
        let origin = try NginxOrigin()
        let result = try Curl.run(
            proxy: self.pintle.port, "-H", "Host: other.example", "-H", "X-Test: kept",
            "http://127.0.0.1:\(origin.httpPort)/echo?q=%20a")
        #expect(
            result.text == "GET /echo?q=%20a\nhost=127.0.0.1:\(origin.httpPort)\nvia=1.1 pintle\nx=kept\n", "\(result)")
    }

    @Test func `an absolute https target is fetched over TLS by the proxy`() throws {
        let pki = TestPKI()
        let root = try pki.root()
        let origin = try NginxOrigin(https: [try pki.leaf(dns: ["localhost"], signedBy: root)])
        let folder = try TemporaryFolder()
        let roots = try folder.write(root.certificatePEM, to: "root.pem")
        let pintle = try PintleProcess("trust: {own: {hosts: [\"localhost\"], roots: [\"\(roots)\"]}}")
        // curl would tunnel; a target like this is written by clients that leave TLS to their proxy.
        let answer = try pintle.ask(
            "GET https://localhost:\(origin.httpsPort)/hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(answer.status == 200 && answer.text == "hello\n", "\(answer)")
    }

    @Test func `a target without a path asks for the root`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let answer = try self.pintle.ask("GET http://127.0.0.1:\(origin.port)?a=b HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(answer.status == 200)
        #expect(try origin.waitForRequests(1)[0].head.startLine == "GET /?a=b HTTP/1.1")
    }

    @Test func `dot segments and escapes of a path are sent on as they are`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let answer = try self.pintle.ask(get(origin.port, "/a/../b/./%7e%2F//c?x=%00&y=a+b"))
        #expect(answer.status == 200)
        #expect(try origin.waitForRequests(1)[0].head.startLine == "GET /a/../b/./%7e%2F//c?x=%00&y=a+b HTTP/1.1")
    }

    @Test func `OPTIONS and TRACE with no hop left are answered by the proxy`() throws {
        let origin = try RawOrigin(answering: response("origin"))
        for method in ["OPTIONS", "TRACE"] {
            let answer = try self.pintle.ask(
                "\(method) http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\n\r\n")
            #expect(answer.status == 200 && answer.text != "origin", "\(method) \(answer)")
        }
        #expect(origin.requests.isEmpty)
        let asterisk = try self.pintle.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(asterisk.status == 200 && asterisk["Allow"] != nil)
    }

    @Test func `Max-Forwards goes down by one at each hop`() throws {
        let origin = try RawOrigin(answering: response("origin"))
        let answer = try self.pintle.ask(
            "OPTIONS http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: 3\r\n\r\n")
        #expect(answer.text == "origin")
        #expect(try origin.waitForRequests(1)[0]["Max-Forwards"] == "2")
    }
}
