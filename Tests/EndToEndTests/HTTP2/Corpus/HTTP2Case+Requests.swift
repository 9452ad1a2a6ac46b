// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// The pseudo fields of requests (RFC 9113 §8.3.1, §8.5; RFC 8441 §4).
extension HTTP2Case {
    static let requestGroups = [
        Group(name: "pseudo-header fields", cases: Self.pseudo),
        Group(name: ":method", cases: Self.methods),
        Group(name: ":scheme", cases: Self.schemes),
        Group(name: ":path", cases: Self.paths),
        Group(name: ":authority and Host", cases: Self.authorities),
        Group(name: "CONNECT in a tunnel", cases: Self.connects),
    ]

    private static func fields(_ name: String, _ fields: [Bytes.Field], _ outcome: Outcome) -> HTTP2Case {
        HTTP2Case(name, Bytes.headers(fields), outcome)
    }

    private static let own: Bytes.Field = (":authority", "origin.test")
    private static let refused = Outcome.reset(.protocolError)

    private static var pseudo: [HTTP2Case] {
        let get = Self.get
        return [
            Self.fields("in another order", [get[3], get[2], get[0], get[1]], Self.sent()),
            Self.fields("behind another field", [("x", "y")] + get, Self.refused),
            Self.fields("one behind another field", Array(get.prefix(3)) + [("x", "y"), get[3]], Self.refused),
            Self.fields("one that is not known", get + [(":odd", "1")], Self.refused),
            Self.fields("one of answers", get + [(":status", "200")], Self.refused),
            Self.fields("one without a name", get + [(":", "1")], Self.refused),
            Self.fields("one of upper case", [(":Method", "GET")] + get.dropFirst(), Self.refused),
            Self.fields(
                "one with CR and LF", [get[0], get[1], (":authority", "origin.test\r\nx: y"), get[3]], Self.refused),
            Self.fields(":protocol without CONNECT", get + [(":protocol", "websocket")], Self.refused),
        ]
            + get.indices.map { index in
                Self.fields("\(get[index].name) twice", get + [get[index]], Self.refused)
            }
            + [0, 1, 3].map { index in
                Self.fields(
                    "no \(get[index].name)", get.enumerated().filter { $0.offset != index }.map(\.element), Self.refused
                )
            }
    }

    private static var methods: [HTTP2Case] {
        func method(_ name: String, _ method: String, _ outcome: Outcome) -> HTTP2Case {
            Self.fields(name, Self.request(method), outcome)
        }
        return [
            method("of one's own", "MKCOL", Self.sent("MKCOL /")),
            method("lower case", "get", Self.sent("get /")),
            method("a space", "GET /evil", Self.refused),
            method("a whole line", "GET / HTTP/1.1\r\nx: y", Self.refused),
            method("empty", "", Self.badRequest),
            method("no token", "G(T", Self.badRequest),
            method("of 65 bytes", String(repeating: "M", count: 65), Self.badRequest),
            method("UTF-8", "GÉT", Self.badRequest),
        ]
    }

    private static var schemes: [HTTP2Case] {
        func scheme(_ name: String, _ scheme: String, _ outcome: Outcome) -> HTTP2Case {
            Self.fields(name, [(":method", "GET"), (":scheme", scheme), Self.own, (":path", "/")], outcome)
        }
        return [
            scheme("http in TLS", "http", Self.badRequest),
            scheme("ftp", "ftp", Self.badRequest),
            scheme("upper case", "HTTPS", Self.badRequest),
            scheme("empty", "", Self.badRequest),
            scheme("a whole URL", "https://evil.test/?", Self.badRequest),
        ]
    }

    private static var paths: [HTTP2Case] {
        func path(_ name: String, _ path: String, _ outcome: Outcome, method: String = "GET") -> HTTP2Case {
            Self.fields(name, Self.request(method, path), outcome)
        }
        return [
            path("with a query", "/a?b=c&d", Self.sent("GET /a?b=c&d")),
            path("empty", "", Self.refused),
            path("without a slash", "a", Self.badRequest),
            path("a query alone", "?a", Self.badRequest),
            path("* with GET", "*", Self.badRequest),
            path("* with OPTIONS", "*", Self.sent("OPTIONS *"), method: "OPTIONS"),
            path("/ with OPTIONS", "/", Self.sent("OPTIONS /"), method: "OPTIONS"),
            path("a URL", "https://evil.test/", Self.badRequest),
            path("two slashes first", "//evil.test/", Self.sent("GET //evil.test/")),
            path("a fragment", "/a#b", Self.badRequest),
            path("a space", "/a b", Self.refused),
            path("a space and a version", "/ HTTP/1.1", Self.refused),
            path("CR and LF", "/ HTTP/1.1\r\nx: y", Self.refused),
            path("a tab", "/a\tb", Self.refused),
            path("NUL", "/a\0b", Self.refused),
            path("UTF-8", "/é", Self.badRequest),
            path("an encoded line end", "/a%0d%0ab", Self.sent("GET /a%0d%0ab")),
            path("dots, where a route joins paths", "/a/../b", Self.badRequest),
        ]
    }

