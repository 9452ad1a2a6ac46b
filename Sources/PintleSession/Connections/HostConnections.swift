// SPDX-License-Identifier: Apache-2.0

/// For whom a transfer is made, as far as the limits of a session tell clients apart.
package struct TransferClient: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Makes one of 128 bits that stand for the client.
    package init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }
}

/// The connections to one host, given to transfers in the order in which they ask.
///
/// While others wait, no client is given more than half of them. Clients that have less than half are not kept waiting by
/// one that took more while nobody else was there: what it has beyond its half does not count against them, so there may be
/// half as many again for that time.
struct HostConnections<Ticket: Equatable> {
    private struct Waiting {
        let ticket: Ticket
        let client: TransferClient?
    }

    private let limit: Int
    private let half: Int
    private var inUse = 0
    /// What clients have beyond their halves, together.
    private var excess = 0
    private var shares: [TransferClient?: Int] = [:]
    private var waiting: [Waiting] = []

    /// - Parameter limit: at least one.
    init(limit: Int) {
        self.limit = limit
        self.half = max(1, limit / 2)
    }

    /// Gives a connection, or puts `ticket` at the end of those who wait.
    ///
    /// - Returns: whether there is a connection at once.
    mutating func take(_ ticket: Ticket, for client: TransferClient?) -> Bool {
        let own = self.shares[client, default: 0]
        if self.waiting.isEmpty || own < self.half, self.mayTake(own) {
            self.give(client, own)
            return true
        }
        self.waiting.append(Waiting(ticket: ticket, client: client))
        return false
    }

    /// Takes a connection back.
    ///
    /// - Returns: who is given one now.
    mutating func giveBack(of client: TransferClient?) -> [Ticket] {
        guard let share = self.shares.index(forKey: client) else {
            preconditionFailure("BUG: a connection is given back that was not taken")
        }
        self.inUse -= 1
        let own = self.shares.values[share]
        if own > self.half { self.excess -= 1 }
        if own == 1 { self.shares.remove(at: share) } else { self.shares.values[share] = own - 1 }
        return self.giveToWaiting()
    }

    /// Lets one go that waits.
    mutating func remove(_ ticket: Ticket) { self.waiting.removeAll { $0.ticket == ticket } }

    /// The host takes any number of transfers on one connection: nobody waits any more.
    ///
    /// - Returns: who is given one now.
    mutating func giveToAll() -> [Ticket] {
        defer { self.waiting = [] }
        for one in self.waiting { self.give(one.client, self.shares[one.client, default: 0]) }
        return self.waiting.map(\.ticket)
    }

    private mutating func giveToWaiting() -> [Ticket] {
        var given: [Ticket] = []
        while let place = self.nextPlace {
            let next = self.waiting.remove(at: place)
            self.give(next.client, self.shares[next.client, default: 0])
            given.append(next.ticket)
        }
        return given
    }

    /// The first of those who have less than half, and where there is none the first of all.
    private var nextPlace: Int? {
        guard !self.waiting.isEmpty else { return nil }
        if self.inUse - self.excess < self.limit,
            let place = self.waiting.firstIndex(where: { self.isPreferred($0.client) })
        {
            return place
        }
        let isAnyPreferred = self.inUse < self.limit && self.waiting.contains { self.isPreferred($0.client) }
        return self.inUse < self.limit && !isAnyPreferred ? 0 : nil
    }

    private func isPreferred(_ client: TransferClient?) -> Bool { self.shares[client, default: 0] < self.half }

    private func mayTake(_ own: Int) -> Bool {
        own < self.half ? self.inUse - self.excess < self.limit : self.inUse < self.limit
    }

    /// - Parameter own: the number of connections that the client has.
    private mutating func give(_ client: TransferClient?, _ own: Int) {
        self.shares[client] = own + 1
        self.inUse += 1
        if own >= self.half { self.excess += 1 }
    }
}
