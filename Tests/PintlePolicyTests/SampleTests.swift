// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintlePolicy
import Testing

/// Saved requests as `pintle check --sample` prints them. The tests of agreement show that `pintle serve` sends the same.
struct SampleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var policy = ""
        let sample: String
        let expected: String
        var mask: String?

        var testDescription: String { self.name }
    }

    private static let ranged = """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        servers: [{url: /v1}]
        paths:
          /pets:
            get:
              parameters: [{name: Range, in: header, required: true, schema: {type: string}}]
              responses: {200: {description: all, content: {application/json: {schema: {type: array}}}}}
        """

    static let rows = [
        Row(
            name: "LOOK-46 a contract may require a Range that is not sent on",
            policy: "routes: [{name: a, contract: {file: ranged.yaml, requests: true}}]",
            sample: "GET http://a.test/v1/pets HTTP/1.1\nHost: a.test\nRange: bytes=0-1\n\n",
            expected: "GET http://a.test/v1/pets {} none "),
        Row(
            name: "LOOK-46 a contract requires a Range",
            policy: "routes: [{name: a, contract: {file: ranged.yaml, requests: true}}]",
            sample: "GET http://a.test/v1/pets HTTP/1.1\nHost: a.test\n\n", expected: "422 unserializable-request"),
        Row(
            name: "LOOK-46 the last hop is this proxy",
            sample: "TRACE http://a.test/ HTTP/1.1\nHost: a.test\nMax-Forwards: 0\n\n", expected: "400 bad-request"),
        Row(
            name: "LOOK-46 a chunked sample stays chunked",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\nTransfer-Encoding: chunked\n\n2\r\nhi\r\n0\r\n\r\n",
            expected: "POST http://a.test/ {} chunked hi"),
        Row(
            name: "LOOK-46 a chunked sample is serialized", policy: "routes: [{name: a, request: {serialize: json}}]",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\nContent-Type: application/x-www-form-urlencoded\n"
                + "Transfer-Encoding: chunked\n\n3\r\na=1\r\n0\r\n\r\n",
            expected: #"POST http://a.test/ {Content-Type: application/json} 9 {"a":"1"}"#),
        Row(
            name: "a body without a length is what is left",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\n\nhello\n", expected: "POST http://a.test/ {} 5 hello"),
        Row(
            name: "a sample that ends before its body",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\nContent-Length: 9\n\nhello",
            expected: "400 bad-request"),
        Row(
            name: "a tunnel is no sample", sample: "CONNECT a.test:443 HTTP/1.1\nHost: a.test:443\n\n",
            expected: "400 bad-request"),
        Row(
            name: "an upgrade is offered",
            sample: "GET http://a.test/ HTTP/1.1\nHost: a.test\nConnection: upgrade\nUpgrade: websocket, h2c\n\n",
            expected: "GET http://a.test/ {} none offering websocket "),
        Row(
            name: "what a route puts into a request is masked",
            policy:
                "routes: [{name: a, request: {headers: {set: {X-Key: secret}}, serialize: json, parameters: {k: secret}}}]",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\n\n",
            expected: #"POST http://a.test/ {Content-Type: application/json, X-Key: ***} 11 {"k":"***"}"#, mask: "***"),
        Row(
            name: "a body that is too long to be serialized",
            policy: "limits: {body_buffer: 2}\nroutes: [{name: a, request: {serialize: json}}]",
            sample: "POST http://a.test/ HTTP/1.1\nHost: a.test\n\nhello\n", expected: "413 body-too-large"),
        Row(
            name: "a sample is of the user that it names", policy: Self.forUsers, sample: Self.asked("ben:other"),
            expected: "GET http://a.test/ {} none "),
        Row(
            name: "a sample is of the user and the tag that it names",
            policy: Self.users
                + "routes: [{name: a, match: {users: [ben], tags: [ci]}, request: {headers: {set: {X-A: b}}}}]",
            sample: Self.asked("ben+ci:other"), expected: "GET http://a.test/ {X-A: b} none "),
        Row(
            name: "a sample without a name is of none", policy: Self.forUsers, sample: Self.asked(nil),
            expected: "403 destination-denied"),
        Row(
            name: "a sample with a wrong password", policy: Self.forUsers, sample: Self.asked("ben:wrong"),
            expected: "407 proxy-auth-required"),
        Row(
            name: "a sample of a user that there is not", policy: Self.forUsers, sample: Self.asked("eva:other"),
            expected: "407 proxy-auth-required"),
        Row(
            name: "a sample with another scheme", policy: Self.forUsers,
            sample: "GET http://a.test/ HTTP/1.1\nHost: a.test\nProxy-Authorization: Bearer x\n\n",
            expected: "407 proxy-auth-required"),
        Row(
            name: "a sample that names its client twice", policy: Self.forUsers,
            sample: "GET http://a.test/ HTTP/1.1\nHost: a.test\n"
                + String(repeating: "Proxy-Authorization: Basic \(Self.word("ben:other"))\n", count: 2) + "\n",
            expected: "407 proxy-auth-required"),
        Row(
            name: "without users the name is the tag of a sample",
            policy: "destinations: {default: deny, allow: [{host: a.test, tags: [ci]}]}", sample: Self.asked("ci:"),
            expected: "GET http://a.test/ {} none "),
    ]

    private static let users = "clients: {basic_auth: {users: users}}\n"
    private static let forUsers = Self.users + "destinations: {default: deny, allow: [{host: a.test, users: [ben]}]}"

    /// A request of a client.
    ///
    /// - Parameter client: its name and password; nil for a client that shows none.
    private static func asked(_ client: String?) -> String {
        let field = client.map { "Proxy-Authorization: Basic \(Self.word($0))\n" } ?? ""
        return "GET http://a.test/ HTTP/1.1\nHost: a.test\n\(field)\n"
    }

    private static func word(_ client: String) -> String { Data(client.utf8).base64EncodedString() }

    @Test(arguments: Self.rows)
    func `a sample is sent as it would be served`(row: Row) throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\n\(row.policy)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: [
                "ranged.yaml": Self.ranged,
                "users": "ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K\n",
            ]))
        do throws(Problem) {
            let run = try DryRun(Array(row.sample.utf8), policy: policy)
            var sent = (head: run.head, body: run.body)
            if let mask = row.mask { sent = try run.masked(by: mask) }
            sent.head.fields.remove("Via")
            #expect(Self.spelled(sent.head, sent.body) == row.expected)
        } catch {
            #expect("\(error.status) \(error.name.rawValue)" == row.expected, "\(error.detail)")
        }
    }

    private static func spelled(_ head: RequestHead, _ body: [UInt8]) -> String {
        let framing: Set<String> = ["host", "content-length", "transfer-encoding", "connection", "upgrade"]
        let form = head.fields.contains(.transferEncoding) ? "chunked" : head.fields[.contentLength] ?? "none"
        let upgrade = head.fields["Upgrade"].map { " offering \($0)" } ?? ""
        let fields = head.fields.pairs.filter { !framing.contains($0.name.lowercased()) }
        let text = fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        return
            "\(head.method) \(head.target.url ?? "*") {\(text)} \(form)\(upgrade) \(String(decoding: body, as: UTF8.self))"
    }
}
