// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// One owned `EVP_PKEY *`, freed when the value goes.
struct PrivateKey: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Reads the first key of a PEM text.
    ///
    /// - Throws: `.unreadableIdentity` when the key is damaged, or encrypted with another password.
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
}

/// Answers OpenSSL, which would otherwise ask whoever sits at the terminal.
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

    /// Why there is no key.
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
