// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleTrust

/// Chains that are made to keep their judge busy.
struct CostlyChainTests {
    private let pki = TestPKI()
    private let root: TestIdentity

    init() throws {
        self.root = try self.pki.root("Root")
    }

    @Test(arguments: [33, 64, 3072])
    func `LOOK-08 a key with a long exponent is weak and checks no signature`(bits: Int) throws {
        let key = Self.rsaKey(exponent: Self.number(bits: bits))
        let sent = try (0..<40).map { number in
            try self.pki.mint(
                .authority("Costly").changed {
                    $0.certifiedKey = Self.rsaKey(exponent: Self.number(bits: bits), modulusEnd: UInt8(number * 2 + 1))
                }, signedBy: self.root)
        }
        let signer = try self.pki.root("Costly", key: .rsa(bits: 2048))
        let leaf = try self.pki.leaf(dns: [Site.host], signedBy: signer)
        let (finding, spent) = try self.search([leaf] + sent)
        #expect(finding?.rule == .weakKey)
        #expect(finding?.certificate?.certificate.subject == "CN=Costly")
        #expect(spent.signatures <= 1)

        // Where the leaf has it, too.
        let weak = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.certifiedKey = key }, signedBy: self.root)
        #expect(try self.search([weak]).finding?.rule == .weakKey)
    }

    @Test func `LOOK-08 an exponent of 32 bits is as good as any`() throws {
        let key = Self.rsaKey(exponent: Self.number(bits: 32))
        let leaf = try self.pki.mint(
            .server("DNS:\(Site.host)").changed { $0.certifiedKey = key }, signedBy: self.root)
        #expect(try self.search([leaf]).finding == nil)
    }

    private func search(_ sent: [TestIdentity]) throws -> (finding: Finding?, spent: WorkBudget) {
        let read = try sent.map { try PathCertificate($0.certificate) }
        var search = PathSearch(
            others: Array(read.dropFirst()), anchors: try AnchorStore(anchors: [self.root.certificate]),
            rules: PathRules(moment: self.pki.now, securityBits: 112, usesCommonName: false), demandsForm: false)
        switch search.run(from: read[0]) {
        case .found: return (nil, search.spent)
        case .none(let finding): return (finding, search.spent)
        }
    }

    /// An odd number of so many bits, big endian.
    private static func number(bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xA5, count: (bits + 7) / 8)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] |= 1
        return bytes
    }

    /// A SubjectPublicKeyInfo of an RSA key of 3072 bits whose other half nobody has.
    private static func rsaKey(exponent: [UInt8], modulusEnd: UInt8 = 1) -> [UInt8] {
        let modulus = [UInt8](repeating: 0xC3, count: 383) + [modulusEnd]
        let numbers = self.element(0x30, self.integer(modulus) + self.integer(exponent))
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        return self.element(0x30, algorithm + self.element(0x03, [0] + numbers))
    }

    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        self.element(0x02, (bytes[0] >= 0x80 ? [0] : []) + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 128
            ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }
}
