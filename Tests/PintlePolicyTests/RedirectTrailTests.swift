// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleSession
import Testing

/// `redirects`: the redirects that are followed on behalf of a client, and the next request.
struct RedirectTrailTests {
    /// A request, its answer, and the next request.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var rule = "follow"
        /// More of the route.
        var route = ""
        /// More of the configuration.
        var rest = ""
        var request = ["GET http://a.test/x/y?q=1"]
        /// The whole body; nil if it was streamed, or there is none.
        var body: String?
        var status: UInt16 = 302
        var location: String? = "/z"
        /// The next request, or the problem in its place; empty if the response is passed to the client.
        let next: String

        var testDescription: String { self.name }
    }

    private static let onlyA = ", match: {hosts: [a.test]}"

    static let followed = [
        Row(name: "302", next: "GET http://a.test/z by r"),
        Row(name: "301", status: 301, next: "GET http://a.test/z by r"),
        Row(name: "303", status: 303, next: "GET http://a.test/z by r"),
        Row(name: "307", status: 307, next: "GET http://a.test/z by r"),
        Row(name: "308", status: 308, next: "GET http://a.test/z by r"),
        Row(name: "a sibling", location: "z?r=2", next: "GET http://a.test/x/z?r=2 by r"),
        Row(name: "a parent", location: "../z", next: "GET http://a.test/z by r"),
        Row(name: "a query", location: "?r=2", next: "GET http://a.test/x/y?r=2 by r"),
        Row(name: "another host", location: "//b.test/z", next: "GET http://b.test/z by r"),
        Row(name: "to https", location: "https://a.test/z", next: "GET https://a.test/z by r"),
        Row(name: "a fragment is not sent", location: "/z#part", next: "GET http://a.test/z by r"),
        Row(name: "HEAD stays", request: ["HEAD http://a.test/"], status: 303, next: "HEAD http://a.test/z by r"),
        Row(
            name: "another route", route: onlyA, rest: ", {name: s, match: {hosts: [b.test]}}",
            location: "http://b.test/",
            next: "GET http://b.test/ by s"),
        Row(name: "no route", route: onlyA, location: "http://b.test/", next: "GET http://b.test/ by -"),
        Row(
            name: "a denied destination", rest: "]\ndestinations: {deny: [b.test]}\n#", location: "http://b.test/",
            next: "403 destination-denied: b.test:80 is denied by destinations.deny[0] \"b.test\""),
        Row(
            name: "the same origin", rule: "same_origin", location: "http://A.test:80/z",
            next: "GET http://a.test/z by r"),
    ]

    static let passed = [
        Row(name: "200", status: 200, next: ""), Row(name: "300", status: 300, next: ""),
        Row(name: "304", status: 304, next: ""), Row(name: "without a Location", location: nil, next: ""),
        Row(name: "an empty Location", location: "", next: ""),
        Row(name: "another scheme", location: "ftp://a.test/z", next: ""),
        Row(name: "no URL", location: "http://a b/", next: ""),
        Row(name: "user information", location: "http://u:p@b.test/", next: ""),
        Row(
            name: "from https to http", request: ["GET https://a.test/"], location: "http://a.test/z", next: ""),
        Row(name: "another host than asked", rule: "same_origin", location: "http://b.test/z", next: ""),
        Row(name: "another port than asked", rule: "same_origin", location: "http://a.test:8080/z", next: ""),
        Row(name: "another scheme than asked", rule: "same_origin", location: "https://a.test/z", next: ""),
    ]

    static let bodies = [
        Row(
            name: "a POST becomes a GET", request: ["POST http://a.test/", "Content-Length: 2", "Content-Type: a/b"],
            body: "hi", next: "GET http://a.test/z by r"),
        Row(
            name: "a POST stays one", request: ["POST http://a.test/", "Content-Length: 2", "Content-Type: a/b"],
            body: "hi", status: 307, next: "POST http://a.test/z by r {Content-Type: a/b} with \"hi\""),
        Row(
            name: "a PUT stays one", request: ["PUT http://a.test/", "Transfer-Encoding: chunked"], body: "hi",
            next: "PUT http://a.test/z by r with \"hi\""),
        Row(
            name: "a PUT becomes a GET", request: ["PUT http://a.test/", "Transfer-Encoding: chunked"], body: "hi",
            status: 303, next: "GET http://a.test/z by r"),
        Row(
            name: "an empty body", request: ["POST http://a.test/", "Content-Length: 0"], body: nil, status: 308,
            next: "POST http://a.test/z by r with \"\""),
        Row(
            name: "a body that was streamed", request: ["POST http://a.test/", "Content-Length: 2"], status: 307,
            next: ""),
        Row(
            name: "a body that was streamed and is not needed", request: ["POST http://a.test/", "Content-Length: 2"],
            status: 303, next: "GET http://a.test/z by r"),
    ]

    static let credentials = ["Authorization: Basic eA==", "Cookie: a=b", "X-A: c"]

    static let fields = [
        Row(
            name: "credentials stay with their origin", request: ["GET http://a.test/"] + credentials,
            next: "GET http://a.test/z by r {Authorization: Basic eA==, Cookie: a=b, X-A: c}"),
        Row(
            name: "credentials leave for no other", request: ["GET http://a.test/"] + credentials,
            location: "http://b.test/", next: "GET http://b.test/ by r {X-A: c}"),
        Row(
            name: "nor for another port", request: ["GET http://a.test/"] + credentials,
            location: "http://a.test:81/", next: "GET http://a.test:81/ by r {X-A: c}"),
        Row(
            name: "a route's fields are those of the new one", route: onlyA + ", request: {headers: {set: {X-B: r}}}",
            rest: ", {name: s, match: {hosts: [b.test]}, request: {headers: {set: {X-B: s}}}}",
            location: "http://b.test/", next: "GET http://b.test/ by s {X-B: s}"),
    ]

    private static let pay = ", match: {hosts: [pay.test]}, upstream: \"https://u.test/v1/\", strip_prefix: \"/pay\""

    static let upstreams = [
        Row(
            name: "below the upstream", route: pay, request: ["GET http://pay.test/pay/a"], location: "b",
            next: "GET https://u.test/v1/b by r"),
        Row(
            name: "below the upstream, in full", route: pay, request: ["GET http://pay.test/pay/a"],
            location: "https://u.test/v1/c?d", next: "GET https://u.test/v1/c?d by r"),
        Row(
            name: "beside the upstream", route: pay, request: ["GET http://pay.test/pay/a"], location: "/v2/b",
            next: "GET https://u.test/v2/b by -"),
        Row(
            name: "from a gateway", route: pay, request: ["GET /pay/a", "Host: pay.test"], location: "b",
            next: "GET https://u.test/v1/b by r"),
        Row(
            name: "by a method that the route is not for",
            route: ", match: {hosts: [pay.test], methods: [POST]}, upstream: \"https://u.test/v1/\"",
            request: ["POST http://pay.test/a", "Content-Length: 0"], status: 303, location: "b",
            next: "GET https://u.test/v1/b by -"),
    ]

    private func check(_ row: Row) throws {
        let policy = try policy(
            "routes: [{name: r, redirects: \(row.rule)\(row.route)}\(row.rest)]".replacing("#]", with: ""))
        let head = try RequestHead(spelled: row.request, minorVersion: 1)
        let plan = RequestPlan(head, try head.bodyFraming(), by: policy)
        var trail = try #require(RedirectTrail(head, plan))
        let body: RequestPlan.Body = row.body.map { .whole(ByteBuffer(string: $0), trailers: [:]) } ?? .streamed
        trail.keep(body)
        trail.wasSent(try plan.request(from: head, body, of: .local, within: .unlimited).transfer)
        let fields: Fields = row.location.map { ["Location": $0] } ?? [:]
        let hop = try trail.next(after: ResponseHead(status: row.status, fields: fields))
        let next = try hop.map(self.spelled) ?? ""
        #expect(next == row.next)
    }

    private func spelled(_ hop: RedirectTrail.Hop) throws -> String {
        if case .refuse(let problem) = hop.plan.step {
            return "\(problem.status) \(problem.name.rawValue): \(problem.detail)"
        }
        let transfer = try hop.plan.request(from: hop.head, hop.body, of: .local, within: .unlimited).transfer
        let fields = transfer.fields.pairs.filter { $0.value != "1.1 pintle" }.map { "\($0.name): \($0.value)" }
        let url =
            "\(transfer.scheme.rawValue)://\(transfer.authority.description(for: transfer.scheme))\(transfer.path)"
        var words = "\(transfer.method) \(url) by \(hop.plan.decision?.route?.name ?? "-")"
        if !fields.isEmpty { words += " {\(fields.joined(separator: ", "))}" }
        switch transfer.body {
        case .none: break
        case .bytes(let bytes): words += " with \"\(String(buffer: bytes))\""
        case .stream: words += " streaming"
        }
        return words
    }

    @Test(arguments: Self.followed) func `a redirect is followed`(row: Row) throws { try self.check(row) }

    @Test(arguments: Self.passed) func `a response is the client's`(row: Row) throws { try self.check(row) }

    @Test(arguments: Self.bodies) func `a body goes where it belongs`(row: Row) throws { try self.check(row) }

    @Test(arguments: Self.fields) func `fields go where they belong`(row: Row) throws { try self.check(row) }

    @Test(arguments: Self.upstreams) func `an upstream is left only where a redirect leaves it`(row: Row) throws {
        try self.check(row)
    }

    @Test func `what leads on and on is a problem`() throws {
        let policy = try policy("routes: [{name: r, redirects: follow}]")
        let head = try RequestHead(spelled: ["GET http://a.test/"], minorVersion: 1)
        var (current, plan) = (head, RequestPlan(head, .none, by: policy))
        var trail = try #require(RedirectTrail(head, plan))
        for number in 0..<RedirectTrail.limit {
            trail.wasSent(try plan.request(from: current, .streamed, of: .local, within: .unlimited).transfer)
            let next = try trail.next(after: ResponseHead(status: 302, fields: ["Location": "/\(number)"]))
            let hop = try #require(next)
            (current, plan) = (hop.head, hop.plan)
        }
        trail.wasSent(try plan.request(from: current, .streamed, of: .local, within: .unlimited).transfer)
        var problem: Problem?
        do throws(Problem) {
            _ = try trail.next(after: ResponseHead(status: 302, fields: ["Location": "/"]))
        } catch {
            problem = error
        }
        #expect(problem?.name == .loopDetected)
        #expect(
            problem?.detail == "a.test:80 redirects again after 20 redirects, which is as many as are followed")
    }

    @Test(arguments: ["", "redirects: pass"]) func `without the key they are the client's`(rule: String) throws {
        let head = try RequestHead(spelled: ["POST http://a.test/", "Content-Length: 3"], minorVersion: 1)
        let plan = RequestPlan(head, try head.bodyFraming(), by: try policy("routes: [{name: r, \(rule)}]"))
        #expect(RedirectTrail(head, plan) == nil && !plan.collectsForRedirects)
    }

    // MARK: The key

    @Test func `a wrong value is refused`() {
        #expect(
            problems("version: 1\nroutes: [{name: r, redirects: all}]") == [
                "pintle.yaml:2:31: routes[0].redirects: \"all\": must be pass, follow or same_origin"
            ])
        #expect(
            problems("version: 1\nroutes: [{name: r, redirect: follow}]") == [
                "pintle.yaml:2:20: routes[0]: unknown key \"redirect\"; did you mean \"redirects\"?"
            ])
    }

    @Test func `check and explain say it`() throws {
        let policy = try policy("routes: [{name: r, redirects: follow}]")
        #expect(
            Lint(policy).findings.first?.message
                == "\"r\": every method every host → where it was aimed; follows redirects for the client, up to 20, but "
                + "none from https to http; denies tunnels, which could not keep its rules")
        let head = try RequestHead(spelled: ["PUT http://a.test/", "Content-Length: 3"], minorVersion: 1)
        let lines = try Explanation(policy, head).lines.map(\.description)
        #expect(lines.contains("redirects    follows redirects for the client, up to 20, but none from https to http"))
        #expect(lines.last == "sent         when all of its body is here, which a redirect may need again")
    }
}
