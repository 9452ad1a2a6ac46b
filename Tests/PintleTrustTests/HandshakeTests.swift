// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The policy inside of a real TLS handshake.
struct HandshakeTests {
    private let site: Site

    init() throws {
        self.site = try Site()
    }

    @Test func `SEC-28 a handshake asks the policy with the peer's chain and the host: accepted`() throws {
        let policy = try self.site.policy(.publicKey, pinning: [self.site.intermediate.certificate])
        let (outcome, verdicts) = try self.shakeHands(policy)
        #expect(outcome.succeeded)
        #expect(outcome.verifyResult == 0)
        #expect(verdicts.count == 1)
        #expect(verdicts.first?.host == Site.host)
        #expect(verdicts.first?.matchedPin == self.site.intermediate.pin)
        #expect(verdicts.first?.chain.map(\.certificate) == self.site.leaf.fullChain)
    }

    @Test func `SEC-28 a handshake asks the policy with the peer's chain and the host: refused`() throws {
        let policy = try self.site.policy(.publicKey, pinning: [self.site.leaf.certificate])
        let (outcome, verdicts) = try self.shakeHands(policy, host: "other.test")
        #expect(!outcome.succeeded)
        #expect(outcome.verifyResult == 62)
        #expect(verdicts.count == 1)
        #expect(verdicts.first?.host == "other.test")
        #expect(verdicts.first?.error?.problem == .wrongName)
    }

