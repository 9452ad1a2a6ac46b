// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

/// The key of an authority, and how its signatures are named in certificates.
struct CertificateSigner: ~Copyable {
    let key: PrivateKey
    /// An AlgorithmIdentifier in DER (RFC 5280 §4.1.1.2).
    let algorithm: [UInt8]
    /// SHA-256 where the key wants a digest; nil for Ed25519, which digests by itself.
    private let digest: OpaquePointer?

    /// - Throws: `.library` for a key that cannot sign certificates.
    init(_ key: consuming PrivateKey) throws(TrustError) {
        OpenSSLErrors.clear()
        var wanted: CInt = 0
        let digestsItself = EVP_PKEY_get_default_digest_nid(key.pointer, &wanted) > 0 && wanted == NID_undef
        let digest = digestsItself ? nil : EVP_sha256()
        self.algorithm = try Self.algorithm(of: key.pointer, digest)
        self.digest = digest
        self.key = key
    }

    /// OpenSSL tells the name of a signature with a signature, here of an empty list.
    private static func algorithm(of key: OpaquePointer, _ digest: OpaquePointer?) throws(TrustError) -> [UInt8] {
        let list = X509_CRL_new()
        let time = ASN1_TIME_set(nil, time_t(0))
        defer {
            X509_CRL_free(list)
            ASN1_TIME_free(time)
        }
        guard X509_CRL_set1_lastUpdate(list, time) == 1, X509_CRL_sign(list, key, digest) > 0 else {
            throw OpenSSLErrors.failure(of: "X509_CRL_sign")
        }
        var algorithm: UnsafePointer<X509_ALGOR>?
        X509_CRL_get0_signature(list, nil, &algorithm)
        return X509View.encoding(of: algorithm)
    }

    /// - Returns: the signature of `content`, as a BIT STRING has it.
    func sign(_ content: [UInt8]) throws(TrustError) -> [UInt8] {
        OpenSSLErrors.clear()
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = Int(EVP_PKEY_get_size(self.key.pointer))
        var signature = [UInt8](repeating: 0, count: max(0, count))
        guard EVP_DigestSignInit(context, nil, self.digest, nil, self.key.pointer) == 1,
            EVP_DigestSign(context, &signature, &count, content, content.count) == 1
        else { throw OpenSSLErrors.failure(of: "EVP_DigestSign") }
        return Array(signature.prefix(count))
    }
}
