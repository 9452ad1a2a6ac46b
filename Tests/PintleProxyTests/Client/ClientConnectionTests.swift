// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleTesting
import Testing

@testable import PintleProxy
@testable import PintleSession

/// The connection of an HTTP/1.1 client on a worker, over a transport in memory.
struct ClientConnectionTests {
    /// Pintle answers it without an origin.
    private static let options = "OPTIONS http://a.test/ HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n\r\n"
    private static let get = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"

    @Test func `a client is answered in order, wherever its bytes are cut, and leaves nothing behind`() throws {
        let stage = try ClientConnectionStage()
        let bytes = Array((Self.options + Self.options + "nonsense\r\n\r\n" + Self.options).utf8)
        for cut in bytes.indices {
            let play = try stage.play { client in
                client.send(bytes[..<cut])
                client.send(bytes[cut...])
                client.leave()
            }
            #expect(play.statuses == ["200", "200", "400"], "cut at \(cut)")
            #expect(play.hasEnded && play.leftovers.isEmpty, "cut at \(cut): \(play.leftovers)")
        }
    }

    @Test func `a client that breaks off anywhere leaves nothing behind`() throws {
        let stage = try ClientConnectionStage()
        let bytes = Array((Self.options + Self.get).utf8)
        for end in bytes.indices {
            let play = try stage.play { client in
                client.send(bytes[...end])
                client.breakOff()
            }
            #expect(play.hasEnded && play.leftovers.isEmpty, "end at \(end): \(play.leftovers)")
        }
    }

    @Test func `a client that sends on behind its answer is read for half a minute`() throws {
        let stage = try ClientConnectionStage()
        let play = try stage.play { client in
            client.send("nonsense\r\n\r\n".utf8)
            for second in 1..<30 {
                client.pass(.seconds(1))
                client.send("content".utf8)
                #expect(!client.transport.isClosed, "after \(second) s")
            }
            client.pass(.seconds(1))
        }
        #expect(play.statuses == ["400"])
        #expect(play.hasEnded && play.leftovers.isEmpty, "\(play.leftovers)")
    }

    @Test func `a client that sends nothing behind its answer has two seconds to close`() throws {
        let stage = try ClientConnectionStage()
        let play = try stage.play { client in
            client.send("nonsense\r\n\r\n".utf8)
            client.pass(.seconds(1))
            #expect(!client.transport.isClosed)
            client.pass(.seconds(1))
        }
        #expect(play.hasEnded && play.leftovers.isEmpty, "\(play.leftovers)")
    }

    @Test func `an exchange that writes to a client that has left hears of it at the end of the turn`() throws {
        let stage = try ClientConnectionStage()
        let play = try stage.play { client in
            client.send(Self.get.utf8)
            guard let exchange = client.connection.requests.receiver else { return client.fail("no exchange") }
            client.transport.breakOff()
            exchange.originAnswered(ResponseHead(status: 200), length: 200_000)
            [UInt8](repeating: 0x61, count: 100_000).withUnsafeBytes { exchange.originSent($0) }
            let isAbandoned = if case .abandoned = client.connection.requests.phase { true } else { false }
            #expect(isAbandoned)
            #expect(client.origins.last?.isOver == false)
        }
        #expect(play.isOriginOver && play.hasEnded)
        #expect(play.leftovers.isEmpty, "\(play.leftovers)")
    }
}

/// Plays clients, one after another.
private final class ClientConnectionStage: @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only.
    private let engine: Engine
    private let worker: ModelWorker
    private let opener = RecordingOpener(Transcript())
    /// The reading end of a pipe into which nothing is written: a descriptor that is never ready.
    private let silence: Int32

    /// The outcome of a client's visit.
    struct Play: Sendable {
        let statuses: [String]
        let hasEnded: Bool
        let isOriginOver: Bool
        let leftovers: [String]
    }

    init() throws {
        self.engine = try Engine(threads: 1)
        self.worker = try ModelWorker("", asking: self.opener, on: self.engine)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        self.silence = ends[0]
    }

    /// Connects a client, and plays its events in one turn.
    func play(_ events: @escaping @Sendable (VisitingClient) -> Void) throws -> Play {
        let promise = self.worker.loop.makePromise(of: Play.self)
        self.worker.loop.execute {
            let client = VisitingClient(self.worker, self.opener, descriptor: dup(self.silence))
            events(client)
            self.worker.loop.atEndOfTurn(
                AfterTurn {
                    promise.succeed(
                        Play(
                            statuses: client.statuses, hasEnded: client.transport.isClosed,
                            isOriginOver: client.origins.last?.isOver ?? true, leftovers: self.worker.leftovers))
                })
        }
        return try promise.futureResult.wait()
    }

    private final class AfterTurn: TurnEndWork {
        private let work: () -> Void

        init(_ work: @escaping () -> Void) { self.work = work }

        func runAtEndOfTurn() { self.work() }
    }
}

/// A client with its connection. Used on the loop's thread only.
private final class VisitingClient {
    let transport: FrameTransport
    let connection: ClientConnection
    private let channel: SocketChannel
    private let worker: ModelWorker
    private let opener: RecordingOpener
    private var received = ""

    init(_ worker: ModelWorker, _ opener: RecordingOpener, descriptor: Int32) {
        (self.worker, self.opener) = (worker, opener)
        self.transport = FrameTransport(descriptor)
        self.channel = SocketChannel(descriptor: descriptor, loop: worker.loop, transport: self.transport)
        self.channel.account = worker.worker.memory
        _ = worker.limiter.enter(ModelWorker.peer, worker.worker.active.limits)
        self.connection = ClientConnection(
            worker: worker.worker, channel: self.channel, tls: nil, client: ModelWorker.peer)
        self.transport.whenSent = { [weak self] in self?.received += String(decoding: $0, as: UTF8.self) }
        do {
            try self.channel.pipeline.syncOperations.addHandler(self.connection)
        } catch {
            self.fail("the channel takes no handler: \(error)")
        }
        self.channel.start()
    }

    var origins: [RecordingOrigin] { self.opener.origins }

    /// The status codes of the responses so far.
    var statuses: [String] {
        self.received.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false).dropFirst().map {
            String($0.prefix(3))
        }
    }

    func fail(_ reason: String) { Issue.record(Comment(rawValue: reason)) }

    func send(_ bytes: some Sequence<UInt8>) {
        self.transport.send(Array(bytes))
        self.goOn()
    }

    /// Lets time pass within the turn.
    func pass(_ time: TimeAmount) {
        self.worker.begin()
        self.worker.pass(time)
    }

    func leave() {
        self.transport.leave()
        self.goOn()
    }

    func breakOff() {
        self.transport.breakOff()
        self.goOn()
    }

    private func goOn() {
        self.transport.deliver()
        self.channel.transportCanGoOn()
    }
}
