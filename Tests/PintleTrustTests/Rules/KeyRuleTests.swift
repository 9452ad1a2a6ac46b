// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// Keys that are invalid, and keys whose private half is public.
struct KeyRuleTests {
    private let pki = TestPKI()
    private let root: TestIdentity

    init() throws {
        self.root = try self.pki.root("Root")
    }

    private static let modulus = [UInt8](repeating: 0xC3, count: 256)

    @Test(
        arguments: [
            ("65537", number([1, 0, 1]), nil), ("3", number([3]), nil), ("1", number([1]), .weakKey),
            ("0", [2, 1, 0], .weakKey), ("2", number([2]), .weakKey), ("-3", [2, 1, 0xFD], .weakKey),
            ("2^32 - 1", number([0xFF, 0xFF, 0xFF, 0xFF]), nil), ("2^32 + 1", number([1, 0, 0, 0, 1]), .weakKey),
        ] as [(String, [UInt8], Rule?)])
    func `LOOK-32 the exponent of an RSA key is odd, and from 3 to 2^32`(
        name: String, exponent: [UInt8], rule: Rule?
    ) throws {
        try self.expect(rule, ofKey: Self.rsa(DERBytes.number(Self.modulus) + exponent), name)
    }

    @Test(
        arguments: [
            ("odd", number(modulus), nil), ("even", number(modulus.dropLast() + [2]), .weakKey),
            ("negative", element(2, modulus), .weakKey), ("zero", [2, 1, 0], .weakKey),
        ] as [(String, [UInt8], Rule?)])
    func `LOOK-32 the modulus of an RSA key is odd and positive`(
        name: String, modulus: [UInt8], rule: Rule?
    ) throws {
        try self.expect(rule, ofKey: Self.rsa(modulus + DERBytes.number([1, 0, 1])), name)
    }

    /// Under an exponent of 1 a signature is the padded digest itself.
    @Test func `LOOK-32 a certificate forged under an authority with exponent 1 is refused`() throws {
        let authority = try self.pki.mint(
            .authority("Lax").changed {
                $0.certifiedKey = Self.rsa(DERBytes.number(Self.modulus) + DERBytes.number([1]))
            }, signedBy: self.root)
        let namesake = try self.pki.root("Lax", key: .rsa(bits: 2048))
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: namesake).certificate
        var certificate = try DERReader(sequence: leaf.der[...])
        let body = try certificate.next(DERTag.sequence).encoding
        let identifier: [UInt8] = [
            0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20,
        ]
        let digest = identifier + (try MessageDigest.sha256.digest(of: Array(body)))
        let signature = [0, 1] + [UInt8](repeating: 0xFF, count: 256 - 3 - digest.count) + [0] + digest
        let forged = try Certificate(der: leaf.der.dropLast(256) + signature)
        #expect(try PathCertificate(forged).isSigned(by: PathCertificate(authority.certificate)))

        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        let error = try policy.verdict([forged, authority.certificate], host: Site.host).error
        #expect(error?.rule == .weakKey)
        #expect(error?.message.contains("\"CN=Lax\"") == true)
    }

    @Test func `LOOK-33 what is no key of its algorithm is malformed`() throws {
        let point = try #require(Self.point(of: try self.pki.leaf(signedBy: self.root)))
        try self.expect(nil, ofKey: Self.p256([4] + point), "as it is")
        var off = point
        off[63] ^= 1
        let rules: [(String, [UInt8])] = [
            ("a point off the curve", Self.p256([4] + off)),
            ("bytes behind the point", Self.p256([4] + point + [0])),
            ("the point at infinity", Self.p256([0])),
            ("a hybrid point", Self.p256([6 + (point[63] & 1)] + point)),
            ("half a point", Self.p256([4] + point.prefix(32))),
            ("nothing", Self.p256([])),
            ("an RSA key with bytes behind it", Self.rsa(DERBytes.number(Self.modulus) + DERBytes.number([3]), [0])),
            ("an RSA key of three numbers", Self.rsa(DERBytes.number(Self.modulus) + [2, 1, 3, 2, 1, 3])),
            ("an RSA key of one number", Self.rsa(DERBytes.number(Self.modulus))),
            ("an Ed25519 key of 31 bytes", Self.edwards([UInt8](repeating: 9, count: 31))),
            ("an Ed25519 key of 33 bytes", Self.edwards([UInt8](repeating: 9, count: 33))),
        ]
        for (name, key) in rules { try self.expect(.malformedKey, ofKey: key, name) }
        try self.expect(nil, ofKey: Self.edwards([UInt8](repeating: 9, count: 32)), "Ed25519")
    }

    private func expect(_ rule: Rule?, ofKey key: [UInt8], _ name: String) throws {
        let leaf = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.certifiedKey = key }, signedBy: self.root)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([self.root.certificate]))
        #expect(try policy.verdict(leaf.chain, host: Site.host).error?.rule == rule, "\(name)")
        // An authority's key is no better.
        let authority = try self.pki.mint(
            .authority("Middle").changed { $0.certifiedKey = key }, signedBy: self.root)
        guard let rule else { return }
        let below = try self.pki.leaf(dns: [Site.host], signedBy: try self.pki.root("Middle"))
        let found = try policy.verdict([below.certificate, authority.certificate], host: Site.host).error?.rule
        #expect(found != nil && (found == rule || found == .unknownIssuer || found == .badSignature), "\(name)")
    }

    // MARK: Keys

    private static func number(_ bytes: [UInt8]) -> [UInt8] { DERBytes.number(bytes) }
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { DERBytes.element(tag, content) }

    private static func key(_ algorithm: [UInt8], _ bits: [UInt8]) -> [UInt8] {
        self.element(0x30, self.element(0x30, algorithm) + self.element(0x03, [0] + bits))
    }

    private static func rsa(_ numbers: [UInt8], _ behind: [UInt8] = []) -> [UInt8] {
        self.key(self.element(6, OID.rsa.bytes) + [5, 0], self.element(0x30, numbers) + behind)
    }

    private static func p256(_ point: [UInt8]) -> [UInt8] {
        self.key(self.element(6, OID.ellipticCurve.bytes) + self.element(6, OID.p256.bytes), point)
    }

    private static func edwards(_ bytes: [UInt8]) -> [UInt8] {
        self.key(self.element(6, OID.ed25519.bytes), bytes)
    }

    /// The coordinates of a P-256 key.
    private static func point(of identity: TestIdentity) -> [UInt8]? {
        let prefix = self.p256([4]).dropFirst(2)
        let der = identity.certificate.der
        // The lengths of the two outer elements and of the bits differ by the 64 bytes that are missing here.
        let algorithm = Array(prefix.dropLast(4))
        let place = der.indices.first { der[$0...].starts(with: algorithm + [0x03, 0x42, 0x00, 0x04]) }
        return place.map { Array(der[($0 + algorithm.count + 4)...].prefix(64)) }
    }
}
