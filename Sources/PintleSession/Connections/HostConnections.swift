// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

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
///
/// The work for a ticket does not depend on how many wait, but on how many clients these have.
struct HostConnections<Ticket: Hashable> {
    private struct Place {
        let client: TransferClient?
        /// In the order in which tickets came, whatever their clients.
        let number: UInt64
    }

    private let limit: Int
    private let half: Int
    private var inUse = 0
    /// The connections that clients have beyond their halves, together.
    private var excess = 0
    private var shares: [TransferClient?: Int] = [:]
    /// The waiting tickets of each client that has any, and their places.
    private var waiting: [TransferClient?: WaitingLine<Ticket>] = [:]
    private var places: [Ticket: Place] = [:]
    private var lastNumber: UInt64 = 0
    /// The number of clients that were looked at to find the next ticket.
    private(set) var compared = 0

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
        self.lastNumber += 1
        self.places[ticket] = Place(client: client, number: self.lastNumber)
        self.waiting[client, default: WaitingLine()].append(ticket, number: self.lastNumber)
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

    /// Removes a waiting ticket; nothing is done if it does not wait.
    mutating func remove(_ ticket: Ticket) {
        if let place = self.places[ticket] { _ = self.take(out: place.number, of: place.client) }
    }

    private mutating func take(out number: UInt64, of client: TransferClient?) -> Ticket {
        guard let ticket = self.waiting[client]?.remove(number) else {
            preconditionFailure("BUG: a ticket waits that is in no line")
        }
        self.places[ticket] = nil
        if self.waiting[client]?.isEmpty == true { self.waiting[client] = nil }
        return ticket
    }

    /// Gives a connection to the next waiting ticket; nil if none waits, or none is available. Must be called again until it
    /// returns nil, after a connection was given back.
    ///
    /// - Parameter unlimited: true if the host carries any number of transfers on one connection.
    mutating func next(unlimited: Bool) -> Ticket? {
        // The usual case.
        guard !self.waiting.isEmpty, let place = unlimited ? self.firstPlace() : self.nextPlace() else { return nil }
        let ticket = self.take(out: place.number, of: place.client)
        self.give(place.client, self.shares[place.client, default: 0])
        return ticket
    }

    /// The first waiting ticket of a client with less than half; if there is none, the first of all.
    private mutating func nextPlace() -> Place? {
        // No connection is free, not even for a client with less than half.
        guard self.inUse - self.excess < self.limit else { return nil }
        if let place = self.firstPlace(below: self.half) { return place }
        return self.inUse < self.limit ? self.firstPlace() : nil
    }

    /// The first waiting ticket; nil if there is none.
    ///
    /// - Parameter share: only clients with fewer connections count.
    private mutating func firstPlace(below share: Int = .max) -> Place? {
        var first: Place?
        for (client, line) in self.waiting where self.shares[client, default: 0] < share {
            guard let number = line.firstNumber else { continue }
            if number < first?.number ?? .max { first = Place(client: client, number: number) }
        }
        self.compared += self.waiting.count
        return first
    }

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
