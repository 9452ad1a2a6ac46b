// SPDX-License-Identifier: Apache-2.0

/// A name that a server's certificate is for, as a GeneralName of its subjectAltName (RFC 5280 §4.2.1.6).
package enum CertifiedName: Sendable, Hashable, CustomStringConvertible {
    case dns(String)
    /// Four bytes or sixteen.
    case address([UInt8])

    /// The name of a host: an address as people and URLs write it, or a DNS name, in lower case and without the dot of the root.
    ///
    /// - Returns: nil for what no certificate can be for: an empty or over-long name, and one that is not ASCII, whose form on
    ///   the wire (RFC 5890) is asked for.
    package init?(host: String) {
        // With the dot of the root a dotted address is one all the same, and none with colons.
        let rooted = host.hasSuffix(".") && !host.utf8.contains(0x3A) ? String(host.dropLast()) : host
        if let address = IPAddress(host: rooted) {
            self = .address(address.bytes)
            return
        }
        let name = rooted.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { $0 == 0x2D || $0 == 0x5F || 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }
        }
        guard isName, name.utf8.count <= 253 else { return nil }
        self = .dns(name)
    }

    package var description: String {
        switch self {
        case .dns(let name): name
        case .address(let bytes): IPAddress(bytes: bytes)?.description ?? ""
        }
    }

    /// As a GeneralName: dNSName is [2], iPAddress is [7].
    var generalName: [UInt8] {
        switch self {
        case .dns(let name): DERWriter.value(0x82, Array(name.utf8))
        case .address(let bytes): DERWriter.value(0x87, bytes)
        }
    }
}
