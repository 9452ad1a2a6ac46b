// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges that follow redirects in their client's place.
struct RedirectScenarioTests {
    static let follow = "routes: [{name: r, redirects: follow}]"
    static let post = ["POST http://a.test/", "Content-Length: 5"]
    static let to: @Sendable (String) -> Fields = { ["Location": $0] }

    static let chains: [Scenario] = [
        Scenario(
            name: "a chain ends with what is no redirect", policy: follow,
            events: [
                .begin, .head(301, to("/b"), 0), .originEnds, .head(302, to("http://b.test/c"), 4), .bytes("gone"),
                .trailers(["X": "y"]), .originEnds, .interim(103), .head(200, ["A": "b"], 2), .bytes("hi"), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin < GET http://a.test/b",
                "origin < GET http://b.test/c",
                "client < interim 103",
                "client < 200, 2 bytes {A: b}",
                #"client < "hi""#,
                "client < end",
                "record: completed allow 200 up 0 down 2",
            ]),
        Scenario(
            name: "what is not followed is the client's", policy: follow,
            events: [.begin, .head(302, to("ftp://b.test/"), 2), .bytes("hi"), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 302, 2 bytes {Location: ftp://b.test/}",
                #"client < "hi""#,
                "client < end",
                "record: completed allow 302 up 0 down 2",
            ]),
        Scenario(
            name: "a denied destination ends the chain",
            policy: "destinations: {deny: [b.test]}\n" + follow,
            events: [.begin, .head(302, to("http://b.test/"), 0), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 403",
                "client < problem destination-denied: b.test:80 is denied by destinations.deny[0] \"b.test\"",
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
        Scenario(
            name: "the last answer is judged by the route that it belongs to",
            policy: "routes: [{name: r, match: {hosts: [a.test]}, redirects: follow, response: {status: 200}}, "
                + "{name: s, response: {status: 201}}]",
            events: [.begin, .head(302, to("http://b.test/"), 0), .originEnds, .head(200, [:], 0)],
            expected: [
                "origin < GET http://a.test/",
                "origin < GET http://b.test/",
                "origin cancelled",
                "client < 502",
                "client < problem response-status: Request failed: ok (200), expected 201",
                "client < end",
                "record: failed reject 502 up 0 down 0 response-status",
            ]),
        Scenario(
            name: "a content that is long is not waited for", policy: follow,
            events: [.begin, .head(302, to("/b"), 65_537), .head(204), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "origin < GET http://a.test/b",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
        Scenario(
            name: "nor one that becomes long", policy: follow,
            events: [.begin, .head(302, to("/b")), .bytesOf(65_536), .bytesOf(1), .head(204), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "origin < GET http://a.test/b",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
        Scenario(
            name: "a content that breaks off has led on all the same", policy: follow,
            events: [
                .begin, .head(302, to("/b"), 9), .bytes("x"), .originFails(.truncated, "cut"), .head(204), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin < GET http://a.test/b",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
        Scenario(
            name: "a client that leaves in between is gone", policy: follow,
            events: [.begin, .head(302, to("/b"), 9), .clientLeft],
            expected: [
                "origin < GET http://a.test/",
                "origin cancelled",
                "record: left allow up 0 down 0",
            ]),
        Scenario(
            name: "an origin that fails later is a problem", policy: follow,
            events: [
                .begin, .head(302, to("http://b.test/"), 0), .originEnds,
                .originFails(.connectFailure, "b.test is not there"),
            ],
            expected: [
                "origin < GET http://a.test/",
                "origin < GET http://b.test/",
                "client < 502",
                "client < problem connect-failure: b.test is not there",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
    ]

    static let bodies: [Scenario] = [
        Scenario(
            name: "a body is sent again", policy: follow, request: post,
            events: [
                .begin, .body("hello"), .endOfBody(), .held, .head(307, to("/b"), 0), .originEnds, .held,
                .head(200, [:], 0), .originEnds, .held,
            ],
            expected: [
                #"origin < POST http://a.test/ with "hello""#,
                "held: 0",
                #"origin < POST http://a.test/b with "hello""#,
                "held: 0",
                "client < 200, 0 bytes",
                "client < end",
                "held: 0",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a body is sent again with its trailers", policy: follow,
            request: ["PUT http://a.test/", "Transfer-Encoding: chunked"],
            events: [
                .begin, .body("hello"), .endOfBody(["X-Sum": "1"]), .head(308, to("/b"), 0), .originEnds,
                .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < PUT http://a.test/ with chunks to come",
                #"origin < "hello""#,
                "origin < end of body {X-Sum: 1}",
                "origin < PUT http://a.test/b with chunks to come",
                #"origin < "hello""#,
                "origin < end of body {X-Sum: 1}",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a body is not sent again where it is not wanted", policy: follow, request: post,
            events: [
                .begin, .body("hello"), .endOfBody(), .head(303, to("/b"), 0), .originEnds, .head(200, [:], 0),
                .originEnds,
            ],
            expected: [
                #"origin < POST http://a.test/ with "hello""#,
                "origin < GET http://a.test/b",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a long body streams, and is dropped after a redirect", policy: "limits: {body_buffer: 4}\n" + follow,
            request: post,
            events: [
                .begin, .body("he"), .head(303, to("/b"), 0), .originEnds, .wants, .body("llo"), .endOfBody(),
                .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with 5 bytes to come",
                #"origin < "he""#,
                "origin < GET http://a.test/b",
                "wants body, end",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "a long body that would be needed again is the client's matter",
            policy: "limits: {body_buffer: 4}\n" + follow, request: post,
            events: [
                .begin, .body("hello"), .endOfBody(), .head(307, to("/b"), 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with 5 bytes to come",
                #"origin < "hello""#,
                "origin < end of body",
                "client < 307, 0 bytes {Location: /b}",
                "client < end",
                "record: completed allow 307 up 5 down 0",
            ]),
        Scenario(
            name: "a body is serialized anew for each request",
            policy: "routes: [{name: r, match: {hosts: [a.test]}, redirects: follow, request: {serialize: json, "
                + "parameters: {b: 2}}}, {name: s, request: {serialize: http, parameters: {c: 3}}}]",
            request: ["POST http://a.test/", "Content-Length: 7", "Content-Type: application/json"],
            events: [
                .begin, .body("{\"a\":1}"), .endOfBody(), .head(307, to("http://b.test/"), 0), .originEnds,
                .head(200, [:], 0), .originEnds,
            ],
            expected: [
                #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":1,"b":2}""#,
                #"origin < POST http://b.test/ {Content-Type: application/x-www-form-urlencoded} with "a=1&c=3""#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 7 down 0",
            ]),
        Scenario(
            name: "a body that follows at a pace is sent again at one",
            policy: "routes: [{name: r, redirects: follow, request: {throttle: {packet: 1KiB, delay: 1ms}}}]",
            request: post,
            events: [
                .begin, .body("hello"), .endOfBody(), .until("origin < end of body"), .head(307, to("/b"), 0),
                .originEnds, .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with 5 bytes to come",
                #"origin < "hello""#,
                "origin < end of body",
                "origin < POST http://a.test/b with 5 bytes to come",
                #"origin < "hello""#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
    ]

    /// Redirects that come while the client still sends, and lead to a request with another body.
    static let early: [Scenario] = [
        Scenario(
            name: "what is left of a body goes nowhere while another goes at its pace", policy: Self.makesBodies,
            request: post,
            events: [
                .begin, .body("he"), .head(303, to("http://b.test/"), 0), .originEnds, .wants, .body("llo"),
                .endOfBody(), .until("origin < end of body"), .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with 5 bytes to come",
                #"origin < "he""#,
                "origin < GET http://b.test/ {Content-Type: application/json} with 7 bytes to come",
                #"origin < "{"c":""#,
                "wants body, end",
                #"origin < "3}""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "nor do its trailers", policy: Self.makesBodies,
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            events: [
                .begin, .body("hello"), .head(303, to("http://b.test/"), 70_000), .endOfBody(["X-Sum": "1"]),
                .until("origin < end of body"), .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/ with chunks to come",
                #"origin < "hello""#,
                "origin cancelled",
                "origin < GET http://b.test/ {Content-Type: application/json} with 7 bytes to come",
                #"origin < "{"c":""#,
                #"origin < "3}""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
    ]

    static let makesBodies = """
        limits: {body_buffer: 4}
        routes:
          - {name: r, match: {hosts: [a.test]}, redirects: follow}
          - {name: s, request: {serialize: json, uri_methods: [PUT], parameters: {c: 3}, throttle: {packet: 5, delay: 1ms}}}
        """

    static let switches: [Scenario] = [
        Scenario(
            name: "an offer of another protocol is followed, and holds one place",
            policy: "limits: {tunnels: 1}\n" + follow,
            request: ["GET http://a.test/", "Connection: Upgrade", "Upgrade: echo"],
            events: [.begin, .head(302, to("/b"), 0), .originEnds, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/ offering echo",
                "origin < GET http://a.test/b offering echo",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ])
    ]

    @Test(arguments: Self.chains) func `redirects are followed`(scenario: Scenario) async throws {
        try await scenario.perform()
    }

    @Test(arguments: Self.bodies) func `bodies are sent again or dropped`(scenario: Scenario) async throws {
        try await scenario.perform()
    }

    @Test(arguments: Self.early) func `LOOK-62 a redirect may come before the end of a body`(scenario: Scenario)
        async throws
    {
        try await scenario.perform()
    }

    @Test(arguments: Self.switches) func `other protocols are offered again`(scenario: Scenario) async throws {
        try await scenario.perform()
    }

    @Test func `what leads on and on is answered with a problem`() async throws {
        let around: [Event] = (0...20).flatMap { _ in [.head(302, Self.to("/"), 0), .originEnds] }
        try await Scenario(
            name: "a circle", policy: Self.follow, events: [.begin] + around.dropLast(),
            expected: [String](repeating: "origin < GET http://a.test/", count: 21) + [
                "origin cancelled",
                "client < 508",
                "client < problem loop-detected: a.test:80 redirects again after 20 redirects, which is as many as are "
                    + "followed",
                "client < end",
                "record: failed deny 508 up 0 down 0",
            ]
        ).perform()
    }
}
