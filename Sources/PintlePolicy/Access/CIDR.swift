// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A network: an address and the number of leading bits that its members share (RFC 4632).
package struct CIDR: Sendable, Hashable, CustomStringConvertible {
    /// The first address of the network; its host bits are zero.
    package let address: IPAddress
    /// 0…32 for IPv4, 0…128 for IPv6.
    package let prefixLength: Int

    /// The network that holds just `address`.
    package init(_ address: IPAddress) {
        self.address = address
        self.prefixLength = address.bitCount
    }

    /// The network of `prefixLength` bits that holds `address`.
    package init(masking address: IPAddress, prefixLength: Int) {
        self.address = Self.masked(address, prefixLength)
        self.prefixLength = prefixLength
    }

    /// Reads `address/bits`, or an address alone for a network of one.
    ///
    /// - Throws: the reason; also if bits beyond the prefix are set, since `10.1.2.3/8` is more likely a slip than meant.
    package init(_ text: some StringProtocol) throws(Malformed) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else {
            throw Malformed("not an address or network, as in 10.0.0.0/8 or 2001:db8::/32")
        }
        guard parts.count == 2 else {
            self.init(address)
            return
        }
        // A network of IPv4-mapped addresses is written with an IPv6 prefix length, which is 96 more than IPv4's.
        let offset = address.family == .v4 && parts[0].utf8.contains(UInt8(ascii: ":")) ? 96 : 0
        let range = offset...(address.bitCount + offset)
        guard let bits = Int(parts[1]), parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), range.contains(bits) else {
            throw Malformed("the prefix of this address is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        let network = Self.masked(address, bits - offset)
        guard network == address else {
            throw Malformed("bits beyond the prefix are set; did you mean \(network)/\(bits - offset)?")
        }
        self.init(masking: network, prefixLength: bits - offset)
    }

    /// True if `address` is a member.
    package func contains(_ address: IPAddress) -> Bool {
        address.family == self.address.family && Self.masked(address, self.prefixLength) == self.address
    }

    /// True if every member of `other` is a member.
    package func contains(_ other: CIDR) -> Bool {
        other.prefixLength >= self.prefixLength && self.contains(other.address)
    }

    /// `address/bits`.
    package var description: String { "\(self.address)/\(self.prefixLength)" }

    private static func masked(_ address: IPAddress, _ prefixLength: Int) -> IPAddress {
        switch address.family {
        case .v4:
            // Shifts past the width give zero in Swift: the mask of /0.
            return IPAddress(v4: UInt32(truncatingIfNeeded: address.low) & (UInt32.max << UInt32(32 - prefixLength)))
        case .v6:
            let bits =
                (UInt128(address.high) << 64 | UInt128(address.low)) & (UInt128.max << UInt128(128 - prefixLength))
            return IPAddress(
                v6High: UInt64(truncatingIfNeeded: bits >> 64), low: UInt64(truncatingIfNeeded: bits))
        }
    }
}
