// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// `match.headers`: routes for requests with certain fields.
struct HeaderMatchTests {
    private func route(_ yaml: String, _ request: [String]) throws -> String? {
        let head = try RequestHead(spelled: request, minorVersion: 1)
        return RequestPlan(head, try head.bodyFraming(), by: try policy(yaml)).decision?.route?.name
    }

    @Test(arguments: [
        ("staging", ["X-Env: staging"], true), ("staging", ["x-env: staging"], true),
        ("staging", ["X-Env: Staging"], false), ("staging", ["X-Env: staging2"], false),
        ("staging", ["X-Env: prod", "X-Env: staging"], true), ("staging", ["X-Environment: staging"], false),
        ("staging", [], false), ("\"stag*\"", ["X-Env: staging"], true), ("\"stag*\"", ["X-Env: stag"], true),
        ("\"stag*\"", ["X-Env: sta"], false), ("\"*ing\"", ["X-Env: staging"], true),
        ("\"*ing\"", ["X-Env: ingo"], false), ("\"s*g*g\"", ["X-Env: staging"], true),
        ("\"s*g*g\"", ["X-Env: stg"], false), ("\"ab*ba\"", ["X-Env: aba"], false),
        ("\"ab*ba\"", ["X-Env: abba"], true), ("\"*a*b*\"", ["X-Env: xaxbx"], true),
        ("\"*a*b*\"", ["X-Env: ba"], false), ("\"**\"", ["X-Env: a"], true), ("\"*\"", ["X-Env:"], true),
        ("\"*\"", ["X-Other: a"], false), ("10", ["X-Env: 10"], true), ("on", ["X-Env: on"], true),
        ("\"a, b\"", ["X-Env: a, b"], true), ("a", ["X-Env: a, b"], false),
    ])
    func `a line of the field has the form`(pattern: String, fields: [String], isMatched: Bool) throws {
        let yaml = "routes: [{name: r, match: {headers: {X-Env: \(pattern)}}}]"
        #expect(try self.route(yaml, ["GET http://a.test/"] + fields) == (isMatched ? "r" : nil))
        #expect(try self.route(yaml, ["CONNECT a.test:443"] + fields) == (isMatched ? "r" : nil))
    }

    @Test func `all fields must be there, beside everything else`() throws {
        let yaml = """
            routes:
              - {name: both, match: {hosts: [a.test], methods: [GET], headers: {X-A: a, Accept: "*json*"}}}
              - {name: one, match: {headers: {X-A: a}}}
              - {name: rest}
            """
        let get = "GET http://a.test/"
        #expect(try self.route(yaml, [get, "X-A: a", "Accept: text/html, application/json"]) == "both")
        #expect(try self.route(yaml, [get, "X-A: a", "Accept: text/html"]) == "one")
        #expect(try self.route(yaml, ["GET http://b.test/", "X-A: a", "Accept: application/json"]) == "one")
        #expect(try self.route(yaml, ["PUT http://a.test/", "X-A: a", "Accept: application/json"]) == "one")
        #expect(try self.route(yaml, [get, "Accept: application/json"]) == "rest")
    }

    @Test func `only fields that routes look at are kept for a decision`() throws {
        let fields: Fields = ["X-A": "1", "X-B": "2", "x-a": "3", "Accept": "4"]
        let head = RequestHead(
            method: "GET", target: .absolute(scheme: .http, authority: Authority(host: "a.test", port: 80), path: "/"),
            fields: fields)
        let two = try policy(
            "routes: [{name: a, match: {headers: {x-A: a}}}, {name: b, match: {headers: {ACCEPT: a}}}]")
        #expect(two.routes.fields(of: head) == ["X-A": "1", "x-a": "3", "Accept": "4"])
        #expect(try policy("routes: [{name: a}]").routes.fields(of: head).isEmpty)
    }

    // MARK: Tunnels

    private static let deny = "routes[0] \"r\", connect: deny"
    private static let lost =
        "routes[0] \"r\", because a tunnel cannot keep its response.body; connect: intercept keeps them, tunnel or verify on "
        + "the route lets it pass"

