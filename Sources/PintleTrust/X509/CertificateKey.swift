// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The public key of a certificate, and its weakness, if it is too weak.
package struct CertificateKey: Sendable, Hashable {
    /// The name of the key's kind and size: `RSA 2048`, `EC P-256`, `Ed25519`.
    package let description: String
    /// The reason why the key is too weak (CA/Browser Forum, Baseline Requirements §6.1.5); nil if it is not.
    package let weakness: String?
    /// True if the certificate may sign others.
    package let isAuthority: Bool

    /// Reads the key of `certificate`.
    ///
    /// - Throws: `.unreadableCertificate` for a kind of key that OpenSSL does not know.
    package init(of certificate: Certificate) throws(TrustError) {
        let handle = try X509Handle(der: certificate.der, source: certificate.label)
        guard let key = handle.read({ CertificateKey($0) }) else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(certificate.label): its key is of a kind that OpenSSL cannot read",
                cause: OpenSSLErrors.drain())
        }
        self = key
    }

    private init?(_ view: X509View) {
        OpenSSLErrors.clear()
        guard let key = X509_get0_pubkey(view.pointer) else { return nil }
        let bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
            self.description = "RSA \(bits)"
            self.weakness = bits < 2048 ? "an RSA key of \(bits) bits, where 2048 are the least" : nil
        case EVP_PKEY_EC:
            let name = Self.groupName(of: key)
            self.description = "EC \(name)"
            self.weakness = bits < 256 ? "a key on a curve of \(bits) bits, where 256 are the least" : nil
        case EVP_PKEY_DSA:
            self.description = "DSA \(bits)"
            self.weakness = "a DSA key, which TLS 1.3 has no signatures for"
        default:
            let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "key"
            // OpenSSL writes ED25519 for the algorithm that its authors call Ed25519.
            self.description = name.hasPrefix("ED") ? "Ed" + name.dropFirst(2) : name
            self.weakness = nil
        }
        self.isAuthority = X509_check_ca(view.pointer) > 0
    }

    private static func groupName(of key: OpaquePointer) -> String {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return "with parameters of its own" }
        let text = string(cString: name)
        let known = [
            "prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521", "secp224r1": "P-224",
            "prime192v1": "P-192",
        ]
        return known[text] ?? text
    }
}
