// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// A program's own decision inside of a real TLS handshake.
struct TrustDecisionTests {
    private let site: Site
    private let stranger: Site

    init() throws {
        self.site = try Site()
        self.stranger = try Site("Stranger")
    }

    @Test func `SES-18 a decision to accept stands where the policy would refuse`() throws {
        let policies = [
            try self.site.policy(),
            try self.site.policy(.publicKey, pinning: self.site.leaf.fullChain),
            try self.site.policy(.certificate, pinning: self.site.leaf.fullChain),
        ]
        for policy in policies {
            let record = try self.shakeHands(policy, server: self.stranger.leaf, host: "other.test") { _ in .accept }
            #expect(record.outcome.succeeded)
            #expect(record.outcome.verifyResult == 0)
            #expect(
                record.verdicts == [
                    Verdict(
                        outcome: .trusted, host: "other.test", chain: ChainEntry.entries(of: self.stranger.chain),
                        configuredPins: policy.configuredPins, decidedByHook: true)
                ])
        }
    }

    @Test func `SES-18 a decision to refuse stands where the policy would accept`() throws {
        let record = try self.shakeHands(self.site.policy()) { _ in .refuse("not on a Saturday") }
        #expect(!record.outcome.succeeded)
        #expect(record.outcome.verifyResult == 50)
        #expect(record.outcome.serverError != nil)
        let verdict = try #require(record.verdicts.first)
        #expect(record.verdicts.count == 1)
        #expect(verdict.decidedByHook)
        #expect(verdict.chainOrigin == .presented)
        #expect(verdict.error?.code == .refusedByHook)
        #expect(
            verdict.error?.message
                == "\(Site.host): the program's own trust decision refused it: not on a Saturday")
    }

    @Test func `SES-23 the answer to evaluate leaves the decision to the policy`() throws {
        let policies = [
            try self.site.policy(), try self.site.policy(.publicKey, pinning: self.stranger.leaf.fullChain),
        ]
        for policy in policies {
            for server in [self.site.leaf, self.stranger.leaf] {
                let asked = try self.shakeHands(policy, server: server) { _ in .evaluate }
                let plain = try self.shakeHands(policy, server: server, decide: nil)
                #expect(asked.trusts.count == 1)
                #expect(asked.verdicts == plain.verdicts)
                #expect(asked.verdicts == [try policy.verdict(server.chain, host: Site.host)])
                #expect(asked.verdicts.first?.decidedByHook == false)
                #expect(asked.outcome.succeeded == plain.outcome.succeeded)
                #expect(asked.outcome.verifyResult == plain.outcome.verifyResult)
            }
        }
    }

    @Test func `SES-27 with nobody to ask, a server that the policy accepts is believed`() throws {
        let record = try self.shakeHands(self.site.policy(), decide: nil)
        #expect(record.outcome.succeeded)
        #expect(record.verdicts.map(\.isTrusted) == [true])
        #expect(record.verdicts.map(\.decidedByHook) == [false])
    }

    @Test func `SES-28 with nobody to ask, a server that the policy refuses ends the handshake`() throws {
        let record = try self.shakeHands(self.site.policy(), server: self.stranger.leaf, decide: nil)
        #expect(!record.outcome.succeeded)
        #expect(record.verdicts.first?.error?.problem == .unknownIssuer)
        #expect(record.verdicts.map(\.decidedByHook) == [false])
    }

    @Test func `a decision sees the host and the chain as it was sent, and can ask the policy`() throws {
        let sent = self.site.chain + self.stranger.chain
        let policy = try self.site.policy()
        let record = try self.shakeHands(policy, sending: sent) {
            $0.evaluate().isTrusted ? .accept : .refuse("the policy says no")
        }
        #expect(record.outcome.succeeded)
        #expect(record.trusts.map(\.host) == [Site.host])
        #expect(record.trusts.map(\.chain) == [sent])
        // The server may be looked at after its handshake, too.
        #expect(record.trusts.first?.evaluate() == (try policy.verdict(sent, host: Site.host)))

        let refused = try self.shakeHands(policy, server: self.stranger.leaf) {
            $0.evaluate().isTrusted ? .accept : .refuse("the policy says no")
        }
        #expect(!refused.outcome.succeeded)
        #expect(refused.trusts.first?.evaluate().error?.problem == .unknownIssuer)
        #expect(refused.verdicts.first?.error?.code == .refusedByHook)
    }

    @Test func `the policy that a decision asks is no laxer than the connection`() throws {
        // Level 3 wants 128 bits; RSA with 2048 bits has 112.
        let root = try self.site.pki.root("RSA Root", key: .rsa(bits: 2048))
        let leaf = try self.site.pki.leaf(dns: [Site.host], signedBy: root, key: .rsa(bits: 2048))
        let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]))
        let evaluator = try TrustEvaluator(policy: policy)
        #expect(evaluator.evaluate(chain: leaf.chain, host: Site.host).isTrusted)
        let client = try MemoryHandshake.ClientContext()
        client.demandSecurityLevel(3)
        let record = Record()
        evaluator.install(
            on: client.pointer, host: Site.host, report: { record.verdicts.append($0) },
            decide: {
                record.trusts.append($0)
                return .evaluate
            })
        #expect(try !client.connect(server: leaf).succeeded)
        #expect(record.verdicts.first?.error?.problem == .weak)
        #expect(record.trusts.first?.evaluate() == record.verdicts.first)
    }

    @Test func `nobody is asked about a certificate that cannot be read`() throws {
        // UTCTime, 13 bytes: the first of the two dates, of which a digit becomes a letter.
        var leaf = self.site.leaf.certificate.der
        let date = try #require(leaf.indices.first { leaf[$0...].starts(with: [0x17, 0x0D]) })
        leaf[date + 4] = UInt8(ascii: "X")
        #expect(throws: TrustError.self) { try Certificate(der: leaf) }
        let record = Record()
        let client = try MemoryHandshake.ClientContext()
        try TrustEvaluator(policy: self.site.policy()).install(
            on: client.pointer, host: Site.host, report: { record.verdicts.append($0) },
            decide: {
                record.trusts.append($0)
                return .accept
            })
        #expect(try !client.connect(server: self.site.leaf, leaf: leaf).succeeded)
        #expect(record.trusts.isEmpty)
        #expect(record.verdicts.first?.error?.problem == .malformed)
        #expect(
            record.verdicts.first?.error?.message
                == "\(Site.host): the dates, the key or the encoding of its certificate cannot be read; "
                + "its owner has to renew it")
    }

    @Test func `every full handshake asks for a decision`() throws {
        let record = Record()
        let client = try MemoryHandshake.ClientContext()
        try TrustEvaluator(policy: self.site.policy()).install(
            on: client.pointer, host: Site.host, report: { record.verdicts.append($0) },
            decide: {
                record.trusts.append($0)
                return record.trusts.count == 2 ? .refuse("the second") : .accept
            })
        #expect(try client.connect(server: self.stranger.leaf).succeeded)
        #expect(try !client.connect(server: self.site.leaf).succeeded)
        #expect(try client.connect(server: self.stranger.leaf).succeeded)
        #expect(record.verdicts.map(\.isTrusted) == [true, false, true])
    }

    @Test func `the context keeps its closures, and lets go of them when it goes or gets others`() throws {
        weak var first: Record?
        weak var second: Record?
        do {
            let client = try MemoryHandshake.ClientContext()
            let evaluator = try TrustEvaluator(policy: self.site.policy())
            do {
                let record = Record()
                first = record
                self.install(evaluator, on: client, record)
            }
            #expect(first != nil)
            #expect(try client.connect(server: self.site.leaf, demanding: []).succeeded == false)
            #expect(first?.trusts.count == 1)
            #expect(first?.requests.count == 1)
            do {
                let record = Record()
                second = record
                self.install(evaluator, on: client, record)
            }
            #expect(first == nil)
            #expect(second != nil)
        }
        #expect(second == nil)
    }

    /// All three closures hold the record, and nothing else does.
    private func install(
        _ evaluator: TrustEvaluator, on client: MemoryHandshake.ClientContext, _ record: Record
    ) {
        evaluator.install(
            on: client.pointer, host: Site.host, report: { record.verdicts.append($0) },
            decide: {
                record.trusts.append($0)
                return .evaluate
            },
            identity: {
                record.requests.append($0)
                return nil
            })
    }

    /// One thread performs the handshake and calls the closures, so no lock is needed.
    private final class Record {
        var verdicts: [Verdict] = []
        var trusts: [ServerTrust] = []
        var requests: [ClientCertificateRequest] = []
    }

    private func shakeHands(
        _ policy: SecurityPolicy, server: TestIdentity? = nil, sending chain: [Certificate]? = nil,
        host: String = Site.host, decide: ((ServerTrust) -> TrustDecision)?
    ) throws -> (outcome: MemoryHandshake.Outcome, verdicts: [Verdict], trusts: [ServerTrust]) {
        let record = Record()
        let evaluator = try TrustEvaluator(policy: policy)
        let outcome = try MemoryHandshake.run(
            server: server ?? self.site.leaf, sending: chain, serverName: host
        ) {
            evaluator.install(
                on: $0, host: host, report: { record.verdicts.append($0) },
                decide: decide.map { decide in
                    {
                        record.trusts.append($0)
                        return decide($0)
                    }
                })
        }
        return (outcome, record.verdicts, record.trusts)
    }
}
