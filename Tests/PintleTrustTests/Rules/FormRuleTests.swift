// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Rules that public authorities keep: refused by a strict policy, told by any other, and never asked of an anchor.
struct FormRuleTests {
    private let pki = TestPKI()
    private static let server = CertificateRecipe.server("DNS:\(Site.host)")

    @Test(arguments: [
        RuleTests.Case("zero", server.changed { $0.serial = "00" }, .serialNumber),
        RuleTests.Case("negative", server.changed { $0.serial = "-17" }, .serialNumber),
        RuleTests.Case("22 bytes", server.changed { $0.serial = String(repeating: "17", count: 22) }, .serialNumber),
        RuleTests.Case("20 bytes", server.changed { $0.serial = String(repeating: "97", count: 20) }, nil),
        RuleTests.Case("no signer's key", server.changed { $0.namesIssuerKey = false }, .authorityKeyIdentifier),
        RuleTests.Case(
            "signs certificates", server.with("keyUsage", "critical,digitalSignature,keyCertSign"), .endEntityKeyUsage),
        RuleTests.Case(
            "an authority that does not sign", server.with("basicConstraints", "critical,CA:TRUE"), .endEntityKeyUsage),
        RuleTests.Case(
            "any purpose too", server.with("extendedKeyUsage", "serverAuth,anyExtendedKeyUsage"), .anyPurpose),
        RuleTests.Case("critical purposes", server.with("extendedKeyUsage", "critical,serverAuth"), .purposesCritical),
        RuleTests.Case(
            "constraints", server.with("nameConstraints", "critical,permitted;DNS:test"), .nameConstraintsInEndEntity),
        RuleTests.Case(
            "critical names", server.with("subjectAltName", "critical,DNS:\(Site.host)"), .alternativeNamesCritical),
        RuleTests.Case("no subject", server.changed { $0.commonName = nil }, .alternativeNamesNotCritical),
        RuleTests.Case(
            "no subject, critical names",
            server.with("subjectAltName", "critical,DNS:\(Site.host)").changed { $0.commonName = nil }, nil),
        RuleTests.Case("underscore", server.with("subjectAltName", "DNS:a_b.test,DNS:\(Site.host)"), .underscoreInName),
        RuleTests.Case("a dot in front", server.with("subjectAltName", "DNS:.test,DNS:\(Site.host)"), .malformedName),
        RuleTests.Case(
            "an address as a name", server.with("subjectAltName", "DNS:192.0.2.1,DNS:\(Site.host)"), .malformedName),
        RuleTests.Case("another case", server.changed { $0.commonName = "API.Example.Test" }, .commonNameCopy),
        RuleTests.Case("another script", server.changed { $0.commonName = "аpi.example.test" }, .commonNameCopy),
        RuleTests.Case("an A-label", server.changed { $0.commonName = "xn--pi-7kc.example.test" }, .commonNameCopy),
        RuleTests.Case("a copy", server.changed { $0.commonName = Site.host }, nil),
        RuleTests.Case("an organisation", server.changed { $0.commonName = "Müller & Söhne GmbH. Berlin" }, nil),
        RuleTests.Case("uneven key", server.changed { $0.key = .rsa(bits: 2052) }, .unevenKey),
        RuleTests.Case(
            "critical access", server.with("authorityInfoAccess", "critical,OCSP;URI:http://a.test"),
            .informationAccessCritical),
        RuleTests.Case(
            "LOOK-90 an access location that is no name",
            server.with("1.3.6.1.5.5.7.1.1", "DER:300E300C06082B060105050730010500"), .malformedInformationAccess),
        RuleTests.Case(
            "LOOK-90 damaged distribution points", server.with("2.5.29.31", "DER:30023000"), .malformedInformation),
        RuleTests.Case(
            "LOOK-90 a distribution point that is no name", server.with("2.5.29.31", "DER:30083006A004A0020500"),
            .malformedInformation),
        RuleTests.Case(
            "LOOK-90 distribution points", server.with("crlDistributionPoints", "URI:http://a.test/l.crl"), nil),
        RuleTests.Case(
            "LOOK-90 a statement of policies that is no text",
            server.with("2.5.29.32", "DER:3016301406022A03300E300C06082B060105050702010500"), .malformedInformation),
        RuleTests.Case(
            "LOOK-90 damaged timestamps", server.with("1.3.6.1.4.1.11129.2.4.2", "DER:0406000400FF0000"),
            .malformedInformation),
        RuleTests.Case("damaged access", server.with("1.3.6.1.5.5.7.1.1", "DER:0500"), .malformedInformationAccess),
        RuleTests.Case(
            "critical key identifier", server.with("subjectKeyIdentifier", "critical,hash"), .subjectKeyIdentifier),
    ])
    func `a server's certificate`(_ item: RuleTests.Case) throws {
        let root = try self.pki.root("Root")
        try self.expect(item.rule, try self.pki.mint(item.recipe, signedBy: root), root)
    }

