// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleTesting

@testable import PintleSession

/// A pool that random events befall, beside a model with plain rules, which says what must follow from each.
///
/// The model does what ``TransferPool`` and transfers do, with numbers in place of connections and transfers.
struct PoolModel {
    typealias State = PoolState<String, Int, Int, Int>

    enum Use: Equatable {
        case busy(by: Int)
        case idle
        case shared(by: [Int])
        case leaving(by: [Int])
    }

    struct Connection {
        let key: String
        let number: ConnectionNumber
        var use: Use
        /// The client that has logged in on it.
        var owner: Int?
        var mostStreams = State.usualStreams
    }

    enum Stage: Equatable {
        case queued
        case dialling
        case diallingForAll
        case joining
        case carried(by: Int)
    }

    struct Request {
        let key: String
        let host: HostNumber
        /// Its client, which may log in.
        let client: Int
        var isCounted = false
        var stage = Stage.dialling
    }

    static let keys = ["a", "b", "c"]
    static let perHost = 4
    static let mostIdle = 6
    static let idleTime = TimeAmount.seconds(60)

    var state = State(State.Limits(perHost: perHost, idle: mostIdle, idleTime: idleTime))
    var breaches: [String] = []
    var requests: [Int: Request] = [:]
    var connections: [Int: Connection] = [:]
    var seen: Set<String> = []
    var random: SeededGenerator
    var now = NIODeadline.uptimeNanoseconds(0)
    var (lastRequest, lastConnection) = (0, 0)
    /// The idle connections of all hosts, the oldest first.
    var idle: [(connection: Int, since: NIODeadline)] = []
    /// The requests that wait for a place, in order.
    var queue: [Int] = []
    var joining: [String: [Int]] = [:]
    /// The connections of HTTP/2 that take more streams, in order.
    var shared: [Int] = []
    var versions: [String: ConnectionVersion] = [:]
    var remembered: [String: ConnectionVersion] = [:]
    var hasEnded = false

    init(seed: UInt64) { self.random = SeededGenerator(seed: seed) }

    mutating func breach(_ sentence: String) { self.breaches.append(sentence) }

    mutating func expect(_ condition: Bool, _ sentence: String) {
        if !condition { self.breach(sentence) }
    }

