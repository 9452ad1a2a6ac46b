// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleReachability
import PintleSession
import PintleTesting
import Testing

/// The known status of a host and of an address, from the beginning to the first delivery. This machine itself can be
/// reached without any network.
@Suite(.timeLimit(.minutes(15))) struct DestinationStartTests {
    static let destinations = ["system", "host", "address"]

    private let engine: EngineOwner

    private final class EngineOwner: Sendable {
        let engine: Engine

        init() throws { self.engine = try Engine(threads: 1) }
        deinit { self.engine.stop() }
    }

    init() throws { self.engine = try EngineOwner() }

    private func make(_ name: String) throws -> Reachability {
        let destination: Reachability.Destination =
            switch name {
            case "host": .host("localhost")
            case "address": .address(try SocketAddress(ipAddress: "127.0.0.1", port: 0))
            default: .system
            }
        return Reachability(destination, engine: self.engine.engine)
    }

    @Test(arguments: Self.destinations)
    func `RCH-02 whatever is asked about is unknown until it is started`(name: String) throws {
        let asked = try self.make(name)
        asked.onChange { _ in Issue.record("told before the start") }
        #expect(asked.status == .unknown && !asked.status.isReachable)
    }

    @Test(arguments: Self.destinations.dropFirst())
    func `RCH-03 RCH-04 RCH-05 a host and an address are told to block and subscriber, each by its own object`(
        name: String
    ) async throws {
        let (asked, other) = (try self.make(name), try self.make(name))
        let seen = Watched<[ReachabilityStatus]>([])
        asked.onChange { status in seen.change { $0.append(status) } }
        other.onChange { _ in Issue.record("told of another's change") }
        var changes = asked.changes.makeAsyncIterator()
        try asked.start()
        let first = try #require(await changes.next())
        #expect(first.isReachable && first == asked.status && seen.current.first == first)
        #expect(other.status == .unknown)
        asked.stop()
    }
}
