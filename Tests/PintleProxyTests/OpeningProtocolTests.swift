// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleProxy

/// The first bytes of clients in intercepted tunnels.
struct OpeningProtocolTests {
    private static let tls: [[UInt8]] = [
        [22, 3, 1, 0, 200], [22, 3, 3], [22], [22, 4, 0, 0],
        // ClientHellos in the form of SSL 2.
        [0x80, 0x2E, 1, 3, 1], [0x80, 0x2E, 1, 0, 2],
    ]
    private static let http = [
        "GET / HTTP/1.1\r\n", "GET ", "get / http/1.1\r\n", "POST /x", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "PROPFIND /dav/ HTTP/1.1\r\n", "BREW /pot HTTP/1.1\n", "M-SEARCH\t*\tHTTP/1.1\r\n", "BREW /pot HTTP/1.1 \r\n",
        // Empty lines and blanks that servers pass over, a request of HTTP/0.9, and one without an end.
        "\r\n\r\nGET / HTTP/1.1\r\n", " GET / HTTP/1.1\r\n", "GET /\r\n",
        "BREW /\(String(repeating: "x", count: 9000))",
        String(repeating: "x", count: 9000),
    ]
    private static let other: [[UInt8]] = [
        Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8),
        Array("*1\r\n$4\r\nPING\r\n".utf8), Array("AMQP".utf8) + [0, 0, 9, 1], Array("NICK somebody\r\n".utf8),
        Array("EHLO localhost\r\n".utf8), Array("BREW /pot HTCPCP/1.0\r\n".utf8), Array("a1 CAPABILITY\r\n".utf8),
        [0, 0, 0, 8, 4, 210, 22, 47], [0x10, 0x10, 0, 4], [3, 0, 0, 19], [0x13] + Array("BitTorrent".utf8),
        [0x80, 0x2E, 2], [0x80, 0x2E, 1, 7], [0xFF, 0xFF, 0xFF],
    ]

    private static let cases: [([UInt8], OpeningProtocol)] =
        tls.map { ($0, .tls) } + http.map { (Array($0.utf8), .http) } + other.map { ($0, .other) }

    @Test(arguments: cases.indices) func `LOOK-78 first bytes tell the protocol, however they come`(number: Int) {
        let (bytes, expected) = Self.cases[number]
        #expect(OpeningProtocol(of: bytes) == expected)
        // A shorter beginning tells the same, or nothing.
        for count in 0..<min(bytes.count, 200) {
            let early = OpeningProtocol(of: bytes.prefix(count))
            #expect(early == nil || early == expected, "\(count) bytes")
        }
    }
    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\n", OpeningProtocol.http), ("BREW\t/pot\thttp/1.0\n", .http), ("\u{16}\u{3}\u{1}", .tls),
            // memcached, beanstalkd, SIP, Redis by hand, HTTP/2 without TLS, and HTTP/0.9.
            ("get key\r\n", .other), ("put 0 0 60 1\r\nx\r\n", .other), ("OPTIONS sip:a@b SIP/2.0\r\n", .other),
            ("GET key\r\n", .other), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .other), ("GET /\r\n", .other),
            ("SSH-2.0-OpenSSH_9.2\r\n", .other),
        ])
    func `if every protocol is let through, only requests that can be read are requests`(
        text: String, expected: OpeningProtocol
    ) {
        let bytes = Array(text.utf8)
        #expect(OpeningProtocol(of: bytes, takesAnyProtocol: true) == expected)
        for count in 0..<bytes.count {
            let early = OpeningProtocol(of: bytes.prefix(count), takesAnyProtocol: true)
            #expect(early == nil || early == expected, "\(count) bytes")
        }
    }
}
