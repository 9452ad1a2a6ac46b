// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The addresses that names had at their last lookup, and the one of each name that connected last.
struct KnownAddresses {
    private struct Entry {
        var addresses: [SocketAddress]
        var end: NIODeadline
        var winner: (address: SocketAddress, end: NIODeadline)?
    }

    /// The most names that are stored.
    static let most = 4096
    /// The time for which the address that connected last is dialled first (RFC 8305 §9 demands that it expires).
    static let winnersStay = TimeAmount.minutes(10)

    private let lifetime: TimeAmount
    private var entries: [String: Entry] = [:]

    /// - Parameter lifetime: the time for which addresses are kept.
    init(lifetime: TimeAmount) { self.lifetime = lifetime }

    /// Returns the addresses of a name; nil if it must be looked up.
    func addresses(of name: String, at now: NIODeadline) -> [SocketAddress]? {
        guard let entry = self.entries[name], now < entry.end else { return nil }
        return entry.addresses
    }

    /// Returns the address that connected the last time.
    func winner(of name: String, at now: NIODeadline) -> SocketAddress? {
        guard let winner = self.entries[name]?.winner, now < winner.end else { return nil }
        return winner.address
    }

    mutating func note(_ addresses: [SocketAddress], of name: String, at now: NIODeadline) {
        let kept = addresses.count > AddressRace.mostAddresses ? Self.first(of: addresses) : addresses
        if self.entries[name] == nil, self.entries.count >= Self.most { self.entries.removeAll() }
        self.entries[name, default: Entry(addresses: kept, end: now, winner: nil)].addresses = kept
        self.entries[name]?.end = now + self.lifetime
    }

    /// Returns the first addresses of both families, of each at most as many as a race dials.
    private static func first(of addresses: [SocketAddress]) -> [SocketAddress] {
        let first = addresses.first?.protocol
        let families = [addresses.filter { $0.protocol == first }, addresses.filter { $0.protocol != first }]
        return families.flatMap { $0.prefix(AddressRace.mostAddresses) }
    }

    mutating func note(winner: SocketAddress, of name: String, at now: NIODeadline) {
        self.entries[name]?.winner = (winner, now + Self.winnersStay)
    }

    mutating func forget(_ name: String) { self.entries[name] = nil }

    mutating func removeAll() { self.entries.removeAll() }
}
