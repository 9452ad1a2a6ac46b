// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

struct RouteTableTests {
    private static let routes = """
        routes:
          - {name: charge, match: {hosts: [api.pay.example], methods: [POST], paths: ["/v1/charges/**"]}}
          - {name: secure, match: {hosts: ["*.pay.example:8443"], schemes: [https]}}
          - {name: pay, match: {hosts: ["*.pay.example", "pay.example"]}}
          - {name: lab, match: {hosts: ["10.0.0.0/8", "[::1]:8080"]}}
          - {name: odd, match: {methods: [PURGE]}}
          - {name: gate, match: {hosts: [gate.example]}, upstream: "http://127.0.0.1:9000/"}
          - {name: admin, match: {paths: ["/admin/**"]}}
        """

    @Test(arguments: [
        ("POST", "http://api.pay.example/v1/charges/1", "charge"),
        ("GET", "http://api.pay.example/v1/charges/1", "pay"),
        ("post", "http://api.pay.example/v1/charges/1", "pay"), ("POST", "http://api.pay.example/v1/refunds", "pay"),
        ("POST", "http://api.pay.example/x/../v1/charges/1", "charge"),
        ("POST", "http://api.pay.example/v1/charges/../refunds", "pay"),
        ("POST", "http://api.pay.example/v1/%63harges/1", "charge"),
        ("GET", "https://api.pay.example:8443/", "secure"), ("GET", "http://api.pay.example:8443/", "pay"),
        ("GET", "https://a.b.pay.example/", "pay"), ("GET", "http://pay.example/", "pay"),
        ("GET", "http://10.1.2.3/", "lab"), ("GET", "http://[::1]:8080/", "lab"), ("GET", "http://[::1]/", "none"),
        ("PURGE", "http://elsewhere.example/", "odd"), ("GET", "http://elsewhere.example/", "none"),
        ("GET", "http://elsewhere.example/admin/x", "admin"), ("GET", "http://elsewhere.example/a/../admin/x", "admin"),
        ("GET", "http://gate.example/", "gate"),
    ])
    func `the first route that matches wins`(method: String, url: String, expected: String) throws {
        let found = try policy(Self.routes).routes.first(matching: try query(method, url))
        #expect(found?.name ?? "none" == expected)
    }

    @Test func `a gateway request only finds routes with an upstream`() throws {
        let table = try policy(Self.routes).routes
        #expect(try table.first(matching: try query("PURGE", "http://gate.example/", form: .gateway))?.name == "gate")
        #expect(try table.first(matching: try query("GET", "http://pay.example/", form: .gateway)) == nil)
    }

