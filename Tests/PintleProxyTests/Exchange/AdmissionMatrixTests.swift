// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Everything that can come before a request is complete, in every state of an exchange.
struct AdmissionMatrixTests {
    static let admitting = State(
        name: "while the password is checked",
        policy: AdmissionScenarioTests.users,
        request: PassingTests.post + [AdmissionScenarioTests.right],
        prelude: [.begin],
        rows: [
            Row(
                "a body comes", [.body("hello"), .endOfBody(), .wants, .until("origin < end")],
                [
                    "wants no body, no end",
                    "origin < POST http://a.test/up with 5 bytes to come",
                    #"origin < "hello""#,
                    "origin < end of body",
                    "origin cancelled",
                    "record: left allow for ben up 5 down 0",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp, .until("origin <")],
                [
                    "origin < POST http://a.test/up with 5 bytes to come",
                    "origin cancelled",
                    "record: left allow for ben up 0 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft, .gone],
                [
                    "record: left allow up 0 down 0"
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late")), .gone],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 0 down 0",
                ]),
            Row(
                "the password is right", [.until("origin <")],
                [
                    "origin < POST http://a.test/up with 5 bytes to come",
                    "origin cancelled",
                    "record: left allow for ben up 0 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [
                    .reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .body("hello"), .endOfBody(),
                    .until("origin < end"), .head(200, [:], 0), .originEnds,
                ],
                [
                    "origin < POST http://a.test/up with 5 bytes to come",
                    #"origin < "hello""#,
                    "origin < end of body",
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 for ben up 5 down 0",
                ]),
        ])

    static let misadmitting = State(
        name: "while a wrong password is checked",
        policy: AdmissionScenarioTests.users,
        request: PassingTests.post + [AdmissionScenarioTests.wrong],
        prelude: [.begin],
        rows: [
            Row(
                "a body comes", [.body("hello"), .endOfBody(), .until("client < end")],
                [
                    #"client < 407 {Proxy-Authenticate: Basic realm="pintle", charset="UTF-8"}"#,
                    "client < problem proxy-auth-required: no user of clients.basic_auth has this name and password",
                    "client < end",
                    "record: failed deny 407 up 0 down 0",
                ]),
            Row(
                "the client leaves", [.clientLeft, .gone],
                [
                    "record: left allow up 0 down 0"
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late")), .gone],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 0 down 0",
                ]),
        ])

    static let collecting = State(
        name: "while the body is collected",
        policy: "limits: {held_bytes: 2MiB, body_buffer: 1MiB}\n" + AdmissionScenarioTests.serialize,
        request: [
            "POST http://a.test/", "Transfer-Encoding: chunked", "Content-Type: application/x-www-form-urlencoded",
        ],
        prelude: [.begin, .body("a=")],
        rows: [
            Row(
                "more of the body comes", [.body("1"), .wants, .held],
                [
                    "wants body, end",
                    "held: 0",
                    "record: left allow up 3 down 0",
                ]),
            Row(
                "the body ends", [.body("1"), .endOfBody()],
                [
                    #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}""#,
                    "origin cancelled",
                    "record: left allow up 3 down 0",
                ]),
            Row(
                "the body ends before its time", [.endOfBody()],
                [
                    #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":"","b":2}""#,
                    "origin cancelled",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "the client falls behind and catches up", [.clientFellBehind, .clientCaughtUp],
                [
                    "record: left allow up 2 down 0"
                ]),
            Row(
                "the client leaves", [.clientLeft],
                [
                    "record: left allow up 2 down 0"
                ]),
            Row(
                "the body is late", [.clientFails(Problem(.requestTimeout, "too late"))],
                [
                    "client < 408",
                    "client < problem request-timeout: too late",
                    "client < end",
                    "record: failed error 408 up 2 down 0",
                ]),
            Row(
                "the body becomes too long", [.bodyOf(1 << 20)],
                [
                    "client < 413",
                    "client < problem body-too-large: the route must see the whole body, and it is over "
                        + "limits.body_buffer",
                    "client < end",
                    "record: failed error 413 up 1048578 down 0",
                ]),
            Row(
                "there is no memory left", [.othersHold(2 << 20), .bodyOf(4096)],
                [
                    "client < 503 {Retry-After: 1}",
                    "client < problem overloaded: as many bytes are held as limits.held_bytes (2MiB) allows; try "
                        + "again later",
                    "client < end",
                    "record: failed deny 503 up 4098 down 0",
                ]),
            Row(
                "the turn ends", [.turn, .wants],
                [
                    "wants body, end",
                    "record: left allow up 2 down 0",
                ]),
            Row(
                "another configuration comes and the worker drains",
                [
                    .reload("via: two\ndestinations: {deny: [\"*\"]}"), .drain, .body("1"), .endOfBody(),
                    .head(200, [:], 0), .originEnds,
                ],
                [
                    #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}""#,
                    "client < 200, 0 bytes",
                    "client < end",
                    "record: completed allow 200 up 3 down 0",
                ]),
        ])

    @Test(arguments: [Self.admitting, Self.misadmitting, Self.collecting].flatMap(\.scenarios))
    func `before a request is complete every event has its outcome`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
