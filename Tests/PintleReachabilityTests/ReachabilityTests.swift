// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleSession
import PintleTesting
import Testing

@testable import PintleReachability

/// Reachability on the real kernel: network namespaces whose links and routes come and go.
@Suite(.enabled(if: NetworkNamespace.isAvailable, "\(NetworkNamespace.requirement)"))
struct ReachabilityTests {
    private let near: NetworkNamespace
    private let far: NetworkNamespace
    private let engine: EngineOwner

    private final class EngineOwner: Sendable {
        let engine: Engine

        init() throws { self.engine = try Engine(threads: 1) }
        deinit { self.engine.stop() }
    }

    init() throws {
        self.near = try NetworkNamespace()
        self.far = try NetworkNamespace()
        try self.near.join(self.far, own: "10.99.0.1/24", other: "10.99.0.2/24")
        self.engine = try EngineOwner()
    }

    // MARK: The environment

    private func make(_ destination: Reachability.Destination = .system) -> Reachability {
        Reachability(destination, engine: self.engine.engine)
    }

    /// Notes every call of the block.
    private func noted(_ reachability: Reachability) -> Watched<[ReachabilityStatus]> {
        let seen = Watched<[ReachabilityStatus]>([])
        reachability.onChange { status in seen.change { $0.append(status) } }
        return seen
    }

    private func start(_ reachability: Reachability) throws { try self.near.run { try reachability.start() } }

    private func connect() throws {
        try self.near.ip("link", "set", "uplink", "up")
        try self.far.ip("link", "set", "uplink", "up")
        try self.near.ip("route", "add", "default", "via", "10.99.0.2")
        try self.near.waitForCarrier()
    }

    /// Waits until the engine's thread has done its earlier work.
    private func settle() async throws {
        // Twice, because the first time comes within the same turn.
        for _ in 0..<2 { try await self.engine.engine.loops[0].submit {}.get() }
    }

    /// Waits until as many sockets listen to the routing tables. One is closed at the end of a turn of the engine's thread.
    private func hasListeners(_ count: Int) async throws {
        while try self.near.routeListeners() != count { await Task.yield() }
    }

    private func address(_ text: String) throws -> SocketAddress { try SocketAddress(ipAddress: text, port: 0) }

    // MARK: The system

    @Test func `RCH-02 RCH-15 nothing is known before the first delivery, which comes after start has returned`() throws
    {
        let system = self.make()
        let seen = self.noted(system)
        #expect(system.status == .unknown && !system.status.isReachable && seen.current.isEmpty)
        // While the thread that watches is held up, start returns all the same, and nothing is known yet.
        let release = Watched(false)
        self.engine.engine.loops[0].execute { _ = try? release.wait(for: "the test to go on") { $0 } }
        try self.start(system)
        #expect(system.status == .unknown && seen.current.isEmpty)
        release.change { $0 = true }
        try seen.wait(for: "the first status") { $0 == [.notReachable] }
        #expect(system.status == .notReachable)
    }

    @Test func `RCH-03 RCH-04 a network that is there at the start is told to block and subscriber`() async throws {
        try self.connect()
        let system = self.make()
        let seen = self.noted(system)
        var changes = system.changes.makeAsyncIterator()
        try self.start(system)
        #expect(await changes.next() == .reachableViaWiFi)
        #expect(seen.current == [.reachableViaWiFi])
    }

