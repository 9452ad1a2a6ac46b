// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// Gateway routes that name no hosts.
struct OwnNameTests {
    private func route(_ yaml: String, _ host: String, machine: String? = "Box.corp.example") throws -> String? {
        var surroundings = surroundings()
        surroundings.machineName = machine
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: surroundings)
        return try policy.decide(try query("GET", "http://\(host)/", form: .gateway)).route?.name
    }

    private static let gateway = "routes: [{name: gate, upstream: \"http://u.example\"}]"

    @Test(arguments: [
        ("", "localhost:3128", true), ("", "LOCALHOST", true), ("", "127.0.0.1:3128", true), ("", "127.1", true),
        ("", "[::1]", true), ("", "box", true), ("", "box.corp.example:80", true), ("", "evil.example", false),
        ("", "box.evil.example", false), ("", "192.0.2.1", false), ("", "127.0.0.1.evil.example", false),
        ("listen: \"192.0.2.7:80\"\n", "192.0.2.7", true), ("listen: \"192.0.2.7:80\"\n", "192.0.2.8", false),
        ("listen: \"0.0.0.0:80\"\n", "198.51.100.4", true), ("listen: \"[::]:80\"\n", "[2001:db8::1]", true),
        ("listen: \"0.0.0.0:80\"\n", "evil.example", false), ("listen: \"unix:/run/p\"\n", "localhost", true),
    ])
    func `LOOK-24 without hosts a gateway serves its own names`(listen: String, host: String, served: Bool) throws {
        #expect((try self.route(listen + Self.gateway, host) == "gate") == served)
        let named = "routes: [{name: gate, match: {hosts: [\"*\"]}, upstream: \"http://u.example\"}]"
        #expect(try self.route(listen + named, host) == "gate")
    }

    @Test func `LOOK-24 requests to a proxy are another matter`() throws {
        let decision = try policy(Self.gateway).decide(try query("GET", "http://any.example/"))
        #expect(decision.route?.name == "gate")
        let mismatch = decision.route?.mismatch(try query("GET", "http://any.example/", form: .gateway))
        #expect(mismatch == "it names no hosts, and any.example is no name of this proxy")
    }

    @Test(arguments: ["authorization: {bearer: t}", "headers: {set: {Cookie: a=b}}"])
    func `LOOK-101 credentials without hosts are for requests to the proxy itself, in every form`(rules: String) throws
    {
        let policy = try policy("routes: [{name: gate, upstream: \"https://u.example\", request: {\(rules)}}]")
        for form in [RouteQuery.Form.proxy, .gateway] {
            let routes = ["http://any.example/", "http://localhost/"].map { url in
                (try? policy.decide(query("GET", url, form: form)))?.route?.name
            }
            #expect(routes == [nil, "gate"])
        }
        let mismatch = policy.routes.routes[0].mismatch(try query("GET", "http://any.example/"))
        #expect(mismatch == "it adds credentials and names no hosts, and any.example is no name of this proxy")
    }

    @Test(arguments: [
        ("", true), ("match: {hosts: [\"*\"]}, ", true), ("match: {hosts: [a.example]}, ", false),
    ])
    func `LOOK-24 check warns where credentials are put into such requests`(match: String, warns: Bool) throws {
        for rules in ["authorization: {bearer: t}", "headers: {set: {Cookie: a=b}}"] {
            let yaml = "routes: [{name: g, \(match)upstream: \"https://u.example\", request: {\(rules)}}]"
            let warnings = Lint(try policy(yaml)).findings.filter { $0.severity == .warning }
            #expect(warnings.count == (warns ? 1 : 0), "\(warnings)")
        }
    }
}

/// Targets with WebSocket's schemes.
struct WebSocketSchemeTests {
    @Test(
        arguments: [
            ("https://u.example", true), ("http://u.example", false), (nil, false),
        ] as [(String?, Bool)])
    func `LOOK-54 wss needs an upstream with TLS`(upstream: String?, passes: Bool) throws {
        let rule = upstream.map { ", upstream: \"\($0)\"" } ?? ""
        let policy = try policy("routes: [{name: r, match: {hosts: [a.example]}\(rule)}]")
        var wss = try query("GET", "https://a.example/chat")
        wss.isWebSocket = true
        let decision = Result { try policy.decide(wss) }
        #expect(((try? decision.get()) != nil) == passes)
        var ws = try query("GET", "http://a.example/chat")
        ws.isWebSocket = true
        #expect(try policy.decide(ws).route?.name == "r")
    }
}
