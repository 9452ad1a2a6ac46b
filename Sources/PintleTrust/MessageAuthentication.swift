// SPDX-License-Identifier: Apache-2.0

/// HMAC with SHA-256 (RFC 2104).
package enum MessageAuthentication {
    /// The block size of SHA-256 in bytes.
    private static let block = 64

    /// Returns the 32 bytes of the code of a message.
    package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key.count > Self.block ? RunningDigest.sha256(key) : key
        key += [UInt8](repeating: 0, count: Self.block - key.count)
        let inner = RunningDigest.sha256(key.map { $0 ^ 0x36 } + message)
        return RunningDigest.sha256(key.map { $0 ^ 0x5C } + inner)
    }
}
