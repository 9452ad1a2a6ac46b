// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

/// Parses `text` in pieces of `size` bytes, as a client may send it; nil while the head is incomplete.
private func parse(
    _ text: String, pieces size: Int = .max, limits: HeadLimits = HeadLimits()
) throws(WireError) -> (head: RequestHead, length: Int)? {
    var parser = RequestParser(limits: limits)
    let bytes = Array(text.utf8)
    var end = 0
    while end < bytes.count {
        end = min(bytes.count, size == .max ? bytes.count : end + size)
        var result: Result<(head: RequestHead, length: Int)?, WireError> = .success(nil)
        bytes[..<end].withUnsafeBytes { buffer in
            result = Result { () throws(WireError) in try parser.parse(buffer) }
        }
        if let found = try result.get() { return found }
    }
    return nil
}

private func code(_ text: String, limits: HeadLimits = HeadLimits()) -> WireError.Code? {
    do throws(WireError) {
        guard let (head, _) = try parse(text, limits: limits) else { return nil }
        _ = try head.bodyFraming()
        return nil
    } catch {
        return error.code
    }
}

@Suite struct RequestParserTests {
    @Test(arguments: [1, 2, 3, 7, Int.max])
    func `a head is read alike in whatever pieces it arrives`(size: Int) throws {
        let text = "GET http://Example.COM:8080/a?b HTTP/1.1\r\nHost: x\r\nX-One:  two \r\nx-one: three\r\n\r\nrest"
        let (head, length) = try #require(try parse(text, pieces: size))
        #expect(head.method == "GET")
        let authority = Authority(host: "example.com", port: 8080)
        #expect(head.target == .absolute(scheme: .http, authority: authority, path: "/a?b"))
        #expect(head.minorVersion == 1)
        #expect(head.fields == ["Host": "x", "X-One": "two", "x-one": "three"])
        #expect(length == text.utf8.count - 4)
    }

    @Test func `a line that is no request's is refused before the rest of a head comes`() {
        for text in [
            "\u{C7}ET / HTTP/1.1\r\n", "G(T / HTTP/1.1\r\nHost: a\r\n", "\(String(repeating: "a", count: 65)) ",
        ] {
            #expect(code(text) == .malformed)
        }
        for text in ["GET", "GET / HTTP/1.1\r\n", "GET\r\n", "\r\nGET / HTTP/1.1\r\nHost: a\r\n"] {
            #expect(code(text) == nil)
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", RequestTarget.origin(path: "/")),
        (
            "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
            .absolute(scheme: .http, authority: .init(host: "a", port: 80), path: "/")
        ),
        (
            "GET HTTPS://[::1]?q HTTP/1.1\r\nHost: a\r\n\r\n",
            .absolute(scheme: .https, authority: .init(host: "::1", port: 443), path: "/?q")
        ),
        ("CONNECT a.b:443 HTTP/1.1\r\nHost: a\r\n\r\n", .authority(.init(host: "a.b", port: 443))),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", .asterisk),
        (
            "OPTIONS http://a:81 HTTP/1.1\r\nHost: a\r\n\r\n",
            .absolute(scheme: .http, authority: .init(host: "a", port: 81), path: "*")
        ),
        ("FROB /x HTTP/1.0\r\n\r\n", .origin(path: "/x")),
    ])
    func `every form of target is understood`(text: String, target: RequestTarget) throws {
        #expect(try parse(text)?.head.target == target)
    }

    @Test func `empty lines before a request are skipped`() throws {
        let (head, length) = try #require(try parse("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(head.method == "GET")
        #expect(length == 29)
    }

    /// The table of the contract, §3.1.
    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3,3\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET http://u:p@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://a/#f HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET http://a:99999/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT http://a:1/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    ])
    func `an ambiguous or malformed head is refused with 400`(text: String) {
        #expect(code(text) == .malformed)
        #expect(code(text)?.status == 400)
    }

