// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Name constraints against every form of name (RFC 5280 §4.2.1.10).
struct NameConstraintTests {
    private let pki = TestPKI()

    struct Case: Sendable, CustomTestStringConvertible {
        let constraints: String
        let names: String
        let rule: Rule?

        init(_ constraints: String, _ names: String, _ rule: Rule?) {
            self.constraints = constraints
            self.names = names
            self.rule = rule
        }

        var testDescription: String { "\(self.constraints) against \(self.names)" }
    }

    @Test(arguments: [
        Case("permitted;DNS:a.test", "DNS:a.test", nil),
        Case("permitted;DNS:a.test", "DNS:x.y.a.test", nil),
        Case("permitted;DNS:a.test", "DNS:A.Test", nil),
        Case("permitted;DNS:a.test", "DNS:ba.test", .nameConstraint),
        Case("permitted;DNS:a.test", "DNS:a.test,DNS:b.test", .nameConstraint),
        Case("permitted;DNS:a.test,permitted;DNS:b.test", "DNS:a.test,DNS:b.test", nil),
        Case("permitted;DNS:a.test", "IP:192.0.2.1", nil),
        Case("permitted;DNS:a.test", "DNS:*.a.test", nil),
        Case("permitted;DNS:x.a.test", "DNS:*.a.test", .nameConstraint),
        Case("excluded;DNS:a.test", "DNS:b.test", nil),
        Case("excluded;DNS:a.test", "DNS:x.a.test", .nameConstraint),
        Case("excluded;DNS:x.a.test", "DNS:*.a.test", .nameConstraint),
        Case("excluded;DNS:x.y.a.test", "DNS:*.a.test", nil),
        Case("permitted;DNS:a.test,excluded;DNS:a.test", "DNS:a.test", .nameConstraint),
        Case("permitted;DNS:.a.test", "DNS:x.a.test", nil),
        Case("permitted;DNS:.a.test", "DNS:*.a.test", nil),
        Case("permitted;DNS:.a.test", "DNS:a.test", .nameConstraint),
        Case("permitted;DNS:a.test", "DNS:.a.test", .incomparableNameConstraint),
        Case("permitted;IP:192.0.2.0/255.255.255.0", "IP:192.0.2.200", nil),
        Case("permitted;IP:192.0.2.0/255.255.255.0", "IP:192.0.3.1", .nameConstraint),
        Case("permitted;IP:192.0.2.0/255.255.255.0", "IP:2001:db8::1", .nameConstraint),
        Case("permitted;IP:192.0.2.0/255.255.255.0", "DNS:a.test", nil),
        Case("excluded;IP:192.0.2.0/255.255.255.0", "IP:192.0.2.1", .nameConstraint),
        Case("excluded;IP:192.0.2.0/255.255.255.0", "IP:198.51.100.1", nil),
        Case("permitted;IP:2001:db8::/ffff:ffff::", "IP:2001:db8::1", nil),
        Case("permitted;IP:2001:db8::/ffff:ffff::", "IP:2001:db9::1", .nameConstraint),
        Case("excluded;IP:192.0.2.0/255.255.255.0", "IP:::ffff:192.0.2.1", .nameConstraint),
        Case("excluded;IP:192.0.2.0/255.255.255.0", "IP:::ffff:198.51.100.1", nil),
        Case("permitted;IP:192.0.2.0/255.255.255.0", "IP:::ffff:192.0.2.1", .nameConstraint),
        Case("excluded;IP:::ffff:192.0.2.0/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00", "IP:192.0.2.1", .nameConstraint),
        Case("excluded;IP:::ffff:192.0.2.0/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff00", "IP:192.0.3.1", nil),
        Case(
            "permitted;IP:192.0.2.0/255.255.255.0,permitted;IP:2001:db8::/ffff:ffff::,permitted;IP:::/::",
            "IP:::ffff:198.51.100.1", .nameConstraint),
        Case("permitted;IP:192.0.2.0/255.255.255.0,excluded;IP:::/::", "IP:192.0.2.1", nil),
        Case("permitted;email:a.test", "email:me@a.test,DNS:b.test", nil),
        Case("permitted;email:a.test", "email:me@x.a.test", .nameConstraint),
        Case("permitted;email:.a.test", "email:me@x.a.test", nil),
        Case("permitted;email:.a.test", "email:me@*.a.test", .incomparableNameConstraint),
        Case("excluded;email:b.test", "email:me@*.b.test", .incomparableNameConstraint),
        Case("permitted;email:me@a.test", "email:me@A.test", nil),
        Case("permitted;email:me@a.test", "email:Me@a.test", .nameConstraint),
        Case("permitted;email:a.test", "email:me@you@a.test", .incomparableNameConstraint),
        Case("permitted;URI:a.test", "URI:https://a.test/path", nil),
        Case("permitted;URI:a.test", "URI:https://x.a.test/", .nameConstraint),
        Case("permitted;URI:.a.test", "URI:https://u@x.a.test:8443/?q", nil),
        Case("permitted;URI:a.test", "URI:https://192.0.2.1/", .incomparableNameConstraint),
        Case("permitted;URI:a.test", "URI:urn:a.test", .incomparableNameConstraint),
        Case("excluded;otherName:1.2.3.4;UTF8:x", "otherName:1.2.3.4;UTF8:y", .incomparableNameConstraint),
        Case("excluded;otherName:1.2.3.4;UTF8:x", "DNS:a.test", nil),
        Case("excluded;RID:1.2.3.4", "RID:1.2.3.4", .incomparableNameConstraint),
        Case("permitted;URI:a.test", "URI:https://a.0x7f/", .incomparableNameConstraint),
    ])
    func `constraints of an authority, and of a root`(_ item: Case) throws {
        let constrained = CertificateRecipe.authority("Constrained").with(
            "nameConstraints", "critical,\(item.constraints)")
        let root = try self.pki.root("Root")
        let authority = try self.pki.mint(constrained, signedBy: root)
        let leaf = try self.pki.mint(.server(item.names), signedBy: authority)
        #expect(try self.rule(leaf.chain, root) == item.rule)

        let constrainedRoot = try self.pki.mint(constrained)
        let direct = try self.pki.mint(.server(item.names), signedBy: constrainedRoot)
        #expect(try self.rule(direct.chain, constrainedRoot) == item.rule)
    }