    @Test func `the reason against a route shows no query, which may have secrets`() throws {
        let route = try policy(Self.routes).routes.routes[6]
        for path in ["/user?token=secret", "/x/../user?token=/admin/secret"] {
            #expect(
                route.mismatch(try query("GET", "http://a.example\(path)")) == "/user is none of its paths", "\(path)")
        }
        #expect(route.mismatch(try query("GET", "http://a.example/admin/x?token=secret")) == nil)
    }

    @Test(arguments: [0, 499, 999])
    func `a thousand exact hosts cost one look`(number: Int) throws {
        let routes = (0..<1000).map { "  - {name: r\($0), match: {hosts: [h\($0).example, h\($0).test]}}" }
        let table = try policy("routes:\n" + routes.joined(separator: "\n")).routes
        var examined = 0
        let found = try table.first(matching: try query("GET", "http://h\(number).test/"), examined: &examined)
        #expect(found?.name == "r\(number)")
        #expect(examined == 1)
        let missing = try table.first(matching: try query("GET", "http://h1000.test/"), examined: &examined)
        #expect(missing == nil)
        #expect(examined == 1)
    }

    @Test(arguments: [
        ("/p#/**", "/p1234/x", 1), ("/p#", "/p1234", 1), ("/p#/*/x", "/p1234/y/x", 1), ("/p#", "/p1234/", 0),
        ("/p#/**", "/%70123%34/x;v", 1), ("/q/p#*", "/q/p1234", 1),
    ])
    func `thousands of paths of one host cost few looks`(pattern: String, path: String, found: Int) throws {
        let routes = (1000..<4000).map { number in
            "  - {name: r\(number), match: {hosts: [a.example], paths: [\"\(pattern.replacing("#", with: "\(number)"))\"]}}"
        }
        let table = try policy("routes:\n" + routes.joined(separator: "\n")).routes
        var examined = 0
        let route = try table.first(matching: try query("GET", "http://a.example\(path)"), examined: &examined)
        #expect(route?.name == (found == 1 ? "r1234" : nil))
        // The readings of an ambiguous path are looked up one by one.
        #expect(examined <= 8, "\(examined)")
        #expect(try table.first(matching: try query("GET", "http://b.example\(path)")) == nil)
    }

    @Test func `the first of many routes of one host wins, as if each were tried`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        func one(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
        let routes = (0..<300).map { number in
            let segment = { one(["a", "b", "c", "*", "a*", "%61"]) }
            let path = "/" + segment() + one(["", "/" + segment(), "/**", "/" + segment() + "/**"])
            let hosts = one(["hosts: [x.example], ", "hosts: [\"*.example\", 10.0.0.1], ", "", "hosts: [\"*:80\"], "])
            let paths = one(["", ", paths: [\"\(path)\"]", ", paths: [\"\(path)\"]"])
            return "  - {name: r\(number), match: {\(hosts)methods: [\(one(["GET", "PUT", "POST"]))]\(paths)}}"
        }
        // Without routes for every path in front, which would win always.
        let narrow = routes.filter { $0.contains("paths") } + routes.filter { !$0.contains("paths") }
        let table = try policy("routes:\n" + narrow.joined(separator: "\n")).routes
        for _ in 0..<500 {
            let path = "/" + one(["a", "b", "c", "d", "ab"]) + one(["", "/a", "/b/c", "/d/d/d"])
            let url = "http://" + one(["x.example", "y.example", "z.test", "10.0.0.1"]) + one(["", ":81"]) + path
            let request = try query(one(["GET", "PUT", "POST", "HEAD"]), url)
            let expected = table.routes.first { $0.mismatch(request) == nil }?.name
            #expect(try table.first(matching: request)?.name == expected, "\(request.method) \(url)")
        }
    }

    @Test func `a thousand suffixes cost one look per label`() throws {
        let routes = (0..<1000).map { "  - {name: r\($0), match: {hosts: [\"*.h\($0).example\"]}}" }
        let table = try policy("routes:\n" + routes.joined(separator: "\n")).routes
        var examined = 0
        #expect(
            try table.first(matching: try query("GET", "http://a.b.h900.example/"), examined: &examined)?.name == "r900"
        )
        #expect(examined == 1)
    }
}

struct DecisionTests {
    private static let yaml = """
        destinations: {default: deny, allow: [api.internal, "*.open.example"]}
        trust:
          default: {roots: system}
          internal: {pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"]}
          open: {hosts: ["*.open.example:8443", deep.open.example]}
        routes:
          - name: pay
            match: {hosts: [pay.example]}
            upstream: https://api.internal/v1
            strip_prefix: /pay
            trust: internal
        """

    @Test func `a decision is about the origin that the request is sent to`() throws {
        let decision = try policy(Self.yaml).decide(try query("POST", "http://pay.example/pay/charges?x=1"))
        #expect(decision.route?.description == "routes[0] \"pay\"")
        #expect(decision.scheme == .https)
        #expect(decision.authority == Authority(host: "api.internal", port: 443))
        #expect(decision.path == "/v1/charges?x=1")
        #expect(decision.destination == .allowed(by: "destinations.allow[0] \"api.internal\""))
        #expect(decision.trust?.name == "internal")
        #expect(decision.trust?.reason == "routes[0].trust")
    }

    @Test(arguments: [
        ("https://a.open.example:8443/", "open", "trust.open.hosts[0] \"*.open.example:8443\""),
        ("https://deep.open.example/", "open", "trust.open.hosts[1] \"deep.open.example\""),
        ("https://a.open.example/", "default", "trust.default"),
    ])
    func `trust follows the host where no route names it`(url: String, name: String, reason: String) throws {
        let decision = try policy(Self.yaml).decide(try query("GET", url))
        #expect(decision.trust?.name == name)
        #expect(decision.trust?.reason == reason)
    }

    @Test func `without a default entry the system's roots are believed`() throws {
        let decision = try policy("").decide(try query("GET", "https://a.example/"))
        #expect(decision.trust?.name == "system")
        #expect(decision.trust?.index == nil)
        #expect(decision.trust?.reason == "no trust policy")
    }

    @Test func `there is nothing to verify over http`() throws {
        #expect(try policy("").decide(try query("GET", "http://a.example/")).trust == nil)
    }

    @Test func `a path that climbs is a bad request`() throws {
        let policy = try policy(Self.yaml)
        let query = try query("GET", "http://pay.example/pay/../../admin")
        #expect(throws: Malformed("a path with . or .. segments is not sent to an upstream with a base URL")) {
            try policy.decide(query)
        }
    }
}