    mutating func isLikely(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.random) < percent }

    func client(_ number: Int) -> TransferClient { TransferClient(0, UInt64(number)) }

    func isUsed(_ key: String) -> Bool {
        self.requests.values.contains { $0.key == key } || self.connections.values.contains { $0.key == key }
    }

    // MARK: Requests

    mutating func start() {
        guard let key = Self.keys.randomElement(using: &self.random) else { return }
        let host: HostNumber
        if let known = self.state.host(of: key) {
            self.expect(self.isUsed(key), "\(key) is kept without use")
            host = known
        } else {
            self.expect(!self.isUsed(key), "\(key) is forgotten")
            host = self.state.addHost(key, .unknown)
            self.versions[key] = self.remembered[key]
        }
        self.lastRequest += 1
        let (ticket, client) = (self.lastRequest, Int.random(in: 0..<3, using: &self.random))
        self.requests[ticket] = Request(key: key, host: host, client: client)
        if self.isLikely(10) {
            self.state.enterUncounted(at: host)
            return
        }
        let mayPass = self.mayTake(key, client) && (!self.isQueued(key) || self.share(key, client) < Self.perHost / 2)
        let admission = self.state.enter(ticket, at: host, of: self.client(client))
        switch admission {
        case .uncounted:
            self.expect(self.versions[key] == .http2, "a request to \(key) needs no place")
            self.connect(ticket)
        case .counted:
            self.expect(self.versions[key] != .http2 && mayPass, "\(ticket) does not wait")
            self.requests[ticket]?.isCounted = true
            self.connect(ticket)
        case .queued:
            self.expect(self.versions[key] != .http2 && !mayPass, "\(ticket) waits")
            self.requests[ticket]?.stage = .queued
            self.queue.append(ticket)
        }
        self.seen.insert("\(admission)")
    }

    func isQueued(_ key: String) -> Bool { self.queue.contains { self.requests[$0]?.key == key } }

    /// The number of a client's places.
    func share(_ key: String, _ client: Int) -> Int {
        self.requests.values.count { $0.key == key && $0.client == client && $0.isCounted }
    }

    /// True if a client may have another place: what clients have beyond their halves does not count against one with less.
    func mayTake(_ key: String, _ client: Int) -> Bool {
        let half = Self.perHost / 2
        let shares = (0..<3).map { self.share(key, $0) }
        let counted = self.share(key, client) < half ? shares.map { min($0, half) } : shares
        return counted.reduce(0, +) < Self.perHost
    }

    /// Admits those that wait: in order, but first clients with less than half of the places.
    mutating func admitWaiting(at host: HostNumber, _ key: String) {
        while true {
            let waiting = self.queue.filter { self.requests[$0]?.key == key }
            func client(_ ticket: Int) -> Int { self.requests[ticket]?.client ?? -1 }
            let preferred = waiting.first { self.share(key, client($0)) < Self.perHost / 2 }
            var next = preferred ?? waiting.first
            if self.versions[key] == .http2 {
                next = waiting.first
            } else if let ticket = next, !self.mayTake(key, client(ticket)) {
                next = nil
            }
            let admitted = self.state.admitNext(at: host)
            self.expect(
                admitted == next, "\(String(describing: admitted)) is admitted, not \(String(describing: next))")
            guard let admitted else { return }
            self.queue.removeAll { $0 == admitted }
            self.requests[admitted]?.isCounted = true
            self.connect(admitted)
            self.seen.insert("admitted")
        }
    }

    mutating func connect(_ ticket: Int, over choice: State.Choice = .any) {
        guard let request = self.requests[ticket] else { return self.breach("\(ticket) is served after its end") }
        let expected = self.step(for: request, over: choice)
        let step = self.state.connect(ticket, at: request.host, for: request.client, over: choice)
        self.expect(step == expected, "\(ticket) should \(expected), and is told to \(step)")
        switch step {
        case .dial: self.requests[ticket]?.stage = .dialling
        case .dialForAll:
            self.requests[ticket]?.stage = .diallingForAll
            self.joining[request.key] = []
        case .join:
            self.requests[ticket]?.stage = .joining
            self.joining[request.key]?.append(ticket)
        case .use(let number): self.use(number, ticket)
        }
    }

    func step(for request: Request, over choice: State.Choice) -> State.Step {
        if choice == .any {
            for number in self.shared {
                guard let one = self.connections[number], one.key == request.key else { continue }
                if case .shared(let streams) = one.use, streams.count < one.mostStreams { return .use(number) }
            }
            let idle = self.idle.map(\.connection).filter { self.connections[$0]?.key == request.key }
            if let own = idle.last(where: { self.connections[$0]?.owner == request.client })
                ?? idle.last(where: { self.connections[$0]?.owner == nil && self.connections[$0]?.use == .idle })
            {
                return .use(own)
            }
        }
        if self.versions[request.key] == .http1 { return .dial }
        return self.joining[request.key] == nil ? .dialForAll : .join
    }

    mutating func use(_ number: Int, _ ticket: Int) {
        guard let connection = self.connections[number] else { return self.breach("\(number) is used after its end") }
        self.requests[ticket]?.stage = .carried(by: number)
        self.idle.removeAll { $0.connection == number }
        switch connection.use {
        case .shared(let streams):
            self.connections[number]?.use = .shared(by: streams + [ticket])
            self.state.beganStream(on: connection.number)
            self.seen.insert("a stream")
        case .idle:
            self.expect(connection.owner == nil || connection.owner == self.requests[ticket]?.client, "wrong owner")
            self.connections[number]?.use = .busy(by: ticket)
            self.seen.insert(connection.owner == nil ? "kept" : "kept of an owner")
        case .busy, .leaving: self.breach("\(number) serves two requests")
        }
    }

    /// A request is over: it leaves its host, which others may get a place of.
    mutating func end(_ ticket: Int) {
        guard let request = self.requests[ticket] else { return self.breach("\(ticket) ends twice") }
        self.requests[ticket]?.isCounted = false
        if request.isCounted {
            self.state.giveBackPlace(at: request.host, of: self.client(request.client))
            self.admitWaiting(at: request.host, request.key)
        } else {
            self.state.withdraw(ticket, at: request.host)
            self.queue.removeAll { $0 == ticket }
        }
        self.state.leave(request.host)
        self.requests[ticket] = nil
    }

    // MARK: Connections

    /// The attempt of a request to connect ends.
    mutating func dialled(isSuccess: Bool) {
        let dialling = self.requests.keys.sorted().filter {
            self.requests[$0]?.stage == .dialling || self.requests[$0]?.stage == .diallingForAll
        }
        guard let ticket = dialling.randomElement(using: &self.random), let request = self.requests[ticket] else {
            return
        }
        let others = self.endAttempt(of: ticket)
        if isSuccess {
            let negotiated: ConnectionVersion =
                request.key == "a" ? .http1 : request.key == "b" ? .http2 : self.isLikely(50) ? .http1 : .http2
            self.lastConnection += 1
            let number = self.state.opened(self.lastConnection, at: request.host, negotiated)
            let isShared = negotiated == .http2
            self.connections[self.lastConnection] = Connection(
                key: request.key, number: number, use: isShared ? .shared(by: []) : .busy(by: ticket))
            if isShared {
                self.shared.append(self.lastConnection)
                self.use(self.lastConnection, ticket)
            }
            self.requests[ticket]?.stage = .carried(by: self.lastConnection)
            self.state.note(negotiated, at: request.host, isRemembered: true)
            if self.versions[request.key] != negotiated { self.remembered[request.key] = negotiated }
            self.versions[request.key] = negotiated
            self.admitWaiting(at: request.host, request.key)
        } else {
            self.end(ticket)
        }
        for other in others { self.connect(other) }
    }

    mutating func endAttempt(of ticket: Int) -> [Int] {
        guard let request = self.requests[ticket], request.stage == .diallingForAll else { return [] }
        let waiting = self.joining.removeValue(forKey: request.key) ?? []
        let others = self.state.endAttempt(at: request.host)
        self.expect(others == waiting, "\(others) get a connection, not \(waiting)")
        return others
    }

    var carried: [Int] { self.requests.keys.sorted().filter { self.carrier(of: $0) != nil } }

    func carrier(of ticket: Int) -> Int? {
        if case .carried(let connection) = self.requests[ticket]?.stage { connection } else { nil }
    }

    /// A request is answered, and its connection kept.
    mutating func answered() {
        guard let ticket = self.carried.randomElement(using: &self.random), let number = self.carrier(of: ticket),
            let connection = self.connections[number]
        else { return }
        if case .busy = connection.use {
            if self.isLikely(20) { self.connections[number]?.owner = self.requests[ticket]?.client }
            self.connections[number]?.use = .idle
            self.idle.append((number, self.now))
            self.state.keep(connection.number, for: self.connections[number]?.owner, at: self.now)
            self.closeSurplus()
        } else {
            self.endStream(of: ticket, on: number)
        }
        self.end(ticket)
    }

    mutating func endStream(of ticket: Int, on number: Int) {
        guard let connection = self.connections[number] else { return self.breach("no connection has the stream") }
        let end = self.state.endedStream(on: connection.number, at: self.now)
        switch connection.use {
        case .shared(let streams):
            let rest = streams.filter { $0 != ticket }
            self.connections[number]?.use = .shared(by: rest)
            self.expect(end == (rest.isEmpty ? .kept : .carriesOthers), "a stream ends with \(end)")
            if rest.isEmpty {
                self.idle.append((number, self.now))
                self.closeSurplus()
            }
        case .leaving(let streams):
            let rest = streams.filter { $0 != ticket }
            self.connections[number]?.use = .leaving(by: rest)
            self.expect(end == (rest.isEmpty ? .close : .carriesOthers), "a stream ends with \(end)")
            if rest.isEmpty { self.close(number) }
        case .busy, .idle: self.breach("\(number) has no streams")
        }
    }

    mutating func closeSurplus() {
        while true {
            let isTooMany = self.connections.count > (self.hasEnded ? 0 : Self.mostIdle)
            guard self.close(next: self.state.closeSurplus(), if: isTooMany) else { return }
            self.seen.insert("surplus")
        }
    }

    /// Closes the connection that the pool names, which must be the oldest idle one if the condition holds, or none.
    ///
    /// - Returns: true if there was one.
    mutating func close(next: Int?, if condition: Bool) -> Bool {
        let expected = condition ? self.idle.first?.connection : nil
        self.expect(next == expected, "\(String(describing: next)) closes, not \(String(describing: expected))")
        if let next { self.close(next) }
        return next != nil
    }

    mutating func close(_ number: Int) {
        guard let connection = self.connections.removeValue(forKey: number) else {
            return self.breach("\(number) closes twice")
        }
        self.idle.removeAll { $0.connection == number }
        self.shared.removeAll { $0 == number }
        self.state.closed(connection.number)
    }

    /// A connection ends, whatever it does; its requests are sent again, or fail.
    mutating func broken() {
        guard let number = self.connections.keys.sorted().randomElement(using: &self.random) else { return }
        let users = self.requests.keys.sorted().filter { self.carrier(of: $0) == number }
        self.close(number)
        for ticket in users { if self.isLikely(50) { self.connect(ticket, over: .new) } else { self.end(ticket) } }
    }

    /// A client gives its request up.
    mutating func cancelled() {
        if let ticket = self.requests.keys.sorted().randomElement(using: &self.random) { self.cancel(ticket) }
    }

    mutating func cancel(_ ticket: Int) {
        guard let request = self.requests[ticket] else { return self.breach("\(ticket) is cancelled after its end") }
        switch request.stage {
        case .queued: break
        case .dialling, .diallingForAll: for other in self.endAttempt(of: ticket) { self.connect(other) }
        case .joining:
            self.state.stopJoining(ticket, at: request.host)
            self.joining[request.key]?.removeAll { $0 == ticket }
        case .carried(let number):
            if case .busy = self.connections[number]?.use {
                self.close(number)
            } else {
                self.endStream(of: ticket, on: number)
            }
        }
        self.end(ticket)
    }

    /// The peer of a connection of HTTP/2 takes no more streams, or allows another number.
    mutating func changed() {
        guard let number = self.shared.randomElement(using: &self.random), let connection = self.connections[number],
            case .shared(let streams) = connection.use
        else { return }
        if self.isLikely(50) {
            self.connections[number]?.mostStreams = Int.random(in: 0...3, using: &self.random)
            self.state.allow(streams: self.connections[number]?.mostStreams ?? 0, on: connection.number)
        } else {
            let mustClose = self.state.leaves(connection.number)
            self.expect(mustClose == streams.isEmpty, "\(number) leaves with \(streams.count) streams")
            self.shared.removeAll { $0 == number }
            self.connections[number]?.use = .leaving(by: streams)
            if mustClose { self.close(number) }
            self.seen.insert("leaves")
        }
    }
}