    @Test(
        arguments: [
            ("me@.a.test", false), ("me@", false), ("@a.test", false), ("me@you@a.test", false), ("a b@a.test", false),
            (".me@a.test", false), ("me.@a.test", false), ("m..e@a.test", false), ("\"m e\"@a.test", false),
            ("me@[192.0.2.1]", false), ("me@a..test", false), ("a.test.", false), ("..a.test", false),
            ("me@a.test", true), ("m.e+x@a.test", true), ("a.test", true), (".a.test", true), ("", true),
        ])
    func `LOOK-36 a constraint on mail is a mailbox, a host, or names below it`(base: String, isProper: Bool) throws {
        let subtree = DERBytes.element(0x30, DERBytes.element(0x81, Array(base.utf8)))
        let value = DERBytes.value(DERBytes.element(0x30, DERBytes.element(0xA1, subtree)))
        let root = try self.pki.root("Root")
        let authority = try self.pki.mint(
            .authority("Mail").with("nameConstraints", "critical,\(value)"), signedBy: root)
        let leaf = try self.pki.mint(.server("DNS:a.test"), signedBy: authority)
        #expect(try self.rule(leaf.chain, root) == (isProper ? nil : .malformedNameConstraints))
    }

    @Test func `a common name does not count for constraints on DNS`() throws {
        let root = try self.pki.mint(
            .authority("Root").with("nameConstraints", "critical,permitted;DNS:a.test"))
        let leaf = try self.pki.mint(.server("DNS:a.test", commonName: "b.test"), signedBy: root)
        #expect(try self.rule(leaf.chain, root) == nil)
    }

    @Test func `an authority below must keep to constraints, unless it is self-issued`() throws {
        let root = try self.pki.mint(
            .authority("Root").with("nameConstraints", "critical,permitted;DNS:a.test"))
        let named = CertificateRecipe.authority("Below").with("subjectAltName", "DNS:b.test")
        let below = try self.pki.mint(named, signedBy: root)
        let leaf = try self.pki.mint(.server("DNS:a.test"), signedBy: below)
        #expect(try self.rule(leaf.chain, root) == .nameConstraint)

        let rolled = try self.pki.mint(
            .authority("Root").with("subjectAltName", "DNS:b.test"), signedBy: root)
        // Self-issued certificates are left out of `chain`, as roots are.
        let direct = try self.pki.mint(.server("DNS:a.test"), signedBy: rolled)
        #expect(try self.rule([direct.certificate, rolled.certificate], root) == nil)
        let wrong = try self.pki.mint(.server("DNS:c.test"), signedBy: rolled)
        #expect(try self.rule([wrong.certificate, rolled.certificate], root) == .nameConstraint)
    }

    @Test func `constraints narrow from level to level and never widen`() throws {
        let root = try self.pki.root("Root")
        for (upper, lower) in [("a.test", "test"), ("test", "a.test")] {
            let first = try self.pki.mint(
                .authority("First").with("nameConstraints", "critical,permitted;DNS:\(upper)"), signedBy: root)
            let second = try self.pki.mint(
                .authority("Second").with("nameConstraints", "critical,permitted;DNS:\(lower)"), signedBy: first)
            #expect(try self.rule(try self.pki.mint(.server("DNS:a.test"), signedBy: second).chain, root) == nil)
            let outside = try self.pki.mint(.server("DNS:b.test"), signedBy: second)
            #expect(try self.rule(outside.chain, root) == .nameConstraint)
        }
    }

    private func rule(_ chain: [Certificate], _ root: TestIdentity) throws -> Rule? {
        try SecurityPolicy(pinning: .none, roots: .only([root.certificate])).verdict(chain, host: nil).error?.rule
    }
}
