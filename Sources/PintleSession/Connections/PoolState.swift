// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The number of a host in its pool, while it has connections or transfers.
struct HostNumber: Equatable {
    fileprivate let index: Int
}

/// The decisions of a pool of connections: the connection that a request gets, the time for which one is kept, and the one that
/// is closed first.
///
/// A value without sockets, timers and clock: an event is a method, and its result says what is to be done. ``TransferPool``
/// does it. A ticket stands for a transfer.
///
/// The value calls nothing, so that the compiler can prove that no two accesses to it overlap. A request over a kept connection
/// takes no memory here.
struct PoolState<Key: Hashable, Ticket: Hashable, Connection, Owner: Equatable> {
    private struct Host {
        /// Nil if the number is free.
        var key: Key?
        var version: OriginVersion
        /// Distributes the connections among transfers; nil if their number is unlimited.
        var places: HostConnections<Ticket>?
        /// Idle connections of HTTP/1.1; the most recently used one is the last.
        var idle: [ConnectionNumber] = []
        /// Connections of HTTP/2 that take more streams, now or later.
        var shared: [ConnectionNumber] = []
        /// The transfers that wait for the connection that is being made for all of them; nil if none is.
        var joining: [Ticket]?
        /// The number of open connections, including those in use.
        var connections = 0
        /// The number of transfers that use the host, or wait for it.
        var users = 0
    }

    private enum Phase {
        case open
        /// No connection is kept any more.
        case ended
    }

    private let limits: Limits
    private var phase = Phase.open
    private var hosts: [Host] = []
    private var free: [Int] = []
    private var numbers: [Key: Int] = [:]
    /// The host of the last request: comparing its key costs less than hashing a new one.
    private var latest: Int?
    private var connections = ConnectionTable<Connection, Owner>()
    /// The versions that hosts have chosen, also after their connections are closed.
    private var versions: [Key: ConnectionVersion] = [:]

    /// The most hosts whose versions are remembered.
    static var mostVersions: Int { 4096 }

    /// The streams that a peer allows, until it tells another number: RFC 9113 §6.5.2 recommends no less.
    static var usualStreams: Int { 100 }

    init(_ limits: Limits) { self.limits = limits }

    // MARK: Hosts

    /// Returns the host with the connections of a key; nil if it has neither connections nor transfers.
    mutating func host(of key: Key) -> HostNumber? {
        if let latest, case let known? = self.hosts[latest].key, known == key { return HostNumber(index: latest) }
        guard let index = self.numbers[key] else { return nil }
        self.latest = index
        return HostNumber(index: index)
    }

    /// Adds a host that ``host(of:)`` does not know. If its version is unknown, the remembered one counts.
    mutating func addHost(_ key: Key, _ version: OriginVersion) -> HostNumber {
        let remembered = version == .unknown ? self.versions[key].map(OriginVersion.known) : nil
        let host = Host(
            key: key, version: remembered ?? version,
            places: self.limits.perHost > 0 ? HostConnections(limit: self.limits.perHost) : nil)
        let index = self.free.popLast() ?? self.hosts.count
        if index < self.hosts.count { self.hosts[index] = host } else { self.hosts.append(host) }
        self.numbers[key] = index
        self.latest = index
        return HostNumber(index: index)
    }

    /// Returns the version on a connection that was made.
    ///
    /// - Parameter negotiated: the one that TLS has agreed on.
    func version(negotiated: ConnectionVersion, at host: HostNumber) -> ConnectionVersion {
        self.hosts[host.index].version == .priorKnowledge ? .http2 : negotiated
    }

    /// Notes the version on a new connection. Transfers may be admitted by it: see ``admitNext(at:)``.
    ///
    /// - Parameter isRemembered: true if it counts for the same key later, when the host has no connections.
    mutating func note(_ version: ConnectionVersion, at host: HostNumber, isRemembered: Bool) {
        switch self.hosts[host.index].version {
        case .known(version): return
        case .priorKnowledge where version == .http2: return
        case .unknown, .known, .priorKnowledge: break
        }
        self.hosts[host.index].version = .known(version)
        if self.versions.count >= Self.mostVersions { self.versions.removeAll() }
        if isRemembered, let key = self.hosts[host.index].key { self.versions[key] = version }
    }

