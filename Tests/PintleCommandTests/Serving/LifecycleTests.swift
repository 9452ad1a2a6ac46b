// SPDX-License-Identifier: Apache-2.0

import Logging
import PintleActivity
import PintlePolicy
import PintleProxy
import PintleTesting
import PintleTrust
import Testing

@testable import pintle

/// The order in which the parts of a proxy start and stop, whatever ends the start.
struct LifecycleTests {
    private static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private let lifecycle = Lifecycle(logger: Self.logger)
    private let stopped = Watched<[Lifecycle.Part]>([])

    private func start(_ part: Lifecycle.Part) throws(CommandFailure) {
        try self.lifecycle.started(part) { [stopped] in stopped.change { $0.append(part) } }
    }

    // MARK: Recorded parts

    @Test(arguments: 0...Lifecycle.Part.allCases.count)
    func `a failure after any part stops those that have started, in reverse`(count: Int) async throws {
        let started = Lifecycle.Part.allCases.prefix(count)
        for part in started { try self.start(part) }
        #expect(self.lifecycle.state == (count == 0 ? .assembling : .starting))
        #expect(self.lifecycle.running == Array(started))
        await self.lifecycle.stop(within: .zero)
        #expect(self.stopped.current == started.reversed())
        #expect(self.lifecycle.running.isEmpty && self.lifecycle.state == .stopped)
    }

    @Test(arguments: Lifecycle.Part.allCases)
    func `a request to stop ends the start with the part that was starting, and without an error`(
        last: Lifecycle.Part
    ) async throws {
        let started = Lifecycle.Part.allCases.filter { $0.rawValue <= last.rawValue }
        for part in started.dropLast() { try self.start(part) }
        #expect(self.lifecycle.requestStop())
        let failure = #expect(throws: CommandFailure.self) { try self.start(last) }
        #expect(failure?.code == .success && failure?.lines.isEmpty == true)
        await self.lifecycle.waitForStopRequest()
        await self.lifecycle.stop(within: .zero)
        #expect(self.stopped.current == started.reversed())
    }

    @Test func `a request to stop after the last part keeps the proxy from serving`() async throws {
        for part in Lifecycle.Part.allCases { try self.start(part) }
        #expect(self.lifecycle.requestStop())
        #expect(throws: CommandFailure.self) { try self.lifecycle.serve() }
        await self.lifecycle.stop(within: .zero)
        #expect(self.stopped.current == Lifecycle.Part.allCases.reversed())
    }

    @Test(arguments: [true, false])
    func `a proxy that serves drains before its first part stops`(isClean: Bool) async throws {
        let running = Watched<[Lifecycle.Part]>([])
        for part in Lifecycle.Part.allCases {
            guard part == .listeners else {
                try self.start(part)
                continue
            }
            try self.lifecycle.started(
                part,
                drain: { [lifecycle] patience in
                    #expect(patience == .seconds(7) && lifecycle.state == .draining)
                    running.change { $0 = lifecycle.running }
                    return isClean
                })
        }
        try self.lifecycle.serve()
        #expect(self.lifecycle.state == .serving)
        #expect(self.lifecycle.requestStop() && !self.lifecycle.requestStop())
        await self.lifecycle.waitForStopRequest()
        #expect(await self.lifecycle.stop(within: .seconds(7)) == isClean)
        #expect(running.current == Lifecycle.Part.allCases)
        #expect(self.stopped.current == Lifecycle.Part.allCases.filter { $0 != .listeners }.reversed())
        #expect(!self.lifecycle.requestStop(), "a signal after the end asks for nothing new")
    }

    // MARK: Real parts

    private func start(
        _ yaml: String, authority: ServingProxy.Authority = ActiveConfiguration.noAuthority
    ) throws -> ServingProxy {
        let configuration = try PolicyLoader.configuration(
            yaml: Array("version: 1\n\(yaml)\n".utf8), file: "pintle.yaml", surroundings: .system(environment: [:]))
        return try ServingProxy(
            Policy(configuration, file: "pintle.yaml"), sinks: ExchangeSinks(),
            logger: Self.logger, in: self.lifecycle, authority: authority)
    }

    @Test func `a server's parts start in order, and all of them stop`() async throws {
        let server = try self.start("listen: \"127.0.0.1:0\"")
        #expect(self.lifecycle.running == [.engine, .activity, .reachability, .sessions, .askWebhook, .listeners])
        #expect(server.address.port > 0)
        try self.lifecycle.serve()
        #expect(await self.lifecycle.stop(within: .seconds(60)))
        #expect(self.lifecycle.running.isEmpty)
    }

    @Test func `without an authority for interception nothing listens`() async throws {
        let failure = #expect(throws: CommandFailure.self) {
            _ = try self.start("listen: \"127.0.0.1:0\"\ninterception: {hosts: [\"a.test\"]}")
        }
        #expect(failure?.code == .incomplete)
        #expect(self.lifecycle.running == [.engine, .activity, .reachability])
        await self.lifecycle.stop(within: .zero)
        #expect(self.lifecycle.running.isEmpty)
    }

    @Test func `an address that is taken leaves no listener`() async throws {
        let other = try RawOrigin(answering: "")
        let failure = #expect(throws: CommandFailure.self) {
            _ = try self.start("listen: [\"127.0.0.1:0\", \"127.0.0.1:\(other.port)\"]")
        }
        #expect(failure?.lines.first?.hasPrefix("cannot listen on 127.0.0.1:\(other.port): ") == true)
        #expect(self.lifecycle.running == [.engine, .activity, .reachability, .sessions, .askWebhook])
        await self.lifecycle.stop(within: .zero)
        #expect(self.lifecycle.running.isEmpty)
    }

    @Test func `a request to stop while certificates are loaded keeps the listeners closed`() async throws {
        let failure = #expect(throws: CommandFailure.self) {
            _ = try self.start("listen: \"127.0.0.1:0\"\ninterception: {hosts: [\"a.test\"]}") {
                [lifecycle] _ throws(TrustError) in
                #expect(lifecycle.requestStop())
                return try CertificateAuthority(named: "Pintle test")
            }
        }
        #expect(failure?.code == .success)
        #expect(self.lifecycle.running == [.engine, .activity, .reachability, .sessions])
        await self.lifecycle.stop(within: .zero)
        #expect(self.lifecycle.running.isEmpty)
    }
}
