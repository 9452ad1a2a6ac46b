// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// Exchanges whose requests are held to a contract, or made on another thread.
struct RequestScenarioTests {
    static let serialize = AdmissionScenarioTests.serialize
    static let pets = "routes: [{name: a, contract: {file: pets.yaml, requests: true}}]"
    static let reportedPets =
        "routes: [{name: a, contract: {file: pets.yaml, requests: true}, response: {on_violation: report}}]"
    static let pet = ["POST http://a.test/v1/pets", "Content-Length: 13", "Content-Type: application/json"]

    static let contracts: [Scenario] = [
        Scenario(
            name: "a request that keeps its contract goes, trailers and all", policy: pets,
            request: ["POST http://a.test/v1/pets", "Transfer-Encoding: chunked", "Content-Type: application/json"],
            events: [
                .begin, .body("{\"name\":\"a\"}"), .endOfBody(["X-Sum": "1"]), .head(201, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with chunks to come",
                #"origin < "{"name":"a"}""#,
                "origin < end of body {X-Sum: 1}",
                "client < 201, 0 bytes",
                "client < end",
                "record: completed allow 201 up 12 down 0",
            ]),
        Scenario(
            name: "a request that breaks its contract is refused", policy: pets, request: pet,
            events: [.begin, .body("{\"nome\":\"a\"} "), .endOfBody()],
            expected: [
                "client < 422",
                "client < problem unserializable-request: the request breaks its contract: at the root: must "
                    + "have the property “name”",
                "client < end",
                "record: failed error 422 up 13 down 0 unserializable-request",
            ]),
        Scenario(
            name: "a request that breaks its contract is only reported", policy: reportedPets, request: pet,
            events: [.begin, .body("{\"nome\":\"a\"} "), .endOfBody(), .head(201, [:], 0), .originEnds],
            expected: [
                #"origin < POST http://a.test/v1/pets {Content-Type: application/json} with "{"nome":"a"} ""#,
                "client < 201, 0 bytes {Pintle-Violation: unserializable-request}",
                "client < end",
                "record: completed allow 201 up 13 down 0 unserializable-request",
            ]),
        Scenario(
            name: "an operation that is not declared is refused", policy: pets, request: ["PUT http://a.test/v1/pets"],
            events: [.begin],
            expected: [
                "client < 422",
                "client < problem unserializable-request: the request breaks its contract: the contract has no "
                    + "PUT for /pets; it has GET and POST",
                "client < end",
                "record: failed error 422 up 0 down 0 unserializable-request",
            ]),
        Scenario(
            name: "an operation that is not declared is only reported", policy: reportedPets,
            request: ["PUT http://a.test/v1/pets", "Content-Length: 2"],
            events: [.begin, .body("ab"), .endOfBody(), .head(200, [:], 0), .originEnds],
            expected: [
                "origin < PUT http://a.test/v1/pets with 2 bytes to come",
                #"origin < "ab""#,
                "origin < end of body",
                "client < 200, 0 bytes {Pintle-Violation: unserializable-request}",
                "client < end",
                "record: completed allow 200 up 2 down 0 unserializable-request",
            ]),
        Scenario(
            name: "a body that is too long to be judged is refused", policy: "limits: {body_buffer: 12}\n" + pets,
            request: pet, events: [.begin],
            expected: [
                "client < 413",
                "client < problem body-too-large: the route must see the whole body, and it is over limits.body_buffer",
                "client < end",
                "record: failed error 413 up 0 down 0",
            ]),
        Scenario(
            name: "a response that its operation does not declare is rejected", policy: pets, request: pet,
            events: [.begin, .body("{\"name\":\"a\"} "), .endOfBody(), .head(418, [:], 0)],
            expected: [
                #"origin < POST http://a.test/v1/pets {Content-Type: application/json} with "{"name":"a"} ""#,
                "origin cancelled",
                "client < 502",
                "client < problem response-status: the response has the status 418, which POST /pets does not "
                    + "declare; it declares 201",
                "client < end",
                "record: failed reject 502 up 13 down 0 response-status",
            ]),
    ]

    static let elsewhere: [Scenario] = [
        Scenario(
            name: "a long body is made anew on another thread", policy: serialize,
            request: ["POST http://a.test/", "Content-Length: 40000", "Content-Type: application/json"],
            events: [
                .begin, .body("{}" + String(repeating: " ", count: 39_998)), .endOfBody(), .held, .wants, .poolIsFree,
                .until("origin <"), .held, .head(200, [:], 0), .originEnds,
            ],
            expected: [
                "held: 36864",
                "wants no body, no end",
                #"origin < POST http://a.test/ {Content-Type: application/json} with "{"b":2}""#,
                "held: 0",
                "client < 200, 0 bytes",
                "client < end",
                "record: completed allow 200 up 40000 down 0",
            ], settings: .init(isPoolBusy: true)),
        Scenario(
            name: "a client that leaves while its request is made gives back the memory", policy: serialize,
            request: ["POST http://a.test/", "Content-Length: 40000", "Content-Type: application/json"],
            events: [
                .begin, .body("{}" + String(repeating: " ", count: 39_998)), .endOfBody(), .clientLeft, .held,
                .poolIsFree,
            ],
            expected: [
                "held: 0",
                "record: left allow up 40000 down 0",
            ], settings: .init(isPoolBusy: true)),
        Scenario(
            name: "a request that no thread makes is overloaded", policy: serialize,
            request: ["POST http://a.test/", "Content-Length: 40000", "Content-Type: application/json"],
            events: [.begin, .body("{}" + String(repeating: " ", count: 39_998)), .endOfBody()],
            expected: [
                "client < 503 {Retry-After: 1}",
                "client < problem overloaded: 0 bodies wait to be judged, as many as may; try again later",
                "client < end",
                "record: failed deny 503 up 40000 down 0",
            ],
            settings: .init(isPoolFull: true)),
        Scenario(
            name: "a request that no thread judges passes where it is only reported", policy: reportedPets,
            request: ["POST http://a.test/v1/pets", "Content-Length: 40000", "Content-Type: application/json"],
            events: [
                .begin, .body("{}" + String(repeating: " ", count: 39_998)), .endOfBody(), .head(201, [:], 0),
                .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with 40000 bytes",
                "client < 201, 0 bytes {Pintle-Violation: body-too-large}",
                "client < end",
                "record: completed allow 201 up 40000 down 0 body-too-large",
            ], settings: .init(isPoolFull: true)),
    ]

    /// Bodies that are not checked: the contract only reports.
    static let unjudged: [Scenario] = [
        Scenario(
            name: "a body that is too long to be judged passes where it is only reported",
            policy: "limits: {body_buffer: 12}\n" + reportedPets, request: pet,
            events: [.begin, .body("{\"nome\":\"a\"} "), .endOfBody(), .head(201, [:], 0), .originEnds],
            expected: [
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with 13 bytes to come",
                #"origin < "{"nome":"a"} ""#,
                "origin < end of body",
                "client < 201, 0 bytes {Pintle-Violation: body-too-large}",
                "client < end",
                "record: completed allow 201 up 13 down 0 body-too-large",
            ]),
        Scenario(
            name: "a body that becomes too long to be judged passes with its beginning",
            policy: "limits: {body_buffer: 4}\n" + reportedPets,
            request: ["POST http://a.test/v1/pets", "Transfer-Encoding: chunked", "Content-Type: application/json"],
            events: [
                .begin, .body("{\"n"), .body("ome\""), .body(":1}"), .endOfBody(["X-Sum": "1"]), .head(201, [:], 0),
                .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with chunks to come",
                #"origin < "{"nome"""#,
                #"origin < ":1}""#,
                "origin < end of body {X-Sum: 1}",
                "client < 201, 0 bytes {Pintle-Violation: body-too-large}",
                "client < end",
                "record: completed allow 201 up 10 down 0 body-too-large",
            ]),
        Scenario(
            name: "a body for which there is no memory passes where it is only reported",
            policy: "limits: {held_bytes: 1MiB, body_buffer: 1MiB}\n" + reportedPets,
            request: ["POST http://a.test/v1/pets", "Transfer-Encoding: chunked", "Content-Type: application/json"],
            events: [
                .othersHold(1 << 20), .begin, .bodyOf(4096), .body("x"), .endOfBody(), .head(201, [:], 0), .originEnds,
            ],
            expected: [
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with chunks to come",
                "origin < 4096 bytes",
                #"origin < "x""#,
                "origin < end of body",
                "client < 201, 0 bytes {Pintle-Violation: body-too-large}",
                "client < end",
                "record: completed allow 201 up 4097 down 0 body-too-large",
            ]),
    ]

    /// A body for which the proxy sends 100 Continue, and which then passes without a check.
    static let continued: [Scenario] = [
        Scenario(
            name: "an origin is not asked whether it wants a body that was asked for here",
            policy: "limits: {body_buffer: 4}\n" + reportedPets,
            request: [
                "POST http://a.test/v1/pets", "Transfer-Encoding: chunked", "Content-Type: application/json",
                "Expect: 100-continue",
            ],
            events: [.begin, .body("[1,2]"), .endOfBody(), .head(201, [:], 0), .originEnds],
            expected: [
                "client < interim 100",
                "origin < POST http://a.test/v1/pets {Content-Type: application/json} with chunks to come",
                #"origin < "[1,2]""#,
                "origin < end of body",
                "client < 201, 0 bytes {Pintle-Violation: body-too-large}",
                "client < end",
                "record: completed allow 201 up 5 down 0 body-too-large",
            ])
    ]

    @Test(arguments: Self.continued)
    func `a client is asked to go on once`(scenario: Scenario) async throws { try await scenario.perform() }

    /// Memory that an exchange holds after its end.
    static let afterwards: [Scenario] = [
        Scenario(
            name: "a body that the origin took in its last turn is not held any more", policy: serialize,
            request: AdmissionScenarioTests.long,
            events: [
                .begin, .bodyOf(8192), .endOfBody(), .head(200, [:], 0), .originTook, .originEnds, .held, .turn, .held,
            ],
            expected: [
                "origin < POST http://a.test/ {Content-Type: application/json} with 8207 bytes",
                "client < 200, 0 bytes",
                "client < end",
                "held: 0",
                "held: 0",
                "record: completed allow 200 up 8192 down 0",
            ])
    ]

    @Test(arguments: Self.afterwards)
    func `nothing is held afterwards`(scenario: Scenario) async throws { try await scenario.perform() }

    @Test(arguments: Self.contracts + Self.elsewhere)
    func `requests are judged and made`(scenario: Scenario) async throws { try await scenario.perform() }

    @Test(arguments: Self.unjudged)
    func `bodies that nobody judges pass, and that is counted once`(scenario: Scenario) async throws {
        try await scenario.perform()
    }
}
