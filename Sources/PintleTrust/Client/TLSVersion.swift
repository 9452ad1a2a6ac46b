// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A version of TLS; older ones are less.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// RFC 2246, which RFC 8996 forbids.
    case tls10 = "1.0"
    /// RFC 4346, which RFC 8996 forbids.
    case tls11 = "1.1"
    /// RFC 5246.
    case tls12 = "1.2"
    /// RFC 8446.
    case tls13 = "1.3"

    /// Whether one version is older than the other.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.openSSLNumber < right.openSSLNumber }

    /// OpenSSL counts as the protocol does.
    var openSSLNumber: CInt {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }

    /// The version that OpenSSL calls by a number.
    init?(openSSLNumber: CInt) {
        guard let version = Self.allCases.first(where: { $0.openSSLNumber == openSSLNumber }) else { return nil }
        self = version
    }
}

extension TLSVersion: CustomStringConvertible {
    /// `TLS 1.3`.
    public var description: String { "TLS \(self.rawValue)" }
}
