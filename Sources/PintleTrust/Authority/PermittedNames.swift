// SPDX-License-Identifier: Apache-2.0

/// The names that an authority may certify, as its name constraints (RFC 5280 §4.2.1.10): a thief of its key can stand in
/// for no other host.
package struct PermittedNames: Sendable, Hashable {
    /// DNS names, each standing for itself and all names below it.
    private var domains: [String] = []
    /// Networks, each an address followed by its mask.
    private var networks: [[UInt8]] = []

    /// The error for a pattern that is no name, address or network.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter patterns: each is `example.test` or `*.example.test`, which mean the same in a constraint, an address,
    ///   or a network such as `10.0.0.0/8`; not empty.
    /// - Throws: ``Malformed`` for anything else.
    package init(_ patterns: [String]) throws(Malformed) {
        for pattern in patterns {
            if let network = Self.network(pattern) {
                self.networks.append(network)
            } else if case .dns(let name)? = CertifiedName(
                host: pattern.hasPrefix("*.") ? String(pattern.dropFirst(2)) : pattern)
            {
                self.domains.append(name)
            } else {
                throw Malformed(
                    description:
                        "\"\(pattern)\" is neither a name, as *.example.test, nor an address or a network, as 10.0.0.0/8"
                )
            }
        }
    }

    private static func network(_ pattern: String) -> [UInt8]? {
        let parts = pattern.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let address = IPAddressName(host: parts[0]) else { return nil }
        let width = address.bytes.count * 8
        guard parts.count == 2 else { return address.bytes + [UInt8](repeating: 0xFF, count: width / 8) }
        guard let length = Int(parts[1]), (0...width).contains(length) else { return nil }
        let mask = (0..<width / 8).map { index in
            UInt8(truncatingIfNeeded: 0xFF00 >> min(8, max(0, length - index * 8)))
        }
        return zip(address.bytes, mask).map { $0 & $1 } + mask
    }

    /// The value of the extension. A kind of name (DNS, IPv4, IPv6) without a permitted name is excluded as a whole, since
    /// a constraint does not restrict kinds that it does not mention.
    var nameConstraints: [UInt8] {
        func subtrees(_ tag: UInt8, _ names: [[UInt8]]) -> [UInt8] {
            names.isEmpty ? [] : DERWriter.value(tag, names.flatMap { DERWriter.sequence($0) })
        }
        let permitted =
            self.domains.map { CertifiedName.dns($0).generalName } + self.networks.map { DERWriter.value(0x87, $0) }
        var excluded: [[UInt8]] = self.domains.isEmpty ? [DERWriter.value(0x82, [])] : []
        for width in [4, 16] where !self.networks.contains(where: { $0.count == 2 * width }) {
            excluded.append(DERWriter.value(0x87, [UInt8](repeating: 0, count: 2 * width)))
        }
        return DERWriter.sequence(subtrees(0xA0, permitted), subtrees(0xA1, excluded))
    }
}