    @Test func `RCH-07 the status follows links, addresses and routes as they come and go`() throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.start(system)
        try seen.wait(for: "nothing") { $0.count == 1 }
        try self.connect()
        try seen.wait(for: "a route") { $0.count == 2 }
        try self.near.ip("route", "del", "default")
        try seen.wait(for: "no route") { $0.count == 3 }
        try self.near.ip("route", "add", "default", "via", "10.99.0.2", "metric", "50")
        try seen.wait(for: "a route again") { $0.count == 4 }
        // The other end is switched off: the carrier goes, the route stays.
        try self.far.ip("link", "set", "uplink", "down")
        try seen.wait(for: "no carrier") { $0.count == 5 }
        try self.far.ip("link", "set", "uplink", "up")
        try seen.wait(for: "a carrier") { $0.count == 6 }
        // This side's end is switched off: the kernel does not report the routes that vanish with it.
        try self.near.ip("link", "set", "uplink", "down")
        try seen.wait(for: "no link") { $0.count == 7 }
        let (no, yes) = (ReachabilityStatus.notReachable, ReachabilityStatus.reachableViaWiFi)
        #expect(seen.current == [no, yes, no, yes, no, yes, no])
    }

    @Test func `RCH-07 IPv6 alone is a network, a route to nowhere is none`() throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.near.ip("link", "set", "uplink", "up")
        try self.far.ip("link", "set", "uplink", "up")
        try self.start(system)
        try seen.wait(for: "nothing") { $0 == [.notReachable] }
        try self.near.ip("route", "add", "unreachable", "default")
        try self.near.ip("-6", "addr", "add", "fd99::1/64", "dev", "uplink", "nodad")
        try self.near.ip("-6", "route", "add", "default", "via", "fd99::2")
        try seen.wait(for: "a route") { $0.count == 2 }
        #expect(seen.current == [.notReachable, .reachableViaWiFi])
    }

    @Test func `RCH-09 a link with a modem's name is WWAN`() throws {
        try self.connect()
        let system = self.make()
        let seen = self.noted(system)
        try self.start(system)
        try seen.wait(for: "a route") { $0 == [.reachableViaWiFi] }
        try self.near.ip("link", "set", "uplink", "down")
        try self.near.ip("link", "set", "uplink", "name", "wwan0")
        try self.near.ip("link", "set", "wwan0", "up")
        try self.near.ip("route", "add", "default", "via", "10.99.0.2")
        try seen.wait(for: "a mobile route") { $0.last == .reachableViaWWAN }
    }

    // MARK: Deliveries

    @Test func `RCH-05 RCH-10 the status is set before the block runs, and the block runs before subscribers are told`()
        async throws
    {
        let system = self.make()
        let order = Watched<[String]>([])
        let release = Watched(false)
        system.onChange { [weak system] status in
            order.change { $0.append("block \(status), status \(system?.status ?? .unknown)") }
            _ = try? release.wait(for: "the test to go on") { $0 }
            order.change { $0.append("block ends") }
        }
        let changes = system.changes
        let listener = Task {
            for await status in changes { return order.change { $0.append("subscriber \(status)") } }
        }
        try self.start(system)
        try await order.reach("the block") { $0.count == 1 }
        release.change { $0 = true }
        await listener.value
        #expect(
            order.current == [
                "block Not Reachable, status Not Reachable", "block ends", "subscriber Not Reachable",
            ])
    }

    @Test func `RCH-11 a change that leaves the status as it is delivers nothing`() async throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.start(system)
        try await seen.reach("nothing") { $0.count == 1 }
        try self.near.ip("route", "add", "unreachable", "10.5.0.0/16")
        try self.near.ip("addr", "add", "10.98.0.1/24", "dev", "uplink")
        try self.connect()
        try await seen.reach("a route") { $0.last == .reachableViaWiFi }
        #expect(seen.current == [.notReachable, .reachableViaWiFi])
    }

    @Test func `RCH-12 a second start takes the place of the first`() async throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.start(system)
        try await seen.reach("the first start") { $0.count == 1 }
        // The first delivery of a start always comes.
        try self.start(system)
        try await seen.reach("the second start") { $0.count == 2 }
        try self.connect()
        try await seen.reach("a route") { $0.last == .reachableViaWiFi }
        try await self.settle()
        #expect(seen.current == [.notReachable, .notReachable, .reachableViaWiFi])
    }

    @Test(.timeLimit(.minutes(5)))
    func `RCH-12 RCH-13 what is started twice listens once, and what is stopped or gone does not`() async throws {
        #expect(try self.near.routeListeners() == 0)
        var system: Reachability? = self.make()
        for _ in 0..<2 { try self.start(try #require(system)) }
        try await self.hasListeners(1)
        system?.stop()
        try await self.hasListeners(0)
        try self.start(try #require(system))
        #expect(try self.near.routeListeners() == 1)
        system = nil
        try await self.hasListeners(0)
    }

    @Test func `RCH-13 after stop the status stays and nothing is delivered`() async throws {
        let stopped = self.make()
        let running = self.make()
        let (seen, others) = (self.noted(stopped), self.noted(running))
        try self.start(stopped)
        try self.start(running)
        try await seen.reach("the status") { $0.count == 1 }
        try await others.reach("the status") { $0.count == 1 }
        stopped.stop()
        try self.connect()
        try await others.reach("a route") { $0.last == .reachableViaWiFi }
        try await self.settle()
        #expect(seen.current == [.notReachable] && stopped.status == .notReachable)
        // A new subscriber gets the known status.
        var changes = stopped.changes.makeAsyncIterator()
        #expect(await changes.next() == .notReachable)
        #expect(stopped.status(of: try self.address("10.99.0.2")) == .unknown)
    }

    @Test func `RCH-13 RCH-14 an object that goes stops, and ends its subscribers`() async throws {
        var system: Reachability? = self.make()
        let seen = self.noted(try #require(system))
        let changes = try #require(system?.changes)
        try self.start(try #require(system))
        try await seen.reach("the status") { $0.count == 1 }
        weak let weak = system
        system = nil
        var told: [ReachabilityStatus] = []
        for await status in changes { told.append(status) }
        #expect(told == [.notReachable] && weak == nil)
        let running = self.make()
        let others = self.noted(running)
        try self.start(running)
        try self.connect()
        try await others.reach("a route") { $0.last == .reachableViaWiFi }
        #expect(seen.current == [.notReachable])
    }

    @Test func `each subscriber has all deliveries from its first look on`() async throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.start(system)
        try await seen.reach("the status") { $0.count == 1 }
        try await self.settle()
        var (one, two) = (system.changes.makeAsyncIterator(), system.changes.makeAsyncIterator())
        #expect(await one.next() == .notReachable)
        try self.connect()
        #expect(await one.next() == .reachableViaWiFi)
        #expect(await two.next() == .notReachable)
        #expect(await two.next() == .reachableViaWiFi)
    }

    /// Asks for a status as it is released.
    private final class Asker: Sendable {
        let reachability: Reachability

        init(_ reachability: Reachability) { self.reachability = reachability }

        deinit { _ = self.reachability.status }
    }

    @Test func `what a block holds may ask for the status when the block is taken away`() {
        let system = self.make()
        system.onChange { [asker = Asker(system)] _ in withExtendedLifetime(asker) {} }
        system.onChange(nil)
        #expect(system.status == .unknown)
    }

    @Test func `a block can be replaced and taken away`() async throws {
        let system = self.make()
        let first = self.noted(system)
        try self.start(system)
        try await first.reach("the status") { $0.count == 1 }
        let second = self.noted(system)
        try self.connect()
        try await second.reach("a route") { $0 == [.reachableViaWiFi] }
        system.onChange(nil)
        var changes = system.changes.makeAsyncIterator()
        _ = await changes.next()
        try self.near.ip("route", "del", "default")
        #expect(await changes.next() == .notReachable)
        #expect(first.current.count == 1 && second.current.count == 1)
    }

    // MARK: One destination

    @Test func `this machine is reachable without any network`() throws {
        try self.near.ip("link", "set", "uplink", "up")
        for text in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "10.99.0.1"] {
            let machine = self.make(.address(try self.address(text)))
            let seen = self.noted(machine)
            try self.start(machine)
            try seen.wait(for: text) { $0 == [.reachableViaWiFi] }
        }
        let loopback = self.make(.address(try self.address("127.0.0.1")))
        let seen = self.noted(loopback)
        try self.near.ip("link", "set", "lo", "down")
        try self.start(loopback)
        try seen.wait(for: "no loopback") { $0 == [.notReachable] }
    }

    @Test func `an address is reachable when a route over a working link leads to it`() throws {
        let neighbour = self.make(.address(try self.address("10.99.0.2")))
        let elsewhere = self.make(.address(try self.address("10.1.2.3")))
        let (near, far) = (self.noted(neighbour), self.noted(elsewhere))
        try self.start(neighbour)
        try self.start(elsewhere)
        try near.wait(for: "nothing") { $0 == [.notReachable] }
        try far.wait(for: "nothing") { $0 == [.notReachable] }
        try self.near.ip("link", "set", "uplink", "up")
        try self.far.ip("link", "set", "uplink", "up")
        try near.wait(for: "its network") { $0.last == .reachableViaWiFi }
        #expect(elsewhere.status == .notReachable)
        // A specific route, without a default route.
        try self.near.ip("route", "add", "10.1.0.0/16", "via", "10.99.0.2")
        try far.wait(for: "its route") { $0.last == .reachableViaWiFi }
        try self.near.ip("route", "add", "prohibit", "10.1.2.0/24")
        try far.wait(for: "a prohibition") { $0.last == .notReachable }
        try self.far.ip("link", "set", "uplink", "down")
        try near.wait(for: "no carrier") { $0.last == .notReachable }
    }

    @Test func `a name is looked up, and its addresses decide`() throws {
        let (name, literal) = (self.make(.host("localhost")), self.make(.host("10.1.2.3")))
        let (seen, others) = (self.noted(name), self.noted(literal))
        try self.start(name)
        try self.start(literal)
        try seen.wait(for: "localhost") { $0 == [.reachableViaWiFi] }
        try others.wait(for: "an address for a name") { $0 == [.notReachable] }
        try self.connect()
        try others.wait(for: "a route") { $0.last == .reachableViaWiFi }
    }

    @Test func `a name without address is not reachable without a network, and unknown with one`() throws {
        // Names that end so never exist (RFC 6761 §6.4), whatever network the test itself is in.
        let unknown = self.make(.host("no-such-host.invalid"))
        let seen = self.noted(unknown)
        try self.start(unknown)
        try seen.wait(for: "no network") { $0 == [.notReachable] }
        try self.connect()
        try seen.wait(for: "a network") { $0.last == .unknown }
    }

    @Test func `a flood of changes ends in the right status`() throws {
        let system = self.make()
        let seen = self.noted(system)
        try self.connect()
        // The thread that watches sees none of it while it happens: the socket's buffer overflows.
        let release = Watched(false)
        try self.start(system)
        try seen.wait(for: "a route") { $0 == [.reachableViaWiFi] }
        self.engine.engine.loops[0].execute { _ = try? release.wait(for: "the flood") { $0 } }
        try self.near.batch((0..<3000).map { "route add 10.\(16 + $0 / 256).\($0 % 256).0/24 via 10.99.0.2" })
        try self.near.ip("route", "del", "default")
        release.change { $0 = true }
        try seen.wait(for: "no route") { $0 == [.reachableViaWiFi, .notReachable] }
    }
}
