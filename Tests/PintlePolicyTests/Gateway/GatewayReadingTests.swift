// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// `respond`, `cors`, `rewrite_upstream` and `request.forwarded`, as they are read.
struct GatewayReadingTests {
    private func found(_ route: String) -> [String] { problems("version: 1\nroutes: [{name: a, \(route)}]") }

    private func route(_ route: String) throws -> RouteConfiguration {
        try load("version: 1\nroutes: [{name: a, \(route)}]").routes[0]
    }

    @Test(
        arguments: [
            (
                "respond: {status: 100}",
                "2:38: routes[0].respond.status: \"100\": must be a whole number from 200 to 599"
            ),
            (
                "respond: {status: 204, body: x}",
                "2:29: routes[0].respond: a response with the status 204 has no content"
            ),
            (
                "respond: {status: 304, json: {}}",
                "2:29: routes[0].respond: a response with the status 304 has no content"
            ),
            (
                "respond: {body: x, json: {}}",
                "2:29: routes[0].respond: has body and json; a message has one content"
            ),
            (
                "respond: {}, upstream: \"http://up\"",
                "2:43: routes[0].upstream: has no effect beside respond, which sends nothing upstream; leave one of them out"
            ),
            (
                "respond: {}, request: {timeout: 5s}",
                "2:42: routes[0].request: has no effect beside respond, which sends nothing upstream; leave one of them out"
            ),
            (
                "respond: {}, mock: [{status: 200}]",
                "2:39: routes[0].mock: has no effect beside respond, which sends nothing upstream; leave one of them out"
            ),
            (
                "respond: {}, response: {headers: {set: {X-A: b}}, status: 200}",
                "2:78: routes[0].response.status: has no effect beside respond, whose response is not judged; leave it out"
            ),
            (
                "rewrite_upstream: off",
                "2:38: routes[0].rewrite_upstream: needs an upstream, whose addresses are rewritten"
            ),
            (
                "cors: {}",
                "2:26: routes[0].cors: the key \"origins\" is missing: the origins whose pages may use the route, or \"*\""
            ),
            (
                "cors: {origins: \"https://a.example/\"}",
                "2:36: routes[0].cors.origins: \"https://a.example/\": an origin has no path: browsers send scheme, host and "
                    + "port alone"
            ),
            (
                "cors: {origins: a.example}",
                "2:36: routes[0].cors.origins: \"a.example\": an origin has a scheme and a host, as in https://app.example"
            ),
            (
                "cors: {origins: \"https://a.example:443\"}",
                "2:36: routes[0].cors.origins: \"https://a.example:443\": browsers leave out the port of the scheme; leave out :443"
            ),
            (
                "cors: {origins: \"null\"}",
                "2:36: routes[0].cors.origins: \"null\": is the origin of pages without one, which any site can make; name the "
                    + "origins, or write \"*\""
            ),
            (
                "cors: {origins: [\"https://a.*.example\"]}",
                "2:37: routes[0].cors.origins[0]: \"https://a.*.example\": must be an origin, as in https://app.example, or have "
                    + "*. before its host"
            ),
            (
                "cors: {origins: [\"*\", \"https://a.example\"]}",
                "2:36: routes[0].cors.origins: \"*\" stands for all; leave the others out"
            ),
            (
                "cors: {origins: \"*\", credentials: true}",
                "2:54: routes[0].cors.credentials: browsers refuse credentials with origins: \"*\", which would let every site "
                    + "act for its visitors; name the origins"
            ),
            (
                "cors: {origins: \"https://a.example\", credentials: true, expose: \"*\"}",
                "2:84: routes[0].cors.expose: \"*\" stands for nothing in responses to requests with credentials; name the fields"
            ),
            (
                "match: {methods: [GET]}, cors: {origins: \"*\", methods: [PUT]}",
                "2:75: routes[0].cors.methods: PUT is none of the route's methods"
            ),
            (
                "cors: {origins: \"*\"}, response: {headers: {set: {access-control-allow-origin: x}}}",
                "2:69: routes[0].response.headers: access-control-allow-origin is decided by cors of the route; leave one of "
                    + "them out"
            ),
            (
                "request: {forwarded: x}",
                "2:41: routes[0].request.forwarded: \"x\": must be off, x_forwarded or rfc7239"
            ),
            (
                "request: {forwarded: {trusted_proxies: [10.0.0.0/8]}}",
                "2:41: routes[0].request.forwarded: the key \"fields\" is missing: x_forwarded or rfc7239"
            ),
            (
                "request: {forwarded: {fields: off, trusted_proxies: [10.0.0.0/8]}}",
                "2:72: routes[0].request.forwarded.trusted_proxies: has no effect while fields is off, which lets the fields of "
                    + "every client pass"
            ),
        ] as [(String, String)])
    func `a contradiction is refused where it stands`(route: String, problem: String) {
        #expect(self.found(route) == ["pintle.yaml:\(problem)"])
    }

    @Test func `a route may answer, and change the fields of its answer`() throws {
        let route = try self.route(
            "respond: {status: 308, headers: {Location: \"https://new.example/\"}}, response: {headers: {set: {X-A: b}}}, "
                + "connect: intercept")
        #expect(route.answer?.status == 308 && route.answer?.fields.map(\.name) == ["Location"])
        #expect(route.response.headers.set.map(\.name) == ["X-A"] && route.servesGateway)
    }

    @Test func `a file gives the content and its media type`() throws {
        let files = surroundings(files: ["page.html": "<p>"])
        let loaded = try load("version: 1\nroutes: [{name: a, respond: {file: page.html}}]", files)
        #expect(loaded.routes[0].answer?.body == Array("<p>".utf8))
        #expect(loaded.routes[0].answer?.fields.map(\.value) == ["text/html"])
    }

    @Test func `the methods of a route are those that its pages may use`() throws {
        #expect(try self.route("match: {methods: [GET, PUT]}, cors: {origins: \"*\"}").cors?.methods == ["GET", "PUT"])
        #expect(try self.route("cors: {origins: \"*\"}").cors?.methods == CORSRules.usualMethods)
    }

    @Test func `one word chooses the fields about the client`() throws {
        #expect(try self.route("request: {forwarded: x_forwarded}").request.forwarded.form == .xForwarded)
        #expect(try self.route("request: {forwarded: off}").request.forwarded == ForwardedRules())
        let rules = try self.route("request: {forwarded: {fields: rfc7239, trusted_proxies: \"10.0.0.0/8\"}}")
        #expect(rules.request.forwarded.form == .rfc7239)
        #expect(rules.request.forwarded.trustedProxies.map(\.description) == ["10.0.0.0/8"])
    }

    @Test func `routes that a tunnel would go past deny tunnels`() throws {
        for (text, key) in [
            ("respond: {}", "respond"), ("cors: {origins: \"*\"}", "cors"),
            ("request: {forwarded: rfc7239}", "request.forwarded"),
        ] {
            let loaded = try policy("routes: [{name: a, match: {hosts: [a.test]}, \(text)}]")
            let plan = RequestPlan(
                try RequestHead(spelled: ["CONNECT a.test:443"]), .none, by: loaded)
            guard case .refuse(let problem) = plan.step else {
                Issue.record("\(text): \(plan.step)")
                continue
            }
            #expect(problem.detail.contains("a tunnel cannot keep its \(key);"), "\(problem.detail)")
        }
    }
}
