// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// The contents of policies, and policies that cannot be made.
struct SecurityPolicyTests {
    @Test func `SEC-01 the default policy pins nothing, allows nothing invalid and checks names`() {
        let policy = SecurityPolicy.default
        #expect(policy.pinning == .none)
        #expect(policy.pins.isEmpty && policy.certificates.isEmpty && policy.configuredPins.isEmpty)
        #expect(!policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
        #expect(policy.roots == .system && policy.extraRoots.isEmpty)
    }

    @Test(arguments: [SecurityPolicy.PinningMode.publicKey, .certificate])
    func `SEC-06 and SEC-24 a pinning mode with nothing pinned is refused at construction`(
        mode: SecurityPolicy.PinningMode
    ) {
        let error = #expect(throws: TrustError.self) { try SecurityPolicy(pinning: mode) }
        #expect(error?.code == .contradiction)
        #expect(error?.message.contains("would refuse every destination") == true)
    }

    @Test func `SEC-15 public-key mode with invalid certificates allowed and empty pins is refused at construction`() {
        let error = #expect(throws: TrustError.self) {
            try SecurityPolicy(pinning: .publicKey, allowInvalidCertificates: true)
        }
        #expect(error?.code == .contradiction)
    }

    @Test func `SEC-16 pins do not help mode none: both together are refused at construction`() throws {
        let certificate = try TestPKI().selfSigned(dns: ["foobar.example"]).certificate
        let error = #expect(throws: TrustError.self) {
            try SecurityPolicy(pinning: .none, certificates: [certificate], allowInvalidCertificates: true)
        }
        #expect(error?.code == .contradiction)
    }

    @Test func `SEC-17 mode none that allows invalid certificates and checks names is refused at construction`() {
        let error = #expect(throws: TrustError.self) {
            try SecurityPolicy(pinning: .none, allowInvalidCertificates: true)
        }
        #expect(error?.code == .contradiction)
        #expect(
            error?.message
                == "allow_invalid_certificates accepts anybody's certificate, so validates_domain_name would prove "
                + "nothing; pin a key or a certificate, or set validates_domain_name: false")
    }

    @Test(arguments: [SecurityPolicy.PinningMode.none, .publicKey, .certificate])
    func `SEC-15 SEC-16 SEC-17 the contradiction is refused again at evaluation`(
        mode: SecurityPolicy.PinningMode
    ) throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.example"])
        let policy = SecurityPolicy(
            unchecked: mode, pins: [], certificates: mode == .none ? [identity.certificate] : [],
            allowInvalidCertificates: true, validatesDomainName: true, roots: .only([]), extraRoots: [], match: .any)
        let verdict = try policy.verdict(identity.chain, host: "foobar.example")
        #expect(verdict.error?.code == .contradiction)
    }

    @Test func `SEC-18 the contradiction does not apply without a host`() throws {
        let identity = try TestPKI().selfSigned(dns: ["foobar.example"])
        let policy = SecurityPolicy(
            unchecked: .none, pins: [], certificates: [], allowInvalidCertificates: true, validatesDomainName: true,
            roots: .only([]), extraRoots: [], match: .any)
        #expect(try policy.verdict(identity.chain, host: nil).isTrusted)
        #expect(try policy.verdict(identity.chain, host: "foobar.example").error?.code == .contradiction)
    }

    @Test func `SEC-22 a pinned certificate counts once however often it is given`() throws {
        let certificate = try TestPKI().selfSigned().certificate
        let policy = try SecurityPolicy(
            pinning: .publicKey, pins: [certificate.spkiPin], certificates: [certificate, certificate])
        #expect(policy.certificates == [certificate])
        #expect(policy.configuredPins == [certificate.spkiPin])
    }

    @Test func `SEC-25 a copy equals its original in mode, flags, pins and roots`() throws {
        let site = try Site()
        let make = {
            try SecurityPolicy(
                pinning: .publicKey, pins: [site.leaf.pin], certificates: [site.root.certificate],
                allowInvalidCertificates: true, validatesDomainName: false, roots: site.roots,
                extraRoots: [site.intermediate.certificate], match: .root)
        }
        let policy = try make()
        let copy = try make()
        #expect(policy == copy)
        #expect(policy.hashValue == copy.hashValue)
        #expect(policy != SecurityPolicy.default)
    }

    @Test func `SEC-26 the evaluator goes by the mode that its policy was built with`() throws {
        let site = try Site()
        let pinned = try site.policy(.publicKey, pinning: [site.root.certificate])
        let evaluator = try TrustEvaluator(policy: pinned)
        // Every property is a `let`: another mode is another policy, which the evaluator never hears of.
        let other = try site.policy()
        #expect(other.pinning == .none)
        #expect(evaluator.policy.pinning == .publicKey)
        #expect(evaluator.evaluate(chain: site.chain, host: Site.host).matchedPin == site.root.pin)
    }

    @Test func `pins that the mode would ignore are refused`() throws {
        let pin = try TestPKI().selfSigned().pin
        let certificate = try TestPKI().selfSigned().certificate
        let ignoredByNone = #expect(throws: TrustError.self) { try SecurityPolicy(pinning: .none, pins: [pin]) }
        #expect(ignoredByNone?.message.hasPrefix("pinning: none would ignore the configured pins") == true)
        let ignoredByCertificate = #expect(throws: TrustError.self) {
            try SecurityPolicy(pinning: .certificate, pins: [pin], certificates: [certificate])
        }
        #expect(ignoredByCertificate?.message.contains("would ignore the configured pins") == true)
        let ignoredPlace = #expect(throws: TrustError.self) { try SecurityPolicy(pinning: .none, match: .leaf) }
        #expect(ignoredPlace?.message.contains("would ignore match: leaf") == true)
    }

    @Test func `replacing the roots by none at all is refused`() throws {
        let error = #expect(throws: TrustError.self) { try SecurityPolicy(pinning: .none, roots: .only([])) }
        #expect(error?.code == .contradiction)
        let root = try TestPKI().root().certificate
        #expect(throws: Never.self) { try SecurityPolicy(pinning: .none, roots: .only([]), extraRoots: [root]) }
    }
}
