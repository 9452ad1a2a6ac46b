// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Statuses that a server staples to its certificate, in real handshakes.
struct StaplingTests {
    private let site: Site

    init() throws {
        self.site = try Site()
    }

    @Test(arguments: [SecurityPolicy.Stapling.off, .check, .require])
    func `a server without a status passes unless one is required`(stapling: SecurityPolicy.Stapling) throws {
        let (outcome, rule) = try self.shakeHands(stapling, nil)
        #expect(outcome.succeeded == (stapling != .require))
        #expect(rule == (stapling == .require ? .revocationUnknown : nil))
    }

    @Test func `a good status passes, and a revoked certificate does not`() throws {
        for isOld in [false, true] {
            let good = try self.status(.good)
            let revoked = try self.status(.revoked)
            for stapling in [SecurityPolicy.Stapling.check, .require] {
                let (accepted, none) = try self.shakeHands(stapling, good, isOld: isOld)
                #expect(accepted.succeeded && none == nil)
                let (refused, rule) = try self.shakeHands(stapling, revoked, isOld: isOld)
                #expect(!refused.succeeded && rule == .revoked)
                #expect(refused.verifyResult != 0)
            }
            // A client that does not ask gets no status.
            #expect(try self.shakeHands(.off, revoked, isOld: isOld).0.succeeded)
        }
    }

    @Test func `a status that cannot be used is refused`() throws {
        let stranger = try Site("Stranger")
        let unusable: [[UInt8]] = [
            [1, 2, 3],
            try self.status(.unknown),
            try self.site.pki.statusResponse(
                .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate, validity: .expired),
            try self.site.pki.statusResponse(
                .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate, signedBy: stranger.root),
            // The leaf speaks for itself.
            try self.site.pki.statusResponse(
                .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate, signedBy: self.site.leaf),
            try self.site.pki.statusResponse(
                .good, of: stranger.leaf.certificate, issuedBy: stranger.intermediate),
        ]
        for (index, response) in unusable.enumerated() {
            let (outcome, rule) = try self.shakeHands(.check, response)
            #expect(!outcome.succeeded && rule == .revocationUnknown, "\(index)")
        }
    }

    @Test func `LOOK-38 a status that does not say until when it counts ages in a day`() throws {
        let hour = Duration.seconds(3600)
        for (age, isGood) in [(hour, true), (hour * 23, true), (hour * 25, false), (hour * 24 * 400, false)] {
            let response = try self.site.pki.statusResponse(
                .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate,
                validity: .window(age * -1, hour), hasEnd: false)
            #expect(try self.shakeHands(.require, response).0.succeeded == isGood, "\(age)")
        }
        // If the status has an end, only the end counts.
        let old = try self.site.pki.statusResponse(
            .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate,
            validity: .window(hour * -48, hour))
        #expect(try self.shakeHands(.require, old).0.succeeded)
    }

    @Test(arguments: [("SHA1", false), ("SHA224", false), ("SHA384", true)])
    func `LOOK-35 a status that is signed with a weak digest is refused`(digest: String, isTrusted: Bool) throws {
        let response = try self.site.pki.statusResponse(
            .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate, digest: digest)
        let (outcome, rule) = try self.shakeHands(.require, response)
        #expect(outcome.succeeded == isTrusted && rule == (isTrusted ? nil : .revocationUnknown))
    }

    @Test func `whom the issuer appointed may speak for it`() throws {
        let recipe = CertificateRecipe.server("DNS:ocsp.test", commonName: "Responder")
            .with("extendedKeyUsage", "OCSPSigning").with("subjectAltName", nil)
        let responder = try self.site.pki.mint(recipe, signedBy: self.site.intermediate)
        let response = try self.site.pki.statusResponse(
            .good, of: self.site.leaf.certificate, issuedBy: self.site.intermediate, signedBy: responder)
        #expect(try self.shakeHands(.require, response).0.succeeded)
    }

    @Test func `a refusal replaces the verdict on the chain, and says what to do`() throws {
        let client = try MemoryHandshake.ClientContext()
        let reports = Reports()
        let policy = try SecurityPolicy(pinning: .none, roots: self.site.roots, stapling: .require)
        try TrustEvaluator(policy: policy).install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
        #expect(try !client.connect(server: self.site.leaf, stapling: try self.status(.revoked)).succeeded)
        #expect(reports.verdicts.map(\.isTrusted) == [true, false])
        #expect(
            reports.verdicts.last?.error?.message
                == "\(Site.host): the certificate \"CN=Site Leaf\" was revoked by its issuer; its owner has to replace it"
        )
        #expect(reports.verdicts.last?.chain.map(\.certificate) == self.site.leaf.fullChain)
    }

    private func status(_ status: TestPKI.Status) throws -> [UInt8] {
        try self.site.pki.statusResponse(status, of: self.site.leaf.certificate, issuedBy: self.site.intermediate)
    }

    /// One thread performs the handshake and the reports, so no lock is needed.
    private final class Reports {
        var verdicts: [Verdict] = []
    }

    private func shakeHands(
        _ stapling: SecurityPolicy.Stapling, _ status: [UInt8]?, isOld: Bool = false
    ) throws -> (MemoryHandshake.Outcome, Rule?) {
        let client = try MemoryHandshake.ClientContext()
        if isOld { client.limitToTLS12() }
        let reports = Reports()
        let policy = try SecurityPolicy(pinning: .none, roots: self.site.roots, stapling: stapling)
        try TrustEvaluator(policy: policy).install(on: client.pointer, host: Site.host) { reports.verdicts.append($0) }
        let outcome = try client.connect(server: self.site.leaf, stapling: status)
        return (outcome, reports.verdicts.last?.error?.rule)
    }
}
