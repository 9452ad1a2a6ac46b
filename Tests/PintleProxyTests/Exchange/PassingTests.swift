// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges that pass messages on as they come: both streams get exactly the calls that they must get.
struct PassingTests {
    static let post = ["POST http://a.test/up", "Content-Length: 5"]
    static let chunked = ["POST http://a.test/up", "Transfer-Encoding: chunked"]

    static let answers: [Scenario] = [
        Scenario(
            name: "a response with a length passes as it comes",
            events: [
                .begin, .head(200, ["A": "b", "Connection": "close"], 5), .bytes("he"), .bytes("llo"), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 5 bytes {A: b}",
                #"client < "he""#,
                #"client < "llo""#,
                "client < end",
                "record: completed allow 200 up 0 down 5",
            ]),
        Scenario(
            name: "a response without a length has its trailers behind it",
            events: [
                .begin, .head(200), .bytes("hello"),
                .trailers(["X-Sum": "1", "Host": "b", "Content-Length": "3"]), .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked",
                #"client < "hello""#,
                "client < end {X-Sum: 1}",
                "record: completed allow 200 up 0 down 5",
            ]),
        Scenario(
            name: "interim responses pass before the final one",
            events: [
                .begin, .interim(103, ["Link": "</a>", "Connection": "x", "X": "y"]), .interim(100), .head(204),
                .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < interim 103 {Link: </a>}",
                "client < interim 100",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
        Scenario(
            name: "HEAD has the length of what there would be", request: ["HEAD http://a.test/"],
            events: [.begin, .head(200, ["Content-Length": "12"]), .originEnds],
            expected: [
                "origin < HEAD http://a.test/",
                "client < 200, 12 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "304 has the length that the origin gives",
            events: [.begin, .head(304, ["Content-Length": "12", "ETag": "\"a\""]), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                #"client < 304, 12 bytes {ETag: "a"}"#,
                "client < end",
                "record: completed allow 304 up 0 down 0",
            ]),
        Scenario(
            name: "header rules of the route change the answer and its trailers",
            policy: "routes: [{name: a, response: {headers: {remove: [Server, X-Sum], set: {X-A: 1}, add: {X-B: 2}}}}]",
            events: [
                .begin, .head(200, ["Server": "s", "X-A": "0"]), .bytes("x"), .trailers(["X-Sum": "1", "X-T": "2"]),
                .originEnds,
            ],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, chunked {X-A: 1, X-B: 2}",
                #"client < "x""#,
                "client < end {X-T: 2}",
                "record: completed allow 200 up 0 down 1",
            ]),
        Scenario(
            name: "without a pseudonym nothing says who has passed it on", policy: "via: false",
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "an origin that is too slow is a problem",
            events: [.begin, .originFails(.timeout, "a.test is silent")],
            expected: [
                "origin < GET http://a.test/",
                "client < 504",
                "client < problem upstream-timeout: a.test is silent",
                "client < end",
                "record: failed error 504 up 0 down 0",
            ]),
        Scenario(
            name: "an origin that cannot be found is a problem",
            events: [.begin, .originFails(.dnsFailure, "there is no a.test")],
            expected: [
                "origin < GET http://a.test/",
                "client < 502",
                "client < problem dns-failure: there is no a.test",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "an answer that breaks off is cut",
            events: [.begin, .head(200, [:], 5), .bytes("he"), .originFails(.truncated, "a.test closed")],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 5 bytes",
                #"client < "he""#,
                "client < cut",
                "record: failed allow 200 up 0 down 2",
            ]),
        Scenario(
            name: "a 407 of an origin is the client's business",
            events: [.begin, .head(407, ["Proxy-Authenticate": "Basic"], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 407, 0 bytes",
                "client < end",
                "record: completed allow 407 up 0 down 0",
            ]),
        Scenario(
            name: "a 407 of a parent is not the client's business",
            policy: "upstream_proxy: {url: \"http://p.test:3128\"}",
            events: [.begin, .head(407, [:], 0)],
            expected: [
                "origin < GET http://a.test/ by p.test:3128",
                "origin cancelled",
                "client < 502",
                "client < problem connect-failure: the proxy p.test:3128 answered 407 to a request of this "
                    + "proxy; set upstream_proxy.username and password",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "a 407 of a parent that has a credential",
            policy: "upstream_proxy: {url: \"http://p.test:3128\", username: u, password: p}",
            events: [.begin, .head(407, [:], 0)],
            expected: [
                "origin < GET http://a.test/ by p.test:3128",
                "origin cancelled",
                "client < 502",
                "client < problem connect-failure: the proxy p.test:3128 answered 407 to a request of this "
                    + "proxy; it does not take the credential of the configuration",
                "client < end",
                "record: failed error 502 up 0 down 0",
            ]),
        Scenario(
            name: "in a tunnel a parent has no say", policy: "upstream_proxy: {url: \"http://p.test:3128\"}",
            request: ["GET https://a.test/"], events: [.begin, .head(407, [:], 0), .originEnds],
            expected: [
                "origin < GET https://a.test/ by p.test:3128",
                "client < 407, 0 bytes",
                "client < end",
                "record: completed allow 407 up 0 down 0",
            ]),
    ]

    static let bodies: [Scenario] = [
        Scenario(
            name: "a body with a length goes up as it comes", request: post,
            events: [.begin, .body("he"), .body("llo"), .endOfBody(), .head(201, [:], 0), .originEnds],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "he""#,
                #"origin < "llo""#,
                "origin < end of body",
                "client < 201, 0 bytes",
                "client < end",
                "record: completed allow 201 up 5 down 0",
            ]),
        Scenario(
            name: "a chunked body has its trailers behind it", request: chunked,
            events: [
                .begin, .body("hello"), .endOfBody(["X-Sum": "1", "Authorization": "x"]), .head(201, [:], 0),
                .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/up with chunks to come",
                #"origin < "hello""#,
                "origin < end of body {X-Sum: 1}",
                "client < 201, 0 bytes",
                "client < end",
                "record: completed allow 201 up 5 down 0",
            ]),
        Scenario(
            name: "an empty body that is declared stays one", request: ["POST http://a.test/", "Content-Length: 0"],
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                #"origin < POST http://a.test/ with """#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "Expect goes to the origin, and its 100 comes back", request: post + ["Expect: 100-continue"],
            events: [.begin, .interim(100), .body("hello"), .endOfBody(), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < POST http://a.test/up {Expect: 100-continue} with 5 bytes to come",
                "client < interim 100",
                #"origin < "hello""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 5 down 0",
            ]),
        Scenario(
            name: "an early answer ends while the body comes: the origin is not asked any more", request: post,
            events: [.begin, .body("he"), .head(413, [:], 2), .bytes("no"), .originEnds, .body("llo"), .endOfBody()],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "he""#,
                "client < 413, 2 bytes",
                #"client < "no""#,
                "client < end",
                "record: completed allow 413 up 2 down 2",
            ]),
        Scenario(
            name: "an early answer is passed on while the body goes on", request: post,
            events: [
                .begin, .head(200, [:], 4), .bytes("ab"), .body("hello"), .endOfBody(), .bytes("cd"), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                "client < 200, 4 bytes",
                #"client < "ab""#,
                #"origin < "hello""#,
                "origin < end of body",
                #"client < "cd""#,
                "client < end",
                "record: completed allow 200 up 5 down 4",
            ]),
        Scenario(
            name: "an early answer that breaks off is cut", request: post,
            events: [.begin, .body("he"), .head(200, [:], 4), .originFails(.connectionBroken, "it broke")],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "he""#,
                "client < 200, 4 bytes",
                "client < cut",
                "record: failed allow 200 up 2 down 0",
            ]),
        Scenario(
            name: "a body that is late is a problem, and the origin hears no more", request: post,
            events: [.begin, .body("he"), .clientFails(Problem(.requestTimeout, "too late"))],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "he""#,
                "origin cancelled",
                "client < 408",
                "client < problem request-timeout: too late",
                "client < end",
                "record: failed error 408 up 2 down 0",
            ]),
        Scenario(
            name: "a malformed body behind the head of the answer cuts it", request: chunked,
            events: [.begin, .body("he"), .head(200), .clientFails(Problem(.badRequest, "no chunk"))],
            expected: [
                "origin < POST http://a.test/up with chunks to come",
                #"origin < "he""#,
                "client < 200, chunked",
                "origin cancelled",
                "client < cut",
                "record: failed allow 200 up 2 down 0",
            ]),
    ]

    @Test(arguments: Self.answers + Self.bodies)
    func `messages pass`(scenario: Scenario) async throws { try await scenario.perform() }
}
