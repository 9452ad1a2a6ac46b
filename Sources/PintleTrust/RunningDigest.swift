// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The SHA-256 digest of bytes that come in pieces. Used on one thread at a time.
package final class RunningDigest {
    private let context: OpaquePointer?
    /// False once OpenSSL has failed, as without memory.
    private var isGood: Bool

    package init() {
        self.context = EVP_MD_CTX_new()
        self.isGood = self.context != nil && EVP_DigestInit_ex(self.context, EVP_sha256(), nil) == 1
    }

    deinit { EVP_MD_CTX_free(self.context) }

    package func take(_ bytes: UnsafeRawBufferPointer) {
        self.isGood = self.isGood && EVP_DigestUpdate(self.context, bytes.baseAddress, bytes.count) == 1
    }

    /// Returns the 32 bytes of the digest, and ends it; nil if OpenSSL has failed, or it has ended.
    package func finish() -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard self.isGood, EVP_DigestFinal_ex(self.context, &digest, nil) == 1 else { return nil }
        self.isGood = false
        return digest
    }

    /// Returns the digest of bytes that are there: 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(bytes, bytes.count, &digest)
        return digest
    }
}
