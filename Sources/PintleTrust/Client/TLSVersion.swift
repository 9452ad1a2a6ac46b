// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A version of TLS; older ones are less.
public enum TLSVersion: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// RFC 2246, which RFC 8996 forbids.
    case tls10 = 0x0301
    /// RFC 4346, which RFC 8996 forbids.
    case tls11 = 0x0302
    /// RFC 5246.
    case tls12 = 0x0303
    /// RFC 8446.
    case tls13 = 0x0304

    /// Whether one version is older than the other.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// OpenSSL counts as the protocol does.
    var openSSLNumber: CInt { CInt(self.rawValue) }
}

extension TLSVersion: CustomStringConvertible {
    /// `TLS 1.3`.
    public var description: String { "TLS 1.\(self.rawValue - 0x0301)" }
}
