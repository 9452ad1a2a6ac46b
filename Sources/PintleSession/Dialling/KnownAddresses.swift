// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The addresses that names had when they were looked up, and those that have answered.
struct KnownAddresses {
    private struct Entry {
        var addresses: [SocketAddress]
        var end: NIODeadline
        var winner: (address: SocketAddress, end: NIODeadline)?
    }

    /// The most names that are remembered.
    static let most = 4096
    /// How long the address that has answered is the first one dialled (RFC 8305 §9 has caches expire).
    static let winnersStay = TimeAmount.minutes(10)

    private let lifetime: TimeAmount
    private var entries: [String: Entry] = [:]

    /// - Parameter lifetime: of addresses.
    init(lifetime: TimeAmount) { self.lifetime = lifetime }

    /// The addresses of a name; nil where it has to be looked up.
    func addresses(of name: String, at now: NIODeadline) -> [SocketAddress]? {
        guard let entry = self.entries[name], now < entry.end else { return nil }
        return entry.addresses
    }

    /// The address that answered the last time.
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

    /// As many as are dialled, of both families.
    private static func first(of addresses: [SocketAddress]) -> [SocketAddress] {
        let first = addresses.first?.protocol
        let families = [addresses.filter { $0.protocol == first }, addresses.filter { $0.protocol != first }]
        return families.flatMap { $0.prefix(AddressRace.mostAddresses) }
    }

    mutating func note(winner: SocketAddress, of name: String, at now: NIODeadline) {
        self.entries[name]?.winner = (winner, now + Self.winnersStay)
    }

    mutating func removeAll() { self.entries.removeAll() }
}
