// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// A certificate together with its private key, as values.
package struct TestIdentity: Sendable {
    package let certificate: Certificate
    /// The private key: DER of a PKCS#8 PrivateKeyInfo.
    package let keyDER: [UInt8]
    /// Signers from the nearest one up to the root; empty for a self-signed certificate.
    package let issuers: [Certificate]

    /// The certificates that a server sends: its own, then its signers without the root.
    package var chain: [Certificate] {
        [self.certificate] + self.issuers.filter { !$0.isSelfIssued }
    }

    /// All certificates up to and including the root.
    package var fullChain: [Certificate] {
        [self.certificate] + self.issuers
    }

    package var pin: Pin { self.certificate.spkiPin }

    /// Returns the identity of a server that sends one more certificate behind its chain.
    package func sending(_ certificate: Certificate) -> TestIdentity {
        TestIdentity(certificate: self.certificate, keyDER: self.keyDER, issuers: self.issuers + [certificate])
    }

    /// The certificate alone as PEM.
    package var certificatePEM: String { PEMText.certificates([self.certificate]) }
    /// `chain` as PEM, as nginx and `openssl s_server` want it.
    package var chainPEM: String { PEMText.certificates(self.chain) }
    /// The private key as PEM, unencrypted.
    package var keyPEM: String { PEMText.block("PRIVATE KEY", self.keyDER) }
}
