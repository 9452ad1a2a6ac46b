// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Everything that can come while an answer passes, and when it has.
struct PassingMatrixTests {
    static let passing = State(
        name: "while the answer passes",
        prelude: [.begin, .head(200), .bytes("a")],
        rows: [
            Row(
                "more of it comes", [.bytes("b")],
                [
                    #"client < "b""#,
                    "origin cancelled",
                    "record: left allow 200 up 0 down 2",
                ]),
            Row(
                "it ends", [.originEnds],
                [
                    "client < end",
                    "record: completed allow 200 up 0 down 1",
                ]),
            Row(
                "trailers come", [.trailers(["X": "y", "Content-Length": "1"]), .originEnds],
                [
                    "client < end {X: y}",
                    "record: completed allow 200 up 0 down 1",
                ]),
            Row(
                "the client falls behind and catches up",
                [.clientFellBehind, .bytes("b"), .clientCaughtUp, .bytes("c"), .originEnds],
                [
                    "origin paused",
                    #"client < "b""#,
                    "origin reads on",
                    #"client < "c""#,
                    "client < end",
                    "record: completed allow 200 up 0 down 3",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow 200 up 0 down 1",
                ]),
            Row(
                "the client leaves while the origin is paused", [.clientFellBehind, .clientLeft],
                [
                    "origin paused",
                    "origin cancelled",
                    "record: left allow 200 up 0 down 1",
                ]),
            Row(
                "the client fails", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "origin cancelled",
                    "client < cut",
                    "record: failed allow 200 up 0 down 1",
                ]),
            Row(
                "the turn ends", [.turn],
                [
                    "origin cancelled",
                    "record: left allow 200 up 0 down 1",
                ]),
            Row(
                "the origin is too slow", [.originFails(.timeout, "silent")],
                [
                    "client < cut",
                    "record: failed allow 200 up 0 down 1",
                ]),
            Row(
                "the answer is cut off while the client does not read",
                [.clientFellBehind, .originFails(.truncated, "cut")],
                [
                    "origin paused",
                    "client < cut",
                    "record: failed allow 200 up 0 down 1",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .bytes("b"), .originEnds],
                [
                    #"client < "b""#,
                    "client < end",
                    "record: completed allow 200 up 0 down 2",
                ]),
        ])

    static let passingJudged = State(
        name: "while an answer passes that is looked at",
        policy: InspectionScenarioTests.report,
        prelude: [
            .begin, .head(200, InspectionScenarioTests.json, nil), .bytes("[" + String(repeating: " ", count: 70_000)),
        ],
        rows: [
            Row(
                "more of it comes", [.bytes("1,")],
                [
                    #"client < "1,""#,
                    "origin cancelled",
                    "record: left allow 200 up 0 down 70003",
                ]),
            Row(
                "it ends well", [.bytes("1]"), .originEnds],
                [
                    #"client < "1]""#,
                    "client < end",
                    "record: completed allow 200 up 0 down 70003",
                ]),
            Row(
                "it ends badly", [.originEnds],
                [
                    "client < end {Pintle-Violation: response-body}",
                    "record: completed allow 200 up 0 down 70001 response-body",
                ]),
            Row(
                "it turns bad", [.bytes("no"), .bytes("more"), .originEnds],
                [
                    #"client < "no""#,
                    #"client < "more""#,
                    "client < end {Pintle-Violation: response-body}",
                    "record: completed allow 200 up 0 down 70007 response-body",
                ]),
            Row(
                "trailers come", [.bytes("1]"), .trailers(["X": "y"]), .originEnds],
                [
                    #"client < "1]""#,
                    "client < end {X: y}",
                    "record: completed allow 200 up 0 down 70003",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .bytes("1,"), .clientCaughtUp],
                [
                    "origin paused",
                    #"client < "1,""#,
                    "origin reads on",
                    "origin cancelled",
                    "record: left allow 200 up 0 down 70003",
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "origin cancelled",
                    "record: left allow 200 up 0 down 70001",
                ]),
            Row(
                "the answer is cut off", [.originFails(.truncated, "cut")],
                [
                    "client < cut",
                    "record: failed allow 200 up 0 down 70001",
                ]),
        ])

    static let over = State(
        name: "when it is over",
        request: PassingTests.post,
        prelude: [.begin, .body("hello"), .endOfBody(), .head(200, [:], 0), .originTook, .originEnds],
        rows: [
            Row(
                "the client leaves", [.clientLeft],
                [
                    "record: completed allow 200 up 5 down 0"
                ]),
            Row(
                "the turn ends", [.turn],
                [
                    "record: completed allow 200 up 5 down 0"
                ]),
            Row(
                "another configuration comes and the worker drains",
                [.reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain],
                [
                    "record: completed allow 200 up 5 down 0"
                ]),
            Row(
                "the exchange is let go of", [.gone],
                [
                    "record: completed allow 200 up 5 down 0"
                ]),
        ])

    @Test(arguments: [Self.passing, Self.passingJudged, Self.over].flatMap(\.scenarios))
    func `while an answer passes every event has its outcome`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
