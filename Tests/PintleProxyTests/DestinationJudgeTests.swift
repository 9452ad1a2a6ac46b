// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy
@testable import PintleProxy

/// Judgements on the addresses of `a.example`, which no rule denies by its name.
struct DestinationJudgeTests {
    private static let host = Authority(host: "a.example", port: 80)

    private func judge(_ rules: String) throws -> DestinationJudge {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\ndestinations: {\(rules)}\n".utf8), file: "pintle.yaml",
            surroundings: .system(environment: [:]))
        return DestinationJudge(rules: policy.destinations, own: OwnAddresses(), counters: RuleCounters(policy))
    }

    private func counts(_ judge: DestinationJudge) -> [String: Int] {
        judge.counters.counts.reduce(into: [:]) { if $1.count > 0 { $0[$1.rule.name] = $1.count } }
    }

    private func refusal(_ judge: DestinationJudge, _ address: String) throws -> AddressRefusal? {
        let dialled = try SocketAddress(ipAddress: address, port: Int(Self.host.port))
        return judge.refusal(dialling: dialled, asked: Self.host, by: .none)
    }

    @Test(arguments: [
        ("private_addresses: deny", "destinations.private_addresses deny: 10.0.0.0/8 is private use", ""),
        ("deny: [\"10.0.0.0/8\"]", "destinations.deny[0] \"10.0.0.0/8\"", ""),
        ("deny: [{host: \"10.0.0.0/8\", reason: ask ops}]", "destinations.deny[0] \"10.0.0.0/8\"", ": ask ops"),
        ("default: deny, allow: [\"192.0.2.0/24\"]", "destinations.default", ""),
    ])
    func `a refusal has the rule that refuses, which is counted with the exchange`(
        rules: String, rule: String, advice: String
    ) throws {
        let judge = try self.judge(rules)
        let refusal = try #require(try self.refusal(judge, "10.0.0.1"))
        #expect(refusal.reason == "10.0.0.1 is denied by \(rule)\(advice)")
        #expect((refusal.cause as? DestinationRefusal)?.rule == DecidingRule(rule))
        #expect(self.counts(judge).isEmpty)
    }

    @Test func `a rule that allows an address is counted when that is dialled`() throws {
        let judge = try self.judge("default: deny, allow: [\"10.0.0.0/8\"]")
        let refusal = try self.refusal(judge, "10.0.0.1")
        #expect(refusal?.reason == nil)
        #expect(self.counts(judge) == ["destinations.allow[0] \"10.0.0.0/8\"": 1])
    }

    @Test func `no rule refuses the address of the proxy itself`() throws {
        let judge = try self.judge("private_addresses: deny")
        judge.own.set([try SocketAddress(ipAddress: "127.0.0.1", port: Int(Self.host.port))])
        let refusal = try #require(try self.refusal(judge, "127.0.0.1"))
        #expect(refusal.reason == "127.0.0.1 with port 80 is where this proxy listens" && refusal.cause == nil)
    }
}
