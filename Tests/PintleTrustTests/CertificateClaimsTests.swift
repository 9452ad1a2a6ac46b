// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Claims of certificates that audits report.
@Suite struct CertificateClaimsTests {
    private let pki = TestPKI()

    private func certificate(_ recipe: CertificateRecipe) throws -> Certificate {
        try self.pki.mint(recipe).certificate
    }

    @Test(arguments: [("SHA1", "SHA-1"), ("SHA256", nil), ("SHA384", nil)])
    func `a digest of which collisions can be made is told`(digest: String, name: String?) throws {
        let certificate = try self.certificate(.server("DNS:a.test").changed { $0.digest = digest })
        #expect(certificate.brokenDigest == name && certificate.signatureAlgorithm == "ecdsa-with-\(digest)")
    }

    @Test(arguments: [("SHA1", "SHA-1"), ("MD5", "MD5"), ("SHA256", nil)])
    func `the digest of an RSA signature is told as well`(digest: String, name: String?) throws {
        let certificate = try self.certificate(
            .server("DNS:a.test").changed {
                $0.key = .rsa(bits: 2048)
                $0.digest = digest
            })
        #expect(certificate.brokenDigest == name && certificate.signatureAlgorithm == "RSA-\(digest)")
    }

    @Test(arguments: [
        (["2.23.140.1.2.1"], true), (["2.23.140.1.2.2"], true), (["2.23.140.1.1"], true),
        (["1.2.3.4", "2.23.140.1.2.1"], true), (["2.23.140.1.3"], false), (["2.23.140.1.4.1"], false),
        (["2.23.140.1.2"], false), (["1.2.3.4"], false), (["2.5.29.32.0"], false), ([], false),
    ])
    func `a certificate is public if it names a policy for public servers`(policies: [String], isPublic: Bool) throws {
        let certificate = try self.certificate(.server("DNS:a.test").with(policies: policies))
        #expect(certificate.claimsBaselineRequirements == isPublic)
    }
}
