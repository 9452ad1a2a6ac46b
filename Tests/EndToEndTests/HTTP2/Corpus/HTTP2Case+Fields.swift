// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Fields, and their form in HTTP/1.1 (RFC 9113 §8.2, RFC 9110 §5).
extension HTTP2Case {
    static let fieldGroups = [
        Group(name: "field names", cases: Self.names),
        Group(name: "field values", cases: Self.values),
        Group(name: "connection-specific fields", cases: Self.hops),
        Group(name: "size of the header section", cases: Self.limits),
        Group(name: "content-length", cases: Self.lengths),
        Group(name: "trailers", cases: Self.trailers),
    ]

    /// A GET with one more field, in bytes.
    private static func field(_ name: String, _ field: [UInt8], _ value: [UInt8], _ outcome: Outcome) -> HTTP2Case {
        HTTP2Case(
            name,
            Bytes.frame(Kind.headers, Flag.whole, on: 1, Bytes.block(Self.get) + Bytes.literal(field, value)), outcome)
    }

    private static func field(_ name: String, _ field: String, _ value: String, _ outcome: Outcome) -> HTTP2Case {
        Self.field(name, Array(field.utf8), Array(value.utf8), outcome)
    }

    private static var names: [HTTP2Case] {
        let refused = Outcome.reset(.protocolError)
        return [
            Self.field(
                "of all that a token may have", "!#$%&'*+-.^_`|~09az", "v",
                Self.sent("GET /", "!#$%&'*+-.^_`|~09az: v\r\n")),
            Self.field("upper case", "Upper", "v", refused),
            Self.field("a space", "a b", "v", refused),
            Self.field("a space at the end", "a ", "v", refused),
            Self.field("a tab", "a\tb", "v", refused),
            Self.field("a colon", "a:b", "v", refused),
            Self.field("a colon at the end", "a:", "v", refused),
            Self.field("CR and LF", "a\r\nb", "v", refused),
            Self.field("LF", "a\nb", "v", refused),
            Self.field("NUL", "a\0b", "v", refused),
            Self.field("DEL", "a\u{7F}b", "v", refused),
            Self.field("a slash", "a/b", "v", refused),
            Self.field("quotes", "a\"b", "v", refused),
            Self.field("UTF-8", "é", "v", refused),
            Self.field("no UTF-8", [0x61, 0xE9], [0x76], refused),
        ]
    }