    private static var authorities: [HTTP2Case] {
        func authority(_ name: String, _ authority: String, _ outcome: Outcome, host: String? = nil) -> HTTP2Case {
            let host = host.map { [(name: "host", value: $0)] } ?? []
            return Self.fields(
                name, [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", "/")] + host,
                outcome)
        }
        let get = [Self.get[0], Self.get[1], Self.get[3]]
        return [
            authority("with the port", "origin.test:443", Self.sent()),
            authority("upper case", "ORIGIN.test", Self.sent()),
            authority("a dot at the end", "origin.test.", Self.sent()),
            authority("a Host that is equal", "origin.test", Self.sent(), host: "origin.test"),
            authority("a Host that is spelled otherwise", "origin.test", Self.sent(), host: "Origin.Test:443"),
            authority("a Host that differs", "origin.test", Self.badRequest, host: "evil.test"),
            authority("a Host of another port", "origin.test", Self.badRequest, host: "origin.test:444"),
            authority("a Host that is empty", "origin.test", Self.badRequest, host: ""),
            Self.fields("a Host alone", get + [("host", "origin.test")], Self.sent()),
            Self.fields("neither", get, Self.badRequest),
            Self.fields("two Hosts", get + [("host", "origin.test"), ("host", "origin.test")], Self.badRequest),
            authority("empty", "", Self.badRequest),
            authority("empty beside a Host", "", Self.badRequest, host: "origin.test"),
            authority("user information", "user:pass@origin.test", Self.badRequest),
            authority("user information alone", "@origin.test", Self.badRequest),
            authority("a path", "origin.test/evil", Self.badRequest),
            authority("a query", "origin.test?evil", Self.badRequest),
            authority("a fragment", "origin.test#evil", Self.badRequest),
            authority("a space", "origin.test evil", Self.refused),
            authority("a list", "origin.test,evil.test", Self.badRequest),
            authority("port 0", "origin.test:0", Self.badRequest),
            authority("port 65536", "origin.test:65536", Self.badRequest),
            authority("a port that is no number", "origin.test:https", Self.badRequest),
            authority("two ports", "origin.test:443:443", Self.badRequest),
            authority("another host", "evil.test", .answer(403, "destination-denied")),
            authority("another port", "origin.test:444", .answer(403, "destination-denied")),
            authority("a number", "2130706433", .answer(403, "destination-denied")),
            authority("half an address", "[::1", Self.badRequest),
        ]
    }

    private static var connects: [HTTP2Case] {
        let connect: Bytes.Field = (":method", "CONNECT")
        func extended(_ name: String, _ fields: [Bytes.Field], _ outcome: Outcome) -> HTTP2Case {
            HTTP2Case(name, Bytes.headers([connect] + fields, Flag.endHeaders), outcome)
        }
        let place: [Bytes.Field] = [(":scheme", "https"), Self.own, (":path", "/chat")]
        return [
            extended("to a host", [(":authority", "origin.test:443")], Self.badRequest),
            extended("with :scheme", [(":scheme", "https"), (":authority", "origin.test:443")], Self.refused),
            extended("with :path", [(":path", "/"), (":authority", "origin.test:443")], Self.refused),
            extended("without :authority", [], Self.refused),
            extended(
                ":protocol that is not known", place + [(":protocol", "connect-udp")], .answer(501, "bad-request")),
            extended(
                ":protocol twice", place + [(":protocol", "websocket"), (":protocol", "websocket")], Self.refused),
            extended(":protocol without :path", [place[0], place[1], (":protocol", "websocket")], Self.refused),
            extended(":protocol without :scheme", [place[1], place[2], (":protocol", "websocket")], Self.refused),
            extended(
                "a WebSocket with content-length", place + [(":protocol", "websocket"), ("content-length", "5")],
                Self.badRequest),
            extended(
                "a WebSocket to another host",
                [place[0], (":authority", "evil.test"), place[2], (":protocol", "websocket")],
                .answer(403, "destination-denied")),
            extended(
                "a WebSocket of http", [(":scheme", "http"), place[1], place[2], (":protocol", "websocket")],
                Self.badRequest),
            extended(
                "a WebSocket with upgrade", place + [(":protocol", "websocket"), ("upgrade", "websocket")], Self.refused
            ),
            extended(
                "a WebSocket that the origin answers with 200", place + [(":protocol", "websocket")],
                .answer(502, "upstream-protocol")
            ).withRequest,
        ]
    }
}
