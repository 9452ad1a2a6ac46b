// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Evaluation in public-key mode.
struct PublicKeyModeTests {
    @Test func `SEC-04 a pinned leaf, intermediate, root or chain is accepted, with strangers beside it too`() throws {
        let site = try Site()
        for (name, pinned) in try site.acceptedPins {
            let verdict = try site.policy(.publicKey, pinning: pinned).verdict(site.chain, host: nil)
            #expect(verdict.isTrusted, "\(name)")
            #expect(verdict.matchedPin.map { verdict.configuredPins.contains($0) } == true, "\(name)")
        }
    }

    @Test func `SEC-05 a pinned leaf with the right domain is accepted`() throws {
        let site = try Site()
        let verdict = try site.policy(.publicKey, pinning: [site.leaf.certificate]).verdict(site.chain, host: Site.host)
        #expect(verdict.isTrusted)
        #expect(verdict.matchedPin == site.leaf.pin)
    }

    @Test func `SEC-05 a pinned leaf with the wrong domain is refused`() throws {
        let site = try Site()
        let policy = try site.policy(.publicKey, pinning: [site.leaf.certificate])
        #expect(try policy.verdict(site.chain, host: "apple.test").error?.problem == .wrongName)
    }

    @Test func `SEC-07 the chain of another site is refused as a pin mismatch that lists both sides`() throws {
        let site = try Site()
        let other = try Site("Other", host: "other.example.test")
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [other.root.pin, other.leaf.pin], roots: site.roots)
        let verdict = try policy.verdict(site.chain, host: Site.host)
        #expect(verdict.error?.code == .pinMismatch)
        #expect(verdict.error?.problem == nil)
        #expect(verdict.chainOrigin == .verified)
        let pins = [other.root.pin, other.leaf.pin].sorted()
        #expect(
            verdict.error?.message == """
                api.example.test: the chain does not contain a pinned key.
                  Peer's chain:
                    \(site.leaf.pin) leaf "CN=Site Leaf"
                    \(site.intermediate.pin) intermediate "CN=Site Intermediate"
                    \(site.root.pin) root "CN=Site Root"
                  Configured pinned keys:
                    \(pins[0])
                    \(pins[1])
                  If the owner of api.example.test announced the change, add the new pin; otherwise somebody is in \
                between.
                """)
    }

    @Test func `LOOK-39 a pinned key that was sent and is not on the verified path is named`() throws {
        let pki = TestPKI()
        // One authority as a root, and as an intermediate that an older root vouches for: servers send the second.
        let old = try pki.root("Old Root")
        let new = try pki.root("New Root")
        let crossed = try pki.intermediate("New Root", signedBy: old, reusing: new)
        let sub = try pki.intermediate("Sub", signedBy: new)
        let leaf = try pki.leaf("leaf", dns: [Site.host], signedBy: sub)
        let stray = try pki.intermediate("Old Sub", signedBy: old)
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [old.pin, stray.pin], roots: .only([new.certificate, old.certificate]))
        let sent = [leaf, sub, crossed, old, stray].map(\.certificate)
        let verdict = try policy.verdict(sent, host: Site.host)
        let pins = [old.pin, stray.pin].sorted()
        #expect(
            verdict.error?.message == """
                api.example.test: the chain does not contain a pinned key.
                  Peer's chain:
                    \(leaf.pin) leaf "CN=leaf"
                    \(sub.pin) intermediate "CN=Sub"
                    \(new.pin) root "CN=New Root"
                  Sent with a pinned key, but not on the chain above, which is the one that was verified:
                    \(old.pin) "CN=Old Root"
                    \(stray.pin) "CN=Old Sub"
                  That chain ends at "CN=New Root": pin a key of its own, or name the other end in roots.
                  Configured pinned keys:
                    \(pins[0])
                    \(pins[1])
                  If the owner of api.example.test announced the change, add the new pin; otherwise somebody is in \
                between.
                """)
    }

    @Test(arguments: [true, false])
    func `SEC-11 a pinned self-signed certificate with a matching alternative name is accepted`(
        isGivenAsCertificate: Bool
    ) throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.test"])
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: isGivenAsCertificate ? [] : [identity.pin],
            certificates: isGivenAsCertificate ? [identity.certificate] : [], allowInvalidCertificates: true)
        let verdict = try policy.verdict(identity.chain, host: "foobar.test")
        #expect(verdict.isTrusted)
        #expect(verdict.matchedPin == identity.pin)
        #expect(verdict.waived?.problem == .selfSigned)
    }

    @Test func `SEC-11 a name in the common name alone does not count (RFC 9525)`() throws {
        let identity = try TestPKI().selfSigned("foobar.test")
        let policy = try SecurityPolicy(pinning: .publicKey, pins: [identity.pin], allowInvalidCertificates: true)
        let verdict = try policy.verdict(identity.chain, host: "foobar.test")
        #expect(verdict.error?.problem == .wrongName)
        #expect(verdict.error?.message.contains("the common name does not count") == true)
    }

    @Test func `SEC-19 with invalid certificates allowed the name is still checked`() throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.test"], validity: .expired)
        let policy = try SecurityPolicy(pinning: .publicKey, pins: [identity.pin], allowInvalidCertificates: true)
        #expect(try policy.verdict(identity.chain, host: "foobar.test").isTrusted)
        #expect(try policy.verdict(identity.chain, host: "other.test").error?.problem == .wrongName)
    }

    @Test func `SEC-19 validates_domain_name false waives the name, never the pin`() throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.test"], validity: .expired)
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [identity.pin], allowInvalidCertificates: true, validatesDomainName: false)
        #expect(try policy.verdict(identity.chain, host: "other.test").isTrusted)
        let stranger = try TestPKI().selfSigned(dns: ["foobar.test"])
        #expect(try policy.verdict(stranger.chain, host: "foobar.test").error?.code == .pinMismatch)
    }

    @Test func `SEC-22 one match suffices, and the match nearest to the root is named`() throws {
        let site = try Site()
        let policy = try site.policy(.publicKey, pinning: [site.leaf.certificate, site.intermediate.certificate])
        #expect(try policy.verdict(site.chain, host: Site.host).matchedPin == site.intermediate.pin)
    }

    @Test func `a renewed certificate with the same key is accepted`() throws {
        let site = try Site()
        let renewed = try site.pki.leaf("renewed", dns: [Site.host], signedBy: site.intermediate, reusing: site.leaf)
        #expect(renewed.certificate != site.leaf.certificate)
        let policy = try site.policy(.publicKey, pinning: [site.leaf.certificate])
        #expect(try policy.verdict(renewed.chain, host: Site.host).isTrusted)
    }

    @Test func `a pinned certificate that the peer appends to a valid chain does not count`() throws {
        let site = try Site()
        let pinned = try Site("Pinned")
        let policy = try site.policy(.publicKey, pinning: pinned.leaf.fullChain)
        let verdict = try policy.verdict(site.chain + pinned.leaf.fullChain, host: Site.host)
        #expect(verdict.error?.code == .pinMismatch)
        #expect(verdict.chain.map(\.certificate) == site.leaf.fullChain)
    }

    @Test func `a pinned certificate that the peer appends to an invalid chain does not count`() throws {
        let site = try Site()
        let forged = try site.pki.selfSigned(dns: [Site.host])
        let policy = try site.policy(.publicKey, pinning: site.leaf.fullChain, allowInvalid: true)
        let verdict = try policy.verdict([forged.certificate] + site.leaf.fullChain, host: Site.host)
        #expect(verdict.error?.code == .pinMismatch)
        #expect(verdict.chainOrigin == .presented)
    }

    @Test func `a refusal stays short whatever the peer sends`() throws {
        let site = try Site()
        let long = try site.pki.selfSigned(String(repeating: "x", count: 64), dns: [Site.host])
        let policy = try site.policy(.publicKey, pinning: [site.root.certificate], allowInvalid: true)
        let sent = [Certificate](repeating: long.certificate, count: 300)
        let error = try policy.verdict(sent, host: Site.host).error
        #expect(error?.code == .pinMismatch)
        #expect(error?.message.contains("    and 280 more\n") == true)
        #expect(error.map { $0.message.count < 5000 } == true)
    }

    @Test func `of an invalid chain that is allowed only the leaf's key counts`() throws {
        let site = try Site()
        let expired = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, validity: .expired)
        let byRoot = try site.policy(.publicKey, pinning: [site.root.certificate], allowInvalid: true)
        #expect(try byRoot.verdict(expired.chain, host: Site.host).error?.code == .pinMismatch)
        let byLeaf = try site.policy(.publicKey, pinning: [expired.certificate], allowInvalid: true)
        let verdict = try byLeaf.verdict(expired.chain, host: Site.host)
        #expect(verdict.isTrusted)
        #expect(verdict.waived?.problem == .expired)
    }

    @Test func `a matching key does not make up for an invalid chain`() throws {
        let site = try Site()
        let expired = try site.pki.leaf(dns: [Site.host], signedBy: site.intermediate, validity: .expired)
        let policy = try site.policy(.publicKey, pinning: [expired.certificate])
        #expect(try policy.verdict(expired.chain, host: Site.host).error?.problem == .expired)
    }

    @Test(arguments: [
        (SecurityPolicy.Match.any, ChainEntry.Position.leaf), (.leaf, .leaf), (.intermediate, .intermediate),
        (.root, .root),
    ])
    func `the match setting asks for a place in the chain`(
        match: SecurityPolicy.Match, position: ChainEntry.Position
    ) throws {
        let site = try Site()
        let members: [ChainEntry.Position: TestIdentity] = [
            .leaf: site.leaf, .intermediate: site.intermediate, .root: site.root,
        ]
        for (place, identity) in members {
            let policy = try site.policy(.publicKey, pinning: [identity.certificate], match: match)
            let verdict = try policy.verdict(site.chain, host: Site.host)
            #expect(verdict.isTrusted == (match == .any || place == position))
        }
    }
}
