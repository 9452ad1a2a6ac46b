// SPDX-License-Identifier: Apache-2.0

import PintleTesting

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Cases about frames in each state of their stream (RFC 9113 §5.1, §5.2).
extension HTTP2Case {
    static let streamGroups = [
        Group(name: "idle streams", cases: Self.idle),
        Group(name: "half-closed streams", cases: Self.halfClosed),
        Group(name: "closed streams", cases: Self.closed),
        Group(name: "stream numbers", cases: Self.numbers),
        Group(name: "flow control", cases: Self.windows),
    ]

    private static let whole = Bytes.headers(Self.get)
    private static let priority = Bytes.frame(Kind.priority, on: 1, [0, 0, 0, 0, 15])
    private static let continuation = Bytes.frame(Kind.continuation, Flag.endHeaders, on: 1, Bytes.literal("a", "b"))

    private static var idle: [HTTP2Case] {
        [
            HTTP2Case("DATA", Bytes.data("a"), .goAway(.protocolError)),
            HTTP2Case("RST_STREAM", Bytes.reset(), .goAway(.protocolError)),
            HTTP2Case("WINDOW_UPDATE", Bytes.windowUpdate(1), .goAway(.protocolError)),
            HTTP2Case("CONTINUATION", Self.continuation, .goAway(.protocolError)),
            HTTP2Case("PRIORITY", Self.priority, .silence),
            HTTP2Case("PRIORITY before the request", Self.priority + Self.whole, Self.sent()),
        ]
    }

    private static var halfClosed: [HTTP2Case] {
        [
            HTTP2Case("DATA", Self.whole + Bytes.data("a"), .reset(.streamClosed)).withRequest,
            HTTP2Case("HEADERS", Self.whole + Self.whole, .reset(.protocolError)).withRequest,
            HTTP2Case("CONTINUATION", Self.whole + Self.continuation, .goAway(.protocolError)).withRequest,
            HTTP2Case("WINDOW_UPDATE", Self.whole + Bytes.windowUpdate(1), Self.sent()),
            HTTP2Case("PRIORITY", Self.whole + Self.priority, Self.sent()),
            HTTP2Case("RST_STREAM", Self.whole + Bytes.reset(), .silence).withRequest,
        ]
    }

    private static var closed: [HTTP2Case] {
        let answered = [
            HTTP2Case("DATA behind the answer", Bytes.data("a"), .goAway(.streamClosed)),
            HTTP2Case("HEADERS behind the answer", Self.whole, .goAway(.protocolError)),
            HTTP2Case("CONTINUATION behind the answer", Self.continuation, .goAway(.protocolError)),
            HTTP2Case("WINDOW_UPDATE behind the answer", Bytes.windowUpdate(1), .silence),
            HTTP2Case("PRIORITY behind the answer", Self.priority, .silence),
            HTTP2Case("RST_STREAM behind the answer", Bytes.reset(), .silence),
        ].map { one in HTTP2Case(one.name, Self.whole, one.outcome).with { $0.after = one.input } }
        let broken = Self.post() + Bytes.reset()
        let refused = Bytes.headers(Self.request("POST", "/", [("Upper", "1")]), Flag.endHeaders)
        return answered + [
            HTTP2Case("DATA behind the client's RST_STREAM", broken + Bytes.data("a"), .goAway(.streamClosed))
                .withRequest,
            HTTP2Case("HEADERS behind the client's RST_STREAM", broken + Self.whole, .goAway(.protocolError))
                .withRequest,
            HTTP2Case("WINDOW_UPDATE behind the client's RST_STREAM", broken + Bytes.windowUpdate(1), .silence)
                .withRequest,
            HTTP2Case("RST_STREAM behind the client's RST_STREAM", broken + Bytes.reset(), .silence).withRequest,
            HTTP2Case("DATA behind Pintle's RST_STREAM", refused + Bytes.data("a"), .reset(.protocolError)),
            HTTP2Case(
                "WINDOW_UPDATE behind Pintle's RST_STREAM", refused + Bytes.windowUpdate(1), .reset(.protocolError)),
            HTTP2Case("RST_STREAM behind Pintle's RST_STREAM", refused + Bytes.reset(), .reset(.protocolError)),
        ]
    }

    private static var numbers: [HTTP2Case] {
        let get = Self.get
        return [
            HTTP2Case("0 of HEADERS", Bytes.headers(get, on: 0), .goAway(.protocolError)),
            HTTP2Case("0 of DATA", Bytes.data("a", on: 0), .goAway(.protocolError)),
            HTTP2Case(
                "0 of CONTINUATION", Bytes.frame(Kind.continuation, Flag.endHeaders, on: 0), .goAway(.protocolError)),
            HTTP2Case("an even one", Bytes.headers(get, on: 2), .goAway(.protocolError)),
            HTTP2Case("a smaller one", Bytes.headers(get, on: 3) + Bytes.headers(get, on: 1), .goAway(.protocolError))
                .withRequest,
            HTTP2Case("a skipped one", Bytes.headers(get, on: 3) + Bytes.data("a", on: 1), .goAway(.streamClosed))
                .withRequest,
            HTTP2Case("some are skipped", Bytes.headers(get, on: 7), Self.sent()).with { $0.stream = 7 },
            HTTP2Case("the reserved bit", Bytes.headers(get, on: 0x8000_0001), Self.sent()),
            HTTP2Case("the last one", Bytes.headers(get, on: 0x7FFF_FFFF), Self.sent())
                .with { ($0.stream, $0.isLast) = (0x7FFF_FFFF, true) },
        ]
    }

    private static var windows: [HTTP2Case] {
        let most = 0x7FFF_FFFF
        return [
            HTTP2Case("WINDOW_UPDATE by 0 of the connection", Bytes.windowUpdate(0, on: 0), .goAway(.protocolError)),
            HTTP2Case("WINDOW_UPDATE by 0 of a stream", Self.post() + Bytes.windowUpdate(0), .reset(.protocolError))
                .withRequest,
            HTTP2Case(
                "WINDOW_UPDATE over the most of the connection", Bytes.windowUpdate(most, on: 0),
                .goAway(.flowControlError)),
            HTTP2Case(
                "WINDOW_UPDATE over the most of a stream", Self.post() + Bytes.windowUpdate(most),
                .reset(.flowControlError)
            ).withRequest,
            HTTP2Case(
                "WINDOW_UPDATE up to the most", Bytes.windowUpdate(most - 65_535, on: 0) + Self.whole, Self.sent()),
            HTTP2Case(
                "WINDOW_UPDATE of 3 bytes", Bytes.frame(Kind.windowUpdate, on: 0, [0, 0, 1]), .goAway(.frameSizeError)),
            HTTP2Case(
                "WINDOW_UPDATE of 5 bytes", Bytes.frame(Kind.windowUpdate, on: 0, [0, 0, 0, 1, 0]),
                .goAway(.frameSizeError)),
            HTTP2Case(
                "the reserved bit of WINDOW_UPDATE", Bytes.windowUpdate(0x8000_0001, on: 0) + Self.whole, Self.sent()),
        ]
    }
}
