// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The lengths of the prefixes of some networks, by family, so that a table can find those that hold an address by hashing: once
/// for each length, however many networks there are.
struct PrefixLengths: Sendable, Equatable {
    private var v4: [UInt8] = []
    private var v6: [UInt8] = []

    /// True if no network was inserted.
    var isEmpty: Bool { self.v4.isEmpty && self.v6.isEmpty }

    /// Adds the length of a network's prefix.
    mutating func insert(_ network: CIDR) {
        let length = UInt8(network.prefixLength)
        switch network.address.family {
        case .v4: if !self.v4.contains(length) { self.v4.append(length) }
        case .v6: if !self.v6.contains(length) { self.v6.append(length) }
        }
    }

    /// Calls `body` with each network that holds all of `network` and has a prefix of a known length. Only these can be among
    /// the networks that were inserted and hold it.
    func forEachNetwork(holding network: CIDR, _ body: (CIDR) -> Void) {
        for length in network.address.family == .v4 ? self.v4 : self.v6 where Int(length) <= network.prefixLength {
            body(CIDR(masking: network.address, prefixLength: Int(length)))
        }
    }
}
