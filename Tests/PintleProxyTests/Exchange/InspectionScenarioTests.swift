// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges whose answers must meet the demands of their routes.
struct InspectionScenarioTests {
    static let json: Fields = ["Content-Type": "application/json"]
    /// A JSON document that is too long to be judged on the loop.
    static let long = "[\"" + String(repeating: "x", count: 40_000) + "\"]"
    /// The beginning of a document that takes memory.
    static let blank = "[" + String(repeating: " ", count: 4096)
    static let reject = "routes: [{name: a, response: {body: json}}]"
    static let report = "routes: [{name: a, response: {body: json, on_violation: report}}]"
    static let placeholder =
        "routes: [{name: a, response: {body: json, on_violation: placeholder, placeholder: {file: gone.json, status: 203}}}]"

    static let rejecting: [Scenario] = [
        Scenario(
            name: "a good body passes whole", policy: reject,
            events: [.begin, .head(200, json, 7), .bytes("{\"a\""), .bytes(":1}"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 7 bytes {Content-Type: application/json}",
                #"client < "{"a":1}""#,
                "client < end",
                "record: completed allow 200 up 0 down 7",
            ]),
        Scenario(
            name: "a body that is looked at comes in no pipe", policy: reject,
            events: [.begin, .head(200, json, 2), .bytes("[]"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 2 bytes {Content-Type: application/json}",
                #"client < "[]""#,
                "client < end",
                "record: completed allow 200 up 0 down 2",
            ], settings: .init(takesPipes: true)),
        Scenario(
            name: "a bad body is rejected", policy: reject,
            events: [.begin, .head(200, json, 4), .bytes("nope"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 502",
                "client < problem response-body: Request failed: invalid JSON: line 1, column 1 (byte 0): "
                    + "expected “{” or “[”, found “n”",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-body",
            ]),
        Scenario(
            name: "a bad type is rejected with the head, and the origin is left", policy: reject,
            events: [.begin, .head(200, ["Content-Type": "text/html"], 4)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 502",
                "client < problem response-content-type: Request failed: unacceptable content-type: text/html",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-content-type",
            ]),
        Scenario(
            name: "trailers of what was held stand behind chunks", policy: reject,
            events: [.begin, .head(200, json, nil), .bytes("{}"), .trailers(["X-Sum": "1"]), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked {Content-Type: application/json}",
                #"client < "{}""#,
                "client < end {X-Sum: 1}",
                "record: completed allow 200 up 0 down 2",
            ]),
        Scenario(
            name: "nulls are removed, and with them the trailers",
            policy: "routes: [{name: a, response: {body: json, remove_nulls: true}}]",
            events: [
                .begin, .head(200, json.adding("ETag", "\"e\""), nil), .bytes("{\"a\":null,\"b\":1}"),
                .trailers(["X-Sum": "1"]), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 7 bytes {Content-Type: application/json}",
                #"client < "{"b":1}""#,
                "client < end",
                "record: completed allow 200 up 0 down 7",
            ]),
        Scenario(
            name: "a body that is too long to be held is refused",
            policy: "limits: {body_buffer: 4}\n" + reject,
            events: [.begin, .head(200, json, nil), .bytes("[1,2]")],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 502",
                "client < problem body-too-large: the route must see the whole body, and it is over limits.body_buffer",
                "client < end",
                "record: failed error 502 up 0 down 0 body-too-large",
            ]),
        Scenario(
            name: "an answer for which there is no memory is overloaded",
            policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}\n" + reject,
            events: [.othersHold(1 << 20), .begin, .head(200, json, nil), .bytesOf(4096)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: as many bytes are held as limits.held_bytes (1MiB) allows; try "
                    + "again later",
                "client < end",
                "record: failed deny 503 up 0 down 0",
            ]),
        Scenario(
            name: "an origin that fails while it is held is a problem", policy: reject,
            events: [.begin, .head(200, json, 7), .bytes("{\"a\""), .originFails(.truncated, "cut")],
            expected: [
                "origin < GET http://a.test/",
                "client < 502",
                "client < problem upstream-protocol: cut",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "a client that leaves while it is held gives back the memory", policy: reject,
            events: [.begin, .head(200, json, nil), .bytesOf(8192), .held, .clientLeft, .held],
            expected: [
                "origin < GET http://a.test/",
                "held: 8192",
                "origin cancelled",
                "held: 0",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "HEAD has nothing to be judged by", policy: reject, request: ["HEAD http://a.test/"],
            events: [.begin, .head(200, json.adding("Content-Length", "9")), .originEnds],
            expected: [
                "origin < HEAD http://a.test/",
                "client < 200, 9 bytes {Content-Type: application/json}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a status that is not listed is rejected", policy: "routes: [{name: a, response: {status: [2xx]}}]",
            events: [.begin, .head(404, [:], 0)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 502",
                "client < problem response-status: Request failed: not found (404)",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-status",
            ]),
        Scenario(
            name: "a declared length over max_body is rejected with the head",
            policy: "routes: [{name: a, response: {max_body: 3}}]", events: [.begin, .head(200, [:], 4)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 502",
                "client < problem body-too-large: the body is longer than the 3 bytes that response.max_body allows",
                "client < end",
                "record: failed error 502 up 0 down 0 body-too-large",
            ]),
        Scenario(
            name: "a body over max_body that has begun is cut", policy: "routes: [{name: a, response: {max_body: 3}}]",
            events: [.begin, .head(200), .bytes("ab"), .bytes("cd")],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked",
                #"client < "ab""#,
                "origin cancelled",
                "client < cut",
                "record: failed allow 200 up 0 down 2 body-too-large",
            ]),
        Scenario(
            name: "a body of max_body passes", policy: "routes: [{name: a, response: {max_body: 3}}]",
            events: [.begin, .head(200), .bytes("abc"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked",
                #"client < "abc""#,
                "client < end",
                "record: completed allow 200 up 0 down 3",
            ]),
        Scenario(
            name: "a placeholder stands for what is rejected", policy: placeholder,
            events: [.begin, .head(500, ["Content-Type": "text/plain"], 4)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 203, 13 bytes {Content-Type: application/json, Cache-Control: no-store, "
                    + "Pintle-Violation: response-content-type}",
                #"client < "{"gone":true}""#,
                "client < end",
                "record: completed reject 203 up 0 down 13 response-content-type",
            ]),
        Scenario(
            name: "a placeholder stands for what there is no memory for",
            policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}\n" + placeholder,
            events: [.othersHold(1 << 20), .begin, .head(200, json, nil), .bytesOf(4096)],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "client < 203, 13 bytes {Content-Type: application/json, Cache-Control: no-store, "
                    + "Pintle-Violation: body-too-large}",
                #"client < "{"gone":true}""#,
                "client < end",
                "record: completed error 203 up 0 down 13 body-too-large",
            ]),
        Scenario(
            name: "LOOK-106 a placeholder answers for an origin that fails, too", policy: placeholder,
            events: [.begin, .head(200, json, nil), .originFails(.timeout, "silent")],
            expected: [
                "origin < GET http://a.test/",
                "client < 203",
                "client < \"{\"gone\":true}\"",
                "client < end",
                "record: completed error 203 up 0 down 13",
            ]),
    ]

    static let reporting: [Scenario] = [
        Scenario(
            name: "a bad body is marked in the head where it is short", policy: report,
            events: [.begin, .head(200, json, 4), .bytes("nope"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 4 bytes {Content-Type: application/json, Pintle-Violation: response-body}",
                #"client < "nope""#,
                "client < end",
                "record: completed allow 200 up 0 down 4 response-body",
            ]),
        Scenario(
            name: "a bad body is marked in a trailer where the head has left", policy: report,
            events: [
                .begin, .head(200, json, nil), .bytes("[\""), .bytesOf(70_000), .trailers(["X": "y"]), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked {Content-Type: application/json}",
                "client < 70002 bytes",
                "client < end {X: y, Pintle-Violation: response-body}",
                "record: completed allow 200 up 0 down 70002 response-body",
            ]),
        Scenario(
            name: "a bad type and status are marked both",
            policy: "routes: [{name: a, response: {status: [200], body: json, on_violation: report}}]",
            events: [.begin, .head(404, ["Content-Type": "text/html"], 2), .bytes("no"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 404, 2 bytes {Content-Type: text/html, Pintle-Violation: response-status, "
                    + "Pintle-Violation: response-content-type}",
                #"client < "no""#,
                "client < end",
                "record: completed allow 404 up 0 down 2 response-status response-content-type",
            ]),
        Scenario(
            name: "a body over max_body passes marked",
            policy: "routes: [{name: a, response: {max_body: 3, on_violation: report}}]",
            events: [.begin, .head(200), .bytes("abcd"), .bytes("e"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked",
                #"client < "abcd""#,
                #"client < "e""#,
                "client < end {Pintle-Violation: body-too-large}",
                "record: completed allow 200 up 0 down 5 body-too-large",
            ]),
        Scenario(
            name: "an answer for which there is no memory passes unjudged and marked",
            policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}\n" + report,
            events: [.othersHold(1 << 20), .begin, .head(200, json, nil), .bytes(blank), .bytes("no"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked {Content-Type: application/json, Pintle-Violation: body-too-large}",
                "client < 4097 bytes",
                #"client < "no""#,
                "client < end",
                "record: completed allow 200 up 0 down 4099 body-too-large",
            ]),
        Scenario(
            name: "a body that is being passed can still be cut off by its origin", policy: report,
            events: [.begin, .head(200, json, nil), .bytes("[\""), .bytesOf(70_000), .originFails(.truncated, "cut")],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked {Content-Type: application/json}",
                "client < 70002 bytes",
                "client < cut",
                "record: failed allow 200 up 0 down 70002",
            ]),
    ]

    static let late: [Scenario] = [
        Scenario(
            name: "a verdict from another thread lets the answer pass", policy: reject,
            events: [
                .begin, .head(200, json, nil), .bytes(long), .originEnds, .held, .poolIsFree, .until("client < end"),
            ],
            expected: [
                "origin < GET http://a.test/",
                "held: 36864",
                "client < 200, 40004 bytes {Content-Type: application/json}",
                "client < 40004 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 40004",
            ],
            settings: .init(isPoolBusy: true)),
        Scenario(
            name: "a verdict from another thread rejects the answer", policy: reject,
            events: [
                .begin, .head(200, json, nil), .bytes(long + "x"), .originEnds, .poolIsFree, .until("client < end"),
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 502",
                "client < problem response-body: Request failed: invalid JSON: line 1, column 40005 (byte "
                    + "40004): expected the end, found “x”",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-body",
            ],
            settings: .init(isPoolBusy: true)),
        Scenario(
            name: "a verdict is not waited for by a client that has left", policy: reject,
            events: [.begin, .head(200, json, nil), .bytes(long), .originEnds, .clientLeft, .held, .poolIsFree],
            expected: [
                "origin < GET http://a.test/",
                "held: 0",
                "record: left allow up 0 down 0",
            ],
            settings: .init(isPoolBusy: true)),
        Scenario(
            name: "a verdict comes too late for a client that failed", policy: reject, request: PassingTests.chunked,
            events: [
                .begin, .head(200, json, nil), .bytes(long), .originEnds,
                .clientFails(Problem(.badRequest, "no chunk")),
                .poolIsFree,
            ],
            expected: [
                "origin < POST http://a.test/up with chunks to come",
                "client < 400",
                "client < problem bad-request: no chunk",
                "client < end",
                "record: failed error 400 up 0 down 0",
            ], settings: .init(isPoolBusy: true)),
        Scenario(
            name: "what no thread takes is overloaded", policy: reject,
            events: [.begin, .head(200, json, nil), .bytes(long), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: 0 bodies wait to be judged, as many as may; try again later",
                "client < end",
                "record: failed deny 503 up 0 down 0",
            ], settings: .init(isPoolFull: true)),
        Scenario(
            name: "the rest of a body goes nowhere while its answer is judged", policy: reject,
            request: PassingTests.post,
            events: [
                .begin, .body("he"), .head(200, json, nil), .bytes(long), .originEnds, .body("llo"), .endOfBody(),
                .poolIsFree, .until("client < end"),
            ],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "he""#,
                "client < 200, 40004 bytes {Content-Type: application/json}",
                "client < 40004 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 40004",
            ], settings: .init(isPoolBusy: true)),
    ]

    @Test(arguments: Self.rejecting + Self.reporting + Self.late + Self.behind)
    func `answers are judged`(scenario: Scenario) async throws { try await scenario.perform() }
}

extension Fields {
    /// Returns a copy with one more field.
    func adding(_ name: String, _ value: String) -> Fields {
        var fields = self
        fields.append(name, value)
        return fields
    }
}
