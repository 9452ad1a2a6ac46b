// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// Each rule with a certificate that breaks it, and one that nearly does.
struct RuleTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    private static let server = CertificateRecipe.server("DNS:\(Site.host)")
    private static let authority = CertificateRecipe.authority("Middle")

    init() throws {
        self.root = try self.pki.root("Root")
    }

    /// A change to one certificate, and the expected outcome for the chain.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let recipe: CertificateRecipe
        let rule: Rule?

        init(_ description: String, _ recipe: CertificateRecipe, _ rule: Rule?) {
            self.testDescription = description
            self.recipe = recipe
            self.rule = rule
        }
    }

    @Test(arguments: [
        Case("nothing wrong", server, nil),
        Case("expired", server.changed { $0.validity = .expired }, .expired),
        Case("early", server.changed { $0.validity = .notYet }, .notYetValid),
        Case("version 1", server.changed { ($0.version, $0.extensions) = (1, []) }, .version),
        Case("for clients", server.with("extendedKeyUsage", "clientAuth"), .serverPurpose),
        Case("for servers and clients", server.with("extendedKeyUsage", "clientAuth,serverAuth"), nil),
        Case("without purposes", server.with("extendedKeyUsage", nil), nil),
        Case("for any purpose only", server.with("extendedKeyUsage", "anyExtendedKeyUsage"), .serverPurpose),
        Case("signs documents only", server.with("keyUsage", "critical,nonRepudiation"), .serverKeyUsage),
        Case("without key usage", server.with("keyUsage", nil), nil),
        Case("agrees on keys", server.with("keyUsage", "critical,keyAgreement"), nil),
        Case("unknown critical extension", server.with("1.2.3.4", "critical,DER:0500"), .unknownCriticalExtension),
        Case("unknown extension", server.with("1.2.3.4", "DER:0500"), nil),
        Case("damaged names", server.with("subjectAltName", "DER:0C0161"), .malformedExtension),
        Case("damaged key usage", server.with("keyUsage", "DER:03020901"), .malformedExtension),
        Case("no purposes in the list", server.with("extendedKeyUsage", "DER:3000"), .malformedExtension),
        Case("RSA of 1024 bits", server.changed { $0.key = .rsa(bits: 1024) }, .weakKey),
        Case("RSA of 2048 bits", server.changed { $0.key = .rsa(bits: 2048) }, nil),
        Case("P-192", server.changed { $0.key = .curve("P-192") }, .weakKey),
        Case("secp256k1", server.changed { $0.key = .curve("secp256k1") }, .weakKey),
        Case("P-384", server.changed { $0.key = .curve("P-384") }, nil),
        Case("P-521", server.changed { $0.key = .curve("P-521") }, nil),
        Case("Ed25519", server.changed { $0.key = .ed25519 }, nil),
        Case("SHA-1", server.changed { $0.digest = "SHA1" }, .weakSignature),
        Case("SHA-384", server.changed { $0.digest = "SHA384" }, nil),
    ])
    func `a server's certificate`(_ item: Case) throws {
        let leaf = try self.pki.mint(item.recipe, signedBy: self.root)
        // Without a host, so that it is this rule that decides and not the name.
        #expect(try self.rule(leaf.fullChain, host: nil) == item.rule)
    }

    @Test(arguments: [
        Case("nothing wrong", authority, nil),
        Case("expired", authority.changed { $0.validity = .expired }, .expired),
        Case("no authority", authority.with("basicConstraints", "critical,CA:FALSE"), .notAnAuthority),
        Case("without basic constraints", authority.with("basicConstraints", nil), .notAnAuthority),
        Case("may not sign", authority.with("keyUsage", "critical,cRLSign"), .authorityKeyUsage),
        Case("without key usage", authority.with("keyUsage", nil), nil),
        Case("for mail", authority.with("extendedKeyUsage", "emailProtection"), .authorityPurpose),
        Case("for servers", authority.with("extendedKeyUsage", "serverAuth"), nil),
        Case("for any purpose", authority.with("extendedKeyUsage", "anyExtendedKeyUsage"), nil),
        Case("without a name", authority.changed { $0.commonName = nil }, .emptyIssuer),
        Case("version 1", authority.changed { ($0.version, $0.extensions) = (1, []) }, .notAnAuthority),
        Case("unknown critical extension", authority.with("1.2.3.4", "critical,DER:0500"), .unknownCriticalExtension),
        Case("RSA of 1024 bits", authority.changed { $0.key = .rsa(bits: 1024) }, .weakKey),
        Case("SHA-1", authority.changed { $0.digest = "SHA1" }, .weakSignature),
        Case("empty constraints", authority.with("nameConstraints", "DER:3000"), .malformedNameConstraints),
        Case(
            "odd mask", authority.with("nameConstraints", "DER:300EA00C300A8708C0000200FF00FF00"),
            .malformedNameConstraints),
    ])
    func `an authority's certificate`(_ item: Case) throws {
        let authority = try self.pki.mint(item.recipe, signedBy: self.root)
        let leaf = try self.pki.mint(Self.server, signedBy: authority)
        #expect(try self.rule(leaf.fullChain) == item.rule)
    }

    @Test func `self-issued authorities do not count for the length of a path`() throws {
        let top = try self.pki.mint(
            .authority("Top").with("basicConstraints", "critical,CA:TRUE,pathlen:0"), signedBy: self.root)
        let rolled = try self.pki.mint(.authority("Top"), signedBy: top)
        let below = try self.pki.mint(.authority("Below"), signedBy: top)
        #expect(try self.rule(try self.pki.mint(Self.server, signedBy: rolled).fullChain) == nil)
        #expect(try self.rule(try self.pki.mint(Self.server, signedBy: below).fullChain) == .pathLength)
    }

    /// certificatePolicies with one policy, 1.2.3.N.
    @Test(arguments: [
        // A pointer to a statement, a notice, and an unknown qualifier.
        QualifierCase(testDescription: "statement", qualifier: .practiceStatement, rule: nil),
        QualifierCase(testDescription: "notice", qualifier: .userNotice, rule: nil),
        QualifierCase(testDescription: "unknown", qualifier: .anyPolicy, rule: .unknownCriticalExtension),
    ])
    func `LOOK-36 critical policies have no unknown qualifiers`(_ item: QualifierCase) throws {
        for isCritical in [true, false] {
            let value = (isCritical ? "critical," : "") + item.policies
            let rule = isCritical ? item.rule : nil
            let leaf = try self.pki.mint(Self.server.with("certificatePolicies", value), signedBy: self.root)
            #expect(try self.rule(leaf.chain) == rule, "\(value)")
            let authority = try self.pki.mint(Self.authority.with("certificatePolicies", value), signedBy: self.root)
            #expect(try self.rule(try self.pki.mint(Self.server, signedBy: authority).chain) == rule, "\(value)")
        }
    }

    /// Policies with a qualifier, and the expected outcome for a critical extension with it.
    struct QualifierCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let qualifier: OID
        let rule: Rule?

        /// A policy 1.2.3.4 with the qualifier, which has no content.
        var policies: String {
            let content = DERBytes.element(6, self.qualifier.bytes) + DERBytes.element(0x30, [])
            let qualifiers = DERBytes.element(0x30, DERBytes.element(0x30, content))
            let information = DERBytes.element(0x30, DERBytes.element(6, [0x2A, 3, 4]) + qualifiers)
            return DERBytes.value(DERBytes.element(0x30, information))
        }
    }

    @Test func `LOOK-36 only an authority has a path length`() throws {
        let server = Self.server.with("basicConstraints", "critical,DER:3003020100")
        #expect(try self.rule(try self.pki.mint(server, signedBy: self.root).chain) == .malformedExtension)
        let authority = try self.pki.mint(
            Self.authority.with("basicConstraints", "critical,DER:3003020100"), signedBy: self.root)
        let leaf = try self.pki.mint(Self.server, signedBy: authority)
        #expect(try self.rule(leaf.chain) == .malformedExtension)
    }

    @Test(
        arguments: [
            ("both digests", pss(sha256, pssMask(sha256)), 128), ("another mask", pss(sha256, pssMask(sha1)), 0),
            ("another digest", pss(sha1, pssMask(sha256)), 0), ("no mask", pss(sha256, []), 0),
            ("no digest", pss([], pssMask(sha256)), 0), ("a longer mask", pss(sha256, pssMask(sha512)), 128),
            ("a mask of nobody's", pss(sha256, DERBytes.element(0x30, [6, 1, 42] + sha256)), 0),
        ] as [(String, [UInt8], Int)])
    func `LOOK-36 a PSS signature is as strong as the weaker of its digests`(
        name: String, algorithm: [UInt8], bits: Int
    ) throws {
        let element = try DERReader.only(DERTag.sequence, in: algorithm[...])
        #expect(try SignatureAlgorithm.securityBits(of: element) == bits, "\(name)")
    }

    private static let sha1 = DERBytes.element(0x30, [6, 5, 0x2B, 0x0E, 3, 2, 0x1A])
    private static let sha256 = DERBytes.element(0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1])
    private static let sha512 = DERBytes.element(0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3])

    private static func pssMask(_ digest: [UInt8]) -> [UInt8] {
        DERBytes.element(0x30, DERBytes.element(6, OID.maskGeneration1.bytes) + digest)
    }

    /// An AlgorithmIdentifier; parameters that are empty are left out.
    private static func pss(_ digest: [UInt8], _ mask: [UInt8]) -> [UInt8] {
        let parameters =
            (digest.isEmpty ? [] : DERBytes.element(0xA0, digest)) + (mask.isEmpty ? [] : DERBytes.element(0xA1, mask))
        return DERBytes.element(
            0x30, DERBytes.element(6, OID.rsaPSS.bytes) + DERBytes.element(0x30, parameters))
    }

    private static func policy(_ number: Int) -> String { "DER:300730050603 2A030\(number)".filter { $0 != " " } }

    @Test func `a policy that an authority demands must be there`() throws {
        let strict = try self.pki.mint(
            .authority("Strict").with("policyConstraints", "critical,requireExplicitPolicy:0")
                .with("certificatePolicies", Self.policy(4)), signedBy: self.root)
        let cases: [(String?, Rule?)] = [
            (Self.policy(4), nil), (Self.policy(5), .certificatePolicy), (nil, .certificatePolicy),
        ]
        for (policies, rule) in cases {
            let leaf = try self.pki.mint(Self.server.with("certificatePolicies", policies), signedBy: strict)
            #expect(try self.rule(leaf.fullChain) == rule, "\(policies ?? "none")")
        }
    }

    @Test func `mapped policies are followed`() throws {
        let mapping = try self.pki.mint(
            .authority("Mapping").with("policyConstraints", "critical,requireExplicitPolicy:0")
                .with("certificatePolicies", Self.policy(4)).with("policyMappings", "1.2.3.4:1.2.3.9"),
            signedBy: self.root)
        let cases: [(Int, Rule?)] = [(9, nil), (4, .certificatePolicy)]
        for (number, rule) in cases {
            let leaf = try self.pki.mint(
                Self.server.with("certificatePolicies", Self.policy(number)), signedBy: mapping)
            #expect(try self.rule(leaf.fullChain) == rule, "\(number)")
        }
    }

    @Test func `what an anchor says of itself counts: dates, authority, length, purposes, constraints, key`() throws {
        let cases: [(CertificateRecipe, Rule)] = [
            (.authority("A").changed { $0.validity = .expired }, .expired),
            (.authority("A").with("basicConstraints", "critical,CA:FALSE"), .notAnAuthority),
            (.authority("A").with("basicConstraints", nil), .notAnAuthority),
            (.authority("A").with("keyUsage", "critical,cRLSign"), .authorityKeyUsage),
            (.authority("A").with("extendedKeyUsage", "emailProtection"), .authorityPurpose),
            (.authority("A").with("nameConstraints", "critical,permitted;DNS:elsewhere.test"), .nameConstraint),
            (.authority("A").changed { $0.key = .rsa(bits: 1024) }, .weakKey),
            (.authority("A").with("1.2.3.4", "critical,DER:0500"), .unknownCriticalExtension),
        ]
        for (recipe, rule) in cases {
            let root = try self.pki.mint(recipe)
            let leaf = try self.pki.mint(Self.server, signedBy: root)
            #expect(try self.rule(leaf.chain, root: root) == rule, "\(rule)")
        }
        let tight = try self.pki.mint(.authority("A").with("basicConstraints", "critical,CA:TRUE,pathlen:0"))
        let middle = try self.pki.mint(Self.authority, signedBy: tight)
        #expect(try self.rule(try self.pki.mint(Self.server, signedBy: middle).chain, root: tight) == .pathLength)
    }

    @Test func `how an anchor was signed does not count`() throws {
        let old = try self.pki.mint(.authority("Old").changed { $0.digest = "SHA1" })
        #expect(try self.rule(try self.pki.mint(Self.server, signedBy: old).chain, root: old) == nil)
        let first = try self.pki.mint(.authority("First").changed { ($0.version, $0.extensions) = (1, []) })
        #expect(try self.rule(try self.pki.mint(Self.server, signedBy: first).chain, root: first) == nil)
    }

    @Test func `a leaf that is an anchor needs no issuer, and is judged as a leaf`() throws {
        let lone = try self.pki.selfSigned(dns: [Site.host])
        #expect(try self.rule(lone.chain, root: lone) == nil)
        let issued = try self.pki.mint(Self.server, signedBy: self.root)
        #expect(try self.rule([issued.certificate], root: issued) == nil)
        let expired = try self.pki.selfSigned(dns: [Site.host], validity: .expired)
        #expect(try self.rule(expired.chain, root: expired) == .expired)
    }

    private func rule(_ chain: [Certificate], root: TestIdentity? = nil, host: String? = Site.host) throws -> Rule? {
        let policy = try SecurityPolicy(pinning: .none, roots: .only([(root ?? self.root).certificate]))
        let verdict = try policy.verdict(chain, host: host)
        #expect(verdict.isTrusted == (verdict.error == nil))
        return verdict.error?.rule
    }
}