    @Test func `a handshake without a matching pin is refused, with the verified chain in the verdict`() throws {
        let stranger = try Site("Stranger")
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            let policy = try self.site.policy(mode, pinning: stranger.leaf.fullChain)
            let (outcome, verdicts) = try self.shakeHands(policy)
            #expect(!outcome.succeeded)
            #expect(outcome.verifyResult != 0)
            #expect(outcome.serverError != nil)
            #expect(verdicts.first?.error?.code == .pinMismatch)
            #expect(verdicts.first?.chain.map(\.certificate) == self.site.leaf.fullChain)
        }
    }

    @Test func `a handshake and an evaluation of the same chain come to the same verdict`() throws {
        let pki = self.site.pki
        let stranger = try Site("Stranger")
        let identities = [
            self.site.leaf, stranger.leaf,
            try pki.leaf(dns: [Site.host], signedBy: self.site.intermediate, validity: .expired),
            try pki.leaf(dns: [Site.host], signedBy: self.site.intermediate, purpose: .client),
            try pki.selfSigned(dns: [Site.host]),
            try pki.leaf("no names", signedBy: self.site.intermediate),
        ]
        let policies = [
            try self.site.policy(),
            try self.site.policy(.publicKey, pinning: identities.map(\.certificate), allowInvalid: true),
            try self.site.policy(.certificate, pinning: [self.site.root.certificate]),
            try self.site.policy(.certificate, pinning: identities.map(\.certificate), allowInvalid: true),
        ]
        for policy in policies {
            for identity in identities {
                let (outcome, verdicts) = try self.shakeHands(policy, server: identity)
                let expected = try policy.verdict(identity.chain, host: Site.host)
                #expect(verdicts == [expected])
                #expect(outcome.succeeded == expected.isTrusted)
                #expect((outcome.verifyResult == 0) == expected.isTrusted)
            }
        }
    }

    @Test func `an invalid chain that the policy allows is accepted with a clean result`() throws {
        let identity = try self.site.pki.selfSigned(dns: [Site.host], validity: .expired)
        let policy = try SecurityPolicy(pinning: .publicKey, pins: [identity.pin], allowInvalidCertificates: true)
        let (outcome, verdicts) = try self.shakeHands(policy, server: identity)
        #expect(outcome.succeeded)
        #expect(outcome.verifyResult == 0)
        #expect(verdicts.first?.waived?.problem == .selfSigned)
    }

    @Test func `certificates that a server appends do not count`() throws {
        let pinned = try Site("Pinned")
        let policy = try self.site.policy(.publicKey, pinning: pinned.leaf.fullChain)
        let (outcome, verdicts) = try self.shakeHands(policy, sending: self.site.chain + pinned.leaf.fullChain)
        #expect(!outcome.succeeded)
        #expect(verdicts.first?.error?.code == .pinMismatch)
    }

    @Test func `a handshake over an RSA certificate is judged alike`() throws {
        let root = try self.site.pki.root("RSA Root", key: .rsa(bits: 2048))
        let leaf = try self.site.pki.leaf(dns: [Site.host], signedBy: root, key: .rsa(bits: 2048))
        let policy = try SecurityPolicy(pinning: .publicKey, pins: [root.pin], roots: .only([root.certificate]))
        #expect(try self.shakeHands(policy, server: leaf).0.succeeded)
    }

    @Test func `the context keeps the evaluator, and lets go of it when it goes`() throws {
        weak var weakEvaluator: TrustEvaluator?
        weak var weakReport: Reports?
        do {
            let client = try MemoryHandshake.ClientContext()
            do {
                let reports = Reports()
                let evaluator = try TrustEvaluator(policy: self.site.policy())
                evaluator.install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
                weakEvaluator = evaluator
                weakReport = reports
            }
            #expect(weakEvaluator != nil)
            #expect(try client.connect(server: self.site.leaf).succeeded)
            #expect(weakReport?.verdicts.count == 1)
        }
        #expect(weakEvaluator == nil)
        #expect(weakReport == nil)
    }

    @Test func `anchors in the context's own store count for nothing`() throws {
        let stranger = try Site("Stranger")
        let reports = Reports()
        let client = try MemoryHandshake.ClientContext()
        let evaluator = try TrustEvaluator(policy: self.site.policy())
        // libcurl may fill the store before the policy is installed, and after.
        try client.addAnchor(stranger.root.certificate)
        evaluator.install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
        try client.addAnchor(stranger.root.certificate)
        #expect(try !client.connect(server: stranger.leaf).succeeded)
        #expect(reports.verdicts.first?.error?.problem == .unknownIssuer)
        #expect(evaluator.evaluate(chain: stranger.chain, host: Site.host).error?.problem == .unknownIssuer)
        #expect(try client.connect(server: self.site.leaf).succeeded)
    }

    @Test func `a connection keeps the certificate that was judged`() throws {
        let client = try MemoryHandshake.ClientContext()
        #expect(!client.refusesRenegotiation)
        try TrustEvaluator(policy: self.site.policy()).install(on: client.pointer, host: Site.host) { _ in }
        #expect(client.refusesRenegotiation)
    }

    @Test func `an address as host is judged like any other`() throws {
        let leaf = try self.site.pki.leaf(ip: ["127.0.0.1", "::1"], signedBy: self.site.intermediate)
        for (host, verifyResult) in [("127.0.0.1", 0), ("::1", 0), ("[::1]", 0), ("127.0.0.2", 64)] {
            let (outcome, _) = try self.shakeHands(try self.site.policy(), server: leaf, host: host)
            #expect(outcome.verifyResult == verifyResult, "\(host)")
        }
    }

    @Test func `a second policy on a context replaces the first`() throws {
        weak var weakFirst: TrustEvaluator?
        let reports = Reports()
        let client = try MemoryHandshake.ClientContext()
        do {
            let first = try TrustEvaluator(policy: SecurityPolicy.default)
            first.install(on: client.pointer, host: "first.test") { reports.verdicts.append($0) }
            weakFirst = first
        }
        let second = try TrustEvaluator(policy: self.site.policy())
        second.install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
        #expect(weakFirst == nil)
        #expect(try client.connect(server: self.site.leaf).succeeded)
        #expect(reports.verdicts.map(\.host) == [Site.host])
    }

    @Test func `every full handshake of a context is judged`() throws {
        let reports = Reports()
        let client = try MemoryHandshake.ClientContext()
        let evaluator = try TrustEvaluator(policy: self.site.policy())
        evaluator.install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
        let stranger = try Site("Stranger")
        #expect(try client.connect(server: self.site.leaf).succeeded)
        #expect(try !client.connect(server: stranger.leaf).succeeded)
        #expect(try client.connect(server: self.site.leaf).succeeded)
        #expect(reports.verdicts.map(\.isTrusted) == [true, false, true])
    }

    /// One thread performs the handshake and the reports, so no lock is needed.
    private final class Reports {
        var verdicts: [Verdict] = []
    }

    private func shakeHands(
        _ policy: SecurityPolicy, server: TestIdentity? = nil, sending chain: [Certificate]? = nil,
        host: String = Site.host
    ) throws -> (MemoryHandshake.Outcome, [Verdict]) {
        let reports = Reports()
        let evaluator = try TrustEvaluator(policy: policy)
        let outcome = try MemoryHandshake.run(server: server ?? self.site.leaf, sending: chain, serverName: host) {
            evaluator.install(on: $0, host: host) { reports.verdicts.append($0) }
        }
        return (outcome, reports.verdicts)
    }
}
