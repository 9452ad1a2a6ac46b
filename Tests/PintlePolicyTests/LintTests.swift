// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTrust
import Testing

struct LintTests {
    private func warnings(_ yaml: String) throws -> [String] {
        Lint(try policy(yaml)).findings.filter { $0.severity == .warning }
            .map { "\($0.position): \($0.path): \($0.message)" }
    }

    @Test func `each route is told in a sentence, without injected values`() throws {
        let yaml = """
            trust: {payments: {hosts: [a.example]}}
            routes:
              - name: charge
                match: {hosts: [api.example], methods: [POST, PUT], paths: ["/pay/**"]}
                upstream: https://api.example/v1
                strip_prefix: /pay
                trust: payments
                request:
                  headers: {remove: [Cookie], set: {Authorization: s3cret}, add: {X-A: b}}
                  serialize: json
                response: {status: [2xx, 304], content_types: [application/json], body: json, remove_nulls: true}
              - {name: rest}
            """
        let notes = Lint(try policy(yaml)).findings.filter { $0.severity == .note }
        #expect(
            notes.map(\.message) == [
                "\"charge\": POST,PUT api.example /pay/** → https://api.example/v1/ without /pay, trust payments; removes "
                    + "Cookie; sets Authorization; adds X-A; serializes parameters as json; accepts only 200-299, 304, "
                    + "application/json, JSON without nulls; denies tunnels, which could not keep its rules",
                "\"rest\": every method every host → where it was aimed",
            ])
        #expect(notes.map(\.path) == ["routes[0]", "routes[1]"])
        #expect(notes.map(\.position.line) == [4, 13])
    }

    @Test(arguments: [
        ("{}", "{hosts: [a.example]}", true), ("{hosts: [\"*.example\"]}", "{hosts: [a.example, b.example]}", true),
        ("{hosts: [a.example]}", "{hosts: [a.example, b.example]}", false),
        ("{hosts: [a.example]}", "{hosts: [\"a.example:80\"]}", true),
        ("{hosts: [\"a.example:80\"]}", "{hosts: [a.example]}", false), ("{hosts: [a.example]}", "{}", false),
        ("{hosts: [\"*.b.example\"]}", "{hosts: [\"*.a.b.example\"]}", true),
        ("{hosts: [\"*.b.example\"]}", "{hosts: [\"b.example\"]}", false),
        ("{hosts: [\"10.0.0.0/8\"]}", "{hosts: [\"10.1.0.0/16\"]}", true),
        ("{methods: [GET]}", "{methods: [GET]}", true),
        ("{methods: [GET]}", "{methods: [GET, PUT]}", false), ("{paths: [\"/a/**\"]}", "{paths: [\"/a/b/*\"]}", true),
        ("{paths: [\"/a/*\"]}", "{paths: [\"/a/**\"]}", false), ("{paths: [\"/a/*\"]}", "{paths: [\"/a/b\"]}", true),
        ("{schemes: [http]}", "{}", false), ("{schemes: [http, https]}", "{}", true),
        ("{headers: {X-A: b}}", "{}", false), ("{}", "{headers: {X-A: b}}", true),
        ("{headers: {X-A: \"b*\"}}", "{headers: {x-a: \"b*\", X-B: c}}", true),
        ("{headers: {X-A: \"*\"}}", "{headers: {X-A: b}}", true), ("{headers: {X-A: b}}", "{headers: {X-A: c}}", false),
    ])
    func `a route behind a wider one is shadowed`(earlier: String, later: String, isShadowed: Bool) throws {
        let yaml = "routes:\n  - {name: one, match: \(earlier)}\n  - {name: two, match: \(later)}"
        let message =
            "4:5: routes[1]: \"two\" is never used: \"one\" at line 3 comes first and matches everything that it does"
        #expect(try self.warnings(yaml) == (isShadowed ? [message] : []))
    }

    @Test func `weak, unused and toothless trust policies are pointed out`() throws {
        let yaml = """
            trust:
              single: {hosts: [a.example], pinning: public_key, pins: ["\(Pins.one)"]}
              unused: {pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"]}
              soft: {hosts: [b.example], pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"], enforcement: report}
              default: {}
            """
        #expect(
            try self.warnings(yaml) == [
                "3:3: trust.single: has a single pin: when that key is replaced nothing gets through; add the pin of a "
                    + "backup key",
                "4:3: trust.unused: is never used: it has no hosts, and no route and no list name it",
                "5:3: trust.soft: only reports: a chain without the pins still gets through",
            ])
    }

    @Test func `pins that expire soon or have expired are pointed out`() throws {
        func trust(_ expires: String) -> String {
            "trust: {p: {hosts: [a.example], pinning: public_key, pins: [\"\(Pins.one)\", \"\(Pins.two)\"], \(expires)}}"
        }
        let now = try #require(UnixTime(iso8601: "2027-01-01"))
        let cases: [(String, [String])] = [
            ("expires: 2027-03-01", []),
            (
                "expires: 2027-01-20",
                [
                    "its pins expire on 2027-01-20T00:00:00Z, and then every destination is refused; check them and set expires anew"
                ]
            ),
            ("expires: 2027-01-20, warn_before_expiry: 10d", []),
            (
                "expires: 2027-01-01, on_expiry: system",
                [
                    "its pins expired on 2027-01-01T00:00:00Z: every valid chain is believed; check them and set expires anew"
                ]
            ),
        ]
        for (expires, expected) in cases {
            let findings = Lint(try policy(trust(expires)), now: now).findings.filter { $0.severity == .warning }
            #expect(findings.map(\.message) == expected, "\(expires)")
        }
    }

    @Test func `a pinned route that http passes is pointed out`() throws {
        let trust = "trust: {p: {hosts: [a.example], pinning: public_key, pins: [\"\(Pins.one)\", \"\(Pins.two)\"]}}\n"
        #expect(
            try self.warnings(trust + "routes: [{name: a, trust: p}]") == [
                "3:27: routes[0].trust: http requests pass this route unverified; match schemes: [https] only, or give an "
                    + "https upstream"
            ])
        #expect(try self.warnings(trust + "routes: [{name: a, trust: p, match: {schemes: https}}]").isEmpty)
        #expect(try self.warnings(trust + "routes: [{name: a, trust: p, upstream: \"https://a\"}]").isEmpty)
    }

    @Test func `destinations that cannot be reached are pointed out`() throws {
        #expect(
            try self.warnings("destinations: {allow: [a.b.example, c.example], deny: [\"*.b.example\"]}") == [
                "2:24: destinations.allow[0]: \"a.b.example\" is never allowed: destinations.deny has \"*.b.example\", and "
                    + "denials come first"
            ])
        #expect(
            try self.warnings("destinations: {default: deny}") == [
                "1:1: destinations: nothing is allowed: default is deny and allow is empty"
            ])
        #expect(
            try self.warnings("destinations: {deny: [a.example]}\nroutes: [{name: r, upstream: \"https://a.example\"}]")
                == [
                    "3:10: routes[0].upstream: a.example:443 is refused by destinations.deny[0] \"a.example\"; requests of this "
                        + "route can only fail"
                ])
    }

    @Test func `LOOK-38 a machine without the list of public suffixes is told of`() throws {
        let policy = try policy("")
        #expect(Lint(policy, knowsPublicSuffixes: true).findings.isEmpty)
        #expect(
            Lint(policy, knowsPublicSuffixes: false).findings.map(\.message) == [
                "libpsl.so.5 is missing, and with it the list of public suffixes: a certificate for *.co.uk passes for "
                    + "every host right below co.uk; install libpsl5"
            ])
    }

    @Test(arguments: [
        ("", "", true), ("hosts: [api.example], ", "", false), ("", ", connect: verify", false),
        ("", ", connect: tunnel", false), ("", ", upstream: \"https://o.example\"", false),
    ])
    func `LOOK-111 check warns of tunnels that the pins of a route do not hold for`(
        hosts: String, route: String, warns: Bool
    ) throws {
        let yaml = """
            trust: {pay: {\(hosts)pinning: public_key, pins: ["\(Pins.one)", "\(Pins.two)"]}}
            routes: [{name: r, match: {hosts: [api.example], schemes: [https]}, trust: pay\(route)}]
            """
        let warnings = Lint(try policy(yaml)).findings.filter { $0.severity == .warning }.map(\.message)
        let told = "tunnels to its hosts are not verified by trust.pay, which has no hosts"
        #expect(warnings.map { $0.hasPrefix(told) } == (warns ? [true] : []), "\(warnings)")
    }
}
