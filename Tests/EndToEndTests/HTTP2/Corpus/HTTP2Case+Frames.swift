// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Frames one by one (RFC 9113 §5.5, §6).
extension HTTP2Case {
    static let frameGroups = [
        Group(name: "PRIORITY", cases: Self.priorities),
        Group(name: "RST_STREAM", cases: Self.resets),
        Group(name: "PUSH_PROMISE", cases: Self.pushes),
        Group(name: "PING", cases: Self.pings),
        Group(name: "GOAWAY", cases: Self.goAways),
        Group(name: "padding", cases: Self.padding),
        Group(name: "unknown frames and flags", cases: Self.unknown),
    ]

    private static let whole = Bytes.headers(Self.get)
    private static let head = Bytes.block(Self.get)

    private static var priorities: [HTTP2Case] {
        func headers(_ dependency: [UInt8]) -> [UInt8] {
            Bytes.frame(Kind.headers, Flag.whole | Flag.priority, on: 1, dependency + Self.head)
        }
        return [
            HTTP2Case("in HEADERS", headers([0, 0, 0, 3, 200]), Self.sent()),
            HTTP2Case("exclusive", headers([0x80, 0, 0, 0, 200]), Self.sent()),
            HTTP2Case("on itself in HEADERS", headers([0, 0, 0, 1, 200]), .goAway(.protocolError)).withRequest,
            HTTP2Case("on itself", Bytes.frame(Kind.priority, on: 1, [0, 0, 0, 1, 200]), .goAway(.protocolError)),
            HTTP2Case("4 bytes", Bytes.frame(Kind.priority, on: 1, [0, 0, 0, 3]), .goAway(.frameSizeError)),
            HTTP2Case("6 bytes", Bytes.frame(Kind.priority, on: 1, [0, 0, 0, 3, 0, 0]), .goAway(.frameSizeError)),
            HTTP2Case(
                "on the connection", Bytes.frame(Kind.priority, on: 0, [0, 0, 0, 3, 0]), .goAway(.protocolError)),
            HTTP2Case(
                "HEADERS too short for it", Bytes.frame(Kind.headers, Flag.whole | Flag.priority, on: 1, [0, 0]),
                .goAway(.protocolError)),
        ]
    }

    private static var resets: [HTTP2Case] {
        [
            HTTP2Case("of a request under way", Self.post() + Bytes.reset(), .silence).withRequest,
            HTTP2Case("for a reason that is not known", Self.post() + Bytes.reset(0xFFFF), .silence).withRequest,
            HTTP2Case("3 bytes", Self.post() + Bytes.frame(Kind.reset, on: 1, [0, 0, 0]), .goAway(.frameSizeError))
                .withRequest,
            HTTP2Case(
                "5 bytes", Self.post() + Bytes.frame(Kind.reset, on: 1, [0, 0, 0, 0, 8]), .goAway(.frameSizeError)
            ).withRequest,
            HTTP2Case("of the connection", Bytes.reset(on: 0), .goAway(.protocolError)),
        ]
    }

    private static var pushes: [HTTP2Case] {
        [
            HTTP2Case(
                "on a stream",
                Self.post() + Bytes.frame(Kind.pushPromise, Flag.endHeaders, on: 1, [0, 0, 0, 2] + Self.head),
                .goAway(.protocolError)
            ).withRequest,
            HTTP2Case(
                "on an idle stream", Bytes.frame(Kind.pushPromise, Flag.endHeaders, on: 1, [0, 0, 0, 2] + Self.head),
                .goAway(.protocolError)),
            HTTP2Case(
                "on the connection", Bytes.frame(Kind.pushPromise, Flag.endHeaders, on: 0, [0, 0, 0, 2] + Self.head),
                .goAway(.protocolError)),
        ]
    }

    private static var pings: [HTTP2Case] {
        [
            HTTP2Case("in order", Bytes.frame(Kind.ping, on: 0, Array(1...8)), .pong),
            HTTP2Case("with unknown flags", Bytes.frame(Kind.ping, 0xFE, on: 0, Array(1...8)), .pong),
            HTTP2Case(
                "an answer that nobody awaits", Bytes.frame(Kind.ping, Flag.acknowledgement, on: 0, Array(1...8)),
                .silence),
            HTTP2Case("7 bytes", Bytes.frame(Kind.ping, on: 0, Array(1...7)), .goAway(.frameSizeError)),
            HTTP2Case("9 bytes", Bytes.frame(Kind.ping, on: 0, Array(1...9)), .goAway(.frameSizeError)),
            HTTP2Case("on a stream", Bytes.frame(Kind.ping, on: 1, Array(1...8)), .goAway(.protocolError)),
        ]
    }

