// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Certificates that no authority would issue: whatever they contain, there is a verdict.
struct HostileCertificateTests {
    @Test func `a chain of which one byte was changed never holds`() throws {
        let site = try Site()
        let policy = try site.policy(validatesDomainName: false)
        let evaluator = try TrustEvaluator(policy: policy)
        for place in 0..<2 {
            let der = site.chain[place].der
            for index in stride(from: 0, to: der.count, by: 3) {
                for bit in [UInt8(0x01), 0x80] {
                    var changed = der
                    changed[index] ^= bit
                    guard let certificate = try? Certificate(der: changed) else { continue }
                    var chain = site.chain
                    chain[place] = certificate
                    let verdict = evaluator.evaluate(chain: chain, host: nil)
                    #expect(!verdict.isTrusted, "certificate \(place), byte \(index)")
                }
            }
        }
    }

    @Test(arguments: [
        "basicConstraints", "keyUsage", "extendedKeyUsage", "subjectAltName", "nameConstraints", "subjectKeyIdentifier",
        "certificatePolicies", "policyMappings", "policyConstraints", "inhibitAnyPolicy", "authorityInfoAccess",
    ])
    func `LOOK-58 whatever an extension holds, there is a verdict`(name: String) throws {
        let site = try Site()
        let evaluator = try TrustEvaluator(
            policy: SecurityPolicy(pinning: .none, roots: site.roots, form: .strict))
        var random = LinearRandom(state: 4711)
        for round in 0..<60 {
            // Nearly DER: elements with tags that occur, and lengths that sometimes fit.
            let value = "DER:" + (0..<(round % 4 + 1)).map { _ in random.element(depth: 3) }.joined()
            let authority = try site.pki.mint(.authority("Odd").with(name, value), signedBy: site.root)
            let below = try site.pki.mint(.server("DNS:\(Site.host)"), signedBy: authority)
            let leaf = try site.pki.mint(.server("DNS:\(Site.host)").with(name, value), signedBy: site.root)
            for chain in [below.chain, leaf.chain] {
                let verdict = evaluator.evaluate(chain: chain, host: Site.host)
                #expect(verdict.chain.first?.certificate == chain[0])
                #expect(evaluator.evaluate(chain: chain, host: Site.host) == verdict, "once more, it is another")
                if verdict.isTrusted {
                    #expect(verdict.chainOrigin == .verified)
                    #expect(verdict.chain.last?.certificate == site.root.certificate)
                } else {
                    #expect(verdict.error?.message.isEmpty == false)
                }
            }
        }
    }

    /// A generator with the same numbers in every run.
    private struct LinearRandom {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(self.state >> 33) % bound
        }

        /// Hexadecimal digits of an element.
        mutating func element(depth: Int) -> String {
            let tags = [
                0x01, 0x02, 0x03, 0x04, 0x06, 0x16, 0x30, 0x30, 0x80, 0x81, 0x82, 0x86, 0x87, 0x88, 0xA0, 0xA1, 0xA4,
            ]
            let tag = tags[self.next(tags.count)]
            var content = ""
            if tag & 0x20 != 0 && depth > 0 {
                for _ in 0..<self.next(3) { content += self.element(depth: depth - 1) }
            } else {
                for _ in 0..<self.next(9) { content += self.digits(self.next(256)) }
            }
            let length = content.count / 2 + (self.next(12) == 0 ? 1 : 0)
            return self.digits(tag) + (length < 128 ? "" : "81") + self.digits(length & 0xFF) + content
        }

        private func digits(_ byte: Int) -> String {
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
}
