// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintlePolicy

/// `cors`: preflights, and the permissions in other responses.
struct CORSRuleTests {
    @Test(
        arguments: [
            ("https://app.example", "https://app.example", true), ("https://app.example", "http://app.example", false),
            ("https://app.example", "https://app.example:8443", false),
            ("HTTPS://App.Example", "https://app.example", true),
            ("http://localhost:5173", "http://localhost:5173", true),
            ("http://localhost:5173", "http://localhost", false),
            ("http://[::1]:5173", "http://[::1]:5173", true), ("app://local", "app://local", true),
            ("https://*.app.example", "https://a.app.example", true),
            ("https://*.app.example", "https://a.b.app.example", true),
            ("https://*.app.example", "https://app.example", false),
            ("https://*.app.example", "https://.app.example", false),
            ("https://*.app.example", "https://evil.example/.app.example", false),
            ("https://*.app.example", "https://u@a.app.example", false),
            ("https://*.app.example:8443", "https://a.app.example:8443", true),
            ("https://*.app.example", "https://aapp.example", false), ("https://app.example", "null", false),
            ("*", "null", true), ("*", "https://app.example", true),
        ])
    func `an origin is compared whole, and a star stands for labels`(pattern: String, origin: String, matches: Bool)
        throws
    {
        #expect(try CORSOrigin(pattern).matches(origin) == matches)
    }

    private static let route = """
        routes:
          - name: api
            match: {methods: [GET, PUT], paths: ["/v1/**"]}
            upstream: "http://up.test/"
            cors: {origins: ["https://app.example"], headers: [Content-Type], expose: [ETag], credentials: true, max_age: 10m}
          - {name: open, upstream: "http://up.test/", cors: {origins: "*", headers: "*"}}
        """

    private func plan(_ lines: String...) throws -> RequestPlan {
        RequestPlan(try RequestHead(spelled: lines), .none, by: try policy(Self.route))
    }

    private func preflight(_ path: String, from origin: String, for method: String, _ more: String...) throws
        -> OwnResponse?
    {
        let lines = [
            "OPTIONS \(path)", "Host: localhost", "Origin: \(origin)", "Access-Control-Request-Method: \(method)",
        ]
        let plan = RequestPlan(try RequestHead(spelled: lines + more), .none, by: try policy(Self.route))
        guard case .respond(let answer) = plan.step else { return nil }
        var response = OwnResponse(answer)
        response = OwnResponse(
            RouteAnswer(
                status: answer.status, fields: response.head(by: plan.responseRewriter).fields, body: answer.body,
                note: answer.note))
        return response
    }

    private func permissions(_ fields: Fields) -> [String: String] {
        var found: [String: String] = [:]
        for (name, value) in fields.pairs where name == "Vary" || name.hasPrefix("Access-Control-") {
            found[name] = found[name].map { "\($0), \(value)" } ?? value
        }
        return found
    }

    @Test func `a preflight is answered for the request that it announces`() throws {
        let answer = try #require(try self.preflight("/v1/a", from: "https://app.example", for: "PUT"))
        #expect(answer.head.status == 204 && answer.body.isEmpty)
        #expect(
            self.permissions(answer.head.fields) == [
                "Access-Control-Allow-Origin": "https://app.example", "Access-Control-Allow-Credentials": "true",
                "Access-Control-Allow-Methods": "GET, PUT", "Access-Control-Allow-Headers": "Content-Type",
                "Access-Control-Max-Age": "600", "Vary": "Origin",
            ])
    }

    @Test func `a preflight for a method of no route of the path goes to the route that has it`() throws {
        let answer = try #require(try self.preflight("/v1/a", from: "https://other.example", for: "DELETE"))
        #expect(answer.head.status == 204 && answer.head.fields["Access-Control-Allow-Origin"] == "*")
    }

    @Test func `every field that is asked for may be allowed, also with credentials`() throws {
        let answer = try #require(
            try self.preflight(
                "/", from: "null", for: "GET", "Access-Control-Request-Headers: authorization,x-a, b@d"))
        #expect(
            self.permissions(answer.head.fields) == [
                "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "authorization, x-a",
                "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
                "Vary": "Access-Control-Request-Headers",
            ])
    }

    @Test func `a page without permission is told why`() throws {
        let answer = try #require(try self.preflight("/v1/a", from: "https://evil.example", for: "PUT"))
        #expect(answer.head.status == 403 && self.permissions(answer.head.fields) == ["Vary": "Origin"])
        let reason = "the origin https://evil.example is not in cors.origins of routes[0] \"api\""
        #expect(String(decoding: answer.body, as: UTF8.self) == reason + "\n" && answer.note == reason)
    }

    @Test func `OPTIONS without an origin or a method is a request like any other`() throws {
        for lines in [["Origin: https://app.example"], ["Access-Control-Request-Method: GET"]] {
            let head = try RequestHead(spelled: ["OPTIONS /", "Host: localhost"] + lines)
            guard case .send = RequestPlan(head, .none, by: try policy(Self.route)).step else {
                Issue.record("\(lines)")
                continue
            }
        }
    }

    @Test(
        arguments: [
            (
                "/v1/a", "https://app.example",
                [
                    "Access-Control-Allow-Origin": "https://app.example",
                    "Access-Control-Allow-Credentials": "true", "Access-Control-Expose-Headers": "ETag",
                    "Vary": "Accept, Origin",
                ]
            ),
            ("/v1/a", "https://evil.example", ["Vary": "Accept, Origin"]),
            ("/v1/a", nil, ["Vary": "Accept, Origin"]),
            ("/b", "https://evil.example", ["Access-Control-Allow-Origin": "*", "Vary": "Accept"]),
        ] as [(String, String?, [String: String])])
    func `a response has the permissions of the route, and none of its origin's`(
        path: String, origin: String?, expected: [String: String]
    ) throws {
        let lines = ["GET \(path)", "Host: localhost"] + (origin.map { ["Origin: \($0)"] } ?? [])
        let plan = RequestPlan(try RequestHead(spelled: lines), .none, by: try policy(Self.route))
        let head = ResponseHead(
            status: 200, fields: ["Access-Control-Allow-Origin": "https://other.example", "Vary": "Accept"])
        let forwarded = head.forwarded(by: plan.responseRewriter, via: nil, version: "1.1", marks: [], others: [])
        #expect(self.permissions(forwarded.fields) == expected)
    }

    @Test func `Vary is not repeated`() throws {
        let plan = try self.plan("GET /v1/a", "Host: localhost", "Origin: https://app.example")
        let head = ResponseHead(status: 200, fields: ["Vary": "Accept, origin"])
        let forwarded = head.forwarded(by: plan.responseRewriter, via: nil, version: "1.1", marks: [], others: [])
        #expect(forwarded.fields.values(of: "Vary") == ["Accept, origin"])
    }

    @Test func `pages may read the problem that answers them`() throws {
        let plan = try self.plan("GET /v1/a", "Host: localhost", "Origin: https://app.example")
        let context = ProblemWriter.Context(exchangeID: "1", route: "api", trust: nil, json: true)
        let head = OwnResponse(Problem(.connectFailure, "up.test refused"), context).head(by: plan.responseRewriter)
        #expect(head.fields["Access-Control-Allow-Origin"] == "https://app.example")
    }
}