    private static var values: [HTTP2Case] {
        let refused = Outcome.reset(.protocolError)
        return [
            Self.field("empty", "x", "", Self.sent("GET /", "x: \r\n")),
            Self.field("blanks inside", "x", "a  b\tc", Self.sent("GET /", "x: a  b\tc\r\n")),
            Self.field("what looks like another line", "x", "a: b", Self.sent("GET /", "x: a: b\r\n")),
            Self.field("UTF-8", "x", "é", Self.sent("GET /", "x: é\r\n")),
            Self.field("CR and LF", "x", "a\r\nb: c", refused),
            Self.field("CR", "x", "a\rb", refused),
            Self.field("LF", "x", "a\nb", refused),
            Self.field("LF at the end", "x", "a\n", refused),
            Self.field("NUL", "x", "a\0b", refused),
            Self.field("another control character", "x", "a\u{1}b", Self.badRequest),
            Self.field("DEL", "x", "a\u{7F}b", Self.badRequest),
            Self.field("a blank first", "x", " a", Self.badRequest),
            Self.field("a blank last", "x", "a ", Self.badRequest),
            Self.field("a tab first", "x", "\ta", Self.badRequest),
            Self.field("a tab last", "x", "a\t", Self.badRequest),
            Self.field("a blank and nothing else", "x", " ", Self.badRequest),
            // Byte for byte; here they are compared as text.
            Self.field("no UTF-8", Array("x".utf8), [0x61, 0xE9], Self.sent("GET /", "x: a\u{FFFD}\r\n")),
            Self.field("what replaces bytes", "x", "\u{FFFD}", Self.sent("GET /", "x: \u{FFFD}\r\n")),
            HTTP2Case(
                "one name twice", Self.get([("x", "1"), ("y", "2"), ("x", "3")]),
                Self.sent("GET /", "x: 1\r\ny: 2\r\nx: 3\r\n")),
            HTTP2Case(
                "crumbs of a cookie", Self.get([("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]),
                Self.sent("GET /", "x: y\r\ncookie: a=1; b=2\r\n")),
        ]
    }

    private static var hops: [HTTP2Case] {
        let refused = Outcome.reset(.protocolError)
        return [
            Self.field("connection", "connection", "close", refused),
            Self.field("keep-alive", "keep-alive", "timeout=5", refused),
            Self.field("proxy-connection", "proxy-connection", "keep-alive", refused),
            Self.field("upgrade", "upgrade", "websocket", refused),
            Self.field("transfer-encoding", "transfer-encoding", "chunked", refused),
            Self.field("transfer-encoding of upper case", "Transfer-Encoding", "chunked", refused),
            Self.field("te: trailers", "te", "trailers", Self.sent()),
            Self.field("te: gzip", "te", "gzip", refused),
            Self.field("te: trailers, deflate", "te", "trailers, deflate", refused),
            Self.field("te: Trailers", "te", "Trailers", refused),
            Self.field("proxy-authorization", "proxy-authorization", "Basic eA==", Self.sent()),
            Self.field("proxy", "proxy", "http://evil.test", Self.sent()),
            Self.field("expect", "expect", "100-continue", Self.sent("GET /", "expect: 100-continue\r\n")),
            Self.field(
                "http2-settings", "http2-settings", "AAMAAABk", Self.sent("GET /", "http2-settings: AAMAAABk\r\n")),
            Self.field("a forwarded request that came from here", "via", "2 pintle", .answer(508, "loop-detected")),
        ]
    }

    private static var limits: [HTTP2Case] {
        let many = (0..<300).map { (name: "x-\($0)", value: "y") }
        let line = Bytes.block(Self.get) + Bytes.literal("x", String(repeating: "v", count: 16_390))
        let cut = line.prefix(16_000)
        return [
            HTTP2Case("300 fields", Self.get(many), .answer(431, "header-too-large")),
            HTTP2Case(
                "a line of 16 KiB",
                Bytes.frame(Kind.headers, Flag.endStream, on: 1, Array(cut))
                    + Bytes.frame(Kind.continuation, Flag.endHeaders, on: 1, Array(line.dropFirst(16_000))),
                .answer(431, "header-too-large")),
            HTTP2Case(
                "a section of 70,000 bytes",
                Bytes.frame(Kind.headers, Flag.endStream, on: 1, Bytes.block(Self.get))
                    + (0..<5).flatMap { index in
                        Bytes.frame(
                            Kind.continuation, index == 4 ? Flag.endHeaders : 0, on: 1,
                            Bytes.literal("x", String(repeating: "v", count: 14_000)))
                    }, .answer(431, "header-too-large")),
            HTTP2Case(
                "a section of 224,000 bytes",
                Bytes.frame(Kind.headers, Flag.endStream, on: 1, Bytes.block(Self.get))
                    + (0..<16).flatMap { _ in
                        Bytes.frame(
                            Kind.continuation, 0, on: 1, Bytes.literal("x", String(repeating: "v", count: 14_000)))
                    }, .goAway(.protocolError)),
            HTTP2Case(
                ":path of 16 KiB",
                HTTP2Bytes.frame(
                    Kind.headers, Flag.endStream, on: 1,
                    Array(Bytes.block(Self.request("GET", "/" + String(repeating: "p", count: 16_390))).prefix(16_000)))
                    + Bytes.frame(
                        Kind.continuation, Flag.endHeaders, on: 1,
                        Array(
                            Bytes.block(Self.request("GET", "/" + String(repeating: "p", count: 16_390))).dropFirst(
                                16_000))),
                .answer(431, "header-too-large")),
        ]
    }

    private static var lengths: [HTTP2Case] {
        let refused = Outcome.reset(.protocolError)
        let whole = Self.sent("POST /", framing: "Content-Length: 5\r\n", body: "hello")
        func post(_ name: String, _ lengths: [String], _ body: String, _ outcome: Outcome) -> HTTP2Case {
            HTTP2Case(name, Self.post(lengths.map { ("content-length", $0) }) + Bytes.data(body), outcome)
        }
        return [
            post("right", ["5"], "hello", whole),
            post("none", [], "hello", Self.chunked("hello")),
            post("two that agree", ["5", "5"], "hello", whole),
            post("two that differ", ["5", "6"], "hello", Self.badRequest),
            post("too long", ["6"], "hello", refused),
            post("too short", ["4"], "hello", refused),
            post("a sign", ["+5"], "hello", Self.badRequest),
            post("negative", ["-5"], "hello", Self.badRequest),
            post("a list", ["5, 5"], "hello", Self.badRequest),
            post("hexadecimal", ["0x5"], "hello", Self.badRequest),
            post("no number", ["five"], "hello", Self.badRequest),
            post("empty", [""], "hello", Self.badRequest),
            post("of 20 digits", ["99999999999999999999"], "hello", Self.badRequest),
            post("leading zeros", ["00005"], "hello", whole),
            post("a point", ["5.0"], "hello", Self.badRequest),
            HTTP2Case("5 at the end of a request", Self.get([("content-length", "5")]), Self.badRequest),
            HTTP2Case(
                "0 at the end of a request", Self.get([("content-length", "0")]),
                Self.sent("GET /", framing: "Content-Length: 0\r\n")),
            HTTP2Case(
                "too long, with trailers",
                Self.post([("content-length", "6")]) + Bytes.data("hello", isLast: false)
                    + Bytes.headers([("x", "y")]), refused),
            HTTP2Case(
                "content in two frames",
                Self.post([("content-length", "5")]) + Bytes.data("he", isLast: false) + Bytes.data("llo"), whole),
        ]
    }

    private static var trailers: [HTTP2Case] {
        let refused = Outcome.reset(.protocolError)
        func post(_ name: String, _ fields: [Bytes.Field], _ outcome: Outcome, _ flags: UInt8 = Flag.whole) -> HTTP2Case
        {
            HTTP2Case(name, Self.post() + Bytes.data("hello", isLast: false) + Bytes.headers(fields, flags), outcome)
        }
        return [
            post("in order", [("x-sum", "1"), ("y", "2")], Self.chunked("hello", trailers: "x-sum: 1\r\ny: 2\r\n")),
            post("without an end", [("x", "y")], refused, Flag.endHeaders),
            post("a pseudo field", [(":path", "/")], refused),
            post("a pseudo field of answers", [(":status", "200")], refused),
            post("upper case", [("Upper", "v")], refused),
            post("CR and LF", [("x", "a\r\nb: c")], refused),
            post("a control character", [("x", "a\u{1}b")], refused),
            post("a blank last", [("x", "a ")], refused),
            post("transfer-encoding", [("transfer-encoding", "chunked")], refused),
            post("connection", [("connection", "close")], refused),
            post("content-length", [("content-length", "5")], Self.chunked("hello")),
            post("host", [("host", "evil.test"), ("x", "y")], Self.chunked("hello", trailers: "x: y\r\n")),
            post("authorization", [("authorization", "Basic eA==")], Self.chunked("hello")),
            post("none at all", [], Self.chunked("hello")),
            HTTP2Case(
                "with nothing before them", Self.post() + Bytes.headers([("x", "y")]),
                Self.chunked("", trailers: "x: y\r\n")),
            HTTP2Case(
                "twice", Self.post() + Bytes.headers([("x", "y")]) + Bytes.headers([("x", "z")]), refused
            ).withRequest,
        ]
    }
}
