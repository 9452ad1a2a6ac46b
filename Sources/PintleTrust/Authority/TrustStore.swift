// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Writes trusted certificates into a PKCS#12 store (RFC 7292) that Java can read, and reads stores made by other programs.
package enum TrustStore {
    /// Makes a store without a key. The password protects its integrity; the certificates are not encrypted, as they are
    /// not secret.
    ///
    /// - Parameter password: the password of the store, which Java needs to open it.
    /// - Throws: `.library` if OpenSSL fails.
    package static func pkcs12(of certificates: [Certificate], password: String) throws(TrustError) -> [UInt8] {
        OpenSSLErrors.clear()
        var bags: OpaquePointer?
        defer { pintle_pkcs12_bags_free(bags) }
        for (number, certificate) in certificates.enumerated() {
            let handle = try X509Handle(der: certificate.der, source: certificate.label)
            // Java takes a certificate without this attribute for a part of a chain, and does not trust it.
            let isAdded = handle.read { view in
                pintle_pkcs12_add_trusted(&bags, view.pointer, "\(number) \(certificate.subject)") == 1
            }
            guard isAdded else { throw OpenSSLErrors.failure(of: "PKCS12_add_cert") }
        }
        var safes: OpaquePointer?
        defer { pintle_pkcs12_safes_free(safes) }
        guard pintle_pkcs12_add_safe(&safes, bags) == 1, let store = PKCS12_add_safes(safes, 0) else {
            throw OpenSSLErrors.failure(of: "PKCS12_add_safes")
        }
        defer { PKCS12_free(store) }
        guard PKCS12_set_mac(store, password, -1, nil, 0, 2048, EVP_sha256()) == 1,
            let der = X509View.encoded({ i2d_PKCS12(store, $0) })
        else { throw OpenSSLErrors.failure(of: "PKCS12_set_mac") }
        return der
    }
}