    /// True while a connection is being made for which other transfers wait.
    func awaitsConnection(_ host: HostNumber) -> Bool { self.hosts[host.index].joining != nil }

    private func speaksHTTP2(_ host: HostNumber) -> Bool {
        switch self.hosts[host.index].version {
        case .known(.http2), .priorKnowledge: true
        case .unknown, .known(.http1): false
        }
    }

    /// Drops a host, unless it has connections or transfers.
    private mutating func forgetIfUnused(_ host: HostNumber) {
        let index = host.index
        guard self.hosts[index].users == 0, self.hosts[index].connections == 0, let key = self.hosts[index].key else {
            return
        }
        self.hosts[index].key = nil
        self.numbers[key] = nil
        if self.latest == index { self.latest = nil }
        self.free.append(index)
    }

    // MARK: Transfers

    /// A transfer comes to a host.
    mutating func enter(_ ticket: Ticket, at host: HostNumber, of client: TransferClient?) -> Admission {
        self.hosts[host.index].users += 1
        // Any number of transfers share a connection of HTTP/2.
        if self.speaksHTTP2(host) { return .uncounted }
        guard let isAdmitted = self.hosts[host.index].places?.take(ticket, for: client) else { return .uncounted }
        return isAdmitted ? .counted : .queued
    }

    /// A transfer comes to a host whose connection may be switched to another protocol: the limit does not count it.
    mutating func enterUncounted(at host: HostNumber) { self.hosts[host.index].users += 1 }

    /// A transfer gives its place back. Others may be admitted by it: see ``admitNext(at:)``.
    mutating func giveBackPlace(at host: HostNumber, of client: TransferClient?) {
        self.hosts[host.index].places?.giveBack(of: client)
    }

    /// Admits the next transfer that waits for a place, and gives it one; nil if there is no transfer, or no place.
    mutating func admitNext(at host: HostNumber) -> Ticket? {
        let isUnlimited = self.speaksHTTP2(host)
        return self.hosts[host.index].places?.next(unlimited: isUnlimited)
    }

    /// A transfer that has no place waits for none any more.
    mutating func withdraw(_ ticket: Ticket, at host: HostNumber) { self.hosts[host.index].places?.remove(ticket) }

    /// A transfer leaves its host. It has no place, waits for none, and has no connection.
    mutating func leave(_ host: HostNumber) {
        precondition(self.hosts[host.index].users > 0, "BUG: a transfer leaves a host that it has not entered")
        self.hosts[host.index].users -= 1
        self.forgetIfUnused(host)
    }

    /// A transfer that was admitted needs a connection.
    ///
    /// - Parameter owner: the owner of connections on which its client has logged in; nil if there are none.
    mutating func connect(_ ticket: Ticket, at host: HostNumber, for owner: Owner?, over choice: Choice) -> Step {
        if choice == .any, let number = self.sharedWithRoom(at: host) ?? self.takeIdle(at: host, for: owner) {
            return .use(self.connections.connection(number))
        }
        if self.hosts[host.index].version == .known(.http1) { return .dial }
        if self.hosts[host.index].joining == nil {
            self.hosts[host.index].joining = []
            return .dialForAll
        }
        self.hosts[host.index].joining?.append(ticket)
        return .join
    }

    private func sharedWithRoom(at host: HostNumber) -> ConnectionNumber? {
        for number in self.hosts[host.index].shared {
            if case .shared(let streams, let most) = self.connections.use(of: number), streams < most { return number }
        }
        return nil
    }

    /// Takes the most recent idle connection of the owner; if there is none, the most recent one without an owner.
    private mutating func takeIdle(at host: HostNumber, for owner: Owner?) -> ConnectionNumber? {
        guard let last = self.hosts[host.index].idle.last else { return nil }
        let place: Int
        if owner == nil, self.isIdle(last, of: nil) {
            // The common case needs no search.
            place = self.hosts[host.index].idle.count - 1
        } else if let found = self.lastIdle(at: host, of: owner) ?? self.lastIdle(at: host, of: nil) {
            place = found
        } else {
            return nil
        }
        let number = self.hosts[host.index].idle.remove(at: place)
        self.connections.unkeep(number)
        self.connections.set(number, .busy)
        return number
    }

