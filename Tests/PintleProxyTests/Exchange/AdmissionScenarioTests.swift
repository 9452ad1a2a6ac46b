// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges until a request is sent: permissions, refusals, and bodies that are collected and rewritten.
struct AdmissionScenarioTests {
    static let users = "clients: {basic_auth: {users: users}}"
    static let right = "Proxy-Authorization: Basic YmVuOm90aGVy"
    static let wrong = "Proxy-Authorization: Basic YmVuOndyb25n"
    static let serialize = "routes: [{name: a, request: {serialize: json, parameters: {b: 2}}}]"
    static let form = ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded"]

    static let long = [
        "POST http://a.test/", "Content-Length: 8192", "Content-Type: application/x-www-form-urlencoded",
    ]

    static let admission: [Scenario] = [
        Scenario(
            name: "whoever shows no password is told how to", policy: users, events: [.begin],
            expected: [
                #"client < 407 {Proxy-Authenticate: Basic realm="pintle", charset="UTF-8"}"#,
                "client < problem proxy-auth-required: clients.basic_auth wants a user's name and password in "
                    + "Proxy-Authorization",
                "client < end",
                "record: failed deny 407 up 0 down 0",
            ]),
        Scenario(
            name: "a right password lets the request go, without it", policy: users,
            request: ["GET http://a.test/", right],
            events: [.begin, .until("origin <"), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 for ben up 0 down 0",
            ]),
        Scenario(
            name: "a password that was right lately is not waited for", policy: users,
            request: ["GET http://a.test/", right],
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 for ben up 0 down 0",
            ], settings: .init(knowsPassword: true)),
        Scenario(
            name: "a wrong password is refused when it was checked", policy: users,
            request: ["GET http://a.test/", wrong], events: [.begin, .until("client < end")],
            expected: [
                #"client < 407 {Proxy-Authenticate: Basic realm="pintle", charset="UTF-8"}"#,
                "client < problem proxy-auth-required: no user of clients.basic_auth has this name and password",
                "client < end",
                "record: failed deny 407 up 0 down 0",
            ]),
        Scenario(
            name: "a body waits for the password", policy: users, request: PassingTests.post + [right],
            events: [
                .begin, .body("hello"), .endOfBody(), .wants, .until("origin < end"), .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "wants no body, no end",
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "hello""#,
                "origin < end of body",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 for ben up 5 down 0",
            ]),
        Scenario(
            name: "a password is checked in vain for a client that has left", policy: users,
            request: ["GET http://a.test/", right], events: [.begin, .clientLeft, .gone],
            expected: [
                "record: left allow up 0 down 0"
            ]),
        Scenario(
            name: "nothing begins where too much is held", policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}",
            events: [.othersHold((1 << 20) + 1), .begin],
            expected: [
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: as many bytes are held as limits.held_bytes (1MiB) allows; try "
                    + "again later",
                "client < end",
                "record: failed deny 503 up 0 down 0",
            ]),
        Scenario(
            name: "a client that may not is told so", events: [.refuse(Problem(.clientDenied, "you are not in"))],
            expected: [
                "client < 403",
                "client < problem client-denied: you are not in",
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
        Scenario(
            name: "a destination that is denied is no destination", policy: "destinations: {deny: [a.test]}",
            events: [.begin],
            expected: [
                "client < 403",
                #"client < problem destination-denied: a.test:80 is denied by destinations.deny[0] "a.test""#,
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
        Scenario(
            name: "a refused request's body is not taken", policy: "destinations: {deny: [a.test]}",
            request: PassingTests.post, events: [.begin, .body("hello"), .endOfBody()],
            expected: [
                "client < 403",
                #"client < problem destination-denied: a.test:80 is denied by destinations.deny[0] "a.test""#,
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
        Scenario(
            name: "a reload does not change what has begun", policy: "via: one",
            events: [.begin, .reload("via: two\ndestinations: {deny: [a.test]}"), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/ {Via: 1.1 one}",
                "client < 200, 0 bytes {Via: 1.1 one}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a reload counts for what begins", policy: "via: one",
            events: [.reload("via: two"), .begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/ {Via: 1.1 two}",
                "client < 200, 0 bytes {Via: 1.1 two}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a worker that drains lets exchanges end", request: PassingTests.post,
            events: [.begin, .drain, .body("hello"), .endOfBody(), .head(200, [:], 2), .bytes("ok"), .originEnds],
            expected: [
                "origin < POST http://a.test/up with 5 bytes to come",
                #"origin < "hello""#,
                "origin < end of body",
                "client < 200, 2 bytes",
                #"client < "ok""#,
                "client < end",
                "record: completed allow 200 up 5 down 2",
            ]),
    ]

    static let own: [Scenario] = [
        Scenario(
            name: "TRACE without hops is answered here",
            request: ["TRACE http://a.test/x", "Max-Forwards: 0", "Cookie: secret", "A: b"], events: [.begin],
            expected: [
                "client < 200, 58 bytes {Content-Type: message/http}",
                #"client < "TRACE /x HTTP/1.1|Host: a.test|Max-Forwards: 0|A: b||""#,
                "client < end",
                "record: completed allow 200 up 0 down 58",
            ]),
        Scenario(
            name: "OPTIONS without hops is answered here", request: ["OPTIONS http://a.test/x", "Max-Forwards: 0"],
            events: [.begin],
            expected: [
                "client < 200, 0 bytes {Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "OPTIONS * is about this proxy", request: ["OPTIONS *", "Host: a.test"], events: [.begin],
            expected: [
                "client < 200, 0 bytes {Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT}",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a hop less is left", request: ["OPTIONS http://a.test/x", "Max-Forwards: 1"],
            events: [.begin, .head(204), .originEnds],
            expected: [
                "origin < OPTIONS http://a.test/x {Max-Forwards: 0}",
                "client < 204",
                "client < end",
                "record: completed allow 204 up 0 down 0",
            ]),
        Scenario(
            name: "a problem is text for who takes no JSON", policy: "destinations: {deny: [a.test]}",
            request: ["GET http://a.test/", "Accept: text/html"], events: [.begin],
            expected: [
                "client < 403",
                "client < problem destination-denied in text",
                "client < end",
                "record: failed deny 403 up 0 down 0",
            ]),
    ]

    static let collecting: [Scenario] = [
        Scenario(
            name: "a form becomes JSON", policy: serialize, request: form,
            events: [.begin, .body("a="), .wants, .body("1"), .endOfBody(), .head(200, [:], 0), .originEnds],
            expected: [
                "wants body, end",
                #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}""#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 3 down 0",
            ]),
        Scenario(
            name: "a client that waits for a 100 gets it here", policy: serialize,
            request: form + ["Expect: 100-continue"],
            events: [.begin, .body("a=1"), .endOfBody(), .head(200, [:], 0), .originEnds],
            expected: [
                "client < interim 100",
                #"origin < POST http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}""#,
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 3 down 0",
            ]),
        Scenario(
            name: "a request without a body is made at once", policy: serialize, request: ["GET http://a.test/"],
            events: [.begin, .head(200, [:], 0), .originEnds],
            expected: [
                "origin < GET http://a.test/?b=2",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 0 down 0",
            ]),
        Scenario(
            name: "a body that cannot be read is unserializable", policy: serialize,
            request: ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/json"],
            events: [.begin, .body("{no"), .endOfBody()],
            expected: [
                "client < 422",
                "client < problem unserializable-request: the body is not valid JSON. (line 1, column 2 (byte "
                    + "1): expected a key in quotes or “}”, found “n”)",
                "client < end",
                "record: failed error 422 up 3 down 0",
            ]),
        Scenario(
            name: "a body whose length is too much is refused at once",
            policy: "limits: {body_buffer: 2}\n" + serialize,
            request: form, events: [.begin, .body("a=1")],
            expected: [
                "client < 413",
                "client < problem body-too-large: the route must see the whole body, and it is over limits.body_buffer",
                "client < end",
                "record: failed error 413 up 0 down 0",
            ]),
        Scenario(
            name: "a body that becomes too long is refused", policy: "limits: {body_buffer: 2}\n" + serialize,
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"], events: [.begin, .body("a="), .body("1")],
            expected: [
                "client < 413",
                "client < problem body-too-large: the route must see the whole body, and it is over limits.body_buffer",
                "client < end",
                "record: failed error 413 up 3 down 0",
            ]),
        Scenario(
            name: "a body for which there is no memory is overloaded",
            policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}\n" + serialize,
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            events: [.othersHold(1 << 20), .begin, .bodyOf(4096)],
            expected: [
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: as many bytes are held as limits.held_bytes (1MiB) allows; try "
                    + "again later",
                "client < end",
                "record: failed deny 503 up 4096 down 0",
            ]),
        Scenario(
            name: "a client that leaves while its body is collected gives back the memory", policy: serialize,
            request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            events: [.begin, .bodyOf(8192), .held, .clientLeft, .held],
            expected: [
                "held: 8192",
                "held: 0",
                "record: left allow up 8192 down 0",
            ]),
        Scenario(
            name: "a body that is late while it is collected is a problem", policy: serialize, request: form,
            events: [.begin, .body("a"), .clientFails(Problem(.requestTimeout, "too late"))],
            expected: [
                "client < 408",
                "client < problem request-timeout: too late",
                "client < end",
                "record: failed error 408 up 1 down 0",
            ]),
        Scenario(
            name: "a collected body is held until the end", policy: serialize,
            request: [
                "POST http://a.test/", "Content-Length: 8192", "Content-Type: application/x-www-form-urlencoded",
            ],
            events: [
                .begin, .bodyOf(8192), .endOfBody(), .held, .head(200, [:], 0), .held, .originEnds, .held,
            ],
            expected: [
                "origin < POST http://a.test/ {Content-Type: application/json} with 8207 bytes",
                "held: 8192",
                "client < 200, 0 bytes",
                "held: 8192",
                "client < end",
                "held: 0",
                "record: completed allow 200 up 8192 down 0",
            ]),
    ]

    @Test(arguments: Self.admission + Self.own + Self.collecting)
    func `requests are admitted and collected`(scenario: Scenario) async throws { try await scenario.perform() }
}