    private static var goAways: [HTTP2Case] {
        let none = [UInt8](repeating: 0, count: 8)
        return [
            HTTP2Case("before a request", Bytes.frame(Kind.goAway, on: 0, none) + Self.whole, Self.sent()),
            HTTP2Case("behind a request", Self.whole + Bytes.frame(Kind.goAway, on: 0, none), Self.sent()),
            HTTP2Case(
                "with words", Bytes.frame(Kind.goAway, on: 0, none + Array("bye".utf8)) + Self.whole, Self.sent()),
            HTTP2Case(
                "for a reason that is not known",
                Bytes.frame(Kind.goAway, on: 0, [0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) + Self.whole, Self.sent()),
            HTTP2Case("7 bytes", Bytes.frame(Kind.goAway, on: 0, Array(none.dropLast())), .goAway(.frameSizeError)),
            HTTP2Case("on a stream", Bytes.frame(Kind.goAway, on: 1, none), .goAway(.protocolError)),
        ]
    }

    private static var padding: [HTTP2Case] {
        let body = Array("hello".utf8)
        func data(_ payload: [UInt8]) -> [UInt8] {
            Self.post() + Bytes.frame(Kind.data, Flag.endStream | Flag.padded, on: 1, payload)
        }
        func headers(_ payload: [UInt8]) -> [UInt8] {
            Bytes.frame(Kind.headers, Flag.whole | Flag.padded, on: 1, payload)
        }
        return [
            HTTP2Case("of DATA", data([3] + body + [0, 0, 0]), Self.chunked("hello")),
            HTTP2Case("of DATA that is no zeros", data([3] + body + [1, 2, 3]), Self.chunked("hello")),
            HTTP2Case("of DATA with nothing else", data([4, 0, 0, 0, 0]), Self.chunked("")),
            HTTP2Case("of DATA, 0 bytes", data([0] + body), Self.chunked("hello")),
            HTTP2Case("of DATA, too long by one", data([6] + body), .goAway(.protocolError)).withRequest,
            HTTP2Case("of DATA, as long as the frame", data([5, 0, 0, 0, 0]), .goAway(.protocolError)).withRequest,
            HTTP2Case("of DATA, without a length", data([]), .goAway(.protocolError)).withRequest,
            HTTP2Case("of HEADERS", headers([4] + Self.head + [0, 0, 0, 0]), Self.sent()),
            HTTP2Case("of HEADERS, too long", headers([255] + Self.head), .goAway(.protocolError)),
            HTTP2Case("of HEADERS, without a length", headers([]), .goAway(.protocolError)),
            HTTP2Case(
                "that counts against a length",
                Self.post([("content-length", "5")])
                    + Bytes.frame(Kind.data, Flag.endStream | Flag.padded, on: 1, [2] + body + [0, 0]),
                Self.sent("POST /", framing: "Content-Length: 5\r\n", body: "hello")),
        ]
    }

    private static var unknown: [HTTP2Case] {
        [
            HTTP2Case("a frame on the connection", Bytes.frame(0x42, 0xFF, on: 0, Self.head) + Self.whole, Self.sent()),
            HTTP2Case("a frame on an idle stream", Bytes.frame(0x42, 0xFF, on: 1, Self.head) + Self.whole, Self.sent()),
            HTTP2Case(
                "a frame on an open stream", Self.post() + Bytes.frame(0x42, on: 1) + Bytes.data("hello"),
                Self.chunked("hello")),
            HTTP2Case(
                "PRIORITY_UPDATE", Bytes.frame(0x10, on: 0, [0, 0, 0, 1] + Array("u=1".utf8)) + Self.whole, Self.sent()),
            HTTP2Case("ALTSVC", Bytes.frame(0x0A, on: 0, [0, 1, 0x61, 0x62]) + Self.whole, Self.sent()),
            HTTP2Case("ORIGIN", Bytes.frame(0x0C, on: 0, [0, 1, 0x61]) + Self.whole, Self.sent()),
            HTTP2Case("flags of HEADERS", Bytes.headers(Self.get, Flag.whole | 0xD2), Self.sent()),
            HTTP2Case(
                "flags of DATA", Self.post() + Bytes.frame(Kind.data, 0xF7, on: 1, Array("hello".utf8)),
                Self.chunked("hello")),
        ]
    }
}