    private func lastIdle(at host: HostNumber, of owner: Owner?) -> Int? {
        var place = self.hosts[host.index].idle.count
        while place > 0 {
            place -= 1
            if self.isIdle(self.hosts[host.index].idle[place], of: owner) { return place }
        }
        return nil
    }

    private func isIdle(_ number: ConnectionNumber, of owner: Owner?) -> Bool {
        guard case .idle(let its) = self.connections.use(of: number) else { return false }
        return its == owner
    }

    /// The connection for all has come, or will not come.
    ///
    /// - Returns: the transfers that waited for it, which need a connection now.
    mutating func endAttempt(at host: HostNumber) -> [Ticket] {
        guard let joining = self.hosts[host.index].joining else {
            preconditionFailure("BUG: an attempt ends that was not under way")
        }
        self.hosts[host.index].joining = nil
        return joining
    }

    /// A transfer waits no longer for the connection that is being made.
    mutating func stopJoining(_ ticket: Ticket, at host: HostNumber) {
        self.hosts[host.index].joining?.removeAll { $0 == ticket }
    }

    // MARK: Connections

    /// A connection was made for a transfer at the host.
    mutating func opened(
        _ connection: Connection, at host: HostNumber, _ version: ConnectionVersion
    ) -> ConnectionNumber {
        self.hosts[host.index].connections += 1
        switch version {
        case .http1: return self.connections.add(connection, to: host, .busy)
        case .http2:
            let number = self.connections.add(connection, to: host, .shared(streams: 0, most: Self.usualStreams))
            self.hosts[host.index].shared.append(number)
            return number
        }
    }

    /// A connection of HTTP/1.1 has carried its transfer to the end, and can carry another. Others may have to be closed for it,
    /// or it itself: see ``closeSurplus()``.
    ///
    /// - Parameter owner: its owner, if a client has logged in on it.
    mutating func keep(_ number: ConnectionNumber, for owner: Owner?, at now: NIODeadline) {
        guard case .busy = self.connections.use(of: number) else {
            preconditionFailure("BUG: a connection is kept that carries no transfer")
        }
        self.connections.set(number, .idle(of: owner))
        self.connections.keep(number, since: now)
        self.hosts[self.connections.host(of: number).index].idle.append(number)
    }

    /// A transfer is carried by a stream of the connection.
    mutating func beganStream(on number: ConnectionNumber) {
        switch self.connections.use(of: number) {
        case .shared(let streams, let most):
            self.connections.unkeep(number)
            self.connections.set(number, .shared(streams: streams + 1, most: most))
        // The peer has said so within the call that made the connection. The stream fails at the end of the turn.
        case .leaving(let streams): self.connections.set(number, .leaving(streams: streams + 1))
        case .closing: break
        case .busy, .idle: preconditionFailure("BUG: a stream begins on a connection of HTTP/1.1")
        }
    }

    /// A stream is over.
    mutating func endedStream(on number: ConnectionNumber, at now: NIODeadline) -> StreamEnd {
        switch self.connections.use(of: number) {
        case .shared(let streams, let most) where streams > 0:
            self.connections.set(number, .shared(streams: streams - 1, most: most))
            guard streams == 1 else { return .carriesOthers }
            self.connections.keep(number, since: now)
            return .kept
        case .leaving(let streams) where streams > 0:
            self.connections.set(number, streams == 1 ? .closing : .leaving(streams: streams - 1))
            return streams == 1 ? .close : .carriesOthers
        case .closing: return .carriesOthers
        case .shared, .leaving, .busy, .idle: preconditionFailure("BUG: a stream ends that has not begun")
        }
    }

