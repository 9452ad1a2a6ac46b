// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy
@testable import PintleProxy

/// The decisions of rules.
struct RuleCountersTests {
    private let policy: Policy
    private let counters: RuleCounters

    init() throws {
        self.policy = try PolicyLoader.policy(
            yaml: Array(
                """
                version: 1
                clients: {allow: ["10.0.0.0/8", "10.1.0.0/16", "127.0.0.1"]}
                destinations:
                  deny: ["*.ads.example", "*.ads.example", "192.0.2.0/24"]
                  allow: [a.example]
                """.utf8), file: "pintle.yaml", surroundings: .system(environment: [:]))
        self.counters = RuleCounters(self.policy)
    }

    private var counts: [String: Int] {
        self.counters.counts.reduce(into: [:]) { if $1.count > 0 { $0[$1.rule.name] = $1.count } }
    }

    @Test func `the rules of the file have their lines`() {
        let placed = self.counters.counts.compactMap { entry in
            entry.rule.position.map { "\($0.line):\($0.column) \(entry.rule.name)" }
        }
        #expect(
            placed == [
                "2:19 clients.allow[0] \"10.0.0.0/8\"", "2:33 clients.allow[1] \"10.1.0.0/16\"",
                "2:48 clients.allow[2] \"127.0.0.1/32\"", "4:10 destinations.deny[0] \"*.ads.example\"",
                "4:27 destinations.deny[1] \"*.ads.example\"", "4:44 destinations.deny[2] \"192.0.2.0/24\"",
                "5:11 destinations.allow[0] \"a.example\"",
            ])
    }

    @Test(arguments: [
        ("x.ads.example", "destinations.deny[0] \"*.ads.example\""),
        ("192.0.2.7", "destinations.deny[2] \"192.0.2.0/24\""),
        ("a.example", "destinations.allow[0] \"a.example\""), ("b.example", "destinations.default"),
    ])
    func `a decision has the place of its rule, so that no text is looked up`(host: String, name: String) throws {
        let rule = try #require(self.policy.destinations.judge(Authority(host: host, port: 80), for: .none).rule)
        let place = try #require(rule.place)
        #expect(rule.description == name && self.policy.rules[place].name == name)
        self.counters.count(rule)
        #expect(self.counts == [name: 1])
    }

    @Test func `the first rule that matches counts, and texts of logs find theirs`() {
        for address: UInt32 in [0x0A01_0001, 0x0A02_0001, 0x7F00_0001, 0x0808_0808] {
            self.counters.count(at: self.counters.place(client: IPAddress(v4: address)))
        }
        for text in [
            "destinations.deny[2] \"192.0.2.0/24\"", "destinations.default",
            "destinations.default, and destinations.resolve is off, so the name is not looked up",
            "destinations.private_addresses auto, because 0.0.0.0:1 is not loopback: 10.0.0.0/8 is private use",
            "destinations.connect_ports [443]", "unpinned_hosts: deny, because no trust policy names it",
            "no such rule", "", "destinations.deny[9] \"x\"",
        ] { self.counters.count(DecidingRule(text)) }
        #expect(
            self.counts == [
                "clients.allow[0] \"10.0.0.0/8\"": 2, "clients.allow[2] \"127.0.0.1/32\"": 1, "clients.allow": 1,
                "destinations.deny[2] \"192.0.2.0/24\"": 1, "destinations.default": 2,
                "destinations.private_addresses": 1, "destinations.connect_ports": 1, "unpinned_hosts": 1,
            ])
    }
}
