// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import PintleWatch
import Testing

@testable import PintleRehearsal

/// Differences in meaning between two files.
@Suite struct TableComparisonTests {
    private static let base = """
        version: 1
        clients: {allow: ["127.0.0.0/8", "10.0.0.0/8"]}
        destinations:
          default: deny
          allow: ["*.example.com", "api.pay.example", "192.0.2.0/24"]
          deny: ["ads.example.com"]
        upstream_proxy: {url: "http://p.example:3128", no_proxy: ["api.pay.example"]}
        tunnels: {verify: ["v.example.com"]}
        interception: {hosts: ["i.example.com"]}
        trust:
          default: {min_tls: "1.2"}
          payments: {hosts: ["api.pay.example"], min_tls: "1.2"}
        routes:
          - name: charge
            match: {hosts: ["api.pay.example"], methods: [POST], paths: ["/v1/charges/**"], headers: {X-Env: "s*"}}
            upstream: "https://api.pay.example/v1/"
            request: {headers: {set: {X-Team: core}}, timeout: 5s}
            response: {status: [200], headers: {remove: [Server]}}
            connect: tunnel
          - name: docs
            match: {hosts: ["docs.example.com"], paths: ["/a/**"]}
          - name: images
            match: {hosts: ["docs.example.com"], paths: ["/b/**"]}
            redirects: follow

        """

    private static func compare(
        _ old: String, _ new: String, files: [String: String] = [:], limit: Int = TableComparison.usualLimit
    ) throws -> TableComparison {
        var all = files
        (all["old.yaml"], all["new.yaml"]) = (old, new)
        let surroundings = MemoryFiles.surroundings(all)
        func load(_ file: String) throws -> TableComparison.Loaded {
            (try PolicyLoader.policy(yaml: Array((all[file] ?? "").utf8), file: file, surroundings: surroundings), file)
        }
        return TableComparison(
            from: try load("old.yaml"), to: try load("new.yaml"), surroundings: surroundings, limit: limit)
    }

    private static func compare(replacing old: String, by new: String) throws -> TableComparison {
        let changed = Self.base.replacing(old, with: new)
        #expect(changed != Self.base)
        return try Self.compare(Self.base, changed)
    }

    @Test func `a file is the same as itself`() throws { #expect(try Self.compare(Self.base, Self.base).isSame) }

    @Test(arguments: [
        // Routes that no request can both match.
        ("name: docs\n", "name: x\n"), ("\"127.0.0.0/8\", \"10.0.0.0/8\"", "\"10.0.0.0/8\", \"127.0.0.0/8\""),
        ("\"*.example.com\", \"api.pay.example\"", "\"api.pay.example\", \"*.example.com\", \"x.example.com\""),
        ("methods: [POST]", "methods: [POST, POST]"), ("status: [200]", "status: [\"200-200\"]"),
        ("remove: [Server]", "remove: [server]"), ("default: {min_tls", "default:   {min_tls"),
        ("[\"127.0.0.0/8\", \"10.0.0.0/8\"]", "[\"127.0.0.0/9\", \"127.128.0.0/9\", \"10.0.0.0/8\"]"),
    ])
    func `another text with the same meaning is no difference`(change: (String, String)) throws {
        if change.0 == "name: docs\n" {
            let lines = Self.base.split(separator: "\n", omittingEmptySubsequences: false)
            let moved = (lines[..<19] + lines[21..<24] + lines[19..<21] + lines[24...]).joined(separator: "\n")
            #expect(moved != Self.base)
            let found = try Self.compare(Self.base, moved)
            #expect(found.isSame && found.requests > 0, "\(found.differences)")
        } else {
            let found = try Self.compare(replacing: change.0, by: change.1)
            #expect(found.isSame, "\(found.differences)")
        }
    }

    struct Mutation: Sendable {
        let old: String
        let new: String
        let kind: String
        /// The rule on the side that has it, and the line.
        let rule: String
        let line: Int

        init(_ old: String, _ new: String, _ kind: String, _ rule: String, _ line: Int) {
            (self.old, self.new, self.kind, self.rule, self.line) = (old, new, kind, rule, line)
        }
    }

    @Test(arguments: [
        Mutation("\"10.0.0.0/8\"]}", "\"10.0.0.0/9\"]}", "client", "clients.allow[1] \"10.0.0.0/8\"", 2),
        Mutation("default: deny", "default: allow", "allowed", "destinations.default", 4),
        Mutation("\"*.example.com\", ", "", "denied", "destinations.allow[0] \"*.example.com\"", 5),
        Mutation(", \"192.0.2.0/24\"", ", \"192.0.2.0/25\"", "denied", "destinations.allow[2] \"192.0.2.0/24\"", 5),
        Mutation(
            "[\"ads.example.com\"]", "[\"ads.example.com:80\"]", "allowed", "destinations.deny[0] \"ads.example.com\"",
            6),
        Mutation("http://p.example:3128", "http://q.example:3128", "way", "upstream_proxy.url", 7),
        Mutation(
            "no_proxy: [\"api.pay.example\"]", "no_proxy: []", "way", "upstream_proxy.no_proxy[0] \"api.pay.example\"",
            7),
        Mutation("default: {min_tls: \"1.2\"}", "default: {min_tls: \"1.3\"}", "trust", "trust.default", 11),
        Mutation(
            "[\"api.pay.example\"], min_tls", "[\"x.example.com\"], min_tls", "trust",
            "trust.payments.hosts[0] \"api.pay.example\"", 12),
        Mutation("methods: [POST]", "methods: [POST, PUT]", "route", "routes[0] \"charge\"", 14),
        Mutation("/v1/charges/**", "/v1/charges/*", "route", "routes[0] \"charge\"", 14),
        Mutation("X-Env: \"s*\"", "X-Env: \"st*\"", "route", "routes[0] \"charge\"", 14),
        Mutation("https://api.pay.example/v1/", "https://api.pay.example/v2/", "request", "routes[0] \"charge\"", 14),
        Mutation("X-Team: core", "X-Team: infra", "request", "routes[0] \"charge\"", 14),
        Mutation("timeout: 5s", "timeout: 6s", "request", "routes[0] \"charge\"", 14),
        Mutation("status: [200]", "status: [200, 201]", "response", "routes[0] \"charge\"", 14),
        Mutation("remove: [Server]", "remove: [X-Powered-By]", "response", "routes[0] \"charge\"", 14),
        Mutation("redirects: follow", "redirects: same_origin", "response", "routes[2] \"images\"", 22),
        Mutation("connect: tunnel", "connect: deny", "denied", "routes[0] \"charge\", connect: deny", 14),
        Mutation("connect: tunnel", "connect: verify", "tunnel", "routes[0] \"charge\"", 14),
    ])
    func `a change of one rule is found, and the rule is named with its place`(mutation: Mutation) throws {
        let found = try Self.compare(replacing: mutation.old, by: mutation.new)
        let rows = found.differences.filter { $0.kind.name == mutation.kind }
        let sides = rows.flatMap { [$0.before, $0.after] }
        #expect(
            sides.contains { $0.rule == mutation.rule && $0.place?.contains(".yaml:\(mutation.line):") == true },
            "\(found.differences)")
        // Nothing else is told of a change that concerns few requests.
        #expect(!found.isSame && found.isExhaustive)
    }

