// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleWebSocket
import Testing

/// The cases of the Autobahn test suite, against the client of a session that echoes every message, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct ClientRoleTests {
    static let cases = FramingCases.all + TextCases.all + ClosingCases.all + SizeCases.all

    @Test func `the table has every case of sections 1 to 7, 9, 10, 12 and 13`() {
        var counts: [String: Int] = [:]
        let numbers =
            Self.cases.map(\.number) + SizeCases.roundTrips.map(\.number) + CompressionCase.all.map(\.number)
        for number in numbers { counts[String(number.prefix { $0 != "." }), default: 0] += 1 }
        #expect(Set(numbers).count == numbers.count)
        #expect(
            counts == [
                "1": 16, "2": 11, "3": 7, "4": 10, "5": 20, "6": 145, "7": 37, "9": 54, "10": 1, "12": 90, "13": 126,
            ])
    }

    @Test(arguments: Self.cases)
    func `a client that echoes does as a case demands`(test: AutobahnCase) async throws {
        let outcome = Watched<Result<AutobahnOutcome, TestFailure>?>(nil)
        let origin = try RawOrigin { connection in
            do {
                let result = try Self.run(test, with: WebSocketPeer(connection))
                outcome.change { $0 = .success(result) }
            } catch {
                outcome.change { $0 = .failure(TestFailure("\(test.number): \(error)")) }
            }
        }
        let stage = try EchoStage()
        let error = await stage.echo(origin.port)
        try #require(try await outcome.reach(test.number) { $0 != nil }).get().check(test)
        switch test.ending {
        case .failed:
            let violation = error?.underlying as? WebSocketViolation
            #expect(
                error?.code == .malformedResponse && violation != nil, "\(test.number): \(String(describing: error))")
        case .byPeer, .answered: #expect(error == nil, "\(test.number)")
        case .any: break
        }
    }

    /// Plays the server.
    private static func run(_ test: AutobahnCase, with peer: WebSocketPeer) throws -> AutobahnOutcome {
        var outcome = AutobahnOutcome()
        for step in test.steps {
            switch step {
            case .send(let frames, let pieces): try peer.send(frames.flatMap(\.bytes), inPiecesOf: pieces)
            case .part(let frame, let range):
                let start = frame.bytes.count - frame.payload.count
                let first = range.lowerBound == 0 ? 0 : start + range.lowerBound
                try peer.send(Array(frame.bytes[first..<(start + range.upperBound)]))
            case .await(let count): while outcome.replies.count < count { outcome.take(try peer.readFrame()) }
            }
        }
        if case .byPeer = test.ending {
            while outcome.replies.count < test.replies.count, outcome.close == nil {
                outcome.take(try peer.readFrame())
            }
            try peer.send(.close(1000))
        }
        while try !peer.stream.unread.isEmpty || peer.stream.fill() {
            outcome.take(try peer.readFrame())
            // A server ends the connection first, when everything was said.
            if outcome.close != nil { peer.stream.finishSending() }
        }
        return outcome
    }

    @Test(arguments: SizeCases.roundTrips)
    func `a client echoes message after message`(test: RoundTrips) async throws {
        let count = Watched(0)
        let origin = try RawOrigin { connection in
            let peer = try WebSocketPeer(connection)
            for _ in 0..<test.count {
                try peer.send(test.frame)
                var echo = try peer.readFrame()
                echo.mask = []
                guard echo == test.frame else { break }
                count.change { $0 += 1 }
            }
            try peer.send(.close(1000))
            try peer.finish(after: peer.readFrame(8))
        }
        #expect(await (try EchoStage()).echo(origin.port) == nil)
        #expect(count.current == test.count)
    }

    @Test(arguments: CompressionCase.all)
    func `a client echoes compressed messages`(test: CompressionCase) async throws {
        let outcome = Watched<[String]>([])
        let origin = try RawOrigin { connection in
            let peer = try WebSocketPeer(
                connection, fields: "Sec-WebSocket-Extensions: \(test.agreement.answer)\r\n")
            let deflating = try DeflatingPeer(
                own: (15, false), others: (test.agreement.clientBits, test.agreement.clientForgets))
            do {
                for message in test.messages {
                    try peer.send(
                        deflating.frames(of: message, isText: test.isText, fragment: test.fragment).flatMap(\.bytes))
                    let echo = try Self.readMessage(peer, deflating)
                    outcome.change { $0.append(echo == message ? "right" : "wrong") }
                }
            } catch {
                outcome.change { $0.append("\(error)") }
            }
            try peer.send(.close(1000))
            try peer.finish(after: peer.readFrame(8))
        }
        #expect(await (try EchoStage()).echo(origin.port) == nil, "\(test.number)")
        #expect(outcome.current == Array(repeating: "right", count: test.count), "\(test.number)")
    }

    private static func readMessage(_ peer: WebSocketPeer, _ deflating: DeflatingPeer) throws -> [UInt8] {
        let first = try peer.readFrame()
        var (payload, isFinal) = (first.payload, first.isFinal)
        while !isFinal {
            let frame = try peer.readFrame()
            guard frame.opcode == 0, frame.reserved == 0 else { throw TestFailure("\(frame)") }
            payload += frame.payload
            isFinal = frame.isFinal
        }
        return first.reserved == 4 ? try deflating.inflated(payload) : payload
    }
}

/// A session whose WebSocket sends every message back.
final class EchoStage: Sendable {
    private let engine: Engine
    let session: Session

    init() throws {
        self.engine = try Engine(threads: 1)
        self.session = try Session(engine: self.engine)
    }

    deinit {
        self.session.close()
        self.engine.stop()
    }

    /// Echoes until the server closes.
    ///
    /// - Returns: the error, if the end was not in order.
    func echo(_ port: Int, options: WebSocketOptions = WebSocketOptions()) async -> SessionError? {
        do {
            let socket = try await self.session.webSocket("ws://127.0.0.1:\(port)/echo", options: options)
            for try await message in socket {
                do {
                    try await socket.send(message)
                } catch {
                    // A Close that came meanwhile is heard of by reading.
                    guard error.code == .cannotSend else { throw error }
                }
            }
            await socket.close()
            return nil
        } catch {
            return error as? SessionError
        }
    }
}
