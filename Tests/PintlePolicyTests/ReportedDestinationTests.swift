// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

/// `destinations` under `enforcement: report`.
struct ReportedDestinationTests {
    private func policy(_ rules: String, _ more: String = "") throws -> Policy {
        try PintlePolicyTests.policy("enforcement: report\ndestinations: {\(rules)}\n\(more)")
    }

    @Test(
        arguments: [
            ("deny: [\"*.ads.example\"]", "http://x.ads.example/", "destinations.deny[0] \"*.ads.example\""),
            ("deny: [\"10.0.0.0/8\"]", "http://10.0.0.1/", "destinations.deny[0] \"10.0.0.0/8\""),
            ("default: deny, allow: [a.example]", "http://b.example/", "destinations.default"),
            ("default: deny, allow: [a.example]", "http://a.example/", nil),
            ("ports: [80]", "http://b.example:81/", "destinations.ports [80]"),
            // The first violated rule is reported.
            ("deny: [b.example], ports: [80]", "http://b.example:81/", "destinations.deny[0] \"b.example\""),
            (
                "private_addresses: deny", "http://127.0.0.1/",
                "destinations.private_addresses deny: 127.0.0.0/8 is loopback"
            ),
            (
                "default: deny, allow: [\"10.0.0.0/8\"], resolve: off", "http://b.example/",
                "destinations.default, and destinations.resolve is off, so the name is not looked up"
            ),
        ] as [(String, String, String?)])
    func `LOOK-116 a broken rule is reported, and the request passes`(
        rules: String, url: String, rule: String?
    ) throws {
        let enforced = try PintlePolicyTests.policy("destinations: {\(rules)}").decide(try query("GET", url))
        #expect(enforced.destination.denial == rule)
        let decision = try self.policy(rules).decide(try query("GET", url))
        #expect(decision.destination.denial == nil && decision.reportedRule == rule)
        #expect(decision.reportedBreach == rule.map { "\(decision.authority) is reported by \($0)" })
    }

    @Test(
        arguments: [
            ("deny: [\"*.ads.example\"]", "http://x.ads.example/", "destinations.deny[0] \"*.ads.example\"", nil),
            ("default: deny, allow: [a.example]", "http://b.example/", "destinations.default", nil),
            ("default: ask", "http://b.example/", "destinations.default", nil),
            ("ports: [80]", "http://b.example:81/", "destinations.ports [80]", nil),
            // Rules about addresses refuse.
            ("deny: [\"10.0.0.0/8\"]", "http://10.0.0.1/", nil, "destinations.deny[0] \"10.0.0.0/8\""),
            (
                "private_addresses: deny", "http://127.0.0.1/", nil,
                "destinations.private_addresses deny: 127.0.0.0/8 is loopback"
            ),
        ] as [(String, String, String?, String?)])
    func `the enforcement of destinations alone reports names and ports`(
        rules: String, url: String, reported: String?, denial: String?
    ) throws {
        let policy = try PintlePolicyTests.policy("destinations: {enforcement: report, \(rules)}")
        let decision = try policy.decide(try query("GET", url))
        #expect(decision.reportedRule == reported && decision.destination.denial == denial)
        // Violations of other rules are still refused.
        #expect(policy.onViolation(on: nil) == .reject)
    }

    @Test func `an address to which a reported name leads is refused`() throws {
        let policy = try PintlePolicyTests.policy(
            "destinations: {enforcement: report, default: deny, deny: [\"10.0.0.0/8\"], allow: [\"192.0.2.0/24\"]}")
        let host = try #require(Authority("b.example:80", defaultPort: nil))
        func judged(_ address: String) throws -> DestinationDecision {
            policy.destinations.judge(address: try #require(IPAddress(address)), port: 80, asked: host, for: .none)
        }
        #expect(try judged("10.0.0.1").denial == "destinations.deny[0] \"10.0.0.0/8\"")
        #expect(try judged("198.51.100.1").reported == "destinations.default")
        #expect(try judged("192.0.2.1").denial == nil)
    }

    @Test func `destinations may be enforced where all else is only reported`() throws {
        let policy = try PintlePolicyTests.policy(
            "enforcement: report\ndestinations: {enforcement: enforce, deny: [b.example]}")
        #expect(try policy.decide(try query("GET", "http://b.example/")).destination.denial != nil)
        #expect(policy.onViolation(on: nil) == .report)
    }

    @Test func `check says that destinations are only reported`() throws {
        let policy = try PintlePolicyTests.policy("destinations: {enforcement: report, deny: [b.example]}")
        let messages = Lint(policy).findings.filter { $0.path == "destinations" }.map(\.message)
        #expect(
            messages == [
                "requests that these rules refuse pass and are reported, because destinations.enforcement is report; rules "
                    + "about addresses refuse"
            ])
    }

