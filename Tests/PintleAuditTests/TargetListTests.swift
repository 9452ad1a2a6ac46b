// SPDX-License-Identifier: Apache-2.0

import PintleAudit
import PintleMessage
import PintlePolicy
import Testing

/// The destinations that an audit connects to.
@Suite struct TargetListTests {
    private static let configuration = """
        version: 1
        trust:
          default: {roots: system}
          pay:
            hosts: ["api.pay.test", "*.pay.test:8443", "10.1.0.0/16", "127.0.0.7:9000", "[::1]"]
            pinning: public_key
            pins: ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
          other: {hosts: ["other.test:444"], pinning: none}
        routes:
          - {name: up, upstream: "https://up.test/v1", match: {hosts: [a.test]}}
          - {name: plain, upstream: "http://plain.test/", match: {hosts: [b.test]}}
          - {name: named, trust: other, match: {hosts: [named.test, "*.named.test"]}}
          - {name: again, upstream: "https://api.pay.test/", match: {hosts: [c.test]}}
        """

    private let policy: Policy

    init() throws {
        self.policy = try PolicyLoader.policy(
            yaml: Array(Self.configuration.utf8), file: "pintle.yaml", surroundings: .system(environment: [:]))
    }

    private func list(_ hosts: [String] = [], policy: String? = nil) throws -> TargetList {
        try TargetList(self.policy, hosts: hosts.map { try RequestedHost($0) }, policyName: policy)
    }

    private func words(_ list: TargetList) -> [String] {
        list.targets.map { target in
            let line = target.position.map { " line \($0.line)" } ?? ""
            return "\(target.policy) \(target.authority) \(target.source)\(line)"
        }
    }

    @Test func `all hosts with a name, each once, in the order of the file`() throws {
        let list = try self.list()
        #expect(
            self.words(list) == [
                "pay api.pay.test:443 trust.pay.hosts[0] line 5",
                "pay 127.0.0.7:9000 trust.pay.hosts[3] line 5",
                "pay [::1]:443 trust.pay.hosts[4] line 5",
                "other other.test:444 trust.other.hosts[0] line 8",
                "default up.test:443 routes[0].upstream line 10",
                "other named.test:443 routes[2].match.hosts line 12",
            ])
        #expect(list.unnamed.map(\.source) == ["trust.pay.hosts[1]", "trust.pay.hosts[2]"])
    }

    @Test func `one policy`() throws {
        let list = try self.list(policy: "other")
        #expect(list.targets.map(\.authority.host) == ["other.test", "named.test"])
        #expect(list.unnamed.isEmpty)
        #expect(try self.list(policy: "pay").unnamed.count == 2)
    }

    @Test func `a host that the configuration names keeps its place and its port`() throws {
        #expect(
            self.words(try self.list(["other.test"])) == ["other other.test:444 trust.other.hosts[0] line 8"])
        #expect(
            self.words(try self.list(["other.test:1"])) == ["default other.test:1 --host"])
        #expect(self.words(try self.list(["OTHER.test."])).count == 1)
    }

    @Test func `a host that a pattern covers stands in the pattern's place, which is then no note`() throws {
        let list = try self.list(["x.pay.test:8443", "10.1.2.3"])
        #expect(
            self.words(list) == [
                "pay x.pay.test:8443 trust.pay.hosts[1] line 5", "pay 10.1.2.3:443 trust.pay.hosts[2] line 5",
            ])
        #expect(list.unnamed.isEmpty)
        #expect(try self.list(["x.pay.test:8443"]).unnamed.map(\.source) == ["trust.pay.hosts[2]"])
    }

    @Test func `any host is judged by what would apply, or by the policy that is named`() throws {
        #expect(self.words(try self.list(["else.test:1"])) == ["default else.test:1 --host"])
        #expect(self.words(try self.list(["else.test:1"], policy: "pay")) == ["pay else.test:1 --host"])
        #expect(self.words(try self.list(["other.test"], policy: "pay")) == ["pay other.test:443 --host"])
    }

    @Test func `a policy that is not there, and hosts that are none, are refused`() throws {
        #expect(throws: Malformed("no trust policy has that name; there are default, pay, other; did you mean pay?")) {
            try self.list(policy: "pai")
        }
        for text in ["", "a b", "https://a.test", "a.test:0", "a.test:99999", "*.a.test", "::1"] {
            #expect(throws: Malformed.self, "\(text)") { try RequestedHost(text) }
        }
        #expect(try RequestedHost("[::1]:8443").description == "[::1]:8443")
    }
}
