// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges between a client and an origin of different speeds.
struct PressureTests {
    static let pressure: [Scenario] = [
        Scenario(
            name: "a client that does not read holds the origin up",
            events: [
                .begin, .head(200, [:], 4), .bytes("a"), .clientFellBehind, .bytes("b"), .clientFellBehind,
                .clientCaughtUp, .clientCaughtUp, .bytes("cd"), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 4 bytes",
                #"client < "a""#,
                "origin paused",
                #"client < "b""#,
                "origin reads on",
                #"client < "cd""#,
                "client < end",
                "record: completed allow 200 up 0 down 4",
            ]),
        Scenario(
            name: "a body that nobody looks at may come in pipes",
            events: [.begin, .head(200, [:], 1), .bytes("a"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 1 bytes",
                "origin may use pipes",
                #"client < "a""#,
                "client < end",
                "record: completed allow 200 up 0 down 1",
            ], settings: .init(takesPipes: true)),
        Scenario(
            name: "a client that fell behind before the answer still gets it",
            events: [
                .begin, .head(200, [:], 1), .bytes("a"), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 1 bytes",
                #"client < "a""#,
                "origin paused",
                "client < end",
                "record: completed allow 200 up 0 down 1",
            ], settings: .init(isClientSlow: true)),
        Scenario(
            name: "an origin that does not take holds the body up",
            request: ["POST http://a.test/", "Content-Length: 65539"],
            events: [
                .begin, .wants, .bodyOf(65_535), .wants, .bodyOf(1), .wants, .bodyOf(3), .endOfBody(), .held,
                .originTook,
                .turn, .held, .originTook, .turn, .held, .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with 65539 bytes to come",
                "wants body, end",
                "origin < 65535 bytes",
                "wants body, end",
                #"origin < "x""#,
                "wants no body, end",
                "held: 65536",
                #"origin < "xxx""#,
                "origin < end of body",
                "held: 0",
                "held: 0",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 65539 down 0",
            ], settings: .init(isOriginSlow: true)),
        Scenario(
            name: "the end of a body takes no room", request: ["POST http://a.test/", "Content-Length: 65536"],
            events: [.begin, .bodyOf(65_536), .wants, .endOfBody(), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < POST http://a.test/ with 65536 bytes to come",
                "origin < 65536 bytes",
                "wants no body, end",
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 65536 down 0",
            ],
            settings: .init(isOriginSlow: true)),
        Scenario(
            name: "a client that leaves gives back what waits on the way up",
            request: ["POST http://a.test/", "Content-Length: 65539"],
            events: [.begin, .bodyOf(65_536), .held, .clientLeft, .held],
            expected: [
                "origin < POST http://a.test/ with 65539 bytes to come",
                "origin < 65536 bytes",
                "held: 65536",
                "origin cancelled",
                "held: 0",
                "record: left allow up 65536 down 0",
            ], settings: .init(isOriginSlow: true)),
        Scenario(
            name: "an early answer is complete when the last piece of the body leaves",
            request: ["POST http://a.test/", "Content-Length: 5"],
            events: [.begin, .body("he"), .head(200, [:], 0), .originEndsWhenGiven, .body("llo"), .wants],
            expected: [
                "origin < POST http://a.test/ with 5 bytes to come",
                #"origin < "he""#,
                "client < 200, 0 bytes",
                #"origin < "llo""#,
                "client < end",
                "wants body, end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "an early answer is complete when the last chunk leaves",
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            events: [.begin, .body("he"), .head(200, [:], 0), .originEndsWhenGiven, .endOfBody()],
            expected: [
                "origin < POST http://a.test/ with chunks to come",
                #"origin < "he""#,
                "client < 200, 0 bytes",
                "origin < end of body",
                "client < end",
                "record: completed allow 200 up 2 down 0",
            ]),
        Scenario(
            name: "an early answer is complete when a packet of a throttled body leaves",
            policy: "routes: [{name: a, request: {throttle: {packet: 3, delay: 1ms}}}]", request: PassingTests.post,
            events: [
                .begin, .head(200, [:], 0), .originEndsWhenGiven, .body("hello"), .wants,
            ],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                "client < 200, 0 bytes",
                #"origin < "hel""#,
                "client < end",
                "wants body, end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a throttled body goes in packets",
            policy: "routes: [{name: a, request: {throttle: {packet: 3, delay: 1ms}}}]", request: PassingTests.post,
            events: [.begin, .body("hello"), .endOfBody(), .until("origin < end"), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "hel""#,
                #"origin < "lo""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a throttled body waits for the origin too",
            policy: "routes: [{name: a, request: {throttle: {packet: 65536, delay: 1ms}}}]",
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            events: [
                .begin, .bodyOf(65_536), .wants, .originTook, .turn, .bodyOf(3), .endOfBody(["X": "y"]),
                .until("origin < end"), .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with chunks to come",
                "origin < 65536 bytes",
                "wants no body, end",
                #"origin < "xxx""#,
                "origin < end of body {X: y}",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 65539 down 0",
            ], settings: .init(isOriginSlow: true)),
        Scenario(
            name: "a throttled body that nobody wants any more stops",
            policy: "routes: [{name: a, request: {throttle: {packet: 1, delay: 1m}}}]", request: PassingTests.post,
            events: [.begin, .body("hello"), .head(200, [:], 0), .originEnds, .endOfBody()],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "h""#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a whole body that a serializer made goes at the pace of the route",
            policy: "routes: [{name: a, request: {serialize: json, throttle: {packet: 4, delay: 1ms}}}]",
            request: ["POST http://a.test/", "Content-Length: 7", "Content-Type: application/json"],
            events: [
                .begin, .body("{\"a\":1}"), .endOfBody(), .until("origin < end"), .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ {Content-Type: application/json} with 7 bytes to come",
                #"origin < "{"a"""#,
                #"origin < ":1}""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 7 down 0",
            ]),
    ]

    @Test(arguments: Self.pressure)
    func `who is faster waits`(scenario: Scenario) async throws { try await scenario.perform() }
}