    @Test(
        arguments: [
            ("deny: [b.example]", "", "destinations.deny[0] \"b.example\"", nil),
            ("connect_ports: [8443]", "", "destinations.connect_ports [8443]", nil),
            // Rules of others than `destinations` refuse as ever, and go before those that report.
            (
                "deny: [b.example]", "routes: [{name: r, connect: deny}]", nil, "routes[0] \"r\", connect: deny"
            ),
            (
                "deny: [b.example]", "unpinned_hosts: deny", nil,
                "unpinned_hosts: deny, because no trust policy names it"
            ),
        ] as [(String, String, String?, String?)])
    func `LOOK-116 tunnels pass where only destinations are against them`(
        rules: String, more: String, reported: String?, denial: String?
    ) throws {
        let authority = try #require(Authority("b.example:443", defaultPort: nil))
        let decision = try self.policy(rules, more).decideTunnel(
            RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/"))
        #expect(decision.reportedRule == reported && decision.destination.denial == denial)
    }

    @Test(
        arguments: [
            ("deny: [\"10.0.0.0/8\"]", "b.example", "10.0.0.1", "destinations.deny[0] \"10.0.0.0/8\""),
            ("default: deny, allow: [\"10.0.0.0/8\"]", "b.example", "10.0.0.1", nil),
            ("default: deny, allow: [\"10.0.0.0/8\"]", "b.example", "192.0.2.1", "destinations.default"),
            // A name that was reported stays so.
            ("deny: [b.example, \"10.0.0.0/8\"]", "b.example", "10.0.0.1", "destinations.deny[0] \"b.example\""),
            (
                "private_addresses: deny", "b.example", "127.0.0.1",
                "destinations.private_addresses deny: 127.0.0.0/8 is loopback"
            ),
        ] as [(String, String, String, String?)])
    func `LOOK-116 the address that is dialled is reported, too`(
        rules: String, host: String, address: String, rule: String?
    ) throws {
        let address = try #require(IPAddress(address))
        let decision = try self.policy(rules).destinations.judge(
            address: address, port: 80, asked: Authority(host: host, port: 80), for: .none)
        #expect(decision.denial == nil && decision.reported == rule)
    }

    @Test func `LOOK-116 what auto says of an exposed proxy refuses all the same`() throws {
        let policy = try self.policy("deny: [localhost, \"127.0.0.0/8\"]", "listen: \"0.0.0.0:3128\"")
        let reason =
            "destinations.private_addresses auto, because 0.0.0.0:3128 is not loopback: 127.0.0.0/8 is loopback"
        #expect(
            try policy.decide(try query("GET", "http://127.0.0.1/")).destination
                == .prohibited(by: DecidingRule(reason)))
        let loopback = try #require(IPAddress("127.0.0.1"))
        let dialled = policy.destinations.judge(
            address: loopback, port: 80, asked: Authority(host: "localhost", port: 80), for: .none)
        #expect(dialled == .prohibited(by: DecidingRule(reason)))
        let port = "destinations.ports auto: 80, 443 and above 1023 only, because 0.0.0.0:3128 is not loopback"
        let mail = try policy.decide(try query("GET", "http://b.example:25/"))
        #expect(mail.destination == .denied(by: DecidingRule(port)) && mail.reportedRule == nil)
    }

    @Test func `LOOK-116 explain and check say it`() throws {
        let policy = try self.policy("deny: [b.example], private_addresses: deny")
        let head = RequestHead(
            method: "CONNECT", target: .authority(Authority(host: "b.example", port: 443)))
        let lines = try Explanation(policy, head).lines.map(\.description)
        #expect(
            lines.filter { $0.hasPrefix("destination ") || $0.hasPrefix("server name") } == [
                "destination  b.example:443 is reported by destinations.deny[0] \"b.example\"",
                "destination  the address that is dialled is judged by destinations.private_addresses deny, which is only "
                    + "reported",
                "server name  a ClientHello in the tunnel must name b.example or nothing, by destinations.require_sni_match, "
                    + "which is only reported",
            ])
        func notes(_ listen: String) throws -> [String] {
            Lint(try self.policy("deny: [b.example]", listen), knowsPublicSuffixes: true).findings
                .filter { $0.severity == .note }.map { "\($0.path): \($0.message)" }
        }
        let note =
            "destinations: requests that these rules refuse pass and are reported, because enforcement is report"
        #expect(try notes("") == [note])
        #expect(
            try notes("listen: \"0.0.0.0:1\"")
                == [note + "; auto still refuses, because other machines reach 0.0.0.0:1"])
    }
}
