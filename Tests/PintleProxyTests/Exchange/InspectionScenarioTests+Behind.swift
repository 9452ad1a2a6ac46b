// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession

extension InspectionScenarioTests {
    private static let folded = Self.json.adding("Content-Encoding", "gzip")

    /// Checks that need several turns.
    static let behind: [Scenario] = [
        Scenario(
            name: "a check that is behind holds the origin up", policy: report,
            events: [.begin, .head(200, folded, nil), .raw(Unfolding.good), .until("origin reads on"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "origin reads on",
                "client < 200, 329 bytes {Content-Type: application/json, Content-Encoding: gzip}",
                "client < 329 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 329",
            ]),
        Scenario(
            name: "an answer that has ended waits for its check", policy: report,
            events: [.begin, .head(200, folded, nil), .raw(Unfolding.bad), .originEnds, .until("client < end")],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "client < 200, 331 bytes {Content-Type: application/json, Content-Encoding: gzip, Pintle-Violation: response-body}",
                "client < 331 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 331 response-body",
            ]),
        Scenario(
            name: "a check that is behind keeps the origin paused though the client reads", policy: report,
            events: [
                .begin, .head(200, folded, nil), .raw(Unfolding.good), .clientFellBehind, .clientCaughtUp, .wants,
                .until("origin reads on"), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "wants body, end",
                "origin reads on",
                "client < 200, 329 bytes {Content-Type: application/json, Content-Encoding: gzip}",
                "client < 329 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 329",
            ]),
        Scenario(
            name: "a client that leaves ends the check", policy: report,
            events: [.begin, .head(200, folded, nil), .raw(Unfolding.good), .clientLeft, .turn, .turn],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "origin cancelled",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "a client that does not read keeps the origin paused though the check is done", policy: report,
            events: [
                .begin, .clientFellBehind, .head(200, folded, nil), .raw(Unfolding.good), .turn, .turn, .turn, .turn,
                .turn, .turn, .wants, .clientCaughtUp, .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "wants body, end",
                "origin reads on",
                "client < 200, 329 bytes {Content-Type: application/json, Content-Encoding: gzip}",
                "client < 329 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 329",
            ]),
        Scenario(
            name: "an origin that fails while the check is behind is a problem", policy: report,
            events: [
                .begin, .head(200, folded, nil), .raw(Unfolding.good), .originFails(.truncated, "cut"), .turn, .turn,
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin paused",
                "client < 502",
                "client < problem upstream-protocol: cut",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
    ]
}
