// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
package import PintleTrust

extension TestIdentity {
    /// The format of an encrypted key.
    package enum KeyFormat: Sendable, CaseIterable {
        /// `ENCRYPTED PRIVATE KEY` (RFC 5958).
        case pkcs8
        /// `EC PRIVATE KEY` with a header that names the cipher (RFC 1421).
        case traditional
    }

    /// The private key as PEM, encrypted with AES-256.
    package func encryptedKeyPEM(password: String, format: KeyFormat = .pkcs8) throws -> String {
        ERR_clear_error()
        guard let bio = BIO_new(BIO_s_mem()) else { throw TestPKIError("BIO_new") }
        defer { BIO_free(bio) }
        let key = try TestKey(of: self)
        let (secret, cipher) = (Array(password.utf8), EVP_aes_256_cbc())
        let isWritten = withExtendedLifetime(key) {
            switch format {
            case .pkcs8:
                PEM_write_bio_PKCS8PrivateKey(
                    bio, key.pointer, cipher, password, CInt(secret.count), nil, nil) == 1
            case .traditional:
                PEM_write_bio_PrivateKey_traditional(
                    bio, key.pointer, cipher, secret, CInt(secret.count), nil, nil) == 1
            }
        }
        guard isWritten else { throw TestPKIError("PEM_write_bio_PrivateKey") }
        var start: UnsafeMutablePointer<CChar>?
        let length = pintle_bio_mem_data(bio, &start)
        guard length > 0, let start else { throw TestPKIError("BIO_get_mem_data") }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    /// Returns a PKCS#12 file with this certificate, its key and its signers without the root.
    ///
    /// - Parameter password: encrypts the file; nil leaves it unencrypted.
    package func pkcs12(password: String?) throws -> [UInt8] {
        try TestIdentity.pkcs12(
            key: self, certificate: self.certificate, others: Array(self.chain.dropFirst()), password: password)
    }

    /// Returns a PKCS#12 file of any parts, even parts that do not belong together.
    package static func pkcs12(
        key identity: TestIdentity?, certificate: Certificate?, others: [Certificate], password: String?
    ) throws -> [UInt8] {
        ERR_clear_error()
        guard let stack = pintle_x509_stack_new() else { throw TestPKIError("sk_X509_new_null") }
        defer { pintle_x509_stack_free_all(stack) }
        for other in others { pintle_x509_stack_push(stack, try MintRequest.parse(other.der)) }
        let leaf = try certificate.map { try MintRequest.parse($0.der) }
        defer { X509_free(leaf) }
        let key = try identity.map(TestKey.init(of:))
        let made = withExtendedLifetime(key) {
            // -1 for both algorithms stores key and certificates unencrypted.
            let algorithm: CInt = password == nil ? -1 : 0
            return PKCS12_create(password, nil, key?.pointer, leaf, stack, algorithm, algorithm, 0, 0, 0)
        }
        guard let made else { throw TestPKIError("PKCS12_create") }
        defer { PKCS12_free(made) }
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_PKCS12(made, &buffer)
        guard length > 0, let buffer else { throw TestPKIError("i2d_PKCS12") }
        defer { pintle_openssl_free(buffer) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }
}
