// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// Finds a path among certificates that have the same names.
struct PathSearchTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    private let host = Site.host

    init() throws {
        self.root = try self.pki.root("Root")
    }

    @Test func `an expired alternative does not hide the good one, in any order`() throws {
        let good = try self.pki.intermediate("Middle", signedBy: self.root)
        let expired = try self.pki.intermediate("Middle", signedBy: self.root, validity: .expired, reusing: good)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: good)
        for others in [[good, expired], [expired, good]] {
            let verdict = try self.verdict([leaf] + others)
            #expect(verdict.isTrusted)
            #expect(verdict.chain.map(\.certificate) == [leaf, good, self.root].map(\.certificate))
        }
        #expect(try self.verdict([leaf, expired]).error?.rule == .expired)
    }

    @Test func `a constrained alternative does not hide the good one`() throws {
        let good = try self.pki.intermediate("Middle", signedBy: self.root)
        let constrained = try self.pki.intermediate(
            "Middle", signedBy: self.root, reusing: good, constraints: .init(permittedDNS: ["elsewhere.test"]))
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: good)
        #expect(try self.verdict([leaf, constrained, good]).isTrusted)
        #expect(try self.verdict([leaf, constrained]).error?.rule == .nameConstraint)
    }

    @Test func `a cross-signed root leads to either authority`() throws {
        let other = try self.pki.root("Other")
        let cross = try self.pki.intermediate("Root", signedBy: other, reusing: self.root)
        let middle = try self.pki.intermediate("Middle", signedBy: self.root)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: middle)
        let sent = [leaf, middle, cross]
        #expect(try self.verdict(sent).chain.last?.certificate == self.root.certificate)
        let verdict = try self.verdict(sent, roots: [other])
        #expect(verdict.chain.map(\.certificate) == [leaf, middle, cross, other].map(\.certificate))
    }

    @Test func `an expired root is passed by where its key is signed by another one`() throws {
        let old = try self.pki.root("Old", validity: .expired)
        let cross = try self.pki.intermediate("Old", signedBy: self.root, reusing: old)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: old)
        #expect(try self.verdict([leaf, cross], roots: [old, self.root]).isTrusted)
        #expect(try self.verdict([leaf], roots: [old]).error?.rule == .expired)
        #expect(try self.verdict([leaf], roots: [old]).error?.message.contains("\"CN=Old\" expired") == true)
    }

    @Test func `a pinned root that expired is refused, and its renewal with the same key is not`() throws {
        let old = try self.pki.root("Old", validity: .expired)
        let renewed = try self.pki.mint(.authority("Old"), reusing: old)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: old)
        for (root, isTrusted) in [(old, false), (renewed, true)] {
            let policy = try SecurityPolicy(pinning: .publicKey, pins: [old.pin], roots: .only([root.certificate]))
            #expect(try policy.verdict(leaf.chain, host: self.host).isTrusted == isTrusted)
        }
    }

    @Test func `a hundred irrelevant intermediates cost no signature`() throws {
        let middle = try self.pki.intermediate("Middle", signedBy: self.root)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: middle)
        let strangers = try (0..<100).map { try self.pki.intermediate("Stranger \($0)", signedBy: self.root) }
        let (outcome, spent) = try self.search([leaf] + strangers + [middle])
        #expect(outcome == nil)
        #expect(spent.signatures == 2)
        let verdict = try self.verdict([leaf] + strangers + [middle])
        #expect(verdict.chain.map(\.certificate) == [leaf, middle, self.root].map(\.certificate))
    }

    @Test func `junk that a server appends does not count`() throws {
        let middle = try self.pki.intermediate("Middle", signedBy: self.root)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: middle)
        let junk = [
            try self.pki.selfSigned(dns: ["junk.test"], validity: .expired),
            try self.pki.mint(.authority("Middle").with("1.2.3.4", "critical,DER:0500"), signedBy: self.root),
            try self.pki.mint(.authority("Middle").changed { $0.digest = "SHA1" }, signedBy: self.root),
            try self.pki.root("Root"),
        ]
        #expect(try self.verdict([leaf] + junk + [middle]).isTrusted)
        #expect(try !self.verdict([leaf] + junk).isTrusted)
    }

    @Test func `authorities that sign each other lead nowhere, and that is seen at once`() throws {
        let first = try self.pki.root("First")
        let second = try self.pki.root("Second")
        let firstBySecond = try self.pki.intermediate("First", signedBy: second, reusing: first)
        let secondByFirst = try self.pki.intermediate("Second", signedBy: first, reusing: second)
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: firstBySecond)
        let (finding, spent) = try self.search([leaf, firstBySecond, secondByFirst])
        #expect(finding == .unknownIssuer)
        #expect(spent.signatures <= 4)
        // A ring as before, but with one of its authorities as a root.
        let (found, _) = try self.search([leaf, firstBySecond, secondByFirst], roots: [second])
        #expect(found == nil)
    }

    @Test func `levels of thirty namesakes end within the budget`() throws {
        let full = SearchBudget()
        var sent: [TestIdentity] = []
        var signer = self.root
        for level in 0..<10 {
            let name = "Level \(level)"
            let namesakes = try (0..<30).map { _ in
                try self.pki.mint(.authority(name).with("subjectKeyIdentifier", nil), signedBy: signer)
            }
            sent += namesakes
            signer = namesakes[29]
        }
        // Nothing that the root signed is among them, so each turn is a wrong one, but names promise otherwise.
        let impostor = try self.pki.root("Root")
        let (finding, spent) = try self.search(
            [try self.pki.leaf(dns: [self.host], signedBy: signer)] + sent, roots: [impostor])
        #expect(finding != nil)
        #expect(spent.signatures <= full.signatures && spent.steps <= full.steps)
    }

    @Test func `namesakes of one key do not multiply`() throws {
        var sent: [TestIdentity] = []
        for level in 0..<12 {
            let name = "Level \(level)"
            for _ in 0..<30 {
                sent.append(try self.pki.mint(.authority(name), signedBy: sent.last ?? self.root, reusing: self.root))
            }
        }
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: try #require(sent.last))
        // The root signed none of the first level for these anchors: same name, another key.
        let (finding, spent) = try self.search([leaf] + sent, roots: [try self.pki.root("Root")])
        #expect(finding != nil)
        #expect(spent.steps <= SearchBudget().steps && spent.signatures <= SearchBudget().signatures)
    }

    @Test func `names times constraints are bounded`() throws {
        let names = (0..<600).map { "DNS:n\($0).test" }.joined(separator: ",")
        let trees = (0..<600).map { "permitted;DNS:p\($0).test" }.joined(separator: ",") + ",permitted;DNS:test"
        let authority = try self.pki.mint(
            .authority("Many").with("nameConstraints", "critical,\(trees)"), signedBy: self.root)
        let leaf = try self.pki.mint(.server(names), signedBy: authority)
        let (finding, _) = try self.search([leaf, authority])
        #expect(finding == .pathTooComplex)
    }

    @Test func `one long name is as costly as many`() throws {
        let trees = (0..<200).map { "permitted;URI:p\($0).test" }.joined(separator: ",")
        let authority = try self.pki.mint(
            .authority("Long").with("nameConstraints", "critical,\(trees)"), signedBy: self.root)
        let path = String(repeating: "a", count: 400_000)
        let leaf = try self.pki.mint(.server("URI:https://p.test/\(path)"), signedBy: authority)
        let (finding, _) = try self.search([leaf, authority])
        #expect(finding == .pathTooComplex)
    }

    @Test func `slow keys use the budget up sooner`() throws {
        let namesakes = try (0..<80).map { _ in
            try self.pki.mint(.authority("Slow").changed { $0.key = .curve("P-384") }, signedBy: self.root)
        }
        let stranger = try self.pki.mint(.authority("Slow"))
        let (finding, spent) = try self.search([try self.pki.leaf(signedBy: stranger)] + namesakes)
        #expect(finding == .pathTooComplex)
        #expect(spent.signatures < SearchBudget().signatures + 16)
    }

    @Test func `more certificates than a handshake can carry are not looked at`() throws {
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: self.root)
        let many = [leaf.certificate] + [Certificate](repeating: self.root.certificate, count: 2000)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        #expect(try policy.verdict(many, host: self.host).error?.rule == .pathTooComplex)
        #expect(try policy.verdict(Array(many.dropLast()), host: self.host).isTrusted)
    }

    @Test func `the failure of the path that arrives is told, not that of a dead end`() throws {
        let leaf = try self.pki.leaf(dns: [self.host], signedBy: self.root, validity: .expired)
        let stray = try self.pki.intermediate("Root", signedBy: try self.pki.root("Stray"))
        #expect(try self.verdict([leaf, stray]).error?.rule == .expired)
        let orphan = try self.pki.leaf(dns: [self.host], signedBy: stray, validity: .expired)
        #expect(try self.verdict([orphan, stray], roots: [try self.pki.root("Far")]).error?.rule == .unknownIssuer)
    }

    @Test func `LOOK-37 a server's certificate may have its root's name and key`() throws {
        let own = try self.pki.mint(
            .server("DNS:\(self.host)", commonName: "Root"), signedBy: self.root, reusing: self.root)
        let verdict = try self.verdict([own])
        #expect(verdict.isTrusted, "\(verdict.error?.message ?? "")")
        #expect(verdict.chain.map(\.certificate) == [own.certificate, self.root.certificate])
        // A certificate with the key, but another name.
        let other = try self.pki.mint(.server("DNS:\(self.host)"), signedBy: self.root, reusing: self.root)
        #expect(try self.verdict([other]).isTrusted)
    }

    @Test func `LOOK-37 where its root is no good, that is what is said`() throws {
        let expired = try self.pki.mint(.authority("Old").changed { $0.validity = .expired })
        let own = try self.pki.mint(
            .server("DNS:\(self.host)", commonName: "Old"), signedBy: expired, reusing: expired)
        let verdict = try self.verdict([own], roots: [expired])
        #expect(verdict.error?.rule == .expired)
        #expect(verdict.error?.message.contains("expired on") == true)
        // Without its root it vouches for itself, and the advice to add it fits.
        #expect(try self.verdict([own]).error?.rule == .selfSigned)
    }

    private func verdict(_ sent: [TestIdentity], roots: [TestIdentity]? = nil) throws -> Verdict {
        let anchors = (roots ?? [self.root]).map(\.certificate)
        return try SecurityPolicy(pinning: .none, roots: .only(anchors))
            .verdict(sent.map(\.certificate), host: self.host)
    }

    /// The violated rule, nil if a path was found, and the cost of the search.
    private func search(_ sent: [TestIdentity], roots: [TestIdentity]? = nil) throws -> (Rule?, SearchBudget) {
        let certificates = try sent.map { try PathCertificate($0.certificate) }
        let anchors = try AnchorStore(anchors: (roots ?? [self.root]).map(\.certificate))
        let rules = PathRules(moment: self.pki.now, securityBits: 112, usesCommonName: false)
        var search = PathSearch(
            others: Array(certificates.dropFirst()), anchors: anchors, rules: rules, demandsForm: false)
        switch search.run(from: certificates[0]) {
        case .found: return (nil, search.spent)
        case .none(let finding): return (finding.rule, search.spent)
        }
    }
}
