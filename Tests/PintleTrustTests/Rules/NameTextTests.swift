// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// Names of subjects and issuers in every string type that certificates have had.
struct NameTextTests {
    private typealias Part = CertificateRecipe.NamePart
    private let pki = TestPKI()

    @Test(arguments: CertificateRecipe.NamePart.Form.allCases)
    func `LOOK-34 a name is excluded in whatever string type it is written`(
        form: CertificateRecipe.NamePart.Form
    ) throws {
        let root = try self.pki.root("Root")
        let authority = try self.pki.mint(
            .authority("Bound").with("nameConstraints", "critical," + Self.excluding("Evil Corp")), signedBy: root)
        for (text, rule) in [("Evil Corp", .nameConstraint), (" EVIL  corp ", .nameConstraint), ("Evil", nil)]
            as [(String, Rule?)]
        {
            let leaf = try self.pki.mint(
                .server("DNS:\(Site.host)").changed { $0.nameParts = [Part("O", text, form)] }, signedBy: authority)
            let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]))
            #expect(try policy.verdict(leaf.chain, host: Site.host).error?.rule == rule, "\(text.debugDescription)")
        }
    }

    @Test(arguments: CertificateRecipe.NamePart.Form.allCases)
    func `LOOK-34 a revocation list counts in whatever string type its issuer is written`(
        form: CertificateRecipe.NamePart.Form
    ) throws {
        let root = try self.pki.root("Root")
        func authority(_ form: CertificateRecipe.NamePart.Form) -> CertificateRecipe {
            CertificateRecipe.authority("Lists").changed { $0.nameParts = [Part("O", "Corp", form)] }
        }
        let issuer = try self.pki.mint(authority(.utf8), signedBy: root)
        let leaf = try self.pki.mint(.server("DNS:\(Site.host)"), signedBy: issuer)
        let spelled = try self.pki.mint(authority(form), signedBy: root)
        let list = try self.pki.revocationList(
            .init(revoking: [leaf.certificate]), of: spelled, signedWith: issuer)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]), revocationLists: [list])
        #expect(try policy.verdict(leaf.chain, host: Site.host).error?.rule == .revoked)
    }

    @Test func `a name of a hundred thousand combining marks is compared and hashed by its bytes`() throws {
        func name(_ first: String) throws -> DistinguishedName {
            var text = first
            for number in 0..<100_000 { text.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
            return try NameAttributes(Self.name(text, .utf8)[...]).name
        }
        let names = try [name("a"), name("A"), name("b")]
        #expect(names[0] == names[1] && names[0] != names[2] && Set(names).count == 2)
    }

    @Test(
        arguments: [
            ("Müller", "MÜLLER", true), ("Müller", "Mu\u{308}ller", true), ("Müller", "Muller", false),
            ("Straße", "STRASSE", true), ("Οδός", "ΟΔΌΣ", true), ("a\u{AD}b", "ab", true), ("a\u{200B}b", "AB", true),
            ("a\u{A0}\u{2003}b", "a b", true), ("K", "\u{212A}", true), (";", "\u{37E}", true), ("é", "è", false),
            ("a\0b", "a", false), ("\u{1F600}", "\u{1F600}", true),
        ])
    func `LOOK-34 letter case, spaces and unseen characters do not matter beyond ASCII either`(
        left: String, right: String, areEqual: Bool
    ) throws {
        let names = try [left, right].map { text in
            try CertificateRecipe.NamePart.Form.allCases.filter { form in
                form == .utf8 || form == .universal || (form == .bmp && text.utf16.count == text.unicodeScalars.count)
            }.map { try NameAttributes(Self.name(text, $0)[...]).name }
        }
        for first in names[0] {
            for second in names[1] {
                #expect((first == second) == areEqual)
                if areEqual { #expect(Set([first, second]).count == 1) }
            }
        }
    }

    @Test func `LOOK-34 a damaged string is no text, and equal to itself only`() throws {
        func name(_ tag: UInt8, _ bytes: [UInt8]) throws -> DistinguishedName {
            let part = DERBytes.element(6, OID.commonName.bytes) + DERBytes.element(tag, bytes)
            let encoding = DERBytes.element(0x30, DERBytes.element(0x31, DERBytes.element(0x30, part)))
            return try NameAttributes(encoding[...]).name
        }
        let odd = try name(DERTag.bmpString, [0, 0x61, 0])
        let large = try name(DERTag.universalString, [0x00, 0x11, 0x00, 0x00])
        let same = try name(DERTag.bmpString, [0, 0x61, 0])
        let whole = try name(DERTag.utf8String, [0x61])
        #expect(odd == same && odd != whole && odd != large)
    }

    /// A `Name` of one organisation.
    private static func name(_ text: String, _ form: CertificateRecipe.NamePart.Form) -> [UInt8] {
        let value = DERBytes.element(UInt8(form.tag), Part("O", text, form).bytes)
        let part = DERBytes.element(0x30, DERBytes.element(6, [0x55, 4, 10]) + value)
        return DERBytes.element(0x30, DERBytes.element(0x31, part))
    }

    /// Name constraints that exclude an organisation.
    private static func excluding(_ text: String) -> String {
        let base = DERBytes.element(0xA4, self.name(text, .utf8))
        return DERBytes.value(DERBytes.element(0x30, DERBytes.element(0xA1, DERBytes.element(0x30, base))))
    }
}