    @Test(arguments: ["\u{16}\u{3}\u{1}", "{\"a\":", "SSH-2.0\u{0}", " GET", String(repeating: "A", count: 65)])
    func `what never becomes a request line is refused before its end`(text: String) {
        #expect(code(text) == .malformed)
    }

    @Test(arguments: ["\u{16}\u{3}\u{1}", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\n\0\r\n", "\r\n\u{16}\u{3}\u{1}\n"])
    func `a client that speaks TLS is told so, whatever bytes are in its handshake`(text: String) {
        let error = #expect(throws: WireError.self) { try parse(text) }
        #expect(error?.message == "this port speaks HTTP without TLS; give the proxy's address as http://")
    }

    @Test(arguments: [
        "PROXY TCP4 192.0.2.7 127.0.0.1 40000 80\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY UNKNOWN\r\n",
        "\r\n\r\n\0\r\nQUIT\n!\u{11}\0\u{c}", "\r\n\r\n\0",
    ])
    func `a load balancer that speaks the PROXY protocol is told so`(text: String) {
        let error = #expect(throws: WireError.self) { try parse(text) }
        #expect(error?.code == .malformed)
        #expect(
            error?.message == "a header of the PROXY protocol is not read here; have the load balancer send none")
    }

    @Test func `a client that begins HTTP/2 without asking is told where it is spoken`() {
        let error = #expect(throws: WireError.self) { try parse("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }
        #expect(error?.code.status == 505)
        #expect(
            error?.message
                == "HTTP/2 is spoken over TLS only, where the handshake agrees on it; speak HTTP/1.1 on this port")
    }

    @Test(arguments: ["", "\r", "\r\n", "\r\n\r", "G", "GET ", "GET \u{1}", String(repeating: "A", count: 64)])
    func `what may become a request line is waited for`(text: String) {
        #expect(code(text) == nil)
    }

    @Test func `an unknown transfer coding is 501, another major version 505`() {
        #expect(code("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n") == .unknownTransferCoding)
        #expect(code("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n")?.status == 501)
        #expect(code("GET / HTTP/2.0\r\nHost: a\r\n\r\n")?.status == 505)
    }

    @Test func `each limit of the head is 431`() {
        let limits = HeadLimits(bytes: 100, line: 40, count: 2)
        #expect(code("GET /\(String(repeating: "x", count: 50)) HTTP/1.1\r\n", limits: limits) == .headerTooLarge)
        #expect(code("GET /\(String(repeating: "x", count: 50))", limits: limits) == .headerTooLarge)
        #expect(code("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n\r\n", limits: limits) == .headerTooLarge)
        let long = "X: \(String(repeating: "y", count: 30))\r\n"
        #expect(code("GET / HTTP/1.1\r\nHost: a\r\n\(long)\(long)\(long)", limits: limits) == .headerTooLarge)
        #expect(code("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n", limits: limits) == nil)
    }

    @Test func `an incomplete head asks for more, and is not searched twice`() throws {
        #expect(try parse("GET / HTTP/1.1\r\nHost: a\r\n") == nil)
        #expect(try parse("GET / HTTP/1.1\r\nHost: a\r\n\r") == nil)
        #expect(try parse("") == nil)
    }

    @Test(arguments: [
        ("Content-Length: 0\r\n", BodyFraming.none), ("Content-Length: 12\r\n", .length(12)), ("", .none),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", .length(5)), ("Transfer-Encoding: Chunked\r\n", .chunked),
    ])
    func `framing follows from the fields`(fields: String, framing: BodyFraming) throws {
        let head = try #require(try parse("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")).head
        #expect(try head.bodyFraming() == framing)
    }

    @Test func `LOOK-58 no mutation of a head crashes the parser`() throws {
        var generator = SeededGenerator(seed: 58)
        let seed = Array("POST http://a:1/b?c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nX: y\r\n\r\n".utf8)
        for _ in 0..<5000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            var parser = RequestParser(limits: HeadLimits())
            bytes.withUnsafeBytes { buffer in
                if let found = try? parser.parse(buffer) { #expect(found.length <= bytes.count) }
            }
        }
    }
}
