// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Evaluation without pins.
struct ModeNoneTests {
    @Test(arguments: [(nil, true), (Site.host, true), ("other.example.test", false), ("invalid.test", false)])
    func `SEC-02 a publicly trusted chain is accepted for its own name and for no name`(
        host: String?, isTrusted: Bool
    ) throws {
        let site = try Site()
        let verdict = try site.policy().verdict(site.chain, host: host)
        #expect(verdict.isTrusted == isTrusted)
        #expect(verdict.error?.problem == (isTrusted ? nil : .wrongName))
    }

    @Test func `SEC-03 a self-signed certificate is refused, with no name asked for too`() throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.example"])
        let verdict = try SecurityPolicy.default.verdict(identity.chain, host: nil)
        #expect(verdict.error?.problem == .selfSigned)
        #expect(verdict.chainOrigin == .presented)
        #expect(verdict.chain.map(\.position) == [.leaf])
    }

    @Test func `SEC-10 without domain validation a valid chain is accepted under another name`() throws {
        let site = try Site()
        #expect(try site.policy(validatesDomainName: false).verdict(site.chain, host: "apple.test").isTrusted)
    }

    @Test(arguments: [nil, "foobar.test"])
    func `SEC-13 and SEC-14 invalid allowed and names unchecked accepts a self-signed certificate`(
        host: String?
    ) throws {
        let identity = try TestPKI().selfSigned()
        let policy = try SecurityPolicy(pinning: .none, allowInvalidCertificates: true, validatesDomainName: false)
        let verdict = try policy.verdict(identity.chain, host: host)
        #expect(verdict.isTrusted)
        #expect(verdict.waived?.problem == .selfSigned)
    }

    @Test func `the verified chain is reported from leaf to root, whatever the order it came in`() throws {
        let site = try Site()
        let middle = try site.pki.intermediate("Lower Intermediate", signedBy: site.intermediate)
        let leaf = try site.pki.leaf("deep", dns: [Site.host], signedBy: middle)
        let sent = [leaf.certificate, site.root.certificate, site.intermediate.certificate, middle.certificate]
        let verdict = try site.policy().verdict(sent, host: Site.host)
        #expect(verdict.isTrusted)
        #expect(verdict.chainOrigin == .verified)
        #expect(verdict.chain.map(\.certificate) == leaf.fullChain)
        #expect(verdict.chain.map(\.position) == [.leaf, .intermediate, .intermediate, .root])
        #expect(verdict.matchedPin == nil && verdict.waived == nil)
    }

    @Test func `a chain without its intermediate is refused, and the message says what to do`() throws {
        let site = try Site()
        let verdict = try site.policy().verdict([site.leaf.certificate], host: Site.host)
        #expect(verdict.error?.code == .certificateInvalid)
        #expect(verdict.error?.problem == .unknownIssuer)
        #expect(
            verdict.error?.message
                == "api.example.test: the chain ends at the certificate \"CN=Site Leaf\", issued by "
                + "\"CN=Site Intermediate\", not at a trusted root; add that issuer to extra_roots if you trust it, "
                + "or have the server send its intermediates")
        #expect(verdict.error?.cause == "unable to get local issuer certificate")
    }

    @Test func `expired and not yet valid certificates are told apart`() throws {
        let site = try Site()
        let expired = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, validity: .expired)
        let early = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, validity: .notYet)
        #expect(try site.policy().verdict(expired.chain, host: Site.host).error?.problem == .expired)
        #expect(try site.policy().verdict(early.chain, host: Site.host).error?.problem == .notYetValid)
    }

    @Test func `the moment of evaluation is a parameter`() throws {
        let site = try Site()
        let evaluator = try TrustEvaluator(policy: site.policy())
        let end = site.leaf.certificate.notAfter
        #expect(evaluator.evaluate(chain: site.chain, host: Site.host, at: end.advanced(by: .seconds(-1))).isTrusted)
        let late = evaluator.evaluate(chain: site.chain, host: Site.host, at: end.advanced(by: .seconds(1)))
        #expect(late.error?.problem == .expired)
        #expect(late.error?.message.contains("expired on \(end)") == true)
    }

    @Test func `an intermediate given as a root is an anchor as it is`() throws {
        let site = try Site()
        let policy = try SecurityPolicy(pinning: .none, roots: .only([site.intermediate.certificate]))
        let verdict = try policy.verdict([site.leaf.certificate], host: Site.host)
        #expect(verdict.isTrusted)
        #expect(verdict.chain.map(\.position) == [.leaf, .intermediate])
    }

    @Test func `extra roots are added to the others`() throws {
        let site = try Site()
        let other = try Site("Other", host: "other.example.test")
        let policy = try SecurityPolicy(pinning: .none, roots: site.roots, extraRoots: [other.root.certificate])
        #expect(try policy.verdict(site.chain, host: Site.host).isTrusted)
        #expect(try policy.verdict(other.chain, host: "other.example.test").isTrusted)
        let system = try SecurityPolicy(pinning: .none, extraRoots: [other.root.certificate])
        #expect(try system.verdict(other.chain, host: "other.example.test").isTrusted)
        #expect(try system.verdict(site.chain, host: Site.host).error?.problem == .unknownIssuer)
    }

    @Test func `an empty chain is refused`() throws {
        let verdict = try SecurityPolicy.default.verdict([], host: Site.host)
        #expect(verdict.error?.problem == .missing)
        #expect(verdict.chain.isEmpty)
    }
}