    @Test(arguments: [
        ("connect: deny", true, deny), ("connect: deny", false, nil), ("response: {body: json}", true, lost),
        // A request inside a tunnel may have the field that its CONNECT lacks.
        ("response: {body: json}", false, lost), ("connect: deny, response: {body: json}", true, deny),
        ("connect: deny, response: {body: json}", false, lost),
        ("connect: tunnel, response: {body: json}", true, nil),
        ("connect: tunnel, response: {body: json}", false, nil),
        ("request: {timeout: 5s}", true, "routes[1] \"rest\", connect: deny"),
    ])
    func `a tunnel is judged by the fields of its CONNECT`(rules: String, hasField: Bool, denial: String?) throws {
        // A route for some requests of a host leaves the host's tunnels to later routes.
        let rest = rules.contains("timeout") ? ", {name: rest, connect: deny}" : ""
        let policy = try policy("routes: [{name: r, match: {headers: {X-Env: \"stag*\"}}, \(rules)}\(rest)]")
        let authority = Authority(host: "a.test", port: 443)
        let decision = policy.decideTunnel(
            RouteQuery(
                method: "CONNECT", scheme: .https, authority: authority, path: "/",
                headers: hasField ? ["X-Env": "staging"] : [:]))
        #expect(decision.destination.denial == denial)
    }

    // MARK: Words

    @Test func `explain and check name the fields, and no secret`() throws {
        let yaml =
            "version: 1\nroutes: [{name: r, match: {headers: {X-Env: \"stag*\", X-Key: \"env:KEY\"}}}, {name: rest}]"
        let policy = try PolicyLoader.policy(
            yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings(environment: ["KEY": "s3cret"]))
        func lines(_ fields: String...) throws -> [String] {
            let head = try RequestHead(spelled: ["GET http://a.test/"] + fields, minorVersion: 1)
            return try Explanation(policy, head).lines.map(\.description)
        }
        let matched = try lines("X-Env: staging", "X-Key: s3cret")
        #expect(
            matched.contains(
                "route        routes[0] \"r\" at 2:10: every method every host with X-Env: stag*, X-Key: env:KEY"),
            "\(matched)")
        let missed = try lines("X-Env: staging", "X-Key: other")
        #expect(missed.contains("passed over  routes[0] \"r\": it has no field like \"X-Key: env:KEY\""), "\(missed)")
        #expect(
            Lint(policy).findings.first?.message
                == "\"r\": every method every host with X-Env: stag*, X-Key: env:KEY → where it was aimed")
    }

    @Test(arguments: [
        ("{}", "3:19: routes[0].match.headers: names no field; leave the key out or name one"),
        ("[X-A]", "3:19: routes[0].match.headers: must be a map, not a list"),
        ("{X A: b}", "3:25: routes[0].match.headers.X A: \"b\": not a field name"),
        (
            "{Host: a}",
            "3:26: routes[0].match.headers.Host: \"a\": Host follows the request's target; write match.hosts"
        ),
        (
            "{content-length: 3}",
            "3:36: routes[0].match.headers.content-length: \"3\": frames the message; Pintle writes it anew, and chooses "
                + "no route by it"
        ),
        (
            "{Proxy-Authorization: x}",
            "3:41: routes[0].match.headers.Proxy-Authorization: \"x\": is between a client and this proxy; see "
                + "clients.basic_auth"
        ),
        (
            "{X-A: \"\"}", "3:25: routes[0].match.headers.X-A: \"\": no value has this form; write \"*\" for any"
        ),
        (
            "{X-A: [a]}", "3:25: routes[0].match.headers.X-A: must be text, not a list"
        ),
        (
            "{X-A: \"env:NONE\"}",
            "3:25: routes[0].match.headers.X-A: \"env:NONE\": there is no environment variable NONE"
        ),
        (
            "{X-A: a, x-a: b}",
            "3:28: routes[0].match.headers.x-a: the field is named twice; field names have no letter case"
        ),
    ])
    func `a wrong pattern is refused`(headers: String, problem: String) {
        let yaml = "version: 1\nroutes: [{name: r, match: {\n         headers: \(headers)}}]"
        #expect(problems(yaml) == ["pintle.yaml:" + problem])
    }

    @Test func `a slip of the key is told`() {
        #expect(
            problems("version: 1\nroutes: [{name: r, match: {header: {A: b}}}]") == [
                "pintle.yaml:2:28: routes[0].match: unknown key \"header\"; did you mean \"headers\"?"
            ])
    }
}
