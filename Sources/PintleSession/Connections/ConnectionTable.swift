// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Numbers of connections to origins and upstream proxies, by their use.
package struct ConnectionUses: Sendable, Equatable {
    /// They are being made.
    package var connecting = 0
    /// They carry at least one transfer.
    package var active = 0
    /// They are kept for the next transfer.
    package var idle = 0

    package init() {}

    package static func += (sum: inout ConnectionUses, other: ConnectionUses) {
        sum.connecting += other.connecting
        sum.active += other.active
        sum.idle += other.idle
    }
}

/// The number of a connection in its pool, from its opening to its end.
struct ConnectionNumber: Equatable {
    fileprivate let index: Int
}

/// The open connections of a pool, and the order in which idle ones were kept: a pure value.
///
/// Connections are told apart by numbers. Keeping one, and using it again, costs no memory and no search.
struct ConnectionTable<Connection, Owner: Equatable> {
    /// The use that is made of a connection.
    enum Use {
        /// HTTP/1.1: a transfer has it.
        case busy
        /// HTTP/1.1: it may carry a request, of this owner alone if there is one.
        case idle(of: Owner?)
        /// HTTP/2: it carries a number of streams, and may carry so many.
        case shared(streams: Int, most: Int)
        /// HTTP/2: it carries its last streams.
        case leaving(streams: Int)
        /// It is about to be closed.
        case closing
    }

    private struct Entry {
        /// Nil if the number is free.
        var connection: Connection?
        var host: HostNumber
        var use: Use
        /// The time since which it has been idle; nil while it is not.
        var keptSince: NIODeadline?
        /// The connection that was kept before it.
        var older: Int?
        /// The connection that was kept after it.
        var newer: Int?
    }

    private var entries: [Entry] = []
    private var free: [Int] = []
    private var first: Int?
    private var last: Int?
    /// The number of connections that are not about to be closed.
    private(set) var openCount = 0

    mutating func add(_ connection: Connection, to host: HostNumber, _ use: Use) -> ConnectionNumber {
        self.openCount += 1
        let entry = Entry(connection: connection, host: host, use: use)
        guard let index = self.free.popLast() else {
            self.entries.append(entry)
            return ConnectionNumber(index: self.entries.count - 1)
        }
        self.entries[index] = entry
        return ConnectionNumber(index: index)
    }

    /// Removes a connection that is closed, and is not among the idle ones.
    mutating func remove(_ number: ConnectionNumber) {
        precondition(self.entries[number.index].keptSince == nil, "BUG: an idle connection is forgotten")
        if case .closing = self.entries[number.index].use {} else { self.openCount -= 1 }
        self.entries[number.index].connection = nil
        self.entries[number.index].use = .closing
        self.free.append(number.index)
    }

    func connection(_ number: ConnectionNumber) -> Connection {
        guard let connection = self.entries[number.index].connection else {
            preconditionFailure("BUG: a connection is used after its end")
        }
        return connection
    }

    /// The numbers of connections that carry a transfer, and of those that are kept for the next one.
    var uses: ConnectionUses {
        var uses = ConnectionUses()
        for entry in self.entries where entry.connection != nil {
            switch entry.use {
            case .busy, .leaving: uses.active += 1
            case .shared(let streams, most: _): if streams > 0 { uses.active += 1 } else { uses.idle += 1 }
            case .idle: uses.idle += 1
            case .closing: break
            }
        }
        return uses
    }

    func host(of number: ConnectionNumber) -> HostNumber { self.entries[number.index].host }

    func use(of number: ConnectionNumber) -> Use { self.entries[number.index].use }

    /// Changes the use of a connection, which is not about to be closed before.
    mutating func set(_ number: ConnectionNumber, _ use: Use) {
        if case .closing = use { self.openCount -= 1 }
        self.entries[number.index].use = use
    }

    // MARK: Idle connections

    /// The connection that has been idle for the longest time.
    var oldest: (number: ConnectionNumber, since: NIODeadline)? {
        guard let first, let since = self.entries[first].keptSince else { return nil }
        return (ConnectionNumber(index: first), since)
    }

    /// Adds a connection to the idle ones, as the newest.
    mutating func keep(_ number: ConnectionNumber, since now: NIODeadline) {
        precondition(self.entries[number.index].keptSince == nil, "BUG: a connection is kept twice")
        self.entries[number.index].keptSince = now
        self.entries[number.index].older = self.last
        if let last { self.entries[last].newer = number.index } else { self.first = number.index }
        self.last = number.index
    }

    /// Removes a connection from the idle ones; does nothing if it is not idle.
    mutating func unkeep(_ number: ConnectionNumber) {
        guard self.entries[number.index].keptSince != nil else { return }
        let (older, newer) = (self.entries[number.index].older, self.entries[number.index].newer)
        if let older { self.entries[older].newer = newer } else { self.first = newer }
        if let newer { self.entries[newer].older = older } else { self.last = older }
        self.entries[number.index].keptSince = nil
        self.entries[number.index].older = nil
        self.entries[number.index].newer = nil
    }
}