    /// The peer allows so many streams at a time.
    mutating func allow(streams most: Int, on number: ConnectionNumber) {
        // A connection that takes no more streams has no use for the number.
        guard case .shared(let streams, _) = self.connections.use(of: number) else { return }
        self.connections.set(number, .shared(streams: streams, most: most))
    }

    /// The connection takes no more streams.
    ///
    /// - Returns: true if it is to be closed, because it carries none. False if it is about to be closed already.
    mutating func leaves(_ number: ConnectionNumber) -> Bool {
        guard case .shared(let streams, _) = self.connections.use(of: number) else { return false }
        if streams == 0 {
            self.willClose(number)
        } else {
            self.withdraw(number)
            self.connections.set(number, .leaving(streams: streams))
        }
        return streams == 0
    }

    /// A connection is closed, or was handed over. Its number may be another's from here on.
    mutating func closed(_ number: ConnectionNumber) {
        self.withdraw(number)
        let host = self.connections.host(of: number)
        self.connections.remove(number)
        self.hosts[host.index].connections -= 1
        self.forgetIfUnused(host)
    }

    /// Offers a connection to no transfer any more.
    private mutating func withdraw(_ number: ConnectionNumber) {
        let index = self.connections.host(of: number).index
        switch self.connections.use(of: number) {
        case .idle: self.hosts[index].idle.removeAll { $0 == number }
        case .shared: self.hosts[index].shared.removeAll { $0 == number }
        case .busy, .leaving, .closing: break
        }
        self.connections.unkeep(number)
    }

    private mutating func willClose(_ number: ConnectionNumber) {
        self.withdraw(number)
        self.connections.set(number, .closing)
    }

    // MARK: Closing idle connections

    /// The end of the time for which the oldest idle connection may be kept; nil if there is none.
    var nextExpiry: NIODeadline? { self.connections.oldest.map { $0.since + self.limits.idleTime } }

    /// Returns the next idle connection to be closed because there are too many connections, the oldest first; nil if no more
    /// are to be.
    mutating func closeSurplus() -> Connection? {
        let most = self.phase == .ended ? 0 : self.limits.idle
        return self.connections.openCount > most ? self.closeOldest() : nil
    }

    /// Returns the next idle connection to be closed because it was kept long enough; nil if no more are to be.
    mutating func closeExpired(at now: NIODeadline) -> Connection? {
        guard let end = self.nextExpiry, end <= now else { return nil }
        return self.closeOldest()
    }

    /// Returns the next idle connection to be closed that was kept at a time, or before; nil if no more are to be.
    mutating func closeIdle(since time: NIODeadline) -> Connection? {
        guard let oldest = self.connections.oldest, oldest.since <= time else { return nil }
        return self.closeOldest()
    }

    /// Returns the connection that has been idle for the longest time, to be closed; nil if there is none.
    mutating func closeOldest() -> Connection? {
        guard let oldest = self.connections.oldest else { return nil }
        self.willClose(oldest.number)
        return self.connections.connection(oldest.number)
    }

    // MARK: The end

    /// The numbers of connections by their use.
    var uses: ConnectionUses { self.connections.uses }

    /// The host's connections of HTTP/2 that take more streams, now or later.
    func shared(at host: HostNumber) -> [Connection] {
        self.hosts[host.index].shared.map { self.connections.connection($0) }
    }

    /// The connections of HTTP/2 that take more streams, now or later.
    var shared: [Connection] { self.hosts.flatMap(\.shared).map { self.connections.connection($0) } }

    /// Forgets the versions, and offers the connections so far to no transfer any more.
    ///
    /// - Parameter isFinal: true if no connection is kept from here on, either.
    /// - Returns: the connections to be closed: idle ones, and those of HTTP/2. Others end with their transfers.
    mutating func end(isFinal: Bool) -> [Connection] {
        if isFinal { self.phase = .ended }
        self.versions.removeAll()
        var closing: [Connection] = []
        while let oldest = self.closeOldest() { closing.append(oldest) }
        for number in self.hosts.flatMap(\.shared) {
            closing.append(self.connections.connection(number))
            self.willClose(number)
        }
        return closing
    }
}