    @Test func `other hosts of tunnels are another treatment`() throws {
        for (old, new, tunnels) in [
            ("v.example.com", "w.example.com", ["tunnel", "verify"]),
            ("i.example.com", "j.example.com", ["tunnel", "intercept"]),
        ] {
            let rows = try Self.compare(replacing: old, by: new).differences.filter { $0.kind.name == "tunnel" }
            #expect(
                rows.map { [$0.before.decision, $0.after.decision].sorted() } == [tunnels.sorted(), tunnels.sorted()])
        }
    }

    @Test func `a rule about addresses is found with an address`() throws {
        let old = "version: 1\ndestinations: {default: allow, deny: [\"10.0.0.0/8\"]}\n"
        let new = "version: 1\ndestinations: {default: allow, deny: [\"10.0.0.0/9\"]}\n"
        let found = try Self.compare(old, new)
        #expect(found.differences.map(\.kind.name) == ["allowed"])
        #expect(found.differences.map(\.before.rule) == ["destinations.deny[0] \"10.0.0.0/8\""])
        #expect(found.differences.allSatisfy { $0.witness.contains("10.128.0.0") })
        // A network in an address that stands for another.
        let nat = "version: 1\ndestinations: {default: deny, allow: [\"64:ff9b::/96\"], deny: [\"10.0.0.0/8\"]}\n"
        #expect(try !Self.compare(nat, nat.replacing(", deny: [\"10.0.0.0/8\"]", with: "")).isSame)
    }

    @Test func `keys that no request shows are settings`() throws {
        let found = try Self.compare("version: 1\n", "version: 1\nlimits: {tunnels: 7}\nlog: {format: json}\n")
        #expect(found.differences.map(\.witness) == ["log", "limits"])
        #expect(found.differences.map(\.kind) == [.setting, .setting])
        #expect(found.differences.map(\.after.place) == ["new.yaml:3:1", "new.yaml:2:1"])
        #expect(found.differences.map(\.before.decision) == ["default", "default"])
    }

    @Test func `the trust of an upstream proxy over TLS is compared, although no request shows it`() throws {
        let parent = "version: 1\nupstream_proxy: {url: \"https://p.example:3128\"}\nroutes: [{name: r, trust: all}]\n"
        let trust = "trust: {all: {min_tls: \"1.2\"}, one: {hosts: [p.example]}}\n"
        let found = try Self.compare(
            parent + trust, parent + trust.replacing("hosts: [p.example]", with: "min_tls: \"1.3\""))
        #expect(
            found.differences.contains { $0.witness == "upstream_proxy" && $0.before.place == "old.yaml:4:46" },
            "\(found.differences)")
    }

    @Test func `contracts are compared by their content`() throws {
        let api =
            #"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200": {"description": "x"}}}}}}"#
        func yaml(_ file: String) -> String {
            "version: 1\nroutes: [{name: r, match: {hosts: [a.example]}, contract: {file: \(file)}}]\n"
        }
        let same = ["a.json": api, "b.json": api.replacing("{\"openapi\"", with: "{  \"openapi\"")]
        #expect(try Self.compare(yaml("a.json"), yaml("b.json"), files: same).isSame)
        let other = ["a.json": api, "b.json": api.replacing("\"200\"", with: "\"201\"")]
        let found = try Self.compare(yaml("a.json"), yaml("b.json"), files: other)
        #expect(found.differences.map(\.kind) == [.plan(.contract)], "\(found.differences)")
        let schemas = ["a.json": #"{"type": "object"}"#, "b.json": #"{"type": "array"}"#]
        func rule(_ file: String) -> String {
            "version: 1\nroutes: [{name: r, response: {body: {json: {schema: \(file)}}}}]\n"
        }
        #expect(
            try Self.compare(rule("a.json"), rule("b.json"), files: schemas).differences.map(\.kind) == [
                .plan(.response)
            ])
    }

    @Test func `a rule of an included file has its place there`() throws {
        let main = "version: 1\ninclude: [more.yaml]\ndestinations: {default: deny, allow: [a.example]}\n"
        let files = ["more.yaml": "version: 1\ndestinations:\n  allow: [b.example]\n"]
        let found = try Self.compare(main, main.replacing("include: [more.yaml]\n", with: ""), files: files)
        let sides = found.differences.map(\.before)
        #expect(sides.contains { $0.rule == "destinations.allow[1] \"b.example\"" && $0.place == "more.yaml:3:11" })
    }

    @Test func `rules for named clients are compared with clients that they tell apart`() throws {
        let tagged = "version: 1\ndestinations: {default: deny, allow: [{host: a.example, tags: [\"suite-*\", ci]}]}\n"
        for (other, kind, client) in [
            ("[\"suite-*\"]", PlanComparison.Kind.denied, "by tag ci"), ("[\"*\"]", .allowed, "by tag x"),
        ] {
            let found = try Self.compare(tagged, tagged.replacing("[\"suite-*\", ci]", with: other))
            #expect(found.differences.map(\.kind) == [.plan(kind)], "\(found.differences)")
            #expect(found.differences.first?.witness.hasSuffix(client) == true, "\(found.differences)")
        }
        #expect(try Self.compare(tagged, tagged.replacing("[\"suite-*\", ci]", with: "[ci, \"suite-*\"]")).isSame)
        let open = tagged.replacing(", tags: [\"suite-*\", ci]", with: "")
        #expect(try Self.compare(tagged, open).differences.map(\.kind) == [.plan(.allowed)])
        let routes = "version: 1\nroutes: [{name: a, match: {tags: [ci]}}, {name: b}]\n"
        let found = try Self.compare(routes, routes.replacing("[ci]", with: "[cd]"))
        #expect(found.differences.allSatisfy { $0.kind == .plan(.route) } && found.differences.count == 2)
    }

    @Test func `rules for addresses are compared for each client`() throws {
        let rules = "version: 1\ndestinations: {deny: [{host: 10.0.0.0/8, tags: [ci]}]}\n"
        let found = try Self.compare(rules, rules.replacing("10.0.0.0/8", with: "10.0.0.0/9"))
        #expect(found.differences.map(\.kind) == [.plan(.allowed)], "\(found.differences)")
        #expect(found.differences.first?.witness.hasSuffix("by tag ci") == true, "\(found.differences)")
    }

    @Test func `more combinations than can be tried are never called the same`() throws {
        let paths = (0..<40).map { "\"/**/\($0)/**\"" }.joined(separator: ", ")
        let route = "version: 1\nroutes: [{name: a, match: {paths: [\(paths)]}}, {name: b, match: {methods: [GET]}}]\n"
        let moved =
            "version: 1\nroutes: [{name: a, match: {paths: [\(paths), /x]}}, {name: b, match: {methods: [GET]}}]\n"
        let found = try Self.compare(route, route.replacing("name: a,", with: "name:  a,"))
        #expect(found.isSame, "equal tables need no trial")
        #expect(try !Self.compare(route, moved, limit: 100).isSame)
    }
}

/// A file system of a few texts.
enum MemoryFiles {
    static func surroundings(_ files: [String: String]) -> LoaderEnvironment {
        LoaderEnvironment(
            environment: [:],
            read: { (path, _) throws(LoaderEnvironment.ReadingError) in
                guard let text = files[path] else { throw .notFound }
                return Array(text.utf8)
            },
            exists: { files[$0] != nil })
    }
}
