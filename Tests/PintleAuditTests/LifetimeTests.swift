// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

@testable import PintleAudit

/// Findings about the lifetimes and signatures of certificates that servers send.
@Suite struct LifetimeTests {
    private static let domainValidated = "2.23.140.1.2.1"
    private let pki = TestPKI()
    private let root: TestIdentity

    init() throws {
        // Valid at each of the times at which chains are judged.
        self.root = try self.pki.mint(
            .authority("Root").changed { $0.validity = .window(.seconds(-3650 * 86_400), .seconds(7300 * 86_400)) })
    }

    /// A chain whose leaf is valid from one time to another.
    private func chain(
        from: String, to: String, policies: [String] = [Self.domainValidated], sending more: [Certificate] = []
    ) throws -> AuditedChain {
        let (start, end) = (try #require(UnixTime(iso8601: from)), try #require(UnixTime(iso8601: to)))
        let leaf = try self.pki.mint(
            .server("DNS:a.test").with(policies: policies).changed { recipe in
                recipe.validity = .window(
                    .seconds(start.seconds - self.pki.now.seconds), .seconds(end.seconds - self.pki.now.seconds))
            }, signedBy: self.root)
        let evaluator = try TrustEvaluator(policy: .default.trusting(only: [self.root.certificate]))
        let presented = leaf.chain + more
        return AuditedChain(
            keys: [.ecdsa], presented: presented,
            verdict: evaluator.evaluate(chain: presented, host: "a.test", at: start))
    }

    private func findings(_ chain: AuditedChain, at moment: String = "2026-04-01") throws -> [AuditFinding] {
        let target = AuditTarget(
            policy: "p", policyIndex: nil, authority: Authority(host: "a.test", port: 443), position: nil,
            source: "--host")
        return ComingFindings(
            target: target, address: "127.0.0.1", chain: chain, moment: try #require(UnixTime(iso8601: moment))
        ).findings
    }

    @Test(arguments: [
        ("2026-03-14T00:00:00Z", "2027-04-15T23:59:59Z", 398, 398),
        ("2026-03-15T00:00:00Z", "2026-09-30T23:59:59Z", 200, 200),
        ("2027-03-14T00:00:00Z", "2027-09-29T23:59:59Z", 200, 200),
        ("2027-03-15T00:00:00Z", "2027-06-22T23:59:59Z", 100, 100),
        ("2029-03-15T00:00:00Z", "2029-04-30T23:59:59Z", 47, 47),
    ])
    func `the limit in force at issuance holds up to its last second`(
        from: String, to: String, days: Int64, limit: Int64
    ) throws {
        let chain = try self.chain(from: from, to: to)
        let leaf = chain.presented[0]
        #expect(leaf.lifetimeDays == days && LifetimeLimit.inForce(at: leaf.notBefore)?.days == limit)
        #expect(try !self.findings(chain).contains { $0.rule == .lifetimeTooLong })
        let longer = try self.chain(from: from, to: to.dayLater)
        let finding = try #require(try self.findings(longer).first)
        #expect(finding.rule == .lifetimeTooLong && finding.severity == .warning)
        #expect(
            finding.message
                == "a.test: the leaf certificate \"CN=server\" is valid for \(days + 1) days, and a public authority may give "
                + "\(limit) to one that it issues on \(from.prefix(10))")
    }

    @Test func `a second more is a day more`() throws {
        let chain = try self.chain(from: "2026-03-15T00:00:00Z", to: "2026-10-01T00:00:00Z")
        #expect(chain.presented[0].lifetimeDays == 201)
    }

    @Test func `limits that are coming are told, as long as they are lower`() throws {
        let half = try self.chain(from: "2026-04-01T00:00:00Z", to: "2026-10-15T23:59:59Z")
        let finding = try #require(try self.findings(half).first)
        #expect(finding.rule == .lifetimeShrinking && finding.severity == .note)
        #expect(
            finding.message
                == "a.test: the leaf certificate \"CN=server\" is valid for 198 days; certificates issued from 2027-03-15 on may "
                + "be valid for 100 days, those from 2029-03-15 on for 47")
        let quarter = try self.chain(from: "2026-04-01T00:00:00Z", to: "2026-06-29T23:59:59Z")
        #expect(
            try self.findings(quarter).map(\.message) == [
                "a.test: the leaf certificate \"CN=server\" is valid for 90 days; certificates issued from 2029-03-15 on may be "
                    + "valid for 47 days"
            ])
        let short = try self.chain(from: "2026-04-01T00:00:00Z", to: "2026-05-17T23:59:59Z")
        #expect(try self.findings(short) == [])
        #expect(try self.findings(quarter, at: "2029-03-15") == [])
    }

    @Test(arguments: [[], ["1.2.3.4"]])
    func `private authorities issue for as long as they like`(policies: [String]) throws {
        let chain = try self.chain(from: "2026-04-01T00:00:00Z", to: "2036-04-01T00:00:00Z", policies: policies)
        #expect(chain.verdict.isTrusted)
        #expect(try self.findings(chain) == [])
    }

    @Test func `a chain that was not verified has errors of its own`() throws {
        var chain = try self.chain(from: "2026-04-01T00:00:00Z", to: "2030-04-01T00:00:00Z")
        let stranger = try TrustEvaluator(policy: .default.trusting(only: [self.pki.root("Other").certificate]))
        chain.verdict = stranger.evaluate(chain: chain.presented, host: "a.test")
        #expect(!chain.verdict.isTrusted)
        #expect(try self.findings(chain) == [])
    }

    @Test func `a certificate beside the path that is signed with SHA-1 is a warning, a root is not`() throws {
        let old = try self.pki.mint(.authority("Old Root").changed { $0.digest = "SHA1" })
        let crossed = try self.pki.mint(
            .authority("Root").changed { $0.digest = "SHA1" }, signedBy: old, reusing: self.root)
        let chain = try self.chain(
            from: "2026-04-01T00:00:00Z", to: "2026-05-01T00:00:00Z", sending: [crossed.certificate, old.certificate])
        #expect(chain.verdict.isTrusted)
        let finding = try #require(try self.findings(chain).first)
        #expect(finding.rule == .brokenDigest && finding.severity == .warning)
        #expect(finding.message == "a.test: the server sends the certificate \"CN=Root\", which is signed with SHA-1")
        #expect(try self.findings(chain).count == 1)
    }

    @Test func `a path that needs such a signature is an error already`() throws {
        let weak = try self.pki.mint(.authority("Weak").changed { $0.digest = "SHA1" }, signedBy: self.root)
        let leaf = try self.pki.mint(.server("DNS:a.test"), signedBy: weak)
        let evaluator = try TrustEvaluator(policy: .default.trusting(only: [self.root.certificate]))
        let chain = AuditedChain(
            keys: [.ecdsa], presented: leaf.chain, verdict: evaluator.evaluate(chain: leaf.chain, host: "a.test"))
        #expect(chain.verdict.error?.problem == .weak)
        #expect(try self.findings(chain) == [])
    }
}

extension String {
    /// The time one day later.
    fileprivate var dayLater: String {
        UnixTime(iso8601: self)?.advanced(by: .seconds(86_400)).description ?? self
    }
}
