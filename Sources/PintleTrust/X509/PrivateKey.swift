// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// One owned `EVP_PKEY *`, freed with the value.
struct PrivateKey: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Makes a key on the curve P-256.
    ///
    /// - Throws: `.library` if OpenSSL fails.
    static func onP256() throws(TrustError) -> PrivateKey {
        OpenSSLErrors.clear()
        guard let pointer = pintle_pkey_new_p256() else {
            throw OpenSSLErrors.failure(of: "EC_KEY_generate_key")
        }
        return PrivateKey(owning: pointer)
    }

    /// Reads the first key of a PEM text.
    ///
    /// - Throws: `.unreadableIdentity` if the key is damaged, or encrypted with another password.
    init(pem text: [UInt8], file: String, password: String?) throws(TrustError) {
        let prompt = PasswordPrompt(password)
        OpenSSLErrors.clear()
        let key: OpaquePointer? = text.withUnsafeBufferPointer { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return withExtendedLifetime(prompt) {
                PEM_read_bio_PrivateKey(bio, nil, answerPrompt, Unmanaged.passUnretained(prompt).toOpaque())
            }
        }
        guard let key else {
            throw TrustError.identity(file, prompt.explanation, cause: OpenSSLErrors.drain())
        }
        self.pointer = key
    }

    deinit {
        EVP_PKEY_free(self.pointer)
    }

    /// Returns the key as a PrivateKeyInfo in DER (RFC 5208), not encrypted.
    func pkcs8() throws(TrustError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let info = EVP_PKEY2PKCS8(self.pointer) else { throw OpenSSLErrors.failure(of: "EVP_PKEY2PKCS8") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let der = X509View.encoded({ i2d_PKCS8_PRIV_KEY_INFO(info, $0) }) else {
            throw OpenSSLErrors.failure(of: "i2d_PKCS8_PRIV_KEY_INFO")
        }
        return der
    }
}

/// Answers OpenSSL's request for a password, which would otherwise appear on the terminal.
private final class PasswordPrompt {
    private let password: [UInt8]?
    private var wasAsked = false

    init(_ password: String?) {
        self.password = password.map { Array($0.utf8) }
    }

    /// - Returns: the length of the password, or -1 to give up.
    func answer(into space: UnsafeMutableRawBufferPointer) -> CInt {
        self.wasAsked = true
        guard let password = self.password, password.count <= space.count else { return -1 }
        space.copyBytes(from: password)
        return CInt(password.count)
    }

    /// The reason why there is no key.
    var explanation: String {
        guard self.wasAsked else { return "the private key is damaged, or of a kind that OpenSSL does not know" }
        return self.password == nil
            ? "the private key is encrypted; give its password" : "the password does not open the private key"
    }
}

/// OpenSSL's `pem_password_cb`.
private func answerPrompt(
    space: UnsafeMutablePointer<CChar>?, size: CInt, isForWriting: CInt, prompt: UnsafeMutableRawPointer?
) -> CInt {
    guard let space, let prompt else { return -1 }
    let room = UnsafeMutableRawBufferPointer(start: space, count: Int(max(0, size)))
    return Unmanaged<PasswordPrompt>.fromOpaque(prompt).takeUnretainedValue().answer(into: room)
}
