// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// `pintle explain` describes the step that the plan takes.
struct RequestPlanExplanationTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var policy = ""
        let request: [String]
        /// The last line of the explanation.
        let told: String

        var testDescription: String { self.name }
    }

    private static let serializer = "routes: [{name: r, request: {serialize: json}}]"
    private static let contract = "routes: [{name: r, contract: {file: api.yaml, requests: true}}]"
    private static let collected = "sent         when all of its body is here, which the"
    private static let streamed = "sent         as it comes"

    static let withoutContent = [
        Row(name: "a request", request: ["GET http://a.test/"], told: streamed),
        Row(name: "a tunnel", request: ["CONNECT a.test:443"], told: "sent         nothing: bytes are relayed"),
        Row(
            name: "the last hop", request: ["TRACE http://a.test/", "Max-Forwards: 0"],
            told: "answer       this proxy's own: Max-Forwards lets the request go no further"),
        Row(
            name: "a route that answers", policy: "routes: [{name: r, respond: {status: 404}}]",
            request: ["GET http://a.test/"], told: "answer       404, by respond"),
        Row(
            name: "a denied destination", policy: "destinations: {deny: [a.test]}", request: ["GET http://a.test/"],
            told: "answer       403 destination-denied"),
        Row(
            name: "a destination that is asked about", policy: "destinations: {ask: [a.test]}",
            request: ["GET http://a.test/"], told: streamed),
        Row(
            name: "an operation that is not in the contract", policy: contract, request: ["PUT http://a.test/v1/pets"],
            told: "answer       422 unserializable-request"),
        Row(
            name: "a serializer", policy: serializer, request: ["GET http://a.test/"],
            told: "\(collected) serializer needs"),
        Row(
            name: "an OPTIONS past a serializer", policy: serializer, request: ["OPTIONS http://a.test/"],
            told: streamed),
        Row(
            name: "a contract without a body to it", policy: contract, request: ["GET http://a.test/v1/pets"],
            told: streamed),
    ]

    static let withContent = [
        Row(
            name: "a body that a contract reads", policy: contract,
            request: ["POST http://a.test/v1/pets", "Content-Type: application/json", "Content-Length: 5"],
            told: "\(collected) contract needs"),
        Row(
            name: "an OPTIONS with a body", policy: serializer,
            request: ["OPTIONS http://a.test/", "Content-Type: application/json", "Content-Length: 5"],
            told: "\(collected) serializer needs"),
    ]

    private func check(_ row: Row) throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\n\(row.policy)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: PlanRow.files))
        let head = try RequestHead(spelled: row.request, minorVersion: 1)
        let explanation = try Explanation(policy, head)
        let told = explanation.lines.map(\.description).filter { $0.hasPrefix("sent  ") || $0.hasPrefix("answer  ") }
        #expect(told == [row.told])
        // The row itself is right: the plan says the same.
        let plan = RequestPlan(head, try head.bodyFraming(), by: policy)
        switch plan.grantedStep {
        case .ask: Issue.record("a question follows a question")
        case .refuse(let problem): #expect(row.told == "answer       \(problem.status) \(problem.name.rawValue)")
        case .respond(let answer): #expect(row.told == "answer       \(answer.status), by respond")
        case .answer: #expect(row.told.hasPrefix("answer       this"))
        case .collect: #expect(row.told.hasPrefix(Self.collected))
        case .send: #expect(row.told == Self.streamed)
        case .tunnel: #expect(row.told.hasPrefix("sent         nothing"))
        }
    }

    @Test(arguments: Self.withoutContent)
    func `what is explained is what is planned`(row: Row) throws { try self.check(row) }

    @Test(arguments: Self.withContent)
    func `what is explained of a request with content is what is planned`(row: Row) throws { try self.check(row) }

    @Test(arguments: [
        (
            "allow: [db.test]",
            "denied by isolate.other_tcp deny; destinations.allow with \"tcp://db.test:5432\" lets every protocol through"
        ),
        ("allow: [\"tcp://db.test:5432\"]", "relayed"),
        ("ask: [db.test]", "asked about, by destinations.ask[0] \"db.test\""),
    ])
    func `the outcomes of a captured connection are told by its first bytes`(rules: String, outcome: String) throws {
        let policy = try policy(
            "destinations: {default: deny, \(rules)}\nisolate: {other_tcp: \(rules.hasPrefix("ask") ? "allow" : "deny")}"
        )
        let head = RequestHead(
            method: "CONNECT", target: .authority(Authority(host: "db.test", port: 5432)), minorVersion: 1)
        let lines = try Explanation(policy, head, isCaptured: true).lines.map(\.description)
        #expect(
            lines.suffix(2) == [
                "in clear     requests are judged one by one, as http://db.test:5432/…",
                "other        a client that speaks something else, or waits for its server, is \(outcome)",
            ])
        #expect(try Explanation(policy, head).lines.allSatisfy { $0.topic != "other" })
    }

    @Test func `a captured connection to an address says that it is judged by a name, if it shows one`() throws {
        let head = RequestHead(
            method: "CONNECT", target: .authority(Authority(host: "192.0.2.7", port: 443)), minorVersion: 1)
        let lines = try Explanation(policy(""), head, isCaptured: true).lines.map(\.description)
        #expect(
            lines.suffix(3).dropLast() == [
                "address      the lines above judge the address alone; at a listener capture:// the server that a ClientHello names "
                    + "takes its place, and is judged as CONNECT NAME:443",
                "in clear     requests are judged one by one, as http://NAME/… with the name in their Host; without one as "
                    + "http://192.0.2.7:443/…",
            ], "\(lines)")
        #expect(try Explanation(policy(""), head).lines.allSatisfy { $0.topic != "address" })
    }

    @Test func `networks of deny are told of a name, which they judge when its address is known`() throws {
        let policy = try policy(
            "destinations: {deny: [\"10.0.0.0/8\", a.test, \"192.0.2.0/24\"], private_addresses: deny}")
        func told(_ url: String) throws -> [String] {
            try Explanation(policy, RequestHead(spelled: ["GET \(url)"], minorVersion: 1)).lines.filter {
                $0.topic == "destination"
            }.map(\.text)
        }
        let dialled = "the address that is dialled is judged by destinations"
        #expect(
            try told("http://b.test/") == [
                "b.test:80 is allowed by destinations.default",
                "\(dialled).deny[0] \"10.0.0.0/8\" and 1 more", "\(dialled).private_addresses deny",
            ])
        // An address that is known is judged at once.
        #expect(try told("http://8.8.8.8/") == ["8.8.8.8:80 is allowed by destinations.default"])
        #expect(try told("http://a.test/") == ["a.test:80 is denied by destinations.deny[1] \"a.test\""])
    }

    @Test func `explain says of a tunnel under the system's roots, too, that its destination proves itself`() throws {
        let authority = try #require(Authority("api.example:443", defaultPort: nil))
        let head = RequestHead(method: "CONNECT", target: .authority(authority))
        let lines = try Explanation(policy("tunnels: {verify: [api.example]}"), head).lines
        let proof = "the destination proves itself before the tunnel opens; nothing is decrypted"
        #expect(
            lines.filter { $0.topic == "trust" }.map(\.text)
                == ["the system's roots: there is no trust policy", proof])
    }
}
