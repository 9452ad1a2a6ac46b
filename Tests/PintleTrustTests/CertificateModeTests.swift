// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Evaluation in certificate mode.
struct CertificateModeTests {
    @Test func `SEC-08 a pinned leaf, intermediate, root or chain is accepted, with strangers beside it too`() throws {
        let site = try Site()
        for (name, pinned) in try site.acceptedPins {
            let policy = try site.policy(.certificate, pinning: pinned)
            for host in [nil, Site.host] {
                let verdict = try policy.verdict(site.chain, host: host)
                #expect(verdict.isTrusted, "\(name)")
                #expect(verdict.chainOrigin == .verified, "\(name)")
            }
        }
    }

    @Test func `SEC-08 the wrong domain is refused`() throws {
        let site = try Site()
        let policy = try site.policy(.certificate, pinning: [site.leaf.certificate])
        #expect(try policy.verdict(site.chain, host: "apple.test").error?.problem == .wrongName)
    }

    @Test func `SEC-08 the chain of another site is refused`() throws {
        let site = try Site()
        let other = try Site("Other", host: "other.example.test")
        let policy = try site.policy(.certificate, pinning: other.leaf.fullChain)
        #expect(try policy.verdict(site.chain, host: Site.host).error?.code == .pinMismatch)
        #expect(try policy.verdict(other.chain, host: "other.example.test").error?.problem == .unknownIssuer)
    }

    @Test func `SEC-12 a pinned self-signed certificate without a matching name is refused`() throws {
        for identity in [try TestPKI().selfSigned(nil), try TestPKI().selfSigned("foobar.com")] {
            let policy = try SecurityPolicy(
                pinning: .certificate, certificates: [identity.certificate], allowInvalidCertificates: true)
            #expect(try policy.verdict(identity.chain, host: "foobar.com").error?.problem == .wrongName)
        }
    }

    @Test func `SEC-12 a pinned self-signed certificate with a matching name is accepted`() throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.com"])
        let policy = try SecurityPolicy(
            pinning: .certificate, certificates: [identity.certificate], allowInvalidCertificates: true)
        let verdict = try policy.verdict(identity.chain, host: "foobar.com")
        #expect(verdict.isTrusted)
        #expect(verdict.matchedPin == identity.pin)
        #expect(verdict.waived?.problem == .selfSigned)
    }

    @Test func `SEC-20 an expired chain is refused even when invalid certificates are allowed`() throws {
        let site = try Site()
        let expired = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, validity: .expired)
        for pinned in [expired.certificate, site.intermediate.certificate, site.root.certificate] {
            let policy = try site.policy(.certificate, pinning: [pinned], allowInvalid: true)
            #expect(try policy.verdict(expired.chain, host: Site.host).error?.problem == .expired)
        }
    }

    @Test func `SEC-21 a trusted chain of which no member is pinned is refused`() throws {
        let site = try Site()
        let stranger = try site.pki.selfSigned(dns: [Site.host])
        let policy = try site.policy(.certificate, pinning: [stranger.certificate])
        let verdict = try policy.verdict(site.chain, host: Site.host)
        #expect(verdict.error?.code == .pinMismatch)
        #expect(verdict.error?.message.contains("does not contain a pinned certificate") == true)
        #expect(verdict.chain.map(\.certificate) == site.leaf.fullChain)
    }

    @Test func `SEC-22 a pinned intermediate suffices and the chain ends there`() throws {
        let site = try Site()
        let policy = try site.policy(.certificate, pinning: [site.intermediate.certificate], match: .intermediate)
        let verdict = try policy.verdict(site.leaf.fullChain, host: Site.host)
        #expect(verdict.isTrusted)
        #expect(verdict.chain.map(\.position) == [.leaf, .intermediate])
    }

    @Test func `a new certificate with the same key is not the pinned certificate`() throws {
        let site = try Site()
        let renewed = try site.pki.leaf("Site Leaf", dns: [Site.host], signedBy: site.intermediate, reusing: site.leaf)
        let policy = try site.policy(.certificate, pinning: [site.leaf.certificate])
        let error = try policy.verdict(renewed.chain, host: Site.host).error
        #expect(error?.code == .pinMismatch)
        // Same subject and same pin: the serials tell them apart.
        #expect(error?.message.contains("serial \(site.leaf.certificate.serial)") == true)
        #expect(error?.message.contains("serial \(renewed.certificate.serial)") == true)
    }

    @Test func `a self-signed certificate with the key of the pinned one is refused`() throws {
        let pki = TestPKI()
        let pinned = try pki.selfSigned("twin", dns: ["foobar.com"])
        let twin = try pki.selfSigned("twin", dns: ["foobar.com"], reusing: pinned)
        let policy = try SecurityPolicy(
            pinning: .certificate, certificates: [pinned.certificate], allowInvalidCertificates: true)
        #expect(try policy.verdict(pinned.chain, host: "foobar.com").isTrusted)
        #expect(try policy.verdict(twin.chain, host: "foobar.com").error?.code == .pinMismatch)
    }

    @Test func `a pinned certificate that the peer appends does not count`() throws {
        let site = try Site()
        let pinned = try Site("Pinned")
        let policy = try site.policy(.certificate, pinning: pinned.leaf.fullChain)
        let verdict = try policy.verdict(site.chain + pinned.leaf.fullChain, host: Site.host)
        #expect(verdict.error?.code == .pinMismatch)
    }

    @Test func `a private authority that is pinned must be a root too`() throws {
        let site = try Site()
        let world = try Site("World")
        let pinnedOnly = try world.policy(.certificate, pinning: [site.root.certificate])
        #expect(try pinnedOnly.verdict(site.chain, host: Site.host).error?.problem == .unknownIssuer)
        let pinnedRoot = try SecurityPolicy(
            pinning: .certificate, certificates: [site.root.certificate], roots: world.roots,
            extraRoots: [site.root.certificate])
        #expect(try pinnedRoot.verdict(site.chain, host: Site.host).isTrusted)
    }
}
