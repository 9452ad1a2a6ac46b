// SPDX-License-Identifier: Apache-2.0

/// A name of a server in its certificate: a GeneralName of its subjectAltName (RFC 5280 §4.2.1.6).
package enum CertifiedName: Sendable, Hashable, CustomStringConvertible {
    case dns(String)
    /// An address of four or sixteen bytes.
    case address([UInt8])

    /// Makes the name of a host: an address as people and URLs write it, or a DNS name in lower case and without the root's
    /// dot.
    ///
    /// - Returns: nil for a host that no certificate can name: an empty or over-long name, and one that is not ASCII;
    ///   callers must give such a name in its form on the wire (RFC 5890).
    package init?(host: String) {
        // An IPv4 address may have the root's dot at its end, an IPv6 address must not.
        let rooted = host.hasSuffix(".") && !host.utf8.contains(0x3A) ? String(host.dropLast()) : host
        if let address = IPAddressName(host: rooted) {
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
        case .address(let bytes): IPAddressName(bytes: bytes)?.description ?? ""
        }
    }

    /// The name in DER as a GeneralName: dNSName is [2], iPAddress is [7].
    var generalName: [UInt8] {
        switch self {
        case .dns(let name): DERWriter.value(0x82, Array(name.utf8))
        case .address(let bytes): DERWriter.value(0x87, bytes)
        }
    }
}
