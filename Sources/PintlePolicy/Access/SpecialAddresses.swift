// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Addresses that are not globally reachable: those that IANA's special-purpose registries (RFC 6890) mark as such, multicast,
/// and IPv6 addresses outside the global unicast space (RFC 4291 §2.4).
///
/// An address that stands for an IPv4 address, because a translator or a tunnel leads there, is judged like that one.
enum SpecialAddresses {
    /// The reason why `address` is special, as in `10.0.0.0/8 is private use`; nil if it is globally reachable.
    static func reason(for address: IPAddress) -> String? {
        switch address.family {
        case .v4: return Self.range(in: Self.v4, holding: address)
        case .v6: return Self.reasonV6(for: address)
        }
    }

    private static func reasonV6(for address: IPAddress) -> String? {
        var embedded = address.embeddedAddresses
        if address.isLocallyTranslated {
            // Such an address has several readings, one for each prefix length. Drops those that are no host's address.
            embedded.removeAll(where: Self.thisNetwork.contains)
            if embedded.isEmpty { return "64:ff9b:1::/48 is local translation" }
        }
        for address in embedded {
            if let reason = Self.range(in: Self.v4, holding: address) {
                return "it stands for \(address), and \(reason)"
            }
        }
        if let reason = Self.range(in: Self.v6, holding: address) { return reason }
        let isReachable =
            address.isTranslated || address.isLocallyTranslated || Self.globalUnicast.contains(address)
        return isReachable ? nil : "only \(Self.globalUnicast) is global unicast"
    }

    /// The networks by which addresses are told apart, with those that are excepted.
    static var networks: [CIDR] {
        (Self.v4 + Self.v6).flatMap { [$0.network] + $0.except } + [Self.globalUnicast]
    }

    private struct Range {
        let network: CIDR
        let name: String
        /// Parts of the network that are globally reachable.
        let except: [CIDR]
    }

    private static func range(in ranges: [Range], holding address: IPAddress) -> String? {
        for range in ranges where range.network.contains(address) {
            if range.except.contains(where: { $0.contains(address) }) { continue }
            return "\(range.network) is \(range.name)"
        }
        return nil
    }

    private static func range(_ network: String, _ name: String, except: [String] = []) -> Range {
        Range(network: Self.network(network), name: name, except: except.map(Self.network))
    }

    /// Parses a network that is written in this file.
    private static func network(_ text: String) -> CIDR {
        do {
            return try CIDR(text)
        } catch {
            preconditionFailure("BUG: \(text): \(error.reason)")
        }
    }

    private static let thisNetwork = Self.network("0.0.0.0/8")
    private static let globalUnicast = Self.network("2000::/3")

    private static let v4 = [
        Self.range("0.0.0.0/8", "this network"),
        Self.range("10.0.0.0/8", "private use"),
        Self.range("100.64.0.0/10", "shared address space"),
        Self.range("127.0.0.0/8", "loopback"),
        Self.range("169.254.0.0/16", "link-local"),
        Self.range("172.16.0.0/12", "private use"),
        Self.range("192.0.0.0/24", "for IETF protocols", except: ["192.0.0.9/32", "192.0.0.10/32"]),
        Self.range("192.0.2.0/24", "documentation"),
        Self.range("192.88.99.0/24", "a deprecated relay anycast"),
        Self.range("192.168.0.0/16", "private use"),
        Self.range("198.18.0.0/15", "benchmarking"),
        Self.range("198.51.100.0/24", "documentation"),
        Self.range("203.0.113.0/24", "documentation"),
        Self.range("224.0.0.0/4", "multicast"),
        Self.range("255.255.255.255/32", "broadcast"),
        Self.range("240.0.0.0/4", "reserved"),
    ]

    private static let v6 = [
        Self.range("::/128", "the unspecified address"),
        Self.range("::1/128", "loopback"),
        Self.range("100::/64", "discard-only"),
        Self.range("100:0:0:1::/64", "a dummy prefix"),
        Self.range(
            "2001::/23", "for IETF protocols",
            except: [
                // Teredo addresses are judged by the addresses that they embed.
                "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:3::/32", "2001:4:112::/48",
                "2001:20::/28", "2001:30::/28",
            ]),
        Self.range("2001:db8::/32", "documentation"),
        Self.range("3fff::/20", "documentation"),
        Self.range("5f00::/16", "for segment routing"),
        Self.range("fc00::/7", "unique-local"),
        Self.range("fe80::/10", "link-local"),
        Self.range("fec0::/10", "site-local"),
        Self.range("ff00::/8", "multicast"),
    ]
}

extension IPAddress {
    /// True for 64:ff9b:1::/48 (RFC 8215).
    fileprivate var isLocallyTranslated: Bool { self.family == .v6 && self.high >> 16 == 0x0064_FF9B_0001 }

    /// True for 64:ff9b::/96 (RFC 6052 §2.1).
    fileprivate var isTranslated: Bool {
        self.high == 0x0064_FF9B_0000_0000 && self.low >> 32 == 0 && self.family == .v6
    }

    /// The IPv4 addresses that an IPv6 address may stand for, with any translator or tunnel on the way; empty for most.
    var embeddedAddresses: [IPAddress] {
        let last = IPAddress(v4: UInt32(truncatingIfNeeded: self.low))
        if self.isTranslated { return [last] }
        if self.isLocallyTranslated {
            // The prefix in use may have 48, 56, 64 or 96 bits (RFC 6052 §2.2). Bits 64 to 71 are left out, and translators
            // ignore the bits after the address.
            let bits = UInt128(self.high) << 56 | UInt128(self.low & 0xFF_FFFF_FFFF_FFFF)
            let shifts: [UInt128] = [40, 32, 24]
            return shifts.map { IPAddress(v4: UInt32(truncatingIfNeeded: bits >> $0)) } + [last]
        }
        // 6to4 (RFC 3056 §2).
        if self.high >> 48 == 0x2002 { return [IPAddress(v4: UInt32(truncatingIfNeeded: self.high >> 16))] }
        // Teredo: the address of a server, and that of a client with its bits flipped (RFC 4380 §4).
        if self.high >> 32 == 0x2001_0000 {
            return [
                IPAddress(v4: UInt32(truncatingIfNeeded: self.high)),
                IPAddress(v4: ~UInt32(truncatingIfNeeded: self.low)),
            ]
        }
        // IPv4-compatible addresses, which are deprecated (RFC 4291 §2.5.5.1). The unspecified address and loopback are not.
        if self.high == 0, self.low >> 32 == 0, self.low > 1 { return [last] }
        return []
    }
}
