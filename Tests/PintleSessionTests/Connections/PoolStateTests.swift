// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleSession

/// The decisions about connections, without a socket: what follows an event in each state of a host.
struct PoolStateTests {
    typealias State = PoolState<String, Int, Int, Int>

    /// A pool with one host. Its connections have the numbers 1, 2 and so on.
    struct Pool {
        var state: State
        let host: HostNumber
        private(set) var numbers: [ConnectionNumber] = []

        init(_ version: OriginVersion, perHost: Int = 0, idle: Int = 100) {
            self.state = State(State.Limits(perHost: perHost, idle: idle, idleTime: .seconds(60)))
            self.host = self.state.addHost("a", version)
        }

        /// A transfer comes, and a connection is made for it.
        mutating func open(_ version: ConnectionVersion) {
            _ = self.state.enter(self.numbers.count, at: self.host, of: nil)
            self.numbers.append(self.state.opened(self.numbers.count + 1, at: self.host, version))
            if version == .http2 { self.state.beganStream(on: self.numbers[self.numbers.count - 1]) }
            self.state.note(version, at: self.host, isRemembered: true)
        }

        /// The connection, counted from 1, is idle from a second on.
        mutating func keep(_ connection: Int, of owner: Int? = nil, since second: UInt64 = 0) {
            self.state.keep(self.numbers[connection - 1], for: owner, at: .uptimeNanoseconds(second * 1_000_000_000))
            self.state.leave(self.host)
        }

        mutating func endStream(on connection: Int) -> State.StreamEnd {
            defer { self.state.leave(self.host) }
            return self.state.endedStream(on: self.numbers[connection - 1], at: .uptimeNanoseconds(0))
        }

        mutating func leaves(_ connection: Int) -> Bool { self.state.leaves(self.numbers[connection - 1]) }

        mutating func closed(_ connection: Int) { self.state.closed(self.numbers[connection - 1]) }

        func connect(for owner: Int? = nil, over choice: State.Choice = .any) -> State.Step {
            var state = self.state
            _ = state.enter(99, at: self.host, of: nil)
            return state.connect(99, at: self.host, for: owner, over: choice)
        }
    }

    private static func pool(_ version: OriginVersion, _ change: (inout Pool) -> Void = { _ in }) -> Pool {
        var pool = Pool(version)
        change(&pool)
        return pool
    }

    /// A state of a host, and the ways to a connection in it: for any request, for one that needs a new connection, and for one
    /// whose client, 7, may have logged in.
    private typealias Row = (name: String, pool: Pool, any: State.Step, new: State.Step, own: State.Step)

    private static var rows: [Row] {
        [
            ("version unknown, no connection", self.pool(.unknown), .dialForAll, .dialForAll, .dialForAll),
            (
                "version unknown, a connection is being made",
                self.pool(.unknown) {
                    _ = $0.state.enter(0, at: $0.host, of: nil)
                    _ = $0.state.connect(0, at: $0.host, for: nil, over: .any)
                }, .join, .join, .join
            ),
            ("HTTP/1.1, no connection", self.pool(.known(.http1)), .dial, .dial, .dial),
            ("HTTP/1.1, one in use", self.pool(.unknown) { $0.open(.http1) }, .dial, .dial, .dial),
            (
                "HTTP/1.1, one idle",
                self.pool(.unknown) {
                    $0.open(.http1)
                    $0.keep(1)
                }, .use(1), .dial, .use(1)
            ),
            (
                "HTTP/1.1, two idle: the one that was used last",
                self.pool(.unknown) {
                    for _ in 0..<2 { $0.open(.http1) }
                    for connection in [2, 1] { $0.keep(connection) }
                }, .use(1), .dial, .use(1)
            ),
            (
                "HTTP/1.1, one idle of the client",
                self.pool(.unknown) {
                    $0.open(.http1)
                    $0.keep(1, of: 7)
                }, .dial, .dial, .use(1)
            ),
            (
                "HTTP/1.1, one idle of another client",
                self.pool(.unknown) {
                    $0.open(.http1)
                    $0.keep(1, of: 8)
                }, .dial, .dial, .dial
            ),
            (
                "HTTP/1.1, one idle of nobody, and a later one of the client",
                self.pool(.unknown) {
                    for _ in 0..<2 { $0.open(.http1) }
                    $0.keep(1)
                    $0.keep(2, of: 7)
                }, .use(1), .dial, .use(2)
            ),
            (
                "HTTP/1.1, one idle of the client, and a later one of nobody",
                self.pool(.unknown) {
                    for _ in 0..<2 { $0.open(.http1) }
                    $0.keep(1, of: 7)
                    $0.keep(2)
                }, .use(2), .dial, .use(1)
            ),
            (
                "HTTP/1.1, the idle one is closed",
                self.pool(.unknown) {
                    $0.open(.http1)
                    $0.keep(1)
                    $0.closed(1)
                    _ = $0.state.addHost("a", .unknown)
                }, .dial, .dial, .dial
            ),
            ("HTTP/2, one with room", self.pool(.unknown) { $0.open(.http2) }, .use(1), .dialForAll, .use(1)),
            (
                "HTTP/2, one without room",
                self.pool(.unknown) {
                    $0.open(.http2)
                    $0.state.allow(streams: 1, on: $0.numbers[0])
                }, .dialForAll, .dialForAll, .dialForAll
            ),
            (
                "HTTP/2, one without room, which allows more",
                self.pool(.unknown) {
                    $0.open(.http2)
                    $0.state.allow(streams: 1, on: $0.numbers[0])
                    $0.state.allow(streams: 2, on: $0.numbers[0])
                }, .use(1), .dialForAll, .use(1)
            ),
            (
                "HTTP/2, one without room, and a second",
                self.pool(.unknown) {
                    for _ in 0..<2 { $0.open(.http2) }
                    $0.state.allow(streams: 1, on: $0.numbers[0])
                }, .use(2), .dialForAll, .use(2)
            ),
            (
                "HTTP/2, one that leaves",
                self.pool(.unknown) {
                    $0.open(.http2)
                    _ = $0.leaves(1)
                }, .dialForAll, .dialForAll, .dialForAll
            ),
            (
                "HTTP/2, one idle",
                self.pool(.unknown) {
                    $0.open(.http2)
                    _ = $0.endStream(on: 1)
                }, .use(1), .dialForAll, .use(1)
            ),
            (
                "HTTP/2 by prior knowledge, no connection", self.pool(.priorKnowledge), .dialForAll, .dialForAll,
                .dialForAll
            ),
        ]
    }

