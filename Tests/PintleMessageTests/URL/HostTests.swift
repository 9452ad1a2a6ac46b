// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

/// Parsing of hosts: once, with one result for all users of it.
struct HostTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"), ("0X7F.1", "127.0.0.1"), ("0177.0.0.01", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0xa9fea9fe", "169.254.169.254"), ("2852039166", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("0251.254.0xa9fe", "169.254.169.254"), ("1.2.3.4.", "1.2.3.4"), ("0x7f.1.", "127.0.0.1"), ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"), ("1.0x.0X.0x1", "1.0.0.1"), ("255.255.255.255", "255.255.255.255"),
        ("4294967295", "255.255.255.255"),
        ("1.16777215", "1.255.255.255"), ("1.2.65535", "1.2.255.255"), ("00000000000000000000177.1", "127.0.0.1"),
        ("[::1]", "::1"), ("[0:0:0:0:0:0:0:1]", "::1"), ("[2001:DB8:0:0::1]", "2001:db8::1"),
        ("[::FFFF:127.0.0.1]", "::ffff:127.0.0.1"), ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
        ("[::127.0.0.1]", "::7f00:1"),
        ("[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8"), ("Api.Example", "api.example"), ("1.example", "1.example"),
        ("0x.example", "0x.example"), ("1.0xg", "1.0xg"), ("a.b-1", "a.b-1"), ("x1", "x1"), ("0x1g", "0x1g"),
        ("1e3", "1e3"),
    ])
    func `LOOK-17 a host has one spelling`(text: String, host: String) {
        #expect(Authority(text, defaultPort: 80)?.host == host)
        #expect(Authority(text + ":8080", defaultPort: nil)?.host == host)
    }

    @Test(arguments: [
        "1.2.3.256", "1.2.3.4.5", "256.0.0.1", "1.256.0.1", "4294967296", "1.16777216", "1.2.65536",
        "0x100000000", "040000000000", "09", "1.08", "a.1", "a.0x1", "1..2", "0..0x1", "0xg.1", "127.0.0.1..", ".1",
        "99999999999999999999999999", "1.2.3.0x99999999999999999999999", "evil.example.0x7f000001", "1.2.3.08",
        "[::1%25eth0]", "[fe80::1%eth0]", "[::1%]", "[127.0.0.1]", "[::1", "[]", "[:]", "[1]", "[::1.2.3]", "[::127.1]",
        "[1:2:3:4:5:6:7:8:9]", "[::ffff:127.0.0.01]", "127%2e0%2e0%2e1", "%31", "１２７.0.0.1", "127。0。0。1", "ⅹ.example",
        "127.0.0.1\u{AD}", "a b", "",
    ])
    func `LOOK-17 a host that is neither a name nor an address is none`(text: String) {
        #expect(Authority(text, defaultPort: 80) == nil, "\(text)")
        #expect(Authority(text + ":8080", defaultPort: nil) == nil, "\(text)")
    }

    @Test(arguments: [
        ("GET http://0x7f.1/ HTTP/1.1\r\nHost: x\r\n\r\n", "127.0.0.1"),
        ("CONNECT 017700000001:443 HTTP/1.1\r\nHost: x\r\n\r\n", "127.0.0.1"),
        ("GET https://[::0:1]/ HTTP/1.1\r\nHost: 127.1\r\n\r\n", "::1"),
    ])
    func `LOOK-17 targets are read so`(text: String, host: String) throws {
        var parser = RequestParser(limits: HeadLimits())
        let head = try #require(try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }).head
        switch head.target {
        case .absolute(_, let authority, _), .authority(let authority): #expect(authority.host == host)
        case .origin, .asterisk: Issue.record("\(head.target)")
        }
    }

    @Test(arguments: [
        "GET http://1.2.3.4.5/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://a.0x1/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 1.2.3.256\r\n\r\n", "CONNECT 256.1:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    ])
    func `LOOK-17 numbers that are no address are malformed, in Host too`(text: String) {
        var parser = RequestParser(limits: HeadLimits())
        #expect(throws: WireError.self) { try Array(text.utf8).withUnsafeBytes { try parser.parse($0) } }
    }
}

/// Targets with WebSocket's schemes.
struct WebSocketTargetTests {
    private static let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"

    private func parse(_ text: String) throws -> RequestHead {
        var parser = RequestParser(limits: HeadLimits())
        return try #require(try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }).head
    }

    @Test(arguments: [
        ("ws://a.example/chat?x", Scheme.http, "a.example", 80 as UInt16, "/chat?x"),
        ("WS://a:81", .http, "a", 81, "/"),
        ("wss://a.example/", .https, "a.example", 443, "/"), ("wss://a:8443/x", .https, "a", 8443, "/x"),
    ])
    func `LOOK-54 ws is http and wss is https`(
        target: String, scheme: Scheme, host: String, port: UInt16, path: String
    ) throws {
        let head = try self.parse("GET \(target) HTTP/1.1\r\nHost: x\r\n\(Self.upgrade)\r\n")
        #expect(head.target == .absolute(scheme: scheme, authority: Authority(host: host, port: port), path: path))
        #expect(head.hasWebSocketScheme)
        #expect(try !self.parse("GET http://a/ HTTP/1.1\r\nHost: x\r\n\(Self.upgrade)\r\n").hasWebSocketScheme)
    }

    @Test(arguments: [
        ("", "1.1"), ("Upgrade: websocket\r\n", "1.1"), ("Connection: Upgrade\r\n", "1.1"), (Self.upgrade, "1.0"),
        ("Connection: Upgrade\r\nUpgrade: h2c\r\n", "1.1"),
    ])
    func `LOOK-54 without an Upgrade they are refused`(fields: String, version: String) {
        for scheme in ["ws", "wss"] {
            #expect(throws: WireError(.malformed, "a ws:// or wss:// target without an Upgrade is no WebSocket's")) {
                try self.parse("GET \(scheme)://a/ HTTP/\(version)\r\nHost: x\r\n\(fields)\r\n")
            }
        }
    }
}
