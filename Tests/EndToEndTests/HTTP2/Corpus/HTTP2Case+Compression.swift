// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Header sections in bytes (RFC 7541, RFC 9113 §4.3, §6.10).
extension HTTP2Case {
    static let compressionGroups = [
        Group(name: "HPACK", cases: Self.indices + Self.tables + Self.strings),
        Group(name: "CONTINUATION", cases: Self.continuations),
    ]

    private static let head = Bytes.block(Self.get)

    private static func section(_ name: String, _ bytes: [UInt8], _ outcome: Outcome) -> HTTP2Case {
        HTTP2Case(name, Bytes.frame(Kind.headers, Flag.whole, on: 1, bytes), outcome)
    }

    private static var indices: [HTTP2Case] {
        [
            Self.section(
                "fields of the static table", [0x82, 0x87, 0x84] + Bytes.literal(":authority", "origin.test"),
                Self.sent()),
            Self.section("index 0", Self.head + [0x80], .goAway(.compressionError)),
            Self.section("an index behind the tables", Self.head + [0xBE], .goAway(.compressionError)),
            Self.section("a name's index behind the tables", Self.head + [0x7E, 1, 0x61], .goAway(.compressionError)),
            Self.section("an index that is cut off", Self.head + [0xFF], .goAway(.compressionError)),
            Self.section(
                "an index that never ends", Self.head + [0xFF] + [UInt8](repeating: 0xFF, count: 10),
                .goAway(.compressionError)),
            Self.section(
                "an index of 63 bits", Self.head + [0xFF] + [UInt8](repeating: 0x80, count: 8) + [0x7F],
                .goAway(.compressionError)),
            Self.section(
                "a name that is never indexed", Self.head + Bytes.literal("x", "y", 0x10),
                Self.sent("GET /", "x: y\r\n")),
        ]
    }

    private static var tables: [HTTP2Case] {
        let long = String(repeating: "v", count: 3900)
        let entry = Self.head + Bytes.literal("x", "indexed", 0x40)
        return [
            Self.section("the table is emptied first", [0x20] + Self.head, Self.sent()),
            Self.section("its size is changed twice", [0x20, 0x3F, 0xE1, 0x1F] + Self.head, Self.sent()),
            Self.section(
                "its size is changed three times", [0x20, 0x20, 0x20] + Self.head, .goAway(.compressionError)),
            Self.section("its size over what is allowed", [0x3F, 0xE2, 0x1F] + Self.head, .goAway(.compressionError)),
            Self.section("its size behind a field", Self.head + [0x20], .goAway(.compressionError)),
            HTTP2Case(
                "an entry that a later request uses", Bytes.frame(Kind.headers, Flag.whole, on: 1, entry),
                Self.sent("GET /", "x: indexed\r\n")
            ).with {
                $0.after = Bytes.frame(Kind.headers, Flag.whole, on: 3, Self.head + [0xBE])
                $0.laterStream = 3
            },
            HTTP2Case(
                "an entry that was emptied out", Bytes.frame(Kind.headers, Flag.whole, on: 1, entry),
                .goAway(.compressionError)
            ).with {
                $0.after = Bytes.frame(Kind.headers, Flag.whole, on: 3, [0x20] + Self.head + [0xBE])
                $0.hasRequest = true
            },
            Self.section(
                "a long entry that is referred to a hundred times",
                Self.head + Bytes.literal("x", long, 0x40) + [UInt8](repeating: 0xBE, count: 100),
                .goAway(.compressionError)),
        ]
    }

    private static var strings: [HTTP2Case] {
        func value(_ name: String, _ bytes: [UInt8], _ outcome: Outcome) -> HTTP2Case {
            Self.section(name, Self.head + [0, 1, UInt8(ascii: "x")] + bytes, outcome)
        }
        return [
            value("a value in Huffman's code", [0x81, 0x1F], Self.sent("GET /", "x: a\r\n")),
            value("Huffman's code padded by zeros", [0x81, 0x18], .goAway(.compressionError)),
            value("Huffman's code padded by a byte", [0x82, 0x1F, 0xFF], .goAway(.compressionError)),
            value("Huffman's code with its end in it", [0x84, 0xFF, 0xFF, 0xFF, 0xFF], .goAway(.compressionError)),
            value("a value longer than the section", [0x05, 0x61], .goAway(.compressionError)),
            value("a value without a length", [], .goAway(.compressionError)),
            value("a length that is cut off", [0x7F, 0x80], .goAway(.compressionError)),
            value("a length that never ends", [0x7F] + [UInt8](repeating: 0xFF, count: 12), .goAway(.compressionError)),
            Self.section("a name longer than the section", Self.head + [0, 9, 0x61], .goAway(.compressionError)),
            Self.section("an empty name", Self.head + [0, 0, 1, 0x61], .goAway(.compressionError)),
            Self.section("an empty section", [], .reset(.protocolError)),
        ]
    }

    private static var continuations: [HTTP2Case] {
        let open = Bytes.frame(Kind.headers, Flag.endStream, on: 1, Self.head)
        func more(_ flags: UInt8 = Flag.endHeaders, _ bytes: [UInt8] = [], on stream: Int = 1) -> [UInt8] {
            Bytes.frame(Kind.continuation, flags, on: stream, bytes)
        }
        let pieces = Bytes.frame(Kind.headers, Flag.endStream, on: 1, Array(Self.head.prefix(5)))
        return [
            HTTP2Case("one", open + more(Flag.endHeaders, Bytes.literal("x", "y")), Self.sent("GET /", "x: y\r\n")),
            HTTP2Case("a field in two", pieces + more(Flag.endHeaders, Array(Self.head.dropFirst(5))), Self.sent()),
            HTTP2Case("three, two of them empty", open + more(0) + more(0) + more(), Self.sent()),
            HTTP2Case("of another stream", open + more(on: 3), .goAway(.protocolError)),
            HTTP2Case(
                "PING in between", open + Bytes.frame(Kind.ping, on: 0, Array(1...8)) + more(), .goAway(.protocolError)),
            HTTP2Case("DATA in between", open + Bytes.data("a") + more(), .goAway(.protocolError)),
            HTTP2Case("HEADERS in between", open + Bytes.headers(Self.get, on: 3) + more(), .goAway(.protocolError)),
            HTTP2Case("SETTINGS in between", open + Bytes.settings([]) + more(), .goAway(.protocolError)),
            HTTP2Case("RST_STREAM in between", open + Bytes.reset() + more(), .goAway(.protocolError)),
            HTTP2Case(
                "a frame of unknown kind in between", open + Bytes.frame(0x42, on: 1) + more(), .goAway(.protocolError)),
            HTTP2Case("behind the end", Bytes.headers(Self.get) + more(), .goAway(.protocolError)).withRequest,
            HTTP2Case("behind DATA", Self.post() + Bytes.data("a", isLast: false) + more(), .goAway(.protocolError))
                .withRequest,
            HTTP2Case(
                "more than sixty-four", open + [UInt8]((0..<80).flatMap { _ in more(0) }), .goAway(.enhanceYourCalm)),
        ]
    }
}