    @Test func `a request gets the connection that fits, in every state of its host`() {
        for row in Self.rows {
            #expect(row.pool.connect() == row.any, "\(row.name)")
            #expect(row.pool.connect(over: .new) == row.new, "\(row.name), over a new one")
            #expect(row.pool.connect(for: 7) == row.own, "\(row.name), for a client that may have logged in")
        }
    }

    // MARK: Transfers that wait

    @Test func `those that wait for one connection get it, and make others, in their order`() {
        var pool = Pool(.unknown)
        for ticket in 0..<4 { #expect(pool.state.enter(ticket, at: pool.host, of: nil) == .uncounted) }
        let steps = (0..<4).map { pool.state.connect($0, at: pool.host, for: nil, over: .any) }
        #expect(steps == [.dialForAll, .join, .join, .join])
        #expect(pool.state.awaitsConnection(pool.host))
        pool.state.stopJoining(2, at: pool.host)
        #expect(pool.state.endAttempt(at: pool.host) == [1, 3])
        #expect(!pool.state.awaitsConnection(pool.host))
        #expect(pool.state.connect(1, at: pool.host, for: nil, over: .any) == .dialForAll)
    }

    @Test func `LOOK-13 a place goes to the next that waits, and tunnels need none`() {
        var pool = Pool(.unknown, perHost: 1)
        let admissions = (0..<3).map { pool.state.enter($0, at: pool.host, of: nil) }
        #expect(admissions == [.counted, .queued, .queued])
        pool.state.enterUncounted(at: pool.host)
        #expect(pool.state.admitNext(at: pool.host) == nil)
        pool.state.giveBackPlace(at: pool.host, of: nil)
        #expect(pool.state.admitNext(at: pool.host) == 1)
        #expect(pool.state.admitNext(at: pool.host) == nil)
        pool.state.withdraw(2, at: pool.host)
        pool.state.giveBackPlace(at: pool.host, of: nil)
        #expect(pool.state.admitNext(at: pool.host) == nil)
    }

    @Test func `all that wait are admitted when the host chooses HTTP 2, and nobody waits from then on`() {
        var pool = Pool(.unknown, perHost: 1)
        for ticket in 0..<3 { _ = pool.state.enter(ticket, at: pool.host, of: nil) }
        pool.state.note(.http2, at: pool.host, isRemembered: true)
        #expect([1, 2].allSatisfy { pool.state.admitNext(at: pool.host) == $0 })
        #expect(pool.state.admitNext(at: pool.host) == nil)
        #expect(pool.state.enter(3, at: pool.host, of: nil) == .uncounted)
        pool.state.note(.http1, at: pool.host, isRemembered: true)
        #expect(pool.state.enter(4, at: pool.host, of: nil) == .queued)
    }

    // MARK: Streams

    @Test func `a connection of HTTP 2 is kept after its last stream, and closes if it leaves`() {
        var pool = Pool(.unknown)
        pool.open(.http2)
        pool.state.beganStream(on: pool.numbers[0])
        _ = pool.state.enter(1, at: pool.host, of: nil)
        #expect(pool.endStream(on: 1) == .carriesOthers)
        #expect(pool.state.nextExpiry == nil)
        #expect(pool.endStream(on: 1) == .kept)
        #expect(pool.state.nextExpiry == .uptimeNanoseconds(60_000_000_000))
        #expect(pool.leaves(1) == true, "it is idle")
        #expect(pool.leaves(1) == false, "it is about to be closed")
        #expect(pool.state.nextExpiry == nil)
        pool.closed(1)
        #expect(pool.state.host(of: "a") == nil)
    }

    @Test func `a connection of HTTP 2 that leaves with streams closes after the last`() {
        var pool = Pool(.unknown)
        pool.open(.http2)
        _ = pool.state.enter(1, at: pool.host, of: nil)
        pool.state.beganStream(on: pool.numbers[0])
        #expect(pool.leaves(1) == false)
        #expect(pool.endStream(on: 1) == .carriesOthers)
        #expect(pool.endStream(on: 1) == .close)
        #expect(pool.state.closeOldest() == nil)
    }

    @Test func `a connection that takes no more streams before its first carries that to its failure`() {
        var pool = Pool(.unknown)
        _ = pool.state.enter(0, at: pool.host, of: nil)
        let number = pool.state.opened(1, at: pool.host, .http2)
        #expect(pool.state.leaves(number) == true)
        pool.state.beganStream(on: number)
        #expect(pool.state.endedStream(on: number, at: .uptimeNanoseconds(0)) == .carriesOthers)
    }

    // MARK: Closing

    @Test func `of too many connections the ones that are idle for the longest time are closed`() {
        var pool = Pool(.unknown, idle: 2)
        for _ in 0..<4 { pool.open(.http1) }
        for connection in [3, 1, 2] { pool.keep(connection) }
        #expect(pool.state.closeSurplus() == 3)
        #expect(pool.state.closeSurplus() == 1)
        #expect(pool.state.closeSurplus() == nil, "one in use, and one idle")
        #expect(pool.connect() == .use(2))
    }

    @Test func `a connection that is to be closed is named once, though it is not closed yet`() {
        var pool = Pool(.unknown, idle: 0)
        pool.open(.http2)
        pool.open(.http1)
        #expect(pool.endStream(on: 1) == .kept)
        #expect(pool.state.closeSurplus() == 1)
        #expect(pool.state.closeSurplus() == nil && pool.state.closeOldest() == nil)
        #expect(pool.connect() == .dial, "the host has chosen HTTP/1.1 since")
        pool.closed(1)
        pool.closed(2)
        pool.state.leave(pool.host)
        #expect(pool.state.host(of: "a") == nil)
    }

    @Test func `an idle connection is closed when its time is over, the oldest first`() {
        var pool = Pool(.unknown)
        for _ in 0..<3 { pool.open(.http1) }
        for (connection, second) in [(2, 1), (3, 5), (1, 5)] { pool.keep(connection, since: UInt64(second)) }
        func time(_ second: UInt64) -> NIODeadline { .uptimeNanoseconds(second * 1_000_000_000) }
        #expect(pool.state.nextExpiry == time(61))
        #expect(pool.state.closeExpired(at: time(60)) == nil)
        #expect(pool.state.closeExpired(at: time(61)) == 2)
        #expect(pool.state.closeExpired(at: time(61)) == nil)
        #expect(pool.state.closeIdle(since: time(4)) == nil)
        #expect(pool.state.closeIdle(since: time(5)) == 3)
        #expect(pool.state.closeOldest() == 1)
        #expect(pool.state.closeOldest() == nil && pool.state.nextExpiry == nil)
    }

    // MARK: Versions

    @Test func `the version of a host is remembered when its connections are gone, and not after the end`() {
        var pool = Pool(.unknown)
        pool.open(.http2)
        pool.state.leave(pool.host)
        pool.closed(1)
        #expect(pool.state.host(of: "a") == nil)
        let host = pool.state.addHost("a", .unknown)
        pool.state.enterUncounted(at: host)
        #expect(pool.state.version(negotiated: .http1, at: host) == .http1)
        pool.state.note(.http1, at: host, isRemembered: true)
        pool.state.leave(host)
        let again = pool.state.addHost("a", .unknown)
        #expect(pool.state.connect(0, at: again, for: nil, over: .any) == .dial)
        pool.state.enterUncounted(at: again)
        pool.state.leave(again)
        #expect(pool.state.end(isFinal: false) == [])
        let last = pool.state.addHost("a", .unknown)
        #expect(pool.state.connect(0, at: last, for: nil, over: .any) == .dialForAll)
    }

    @Test func `prior knowledge makes every connection one of HTTP 2`() {
        let pool = Pool(.priorKnowledge)
        #expect(pool.state.version(negotiated: .http1, at: pool.host) == .http2)
        #expect(Pool(.unknown).state.version(negotiated: .http2, at: pool.host) == .http2)
    }

    // MARK: The end

    @Test func `the end closes what is idle or shared, and nothing is kept after it`() {
        var pool = Pool(.unknown)
        for version in [ConnectionVersion.http1, .http2, .http1] { pool.open(version) }
        pool.keep(1)
        #expect(pool.state.end(isFinal: true) == [1, 2])
        #expect(pool.endStream(on: 2) == .carriesOthers)
        #expect(pool.connect() == .dial)
        pool.keep(3)
        #expect(pool.state.closeSurplus() == 3)
        for connection in 1...3 { pool.closed(connection) }
        #expect(pool.state.host(of: "a") == nil)
    }
}