    @Test(arguments: [
        RuleTests.Case(
            "basic constraints", .authority("M").with("basicConstraints", "CA:TRUE"), .basicConstraintsNotCritical),
        RuleTests.Case("no key identifier", .authority("M").with("subjectKeyIdentifier", nil), .subjectKeyIdentifier),
        RuleTests.Case(
            "no signer's key", .authority("M").changed { $0.namesIssuerKey = false }, .authorityKeyIdentifier),
        RuleTests.Case(
            "a leading dot", .authority("M").with("nameConstraints", "critical,permitted;DNS:.example.test"),
            .leadingDotInNameConstraint),
        RuleTests.Case(
            "policy constraints",
            .authority("M").with("policyConstraints", "requireExplicitPolicy:9"), .policyConstraintsNotCritical),
    ])
    func `an authority's certificate`(_ item: RuleTests.Case) throws {
        let root = try self.pki.root("Root")
        let authority = try self.pki.mint(item.recipe, signedBy: root)
        let server = Self.server.changed { $0.namesIssuerKey = authority.certificate.subject != "CN=M" }
            .with("authorityKeyIdentifier", "DER:3006800411223344")
        try self.expect(item.rule, try self.pki.mint(server, signedBy: authority), root)
    }

    @Test(arguments: [
        RuleTests.Case("no key identifier", .authority("R").with("subjectKeyIdentifier", nil), nil),
        RuleTests.Case("basic constraints", .authority("R").with("basicConstraints", "CA:TRUE"), nil),
        RuleTests.Case("purposes", .authority("R").with("extendedKeyUsage", "serverAuth"), nil),
        RuleTests.Case("version", .authority("R").changed { ($0.version, $0.extensions) = (1, []) }, nil),
        RuleTests.Case(
            "another key", .authority("R").with("authorityKeyIdentifier", "DER:3006800411223344"), nil),
        RuleTests.Case("number zero", .authority("R").changed { $0.serial = "00" }, nil),
        RuleTests.Case("uneven key", .authority("R").changed { $0.key = .rsa(bits: 2052) }, nil),
        RuleTests.Case(
            "a leading dot", .authority("R").with("nameConstraints", "critical,permitted;DNS:.example.test"), nil),
    ])
    func `LOOK-29 no rule of form is asked of an anchor`(_ item: RuleTests.Case) throws {
        let root = try self.pki.mint(item.recipe)
        let server = Self.server.changed { $0.namesIssuerKey = false }
            .with("authorityKeyIdentifier", "DER:3006800411223344")
        try self.expect(nil, try self.pki.mint(server, signedBy: root), root)

        // Nor of one that is an intermediate, or the server's own.
        let above = try self.pki.root("Above")
        let intermediate = try self.pki.mint(item.recipe.changed { $0.namesIssuerKey = false }, signedBy: above)
        try self.expect(nil, try self.pki.mint(server, signedBy: intermediate), intermediate)
        let own = try self.pki.mint(Self.server.changed { $0.serial = "00" })
        try self.expect(nil, own, own)
    }

    @Test func `LOOK-29 bad form is named for each certificate below the anchor, and decides nothing`() throws {
        let root = try self.pki.mint(.authority("Root").changed { $0.serial = "00" })
        let middle = try self.pki.mint(.authority("Middle").with("basicConstraints", "CA:TRUE"), signedBy: root)
        let leaf = try self.pki.mint(Self.server.with("subjectAltName", "DNS:a_b.test"), signedBy: middle)
        let roots = SecurityPolicy.Roots.only([root.certificate])
        let verdict = try SecurityPolicy(pinning: .none, roots: roots).verdict(leaf.chain, host: "a_b.test")
        #expect(verdict.isTrusted)
        #expect(verdict.form.map(\.rule) == [.underscoreInName, .basicConstraintsNotCritical])
        #expect(verdict.form.map(\.certificate) == leaf.chain)
        #expect(
            verdict.form.first?.description
                == "the certificate \"CN=server\" is not of the form that public authorities keep: an alternative name has "
                + "an underscore")
        let strict = try SecurityPolicy(pinning: .none, roots: roots, form: .strict)
            .verdict(leaf.chain, host: "a_b.test")
        #expect(strict.error?.rule == .underscoreInName && strict.form.isEmpty)

        // A key that is not pinned is one thing, the form another.
        let stranger = try self.pki.selfSigned("stranger")
        let pinned = try SecurityPolicy(pinning: .publicKey, pins: [stranger.pin], roots: roots)
        for reportsOnly in [false, true] {
            let evaluator = try TrustEvaluator(policy: pinned, reportsOnly: reportsOnly)
            #expect(evaluator.evaluate(chain: leaf.chain, host: "a_b.test").form == verdict.form)
        }
    }

    private func expect(_ rule: Rule?, _ leaf: TestIdentity, _ root: TestIdentity) throws {
        let roots = SecurityPolicy.Roots.only([root.certificate])
        let strict = try SecurityPolicy(pinning: .none, roots: roots, form: .strict)
        #expect(try strict.verdict(leaf.chain, host: nil).error?.rule == rule)
        let verdict = try SecurityPolicy(pinning: .none, roots: roots).verdict(leaf.chain, host: nil)
        #expect(verdict.isTrusted && verdict.form.first?.rule == rule, "form is only reported")
    }
}
