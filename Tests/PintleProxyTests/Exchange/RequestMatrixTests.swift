// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Everything that can come before there is an answer, in every state of an exchange.
struct RequestMatrixTests {
    static let making = State(
        name: "while the request is made elsewhere",
        policy: AdmissionScenarioTests.serialize,
        request: ["POST http://a.test/", "Content-Length: 40000", "Content-Type: application/json"],
        prelude: [.begin, .body("{}" + String(repeating: " ", count: 39_998)), .endOfBody()],
        settings: .init(isPoolBusy: true),
        rows: [
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp, .wants],
                [
                    "wants no body, no end",
                    "record: left allow up 40000 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft, .held, .poolIsFree, .gone],
                [
                    "held: 0",
                    "record: left allow up 40000 down 0",
                ]),
            Row(
                "the client fails", [.clientFails(Problem(.requestTimeout, "too late")), .held, .poolIsFree, .gone],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "held: 0",
                    "record: failed error 408 up 40000 down 0",
                ]),
            Row(
                "the request is made", [.held, .poolIsFree, .until("origin <"), .head(200, [:], 0), .originEnds],
                [
                    "held: 36864",
                    #"origin < POST http://a.test/ {Content-Type: application/json} with "{"b":2}""#,
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 40000 down 0",
                ]),
            Row(
                "the turn ends", [.turn, .wants],
                [
                    "wants no body, no end",
                    "record: left allow up 40000 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [
                    .reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .poolIsFree, .until("origin <"),
                    .head(200, [:], 0), .originEnds,
                ],
                [
                    #"origin < POST http://a.test/ {Content-Type: application/json} with "{"b":2}""#,
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 40000 down 0",
                ]),
        ])

    static let unmakeable = State(
        name: "while a request that cannot be made is tried elsewhere",
        policy: AdmissionScenarioTests.serialize,
        request: ["POST http://a.test/", "Content-Length: 40000", "Content-Type: application/json"],
        prelude: [.begin, .body("{no" + String(repeating: " ", count: 39_997)), .endOfBody()],
        settings: .init(isPoolBusy: true),
        rows: [
            Row(
                "the attempt fails", [.poolIsFree, .until("client < end")],
                [
                    "client < 422",
                    "client < problem unserializable-request: the body is not valid JSON. (line 1, column 2 (byte "
                        + "1): expected a key in quotes or “}”, found “n”)",
                    "client < end",
                    "record: failed error 422 up 40000 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft, .poolIsFree, .gone],
                [
                    "record: left allow up 40000 down 0"
                ]),
        ])

    static let streaming = State(
        name: "while the body streams",
        request: PassingTests.post,
        prelude: [.begin, .body("he")],
        rows: [
            Row(
                "more of the body comes", [.body("llo"), .wants],
                [
                    #"origin < "llo""#,
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow up 5 down 0",
                ]),
            Row(
                "the body ends", [.body("llo"), .endOfBody(), .wants],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow up 5 down 0",
                ]),
            Row(
                "the client falls behind and catches up",
                [.clientFellBehind, .clientFellBehind, .clientCaughtUp, .clientCaughtUp],
                [
                    "origin paused",
                    "origin reads on",
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "origin cancelled",
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 2 down 0",
                ]),
            Row(
                "an interim response comes", [.interim(100), .interim(103, ["Link": "<b>"])],
                [
                    "client < interim 100",
                    "client < interim 103 {Link: <b>}",
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "a head comes", [.head(200, [:], 2), .wants],
                [
                    "client < 200, 2 bytes",
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow 200 up 2 down 0",
                ]),
            Row(
                "the origin takes some", [.originTook, .turn, .wants],
                [
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the origin is too slow", [.originFails(.timeout, "silent")],
                [
                    "client < 504",
                    "client < problem upstream-timeout: silent",
                    "client < end",
                    "record: failed error 504 up 2 down 0",
                ]),
            Row(
                "the connection breaks", [.originFails(.connectionBroken, "broken")],
                [
                    "client < 502",
                    "client < problem upstream-protocol: broken",
                    "client < end",
                    "record: failed error 502 up 2 down 0",
                ]),
            Row(
                "no memory is left",
                [.othersHold(1 << 40), .body("llo"), .endOfBody(), .head(200, [:], 0), .originEnds],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 5 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [
                    .reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .body("llo"), .endOfBody(),
                    .head(200, [:], 0), .originEnds,
                ],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 5 down 0",
                ]),
        ])

    static let whole = State(
        name: "while a request is out",
        prelude: [.begin],
        rows: [
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp],
                [
                    "origin paused",
                    "origin reads on",
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "the client fails", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "origin cancelled",
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 0 down 0",
                ]),
            Row(
                "an interim response comes", [.interim(103)],
                [
                    "client < interim 103",
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "a head comes", [.head(200, [:], 2)],
                [
                    "client < 200, 2 bytes",
                    "origin cancelled",
                    "record: left allow 200 up 0 down 0",
                ]),
            Row(
                "the origin takes some", [.originTook, .turn],
                [
                    "origin cancelled",
                    "record: left allow up 0 down 0",
                ]),
            Row(
                "the origin is too slow", [.originFails(.timeout, "silent")],
                [
                    "client < 504",
                    "client < problem upstream-timeout: silent",
                    "client < end",
                    "record: failed error 504 up 0 down 0",
                ]),
            Row(
                "the origin is not trusted", [.originFails(.untrusted, "not trusted")],
                [
                    "client < 502",
                    "client < problem certificate-invalid: not trusted",
                    "client < end",
                    "record: failed reject 502 up 0 down 0 certificate-invalid",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .head(200, [:], 0), .originEnds],
                [
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 0 down 0",
                ]),
        ])

    @Test(arguments: [Self.making, Self.unmakeable, Self.streaming, Self.whole].flatMap(\.scenarios))
    func `before there is an answer every event has its outcome`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
