// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A digest function of OpenSSL.
package enum MessageDigest: String, Sendable, CaseIterable {
    /// Broken as a signature; HTTP Digest still uses it. A FIPS configuration of OpenSSL has none.
    case md5 = "MD5"
    /// Broken as a signature; in WebSocket's opening handshake it proves that the server understood the request.
    case sha1 = "SHA1"
    case sha256 = "SHA2-256"
    /// SHA-512 with other initial values, truncated to 32 bytes: not the first half of SHA-512.
    case sha512_256 = "SHA2-512/256"

    /// Returns the digest of `bytes`: 16 bytes for MD5, 20 for SHA-1, 32 for the others.
    ///
    /// - Throws: `.library` if OpenSSL does not offer the function.
    package func digest(of bytes: [UInt8]) throws(TrustError) -> [UInt8] {
        OpenSSLErrors.clear()
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count = 0
        guard EVP_Q_digest(nil, self.rawValue, nil, bytes, bytes.count, &digest, &count) == 1 else {
            throw TrustError(
                code: .library, message: "OpenSSL offers no \(self.rawValue); allow it in OpenSSL's configuration",
                cause: OpenSSLErrors.drain())
        }
        return Array(digest.prefix(count))
    }
}
