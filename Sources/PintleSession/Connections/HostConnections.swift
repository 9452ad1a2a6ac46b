// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The client of a transfer, by which the limits of a session tell clients apart.
package struct TransferClient: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Makes a client from 128 bits that stand for it.
    package init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }
}

/// Distributes the connections to one host among transfers, in the order in which they ask.
///
/// While others wait, no client gets more than half of them. A client that took more while no other was there does not make
/// clients with less than half wait: its excess over half does not count against them, so that there may temporarily be half as
/// many connections again.
struct HostConnections<Ticket: Equatable> {
    private struct Waiting {
        let ticket: Ticket
        let client: TransferClient?
    }

    private let limit: Int
    private let half: Int
    private var inUse = 0
    /// The connections that clients have beyond their halves, together.
    private var excess = 0
    private var shares: [TransferClient?: Int] = [:]
    /// The first of a long queue is taken out without moving the others.
    private var waiting: CircularBuffer<Waiting> = []

    /// - Parameter limit: the highest number of connections, at least one.
    init(limit: Int) {
        self.limit = limit
        self.half = max(1, limit / 2)
    }

    /// Takes a connection, or puts `ticket` at the end of the queue.
    ///
    /// - Returns: true if a connection is available at once.
    mutating func take(_ ticket: Ticket, for client: TransferClient?) -> Bool {
        let own = self.shares[client, default: 0]
        if self.waiting.isEmpty || own < self.half, self.mayTake(own) {
            self.give(client, own)
            return true
        }
        self.waiting.append(Waiting(ticket: ticket, client: client))
        return false
    }

    /// Gives a connection back, which ``next(unlimited:)`` may give to a waiting ticket.
    mutating func giveBack(of client: TransferClient?) {
        guard let share = self.shares.index(forKey: client) else {
            preconditionFailure("BUG: a connection is given back that was not taken")
        }
        self.inUse -= 1
        let own = self.shares.values[share]
        if own > self.half { self.excess -= 1 }
        if own == 1 { self.shares.remove(at: share) } else { self.shares.values[share] = own - 1 }
    }

    /// Removes a waiting ticket.
    mutating func remove(_ ticket: Ticket) { self.waiting.removeAll { $0.ticket == ticket } }

    /// Gives a connection to the next waiting ticket; nil if none waits, or none is available. Must be called again until it
    /// returns nil, after a connection was given back.
    ///
    /// - Parameter unlimited: true if the host carries any number of transfers on one connection.
    mutating func next(unlimited: Bool) -> Ticket? {
        let first = self.waiting.startIndex
        guard !self.waiting.isEmpty, let place = unlimited ? first : self.nextPlace else { return nil }
        let next = place == first ? self.waiting.removeFirst() : self.waiting.remove(at: place)
        self.give(next.client, self.shares[next.client, default: 0])
        return next.ticket
    }

    /// The first waiting ticket of a client with less than half; if there is none, the first of all.
    private var nextPlace: CircularBuffer<Waiting>.Index? {
        if self.inUse - self.excess < self.limit,
            let place = self.waiting.firstIndex(where: { self.isPreferred($0.client) })
        {
            return place
        }
        let isAnyPreferred = self.inUse < self.limit && self.waiting.contains { self.isPreferred($0.client) }
        return self.inUse < self.limit && !isAnyPreferred ? self.waiting.startIndex : nil
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
