// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension IPAddress {
    /// Addresses that stand for all addresses as far as some networks can tell: networks are nested or apart, so that each set of
    /// addresses in the same networks has the first address of a network, or the one behind the last.
    ///
    /// - Parameter isSpecial: true if it also matters if an address is globally reachable, or which IPv4 address it stands for.
    package static func witnesses(of networks: [CIDR], isSpecial: Bool) -> [IPAddress] {
        let networks = networks + (isSpecial ? SpecialAddresses.networks : [])
        var addresses: [IPAddress] = [IPAddress(v4: 0x0808_0808), IPAddress(v6High: 0x2600 << 48, low: 1)]
        for network in networks { addresses += [network.address, network.following].compactMap(\.self) }
        if isSpecial {
            addresses += addresses.filter { $0.family == .v4 }.flatMap(\.embeddings)
        }
        var seen: Set<IPAddress> = []
        return addresses.filter { seen.insert($0).inserted }
    }

    /// IPv6 addresses that stand for this IPv4 address: by NAT64, local translation, 6to4, Teredo, and in the old compatible form.
    private var embeddings: [IPAddress] {
        let harmless = UInt64(0x0808_0808)
        return [
            IPAddress(v6High: 0x0064_FF9B << 32, low: self.low),
            IPAddress(v6High: 0x0064_FF9B_0001_0000, low: self.low),
            IPAddress(v6High: 0x2002 << 48 | self.low << 16, low: 1),
            IPAddress(v6High: 0x2001_0000 << 32 | self.low, low: ~harmless & 0xFFFF_FFFF),
            IPAddress(v6High: 0x2001_0000 << 32 | harmless, low: ~self.low & 0xFFFF_FFFF),
            IPAddress(v6High: 0, low: self.low),
        ]
    }
}

extension CIDR {
    /// The address behind the last one; nil if the network ends with the last of all addresses.
    fileprivate var following: IPAddress? {
        switch self.address.family {
        case .v4:
            let next = self.address.low + (UInt64(1) << UInt64(32 - self.prefixLength))
            return UInt32(exactly: next).map { IPAddress(v4: $0) }
        case .v6:
            guard self.prefixLength > 0 else { return nil }
            let bits = UInt128(self.address.high) << 64 | UInt128(self.address.low)
            let (next, isOver) = bits.addingReportingOverflow(UInt128(1) << UInt128(128 - self.prefixLength))
            guard !isOver else { return nil }
            return IPAddress(v6High: UInt64(truncatingIfNeeded: next >> 64), low: UInt64(truncatingIfNeeded: next))
        }
    }
}
