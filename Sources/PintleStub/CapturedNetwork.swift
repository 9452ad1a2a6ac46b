// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The addresses of a command's captured network. `CPintleProcess/network.h` has the same.
package enum CapturedNetwork {
    /// The network's own IPv4 address, beside 127.0.0.1. Connections of the command come from it.
    package static let address4 = IPAddress(v4: Self.pool4 + 1)
    /// The network's own IPv6 address, beside ::1: the first of a /64 of unique local addresses (RFC 4193).
    package static let address6 = IPAddress(v6High: Self.pool6, low: 1)

    /// 198.18.0.0/15, which is reserved for tests of devices (RFC 2544): no host on the internet has such an address.
    static let pool4: UInt32 = 0xC612_0000
    /// fd70:696e:746c:e000::/64.
    static let pool6: UInt64 = 0xFD70_696E_746C_E000

    /// The places of names in either pool. The network itself and its own address come before, the broadcast address behind.
    static let places: Range<UInt32> = 2..<0x1_FFFF

    /// True if the address is one that only names of the network have, or the network itself.
    package static func contains(_ address: IPAddress) -> Bool {
        address.family == .v4
            ? UInt32(truncatingIfNeeded: address.low) & ~0x1_FFFF == Self.pool4 : address.high == Self.pool6
    }

    /// The place of an address in its pool; nil if no name can have it.
    static func place(of address: IPAddress) -> UInt32? {
        guard self.contains(address) else { return nil }
        let place = address.family == .v4 ? address.low & 0x1_FFFF : address.low
        guard let place = UInt32(exactly: place), self.places.contains(place) else { return nil }
        return place
    }
}
