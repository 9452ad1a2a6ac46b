// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Reasons for which a chain is invalid, apart from its dates and its root.
struct ChainRuleTests {
    @Test func `a leaf may not issue certificates`() throws {
        let site = try Site()
        let forged = try site.pki.leaf("forged", dns: ["bank.test"], signedBy: site.leaf)
        let verdict = try site.policy().verdict(forged.chain, host: "bank.test")
        #expect(verdict.error?.problem == .notAnAuthority)
    }

    @Test func `the path length of an authority is respected`() throws {
        let site = try Site()
        let last = try site.pki.intermediate("last", signedBy: site.root, constraints: .init(pathLength: 0))
        let fine = try site.pki.leaf(dns: [Site.host], signedBy: last)
        #expect(try site.policy().verdict(fine.chain, host: Site.host).isTrusted)
        let below = try site.pki.intermediate("below", signedBy: last)
        let deep = try site.pki.leaf(dns: [Site.host], signedBy: below)
        #expect(try site.policy().verdict(deep.chain, host: Site.host).error?.problem == .notAnAuthority)
    }

    @Test func `an authority vouches only for the names it is permitted`() throws {
        let site = try Site()
        let local = try site.pki.intermediate(
            "local", signedBy: site.root,
            constraints: .init(permittedDNS: ["corp.test"], excludedDNS: ["secret.corp.test"]))
        let cases = [("a.corp.test", true), ("bank.test", false), ("a.secret.corp.test", false)]
        for (host, isTrusted) in cases {
            let leaf = try site.pki.leaf(dns: [host], signedBy: local)
            let verdict = try site.policy().verdict(leaf.chain, host: host)
            #expect(verdict.error?.problem == (isTrusted ? nil : .nameConstraint), "\(host)")
        }
    }

    @Test func `a certificate for clients does not serve`() throws {
        let site = try Site()
        let leaf = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, purpose: .client)
        #expect(try site.policy().verdict(leaf.chain, host: Site.host).error?.problem == .wrongPurpose)
    }

    @Test func `a key that is too short is refused`() throws {
        let site = try Site()
        let weak = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, key: .rsa(bits: 512))
        #expect(try site.policy().verdict(weak.chain, host: Site.host).error?.problem == .weak)
        let strong = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, key: .rsa(bits: 2048))
        #expect(try site.policy().verdict(strong.chain, host: Site.host).isTrusted)
    }

    @Test func `a forged signature is refused`() throws {
        let site = try Site()
        // The last byte belongs to the signature.
        var der = site.leaf.certificate.der
        der[der.count - 1] ^= 1
        let forged = try Certificate(der: der)
        let verdict = try site.policy().verdict([forged] + site.chain.dropFirst(), host: Site.host)
        #expect(verdict.error?.problem == .badSignature)
    }

    @Test func `an issuer of the same name with another key is not the issuer`() throws {
        let site = try Site()
        let impostor = try Site()
        let verdict = try site.policy().verdict(
            [impostor.leaf.certificate, site.intermediate.certificate], host: Site.host)
        #expect(!verdict.isTrusted)
    }

    @Test func `a chain deeper than any in use is refused`() throws {
        let site = try Site()
        var signer = site.root
        for depth in 0..<20 { signer = try site.pki.intermediate("depth \(depth)", signedBy: signer) }
        let leaf = try site.pki.leaf(dns: [Site.host], signedBy: signer)
        #expect(try !site.policy().verdict(leaf.chain, host: Site.host).isTrusted)
    }

    @Test func `many threads may ask one evaluator`() async throws {
        let site = try Site()
        let evaluator = try TrustEvaluator(policy: site.policy(.certificate, pinning: [site.root.certificate]))
        let chain = site.chain
        let trusted = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                let host = index.isMultiple(of: 2) ? Site.host : "wrong.test"
                group.addTask { evaluator.evaluate(chain: chain, host: host).isTrusted }
            }
            return await group.reduce(into: 0) { count, isTrusted in count += isTrusted ? 1 : 0 }
        }
        #expect(trusted == 32)
    }
}
