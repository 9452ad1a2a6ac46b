// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The reason why minting failed; a bug in a test or in this factory.
package struct TestPKIError: Error {
    package let message: String

    init(_ call: String) {
        let code = ERR_get_error()
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "no reason given"
        self.message = "\(call): \(reason)"
    }
}

/// The owner of one `EVP_PKEY *`.
final class TestKey {
    let pointer: OpaquePointer

    init(_ kind: TestPKI.KeyKind) throws {
        let made =
            switch kind {
            case .ec: pintle_pkey_new_ec("P-256")
            case .rsa(let bits): pintle_pkey_new_rsa(bits)
            case .curve(let name): pintle_pkey_new_ec(name)
            case .ed25519: pintle_pkey_new_ed25519()
            }
        guard let made else { throw TestPKIError("EVP_PKEY_Q_keygen") }
        self.pointer = made
    }

    init(of identity: TestIdentity) throws {
        let parsed = identity.keyDER.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
        guard let parsed else { throw TestPKIError("d2i_AutoPrivateKey") }
        self.pointer = parsed
    }

    deinit {
        EVP_PKEY_free(self.pointer)
    }

    /// True if a digest is signed; Ed25519 signs the data themselves.
    var needsDigest: Bool { EVP_PKEY_get_base_id(self.pointer) != EVP_PKEY_ED25519 }

    /// The key as PKCS#8.
    func der() throws -> [UInt8] {
        guard let info = EVP_PKEY2PKCS8(self.pointer) else { throw TestPKIError("EVP_PKEY2PKCS8") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_PKCS8_PRIV_KEY_INFO(info, &buffer)
        guard length > 0, let buffer else { throw TestPKIError("i2d_PKCS8_PRIV_KEY_INFO") }
        defer { pintle_openssl_free(buffer) }
        return Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
    }
}
