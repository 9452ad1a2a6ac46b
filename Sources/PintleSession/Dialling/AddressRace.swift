// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Decides when each address of a name is dialled: one after another without waiting for the outcome of the one before,
/// alternating between the address families (RFC 8305 §4 and §5). The first one that connects wins.
///
/// A pure value; its owner has the clock and the sockets.
struct AddressRace {
    /// The next action of the owner.
    enum Step: Equatable {
        case dial(SocketAddress)
        /// Cancels the oldest dial, to make room for another.
        case giveUp(SocketAddress)
        /// Do nothing before this moment, unless a dial ends.
        case rest(until: NIODeadline)
        /// Do nothing before a dial ends: all addresses are being dialled.
        case wait
        /// No address is left; all have failed.
        case over
    }

    /// The time between two dials, as RFC 8305 recommends.
    static let delay = TimeAmount.milliseconds(250)
    /// The most dials at the same time: a name may have any number of addresses, and each dial takes a descriptor.
    static let mostAtOnce = 8
    /// The most addresses of a name that are dialled.
    static let mostAddresses = 64

    private var waiting: ArraySlice<SocketAddress>
    private var running: [SocketAddress] = []
    private var next = NIODeadline.uptimeNanoseconds(0)

    /// - Parameters:
    ///   - addresses: in the order of the resolver, which knows the routes (RFC 6724).
    ///   - winner: the address that connected the last time; it is dialled first.
    init(_ addresses: [SocketAddress], winner: SocketAddress? = nil) {
        var order = addresses
        if let winner, let place = order.firstIndex(of: winner) {
            order.remove(at: place)
            order.insert(winner, at: 0)
        }
        self.waiting = Self.inTurn(order).prefix(Self.mostAddresses)
    }

    private static func inTurn(_ addresses: [SocketAddress]) -> [SocketAddress] {
        guard let first = addresses.first else { return [] }
        let preferred = addresses.filter { $0.protocol == first.protocol }
        let others = addresses.filter { $0.protocol != first.protocol }
        var result: [SocketAddress] = []
        for place in 0..<max(preferred.count, others.count) {
            if place < preferred.count { result.append(preferred[place]) }
            if place < others.count { result.append(others[place]) }
        }
        return result
    }

    /// Returns the next action; called until there is nothing to be done now.
    mutating func step(at now: NIODeadline) -> Step {
        guard let address = self.waiting.first else { return self.running.isEmpty ? .over : .wait }
        guard self.running.isEmpty || now >= self.next else { return .rest(until: self.next) }
        if self.running.count == Self.mostAtOnce { return .giveUp(self.running.removeFirst()) }
        self.waiting.removeFirst()
        self.running.append(address)
        self.next = now + Self.delay
        return .dial(address)
    }

    /// Notes that a dial has failed: the next one begins at once.
    mutating func failed(_ address: SocketAddress) {
        self.running.removeAll { $0 == address }
        self.next = .uptimeNanoseconds(0)
    }
}
