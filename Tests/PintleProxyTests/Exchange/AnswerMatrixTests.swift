// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Everything that can come once there is an answer, in every state of an exchange.
struct AnswerMatrixTests {
    static let held = State(
        name: "while the answer is held",
        policy: InspectionScenarioTests.reject,
        request: PassingTests.post,
        prelude: [.begin, .body("he"), .head(200, InspectionScenarioTests.json, nil), .bytes("[")],
        rows: [
            Row(
                "more of the answer comes", [.bytes("1]"), .held],
                [
                    "held: 0",
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the answer ends well", [.bytes("1]"), .originEnds],
                [
                    "client < 200, 3 bytes {Content-Type: application/json}",
                    #"client < "[1]""#,
                    "client < end",
                    "record: completed allow 200 up 2 down 3",
                ]),
            Row(
                "the answer ends badly", [.bytes("1"), .originEnds],
                [
                    "client < 502",
                    "client < problem response-body: Request failed: invalid JSON: line 1, column 3 (byte 2): "
                        + "expected “,” or “]”, found the end",
                    "client < end",
                    "record: failed reject 502 up 2 down 0 response-body",
                ]),
            Row(
                "trailers come", [.bytes("]"), .trailers(["X": "y"]), .originEnds],
                [
                    "client < 200, chunked {Content-Type: application/json}",
                    #"client < "[]""#,
                    "client < end {X: y}",
                    "record: completed allow 200 up 2 down 2",
                ]),
            Row(
                "a body goes on", [.body("llo"), .endOfBody(), .wants],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow up 5 down 0",
                ]),
            Row(
                "the client falls behind and catches up",
                [.clientFellBehind, .bytes("]"), .clientCaughtUp, .originEnds],
                [
                    "origin paused",
                    "origin reads on",
                    "client < 200, 2 bytes {Content-Type: application/json}",
                    #"client < "[]""#,
                    "client < end",
                    "record: completed allow 200 up 2 down 2",
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
                "the origin takes some", [.originTook, .turn],
                [
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the answer is cut off", [.originFails(.truncated, "cut")],
                [
                    "client < 502",
                    "client < problem upstream-protocol: cut",
                    "client < end",
                    "record: failed error 502 up 2 down 0",
                ]),
            Row(
                "there is no memory left", [.othersHold(512 << 20), .bytesOf(4096)],
                [
                    "origin cancelled",
                    "client < 503 {Retry-After: 1}",
                    "client < problem overloaded: as many bytes are held as limits.held_bytes (512MiB) allows; try "
                        + "again later",
                    "client < end",
                    "record: failed deny 503 up 2 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .bytes("]"), .originEnds],
                [
                    "client < 200, 2 bytes {Content-Type: application/json}",
                    #"client < "[]""#,
                    "client < end",
                    "record: completed allow 200 up 2 down 2",
                ]),
        ])

    static let judging = State(
        name: "while the answer is judged elsewhere",
        policy: InspectionScenarioTests.reject,
        request: PassingTests.post,
        prelude: [
            .begin, .body("he"), .head(200, InspectionScenarioTests.json, nil), .bytes(InspectionScenarioTests.long),
            .originEnds,
        ],
        settings: .init(isPoolBusy: true),
        rows: [
            Row(
                "the verdict is good", [.poolIsFree, .until("client < end")],
                [
                    "client < 200, 40004 bytes {Content-Type: application/json}",
                    "client < 40004 bytes",
                    "client < end",
                    "record: completed allow 200 up 2 down 40004",
                ]),
            Row(
                "a body goes on", [.body("llo"), .endOfBody(), .wants],
                [
                    "wants body, end",
                    "record: left allow up 5 down 0",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp],
                [
                    "record: left allow up 2 down 0"
                ]),
            Row(
                "the client leaves", [.clientLeft, .held, .poolIsFree, .gone],
                [
                    "held: 0",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late")), .poolIsFree, .gone],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 2 down 0",
                ]),
            Row(
                "the turn ends", [.turn, .wants],
                [
                    "wants body, end",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the client does not read, and the verdict is good",
                [.clientFellBehind, .poolIsFree, .until("client < end")],
                [
                    "client < 200, 40004 bytes {Content-Type: application/json}",
                    "client < 40004 bytes",
                    "client < end",
                    "record: completed allow 200 up 2 down 40004",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .poolIsFree, .until("client < end")],
                [
                    "client < 200, 40004 bytes {Content-Type: application/json}",
                    "client < 40004 bytes",
                    "client < end",
                    "record: completed allow 200 up 2 down 40004",
                ]),
        ])

    static let passingBoth = State(
        name: "while the answer passes and the body streams",
        request: PassingTests.post,
        prelude: [.begin, .body("he"), .head(200), .bytes("a")],
        rows: [
            Row(
                "more of the body comes", [.body("llo"), .wants],
                [
                    #"origin < "llo""#,
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow 200 up 5 down 1",
                ]),
            Row(
                "the body ends, then the answer", [.body("llo"), .endOfBody(), .bytes("b"), .originEnds],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    #"client < "b""#,
                    "client < end",
                    "record: completed allow 200 up 5 down 2",
                ]),
            Row(
                "the answer ends first", [.bytes("b"), .originEnds, .body("llo"), .endOfBody()],
                [
                    #"client < "b""#,
                    "client < end",
                    "record: completed allow 200 up 2 down 2",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .body("l"), .clientCaughtUp],
                [
                    "origin paused",
                    #"origin < "l""#,
                    "origin reads on",
                    "origin cancelled",
                    "record: left allow 200 up 3 down 1",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow 200 up 2 down 1",
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "origin cancelled",
                    "client < cut",
                    "record: failed allow 200 up 2 down 1",
                ]),
            Row(
                "trailers come", [.bytes("b"), .trailers(["X": "y"]), .originEnds],
                [
                    #"client < "b""#,
                    "client < end {X: y}",
                    "record: completed allow 200 up 2 down 2",
                ]),
            Row(
                "the origin takes some", [.originTook, .turn, .wants],
                [
                    "wants body, end",
                    "origin cancelled",
                    "record: left allow 200 up 2 down 1",
                ]),
            Row(
                "the answer is cut off", [.originFails(.truncated, "cut")],
                [
                    "client < cut",
                    "record: failed allow 200 up 2 down 1",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [
                    .reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .body("llo"), .endOfBody(), .bytes("b"),
                    .originEnds,
                ],
                [
                    #"origin < "llo""#,
                    "origin < end of body",
                    #"client < "b""#,
                    "client < end",
                    "record: completed allow 200 up 5 down 2",
                ]),
        ])

    @Test(arguments: [Self.held, Self.judging, Self.passingBoth].flatMap(\.scenarios))
    func `once there is an answer every event has its outcome`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
