// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleSystem

/// A public key that verifies signatures with Ed25519 (RFC 8032).
package struct VerifyingKey: Sendable, Hashable {
    /// A SubjectPublicKeyInfo up to the 32 bytes of the key itself (RFC 8410 §4); it has no other form in DER.
    private static let lead: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]

    /// The key as a SubjectPublicKeyInfo in DER.
    private let spki: [UInt8]

    /// - Parameter key: the 32 bytes of the key.
    init(raw key: [UInt8]) { self.spki = Self.lead + key }

    /// Reads a public key in PEM, as `openssl pkey -pubout` writes it.
    ///
    /// - Parameter file: the name of the file in errors.
    /// - Throws: `.unreadableIdentity` if the text is not one public key for Ed25519.
    package init(pem text: [UInt8], file: String) throws(TrustError) {
        let block = try KeyFile.block(of: text, file: file)
        switch block.label {
        case "PUBLIC KEY": break
        case let label where label.hasSuffix("PRIVATE KEY"):
            throw TrustError.identity(file, "a private key; name the public one: openssl pkey -in \(file) -pubout")
        default: throw TrustError.identity(file, "no public key, but a block \(block.label)")
        }
        guard block.bytes.count == Self.lead.count + 32, block.bytes.starts(with: Self.lead) else {
            throw TrustError.identity(file, "the public key is not one for Ed25519")
        }
        self.spki = block.bytes
    }

    /// Reads the file of a public key in PEM.
    ///
    /// - Throws: `.unreadableIdentity` if the file cannot be read, or has no such key.
    package init(file: String) throws(TrustError) { try self.init(pem: KeyFile.read(file), file: file) }

    /// The pin of the key: `sha256/` and 44 base64 digits.
    package var pin: Pin { Pin(spki: self.spki) }

    /// True if `signature` is this key's signature of `message`.
    package func accepts(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
        OpenSSLErrors.clear()
        let raw = Array(self.spki.suffix(32))
        guard let key = EVP_PKEY_new_raw_public_key(NID_ED25519, nil, raw, raw.count) else { return false }
        defer { EVP_PKEY_free(key) }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(
                context, signature, signature.count, message.baseAddress?.assumingMemoryBound(to: UInt8.self),
                message.count) == 1
    }
}
