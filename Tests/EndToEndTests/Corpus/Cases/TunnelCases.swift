// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9110 §9.3.6: CONNECT, and the recipients of bytes before and after it.
    struct Tunnels {
        private static func connect(_ target: WireBytes, _ fields: WireBytes = "Host: $\r\n") -> WireBytes {
            "CONNECT \(target) HTTP/1.1\r\n\(fields)\r\n"
        }
        private static let open: WireBytes = "HTTP/1.1 200 Connection Established\r\n\r\n"

        /// A tunnel that is opened, and carries bytes both ways.
        private static func opened(_ what: String, _ rule: String, _ request: WireBytes) -> WireCase {
            WireCase(
                what, rule, connections: 1,
                [
                    .client(request), .answer(open), .client("up"), .seen("up"), .origin("down"), .answer("down"),
                    .clientLeaves, .originAbandoned,
                ])
        }

        static let refused: [WireCase] = [
            .refused("no port", "9110 §9.3.6", connect("127.0.0.1")),
            .refused("an empty port", "9110 §9.3.6", connect("127.0.0.1:")),
            .refused("port 0", "9110 §9.3.6", connect("127.0.0.1:0")),
            .refused("port 65536", "9110 §9.3.6", connect("127.0.0.1:65536")),
            .refused("a port with a sign", "9110 §9.3.6", connect("127.0.0.1:+£")),
            .refused("a port with letters", "9110 §9.3.6", connect("127.0.0.1:https")),
            .refused("no host", "9110 §9.3.6", connect(":£")),
            .refused("a URL", "9112 §3.2.3", connect("http://$/")),
            .refused("a path", "9112 §3.2.3", connect("/")),
            .refused("a path behind the port", "9112 §3.2.3", connect("$/evil")),
            .refused("a query behind the port", "9112 §3.2.3", connect("$?evil")),
            .refused("a fragment behind the port", "contract §3.1", connect("$#evil")),
            .refused("a user", "contract §3.1", connect("user@$")),
            .refused("an asterisk", "contract §3.1", connect("*")),
            .refused("two authorities", "9112 §3.2.3", connect("$,$")),
            .refused("an IPv6 address without brackets", "3986 §3.2.2", connect("::1:£")),
            .refused("brackets that do not close", "3986 §3.2.2", connect("[::1:£")),
            .refused("a zone of an IPv6 address", "6874 §4", connect("[fe80::1%lo]:£")),
            .refused("no Host", "contract §3.1", connect("$", "")),
            .refused("two Hosts", "contract §3.1", connect("$", "Host: $\r\nHost: $\r\n")),
            .refused("a length", "9110 §9.3.6", connect("$", "Host: $\r\nContent-Length: 4\r\n") + "evil"),
            .refused("chunks", "9110 §9.3.6", connect("$", "Host: $\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n"),
            .refused(
                "both framings", "contract §3.1",
                connect("$", "Host: $\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n")),
            .refused("CONNECT of HTTP/2 in text", "contract §3.1", "CONNECT $ HTTP/2.0\r\nHost: $\r\n\r\n", 505),
        ]

        static let opened: [WireCase] = [
            opened("a tunnel carries bytes both ways", "9110 §9.3.6", connect("$")),
            opened(
                "a Host that differs from the target loses", "9112 §3.2.3", connect("$", "Host: evil.example:443\r\n")),
            opened(
                "fields of CONNECT go nowhere", "9110 §9.3.6",
                connect("$", "Host: $\r\nX-A: 1\r\nConnection: close\r\nProxy-Connection: keep-alive\r\n")),
            opened("a length of zero is no content", "9110 §9.3.6", connect("$", "Host: $\r\nContent-Length: 0\r\n")),
            opened("CONNECT of HTTP/1.0", "9110 §9.3.6", "CONNECT $ HTTP/1.0\r\n\r\n"),
            opened("a dot at the end of the host", "1034 §3.1", connect("127.0.0.1.:£")),
            WireCase(
                "bytes right behind CONNECT are the tunnel's", "9110 §9.3.6", connections: 1,
                [
                    .client(connect("$") + "early"), .answer(open), .seen("early"), .origin("late"), .answer("late"),
                    .clientLeaves, .originAbandoned,
                ]),
            WireCase(
                "a request right behind CONNECT is for the origin", "9110 §9.3.6", connections: 1,
                [
                    .client(connect("$") + ask("GET", "/2")), .answer(open), .seen(ask("GET", "/2")),
                    .origin("anything"), .answer("anything"), .clientLeaves, .originAbandoned,
                ]),
            WireCase(
                "a request before CONNECT is answered before it", "9112 §9.3.2",
                [
                    .client(ask("GET", "/1") + connect("$") + "up"), .seen(asked("GET", "/1")), .origin(ok("1")),
                    .answer(okSeen("1")), .answer(open), .seen("up"), .origin("down"), .answer("down"), .clientLeaves,
                    .originAbandoned,
                ]),
            WireCase(
                "bytes in a tunnel are not looked at", "9110 §9.3.6", connections: 1,
                [
                    .client(connect("$")), .answer(open), .client("\0\u{FF}\r\n\nGET \u{1}"),
                    .seen("\0\u{FF}\r\n\nGET \u{1}"),
                    .origin("HTTP/9.9 \0\n\n"), .answer("HTTP/9.9 \0\n\n"), .clientLeaves, .originAbandoned,
                ]),
            WireCase(
                "a tunnel that its origin closes is closed", "9110 §9.3.6", connections: 1,
                [
                    .client(connect("$")), .answer(open), .client("up"), .seen("up"), .origin("down"), .originCloses,
                    .answer("down"), .closed, .clientLeaves,
                ]),
            WireCase(
                "CONNECT to where nobody listens", "contract §3.4", connections: 0,
                [
                    .client("CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n"), .problem(502, "connect-failure"),
                ]),
        ]

        @Test(arguments: Self.refused + Self.opened) func tunnel(_ test: WireCase) throws { try test.play() }
    }
}
