// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy

/// Lists of hosts as rules about destinations.
struct ListRuleTests {
    private static let files = [
        "ads.txt": "# ads\nads.example\n*.ads.example\n10.1.0.0/16\n[2001:db8::/32]:443\n",
        "more.txt": ".tree.example\n0.0.0.0 first.example second.example\n",
        "good.txt": "good.example\n*.ads.example\n10.2.0.0/16\n192.168.7.0/24\n",
    ]
    private static let lists = "lists: {ads: {file: ads.txt}, more: {file: more.txt}, good: {file: good.txt}}\n"

    private func policy(_ yaml: String) throws -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(Self.lists)\(yaml)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: Self.files))
    }

    private func decision(_ policy: Policy, _ text: String) throws -> DestinationDecision {
        policy.destinations.judge(try #require(Authority(text, defaultPort: 443)), for: .none)
    }

    @Test(arguments: [
        ("ads.example", "destinations.deny[1] list \"ads\" line 2 \"ads.example\""),
        ("x.y.ads.example", "destinations.deny[1] list \"ads\" line 3 \"*.ads.example\""),
        ("10.1.2.3", "destinations.deny[1] list \"ads\" line 4 \"10.1.0.0/16\""),
        ("[2001:db8::1]", "destinations.deny[1] list \"ads\" line 5 \"[2001:db8::/32]:443\""),
        ("tree.example", "destinations.deny[2] list \"more\" line 1 \".tree.example\""),
        ("x.tree.example", "destinations.deny[2] list \"more\" line 1 \".tree.example\""),
        ("second.example", "destinations.deny[2] list \"more\" line 2 \"second.example\""),
        ("x.bad.example", "destinations.deny[0] \"*.bad.example\""),
        ("z.zone.example", "destinations.deny[3] \"*.zone.example\""),
        ("[2001:db8::1]:80", nil), ("fine.example", nil), ("xads.example", nil),
    ])
    func `the reason names the list, the line and the entry`(host: String, rule: String?) throws {
        let policy = try self.policy(
            "destinations: {deny: [\"*.bad.example\", {list: ads}, {list: more}, \"*.zone.example\"]}")
        #expect(try self.decision(policy, host).denial == rule)
    }

    @Test func `the first rule that matches decides, whatever it is`() throws {
        let before = try self.policy("destinations: {deny: [{list: ads}, ads.example]}")
        #expect(try self.decision(before, "ads.example").denial?.hasPrefix("destinations.deny[0] list") == true)
        let behind = try self.policy("destinations: {deny: [\"*.example\", {list: ads}, {list: ads}]}")
        #expect(try self.decision(behind, "x.ads.example").denial == "destinations.deny[0] \"*.example\"")
        #expect(try self.decision(behind, "10.1.0.1").denial?.hasPrefix("destinations.deny[1] list") == true)
    }

    @Test func `a list that allows is a permission, and denials come first`() throws {
        let policy = try self.policy("destinations: {default: deny, allow: [{list: good}], deny: [{list: ads}]}")
        #expect(
            try self.decision(policy, "good.example")
                == .allowed(by: "destinations.allow[0] list \"good\" line 1 \"good.example\""))
        #expect(try self.decision(policy, "x.ads.example").denial?.hasPrefix("destinations.deny[0]") == true)
        #expect(
            try self.decision(policy, "10.2.0.1")
                == .allowed(by: "destinations.allow[0] list \"good\" line 3 \"10.2.0.0/16\""))
        // A network may allow the address of a name.
        #expect(try self.decision(policy, "other.example") == .byAddress)
        let address = try #require(IPAddress("10.2.3.4"))
        let other = try #require(Authority("other.example", defaultPort: 443))
        #expect(
            policy.destinations.judge(address: address, port: 443, asked: other, for: .none)
                == .allowed(by: "destinations.allow[0] list \"good\" line 3 \"10.2.0.0/16\""))
    }

    @Test func `networks of a list hold for the address that is dialled, and for those that stand for it`() throws {
        let policy = try self.policy("destinations: {deny: [{list: ads}]}")
        let name = try #require(Authority("fine.example", defaultPort: 443))
        for text in ["10.1.9.9", "64:ff9b::a01:909", "::ffff:10.1.9.9"] {
            let address = try #require(IPAddress(text))
            #expect(
                policy.destinations.judge(address: address, port: 443, asked: name, for: .none).denial
                    == "destinations.deny[0] list \"ads\" line 4 \"10.1.0.0/16\"", "\(text)")
        }
        #expect(policy.destinations.judgesAddresses)
    }

    @Test func `an entry permits private addresses as a pattern does`() throws {
        let yaml = "destinations: {private_addresses: deny, allow: [{list: good}]}"
        let policy = try self.policy(yaml)
        let address = try #require(IPAddress("192.168.1.1"))
        func denial(_ host: String) throws -> String? {
            let authority = try #require(Authority(host, defaultPort: 443))
            return policy.destinations.judge(address: address, port: 443, asked: authority, for: .none).denial
        }
        #expect(try denial("good.example") == nil)
        #expect(try denial("other.example") != nil)
        #expect(try self.decision(policy, "192.168.7.1").denial == nil)
    }

    @Test func `a list may be for named clients, in names, in addresses, and for private ones`() throws {
        let policy = try self.policy(
            "destinations: {default: deny, private_addresses: deny, allow: [{list: good, tags: [ci]}], "
                + "deny: [{list: ads, tags: [guest]}]}")
        let rules = policy.destinations
        func allowing(_ host: String, _ dialled: String?, _ tag: String?) throws -> String? {
            let authority = try #require(Authority(host, defaultPort: 443))
            let rights = rules.rights(of: ProxyIdentity(tag: tag))
            guard let dialled else { return rules.judge(authority, for: rights).rule?.description }
            let address = try #require(IPAddress(dialled))
            return rules.judge(address: address, port: 443, asked: authority, for: rights).rule?.description
        }
        let allowed = "destinations.allow[0] list \"good\" line"
        #expect(try allowing("good.example", nil, "ci") == "\(allowed) 1 \"good.example\"")
        #expect(try allowing("good.example", nil, nil)?.hasPrefix("destinations.default") == true)
        #expect(try allowing("x.ads.example", nil, "ci") == "\(allowed) 2 \"*.ads.example\"")
        #expect(
            try allowing("x.ads.example", nil, "guest")
                == "destinations.deny[0] list \"ads\" line 3 \"*.ads.example\"")
        #expect(try allowing("other.example", "10.2.0.1", "ci") == "\(allowed) 3 \"10.2.0.0/16\"")
        #expect(try allowing("other.example", "10.2.0.1", "other")?.hasPrefix("destinations.default") == true)
        #expect(try allowing("good.example", "192.168.9.1", "ci")?.hasPrefix(allowed) == true)
        #expect(try allowing("good.example", "192.168.9.1", nil)?.hasPrefix("destinations.default") == true)
        // So a connection for one of them is never used for others.
        let host = try #require(Authority("other.example", defaultPort: 443))
        let (ci, none) = (rules.rights(of: ProxyIdentity(tag: "ci")), rules.rights(of: ProxyIdentity()))
        #expect(rules.addressRights(ci, for: host) != rules.addressRights(none, for: host))
    }

    @Test func `a denial has the words of its rule, and report only reports`() throws {
        let reason = "blocked by the list of the team"
        let policy = try self.policy("destinations: {deny: [{list: ads, reason: \(reason)}]}")
        #expect(
            try self.decision(policy, "ads.example").objection
                == "destinations.deny[0] list \"ads\" line 2 \"ads.example\": \(reason)")
        let reported = try self.policy("destinations: {enforcement: report, deny: [{list: ads}]}")
        #expect(
            try self.decision(reported, "ads.example")
                == .reported(by: "destinations.deny[0] list \"ads\" line 2 \"ads.example\""))
        #expect(try self.decision(reported, "10.1.0.1").denial != nil, "rules about addresses refuse")
    }

    @Test func `a list is one rule with one place`() throws {
        let policy = try self.policy("destinations: {deny: [a.example, {list: ads}], allow: [{list: good}]}")
        let names = policy.rules.map(\.name)
        let place = try #require(names.firstIndex(of: "destinations.deny[1] list \"ads\""))
        #expect(names[place + 1] == "destinations.allow[0] list \"good\"")
        #expect(policy.rules[place].position?.line == 3)
        let rule = try #require(try self.decision(policy, "10.1.0.1").rule)
        #expect(rule.place == place && rule.description != names[place])
    }

    @Test func `a name is not looked up if every port of it is denied, and lists may name ports`() throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\nlists: {p: {file: p}}\ndestinations: {default: deny, allow: [{list: p}]}".utf8),
            file: "pintle.yaml", surroundings: surroundings(files: ["p": "a.example:8443\n"]))
        #expect(policy.denial(ofName: "a.example") == nil)
        #expect(policy.denial(ofName: "b.example") == "destinations.default")
    }

    @Test func `20,000 hosts are found as ten are`() throws {
        let text = (0..<20_000).map { "host\($0).example\($0 % 97).test\n" }.joined()
        let list = HostListText(Array(text.utf8)).list
        #expect(list.count == 20_000)
        for number in stride(from: 0, to: 20_000, by: 97) {
            let authority = Authority(host: "host\(number).example\(number % 97).test", port: 443)
            #expect(list.first(authority) == number)
        }
        #expect(list.first(Authority(host: "host.example1.test", port: 443)) == nil)
    }
}
