// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Changes to header fields in both directions, seen on the wire.
struct FieldTests {
    let pintle: PintleProcess

    init() throws { self.pintle = try PintleProcess() }

    @Test func `order, letter case and duplicates of request fields are kept`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let fields =
            "x-b: 1\r\nX-A: two words\r\naccept: text/html\r\nX-B: 3\r\nUSER-agent: mine\r\nx-b: \r\nCookie: a=b\r\n"
        let answer = try self.pintle.ask(get(origin.port, fields: fields))
        #expect(answer.status == 200)
        let seen = try origin.waitForRequests(1)[0].head.fields
            .filter { !["host", "via"].contains($0.name.lowercased()) }.map { "\($0.name)=\($0.value)" }
        #expect(
            seen == ["x-b=1", "X-A=two words", "accept=text/html", "X-B=3", "USER-agent=mine", "x-b=", "Cookie=a=b"])
    }

    @Test func `nothing is added to a request but Host and Via`() throws {
        let origin = try RawOrigin(answering: response("done"))
        _ = try self.pintle.ask(get(origin.port))
        let request = try origin.waitForRequests(1)[0]
        #expect(request.head.fields.map(\.name) == ["Host", "Via"])
        #expect(request["Host"] == "127.0.0.1:\(origin.port)")
        #expect(request["Via"] == "1.1 pintle")
    }

    @Test func `order, letter case and duplicates of response fields are kept`() throws {
        let fields = "sErVer: odd\r\nSet-Cookie: a=1\r\nX-Z: 1\r\nSet-Cookie: b=2\r\nx-a:   spaced\t\r\nX-Empty:\r\n"
        let origin = try RawOrigin(answering: response("done", fields: fields))
        let answer = try self.pintle.ask(get(origin.port))
        let seen = answer.head.fields.filter { !["Via", "Content-Length", "Date"].contains($0.name) }
            .map { "\($0.name)=\($0.value)" }
        #expect(seen == ["sErVer=odd", "Set-Cookie=a=1", "X-Z=1", "Set-Cookie=b=2", "x-a=spaced", "X-Empty="])
        #expect(answer["Via"] == "1.1 pintle")
    }

    @Test func `hop-by-hop fields and those named by Connection do not reach the origin`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let fields =
            "Connection: keep-alive, X-Secret , x-other\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
            + "Proxy-Authorization: Basic Zm9vOmJhcg==\r\nProxy: http://evil.example\r\nTE: trailers\r\nTrailer: X-T\r\n"
            + "Upgrade: h2c\r\nX-Secret: 1\r\nX-Other: 2\r\nX-Kept: 3\r\n"
        _ = try self.pintle.ask(get(origin.port, fields: fields))
        let request = try origin.waitForRequests(1)[0]
        #expect(request.head.fields.map(\.name).sorted() == ["Host", "Via", "X-Kept"], "\(request.head)")
    }

    @Test func `Connection cannot take away a field that gives the message its meaning`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let fields = "Connection: Host, Authorization, Content-Length\r\nAuthorization: Bearer t\r\n"
        _ = try self.pintle.ask(get(origin.port, fields: fields))
        #expect(try origin.waitForRequests(1)[0]["Authorization"] == "Bearer t")
    }

    @Test func `hop-by-hop fields and those named by Connection do not reach the client`() throws {
        let fields =
            "Connection: X-Secret\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\n"
            + "Proxy-Authenticate: Basic realm=x\r\nUpgrade: h2c\r\nTrailer: X-T\r\nX-Kept: 3\r\n"
        let origin = try RawOrigin(answering: response("done", fields: fields))
        let answer = try self.pintle.ask(get(origin.port))
        #expect(
            answer.head.fields.map(\.name).sorted() == ["Content-Length", "Date", "Via", "X-Kept"], "\(answer.head)")
    }

    @Test func `Via is appended to what other proxies wrote, on both ways`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "Via: 1.1 cdn\r\n"))
        let answer = try self.pintle.ask(get(origin.port, fields: "Via: 1.0 old, 1.1 new\r\n"))
        #expect(try origin.waitForRequests(1)[0].head.values("Via") == ["1.0 old, 1.1 new", "1.1 pintle"])
        #expect(answer.head.values("Via") == ["1.1 cdn", "1.1 pintle"])
    }

    @Test func `Via can be renamed and turned off`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let named = try PintleProcess("via: gate-7")
        let silent = try PintleProcess("via: off")
        #expect(try named.ask(get(origin.port))["Via"] == "1.1 gate-7")
        #expect(try silent.ask(get(origin.port))["Via"] == nil)
        #expect(try origin.waitForRequests(2).map { $0["Via"] } == ["1.1 gate-7", nil])
    }

    @Test func `a request that passed this proxy before is a loop`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let answer = try self.pintle.ask(get(origin.port, fields: "Via: 1.1 other, 1.1 PINTLE (x)\r\n"))
        #expect(answer.status == 508)
        #expect(answer.text.contains("urn:pintle:problem:loop-detected"))
        #expect(answer["Proxy-Status"]?.hasPrefix("pintle; error=proxy_loop_detected; details=\"") == true)
        #expect(origin.requests.isEmpty)
    }

    @Test func `bytes above ASCII in a field value pass unchanged`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "X-Name: M\u{00FC}ller\r\n"))
        let answer = try self.pintle.ask(get(origin.port, fields: "X-Name: Gr\u{00FC}n\r\n"))
        #expect(try origin.waitForRequests(1)[0]["X-Name"] == "Gr\u{00FC}n")
        #expect(answer["X-Name"] == "M\u{00FC}ller")
    }

    @Test(arguments: ["599 Made Up", "200 ", "299 fine (really)"])
    func `status and reason phrase pass unchanged`(status: String) throws {
        let origin = try RawOrigin(answering: response("done", status: status))
        #expect(try self.pintle.ask(get(origin.port)).head.startLine == "HTTP/1.1 \(status)")
    }

    @Test func `an HTTP 1.0 answer is passed on as HTTP 1.1`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.0 200 OK\r\nX-Old: yes\r\n\r\nuntil the end")
        }
        let answer = try self.pintle.ask(get(origin.port))
        #expect(answer.head.startLine == "HTTP/1.1 200 OK")
        #expect(answer.text == "until the end" && answer["Transfer-Encoding"] == "chunked")
        #expect(answer["Via"] == "1.0 pintle", "RFC 9110 §7.6.3: the version of the message that was received")
    }
}
