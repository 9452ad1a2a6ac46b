// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Revocation lists that a policy names.
struct RevocationTests {
    private let site: Site

    init() throws {
        self.site = try Site()
    }

    @Test func `a certificate on its issuer's list is refused, and no other`() throws {
        let other = try self.site.pki.leaf(dns: [Site.host], signedBy: self.site.intermediate)
        let list = try self.list(.init(revoking: [other.certificate]))
        #expect(try self.rule([list]) == nil)
        #expect(try self.rule([list], chain: other.chain) == .revoked)
    }

    @Test func `an intermediate on the root's list is refused too`() throws {
        let list = try self.site.pki.revocationList(
            .init(revoking: [self.site.intermediate.certificate]), of: self.site.root)
        let error = try self.verdict([list]).error
        #expect(error?.rule == .revoked && error?.problem == .revoked)
        #expect(
            error?.message
                == "\(Site.host): the certificate \"CN=Site Intermediate\" was revoked by its issuer; its owner has to "
                + "replace it")
    }

    @Test func `the list of another issuer says nothing, whatever its serials`() throws {
        let stranger = try Site("Stranger")
        let list = try self.site.pki.revocationList(
            .init(revoking: [self.site.leaf.certificate]), of: stranger.intermediate)
        #expect(try self.rule([list]) == nil)
    }

    @Test func `an issuer with a list must have one that can be used`() throws {
        var expired = RevocationRecipe()
        expired.validity = .expired
        var early = RevocationRecipe()
        early.validity = .notYet
        var numberless = RevocationRecipe()
        numberless.extensions = []
        var critical = RevocationRecipe()
        critical.extensions = [("2.5.29.20", "critical,DER:020107")]
        var partial = RevocationRecipe()
        partial.extensions.append(("2.5.29.28", "critical,DER:30038101FF"))
        for recipe in [expired, early, numberless, critical, partial] {
            let unusable = try self.list(recipe)
            #expect(try self.rule([unusable]) == .revocationUnknown, "\(recipe)")
            // A usable one beside it is enough.
            #expect(try self.rule([unusable, try self.list(.init())]) == nil, "\(recipe)")
        }
        let forged = try self.site.pki.revocationList(
            .init(), of: self.site.intermediate, signedWith: try Site("Stranger").root)
        #expect(try self.rule([forged]) == .revocationUnknown)
    }

    @Test func `an authority that may not sign lists has none`() throws {
        let mute = try self.site.pki.mint(
            .authority("Mute").with("keyUsage", "critical,keyCertSign"), signedBy: self.site.root)
        let leaf = try self.site.pki.leaf(dns: [Site.host], signedBy: mute)
        let list = try self.site.pki.revocationList(.init(), of: mute)
        #expect(try self.rule([list], chain: leaf.chain) == .revocationUnknown)
        let free = try self.site.pki.mint(.authority("Free").with("keyUsage", nil), signedBy: self.site.root)
        let good = try self.site.pki.leaf(dns: [Site.host], signedBy: free)
        #expect(try self.rule([try self.site.pki.revocationList(.init(), of: free)], chain: good.chain) == nil)
    }

    @Test(arguments: ["MD5", "SHA1"])
    func `LOOK-35 a list that is signed with a weak digest is of no use`(digest: String) throws {
        var recipe = RevocationRecipe()
        recipe.digest = digest
        #expect(try self.rule([try self.list(recipe)]) == .revocationUnknown)
        recipe.digest = "SHA384"
        #expect(try self.rule([try self.list(recipe)]) == nil)
    }

    @Test func `LOOK-35 a list with a critical extension of an entry is of no use`() throws {
        let other = try self.site.pki.leaf(dns: ["other.test"], signedBy: self.site.intermediate)
        for (value, rule) in [("critical,DER:0500", .revocationUnknown), ("DER:0500", nil)] as [(String, Rule?)] {
            var recipe = RevocationRecipe(revoking: [other.certificate])
            recipe.entryExtension = ("1.2.3.4", value)
            #expect(try self.rule([try self.list(recipe)]) == rule, "\(value)")
        }
    }

    @Test func `LOOK-35 a delta list is refused when it is read`() throws {
        var recipe = RevocationRecipe()
        recipe.extensions.append(("2.5.29.27", "critical,DER:020106"))
        let error = #expect(throws: TrustError.self) { try self.list(recipe) }
        #expect(error?.code == .unreadableCertificate)
        #expect(
            error?.message
                == "minted list: a delta list, which has the changes since another list only; give the complete list of "
                + "\"CN=Site Intermediate\"")
    }

    @Test func `LOOK-31 an authority that has rolled its key over signs its lists with the new one`() throws {
        let pki = self.site.pki
        let new = try pki.intermediate("Rolled", signedBy: self.site.root)
        let old = try pki.mint(.authority("Rolled"), signedBy: new)
        let leaf = try pki.leaf(dns: [Site.host], signedBy: old)
        let chain = [leaf, old, new].map(\.certificate)
        #expect(try self.rule([try pki.revocationList(.init(), of: new)], chain: chain) == nil)
        let list = try pki.revocationList(.init(revoking: [leaf.certificate]), of: new)
        #expect(try self.rule([list], chain: chain) == .revoked)
        let namesake = try pki.intermediate("Rolled", signedBy: self.site.root)
        let stranger = try pki.revocationList(.init(), of: namesake)
        #expect(try self.rule([stranger], chain: chain) == .revocationUnknown)
    }

    @Test func `lists are read as PEM and as DER, and nothing else is`() throws {
        let folder = try TemporaryFolder()
        let list = try self.list(.init())
        let pem = PEMText.block("X509 CRL", list.der)
        #expect(try RevocationList.load(path: folder.write(pem + pem, to: "two.pem")) == [list])
        #expect(try RevocationList.load(path: folder.write(list.der, to: "one.crl")) == [list])
        let wrong: [(String, [UInt8])] = [
            ("certificate.pem", Array(self.site.leaf.certificatePEM.utf8)), ("junk", [1, 2, 3]),
            ("long.crl", list.der + [0]), ("cut.pem", Array(pem.utf8.prefix(200))),
        ]
        for (name, bytes) in wrong {
            let file = try folder.write(bytes, to: name)
            let error = #expect(throws: TrustError.self) { try RevocationList.load(path: file) }
            #expect(error?.code == .unreadableCertificate && error?.message.hasPrefix(file) == true, "\(name)")
        }
    }

    private func list(_ recipe: RevocationRecipe) throws -> RevocationList {
        try self.site.pki.revocationList(recipe, of: self.site.intermediate)
    }

    private func verdict(_ lists: [RevocationList], chain: [Certificate]? = nil) throws -> Verdict {
        try SecurityPolicy(pinning: .none, roots: self.site.roots, revocationLists: lists)
            .verdict(chain ?? self.site.chain, host: Site.host)
    }

    private func rule(_ lists: [RevocationList], chain: [Certificate]? = nil) throws -> Rule? {
        try self.verdict(lists, chain: chain).error?.rule
    }
}
