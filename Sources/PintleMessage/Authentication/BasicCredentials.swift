// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleSystem

/// The user name and password of HTTP Basic authentication (RFC 7617).
package struct BasicCredentials: Sendable, Equatable {
    /// The user name, without a colon.
    package let user: String
    /// UTF-8 from most clients; bytes, because some clients support other encodings only.
    package let password: [UInt8]

    /// Reads the value of an Authorization or Proxy-Authorization field; nil for other schemes and malformed values, and for a user name
    /// with over 30 combining marks in a row, which would be hashed in quadratic time.
    package init?(_ value: String) {
        // Bytes: to split a long value into characters may take more time than an event loop has.
        let parts = value.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, ASCII.equalsIgnoringCase(parts[0], "basic".utf8),
            let bytes = Data(base64Encoded: Data(ASCII.trimmed(Array(parts[1])[...]))),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let user = String(validating: bytes[..<colon], as: UTF8.self), user.isStreamSafe
        else { return nil }
        self.user = user
        self.password = Array(bytes[(colon + 1)...])
    }
}
