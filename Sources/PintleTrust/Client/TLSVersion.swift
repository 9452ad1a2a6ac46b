// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A version of TLS; older versions compare as less.
public enum TLSVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// TLS 1.0 (RFC 2246), which RFC 8996 forbids.
    case tls10 = "1.0"
    /// TLS 1.1 (RFC 4346), which RFC 8996 forbids.
    case tls11 = "1.1"
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"

    /// True if `left` is older than `right`.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.openSSLNumber < right.openSSLNumber }

    /// OpenSSL's number of the version, which is the one in the protocol.
    var openSSLNumber: CInt {
        switch self {
        case .tls10: TLS1_VERSION
        case .tls11: TLS1_1_VERSION
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }

    /// Makes the version with a number of OpenSSL; nil for an unknown number.
    init?(openSSLNumber: CInt) {
        guard let version = Self.allCases.first(where: { $0.openSSLNumber == openSSLNumber }) else { return nil }
        self = version
    }
}

extension TLSVersion: CustomStringConvertible {
    /// The name of the version, for example `TLS 1.3`.
    public var description: String { "TLS \(self.rawValue)" }
}
