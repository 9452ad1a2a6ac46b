// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Cases about the connection as a whole (RFC 9113 §3.4, §4, §6.5).
extension HTTP2Case {
    static let connectionGroups = [
        Group(name: "connection preface", cases: Self.prefaces),
        Group(name: "frame sizes", cases: Self.sizes),
        Group(name: "SETTINGS", cases: Self.settings + Self.settingsValues),
    ]

    private static let whole = Bytes.headers(Self.get)

    private static var prefaces: [HTTP2Case] {
        let none = Bytes.settings([])
        var wrong = Bytes.magic
        wrong[20] = UInt8(ascii: "X")
        return [
            HTTP2Case("in order", Bytes.magic + none + Self.whole, Self.sent()),
            HTTP2Case("byte by byte", Bytes.magic + none + Self.whole, Self.sent()).with { $0.isTrickled = true },
            HTTP2Case(
                "a request of HTTP/1.1", Array("GET / HTTP/1.1\r\nHost: origin.test\r\n\r\n".utf8),
                .goAway(.protocolError)),
            HTTP2Case("one byte is wrong", wrong + none + Self.whole, .goAway(.protocolError)),
            HTTP2Case("no SETTINGS before HEADERS", Bytes.magic + Self.whole, .goAway(.protocolError)),
            HTTP2Case(
                "no SETTINGS before PING", Bytes.magic + Bytes.frame(Kind.ping, on: 0, Array(1...8)),
                .goAway(.protocolError)),
            HTTP2Case(
                "an acknowledgement in place of SETTINGS", Bytes.magic + Bytes.settingsAcknowledgement,
                .goAway(.protocolError)),
            HTTP2Case("the end within it", Array(Bytes.magic.prefix(10)), .closed).with { $0.isCutOff = true },
        ].map { $0.with { $0.isRaw = true } }
    }

    private static var sizes: [HTTP2Case] {
        let most = 16_384
        let text = String(repeating: "a", count: most)
        return [
            HTTP2Case(
                "DATA of 16,384 bytes", Self.post([("content-length", "16384")]) + Bytes.data(text),
                Self.sent("POST /", framing: "Content-Length: 16384\r\n", body: text)),
            HTTP2Case("DATA of 0 bytes at the end", Self.post() + Bytes.data(""), Self.chunked("")),
            HTTP2Case("DATA of 16,385 bytes", Self.post() + Bytes.data(text + "a"), .goAway(.frameSizeError))
                .withRequest,
            HTTP2Case(
                "HEADERS of 16,385 bytes", Bytes.frame(Kind.headers, Flag.whole, on: 1, [], length: most + 1),
                .goAway(.frameSizeError)),
            HTTP2Case(
                "SETTINGS of 16,386 bytes", Bytes.frame(Kind.settings, on: 0, [], length: most + 2),
                .goAway(.frameSizeError)),
            HTTP2Case(
                "a frame of unknown kind with 16,385 bytes", Bytes.frame(0x42, on: 0, [], length: most + 1),
                .goAway(.frameSizeError)),
            HTTP2Case(
                "a frame of unknown kind with 16,384 bytes",
                Bytes.frame(0x42, on: 0, Array(text.utf8)) + Self.whole, Self.sent()),
        ]
    }

    private static var settings: [HTTP2Case] {
        [
            HTTP2Case("none", Bytes.settings([]) + Self.whole, Self.sent()),
            HTTP2Case("an acknowledgement that nobody awaits", Bytes.settingsAcknowledgement, .goAway(.protocolError)),
            HTTP2Case(
                "an acknowledgement with content",
                Bytes.frame(Kind.settings, Flag.acknowledgement, on: 0, [0, 2, 0, 0, 0, 0]), .goAway(.frameSizeError)),
            HTTP2Case("5 bytes", Bytes.frame(Kind.settings, on: 0, [0, 2, 0, 0, 0]), .goAway(.frameSizeError)),
            HTTP2Case("7 bytes", Bytes.frame(Kind.settings, on: 0, [0, 2, 0, 0, 0, 0, 0]), .goAway(.frameSizeError)),
            HTTP2Case("on a stream", Bytes.settings([(2, 0)], on: 1), .goAway(.protocolError)),
            HTTP2Case("unknown flags", Bytes.frame(Kind.settings, 0xFE, on: 0) + Self.whole, Self.sent()),
            HTTP2Case("of unknown number", Bytes.settings([(0xFF00, 7)]) + Self.whole, Self.sent()),
            HTTP2Case("one twice", Bytes.settings([(3, 1), (3, 200)]) + Self.whole, Self.sent()),
        ]
    }

    private static var settingsValues: [HTTP2Case] {
        [
            HTTP2Case("HEADER_TABLE_SIZE 0", Bytes.settings([(1, 0)]) + Self.whole, Self.sent()),
            HTTP2Case("HEADER_TABLE_SIZE 4,294,967,295", Bytes.settings([(1, 0xFFFF_FFFF)]) + Self.whole, Self.sent()),
            HTTP2Case("ENABLE_PUSH 0", Bytes.settings([(2, 0)]) + Self.whole, Self.sent()),
            HTTP2Case("ENABLE_PUSH 1", Bytes.settings([(2, 1)]) + Self.whole, Self.sent()),
            HTTP2Case("ENABLE_PUSH 2", Bytes.settings([(2, 2)]), .goAway(.protocolError)),
            HTTP2Case("MAX_CONCURRENT_STREAMS 0", Bytes.settings([(3, 0)]) + Self.whole, Self.sent()),
            HTTP2Case(
                "INITIAL_WINDOW_SIZE 2,147,483,647", Bytes.settings([(4, 0x7FFF_FFFF)]) + Self.whole, Self.sent()),
            HTTP2Case(
                "INITIAL_WINDOW_SIZE 2,147,483,648", Bytes.settings([(4, 0x8000_0000)]), .goAway(.flowControlError)),
            HTTP2Case(
                "INITIAL_WINDOW_SIZE that takes a window over the most",
                Self.post() + Bytes.windowUpdate(0x7FFF_FFFF - 65_535) + Bytes.settings([(4, 65_536)]),
                .goAway(.flowControlError)),
            HTTP2Case("MAX_FRAME_SIZE 16,383", Bytes.settings([(5, 16_383)]), .goAway(.protocolError)),
            HTTP2Case("MAX_FRAME_SIZE 16,777,215", Bytes.settings([(5, 16_777_215)]) + Self.whole, Self.sent()),
            HTTP2Case("MAX_FRAME_SIZE 16,777,216", Bytes.settings([(5, 16_777_216)]), .goAway(.protocolError)),
            HTTP2Case("MAX_HEADER_LIST_SIZE 1", Bytes.settings([(6, 1)]) + Self.whole, Self.sent()),
            HTTP2Case("ENABLE_CONNECT_PROTOCOL 1", Bytes.settings([(8, 1)]) + Self.whole, Self.sent()),
            HTTP2Case("ENABLE_CONNECT_PROTOCOL 2", Bytes.settings([(8, 2)]), .goAway(.protocolError)),
        ]
    }
}
