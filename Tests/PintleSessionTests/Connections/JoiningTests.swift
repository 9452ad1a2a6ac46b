// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Transfers that begin while the first connection to their origin is being made: its version of HTTP is not known yet.
struct JoiningTests {
    private static let count = 8

    private let root: TestIdentity
    private let leaf: TestIdentity
    /// Until it holds no hands are shaken.
    private let mayShakeHands = Watched(false)

    init() throws {
        self.root = try TestPKI().root()
        self.leaf = try TestPKI().leaf(ip: ["127.0.0.1"], signedBy: self.root)
    }

    private func stage() throws -> SessionStage {
        // The handshake waits until a test has seen who waits for it, which may be long on a busy machine.
        var configuration = SessionConfiguration()
        configuration.connectTimeout = .seconds(3600)
        return try SessionStage(
            policy: SecurityPolicy(pinning: .none, roots: .only([self.root.certificate])), configuration: configuration)
    }

    /// An origin that performs its handshake when the test allows it, on the first connection only if `isHonest`, and then
    /// runs `script`.
    private func origin(
        speaksHTTP2: Bool, isHonest: Bool = true, _ script: @escaping RawOrigin.Script
    ) throws -> RawOrigin {
        let (side, mayShakeHands) = (try TLSServerSide(self.leaf, speaksHTTP2: speaksHTTP2), self.mayShakeHands)
        return try RawOrigin { connection in
            try mayShakeHands.wait(for: "leave to shake hands") { $0 }
            guard isHonest || connection.number > 0 else { return }
            try connection.stream.secure(as: side)
            try script(connection)
        }
    }

    /// Answers every request of HTTP/2.
    private static let answeringHTTP2: RawOrigin.Script = { connection in
        var peer = try HTTP2Peer(connection.stream)
        while true { try peer.answer(try peer.nextRequest().stream, "2") }
    }

    /// Starts tasks of which all are under way before a hand is shaken.
    private func begin(_ stage: SessionStage, _ origin: RawOrigin) throws -> [SessionTask] {
        let tasks = try (0..<Self.count).map { _ in
            try stage.session.dataTask(request(origin.port, scheme: .https))
        }
        for task in tasks { task.resume() }
        return tasks
    }

    private func allUnderWay(_ stage: SessionStage) async {
        while stage.session.runningTransfers() < Self.count { await Task.yield() }
    }

    @Test func `where HTTP 2 comes of it one handshake is for all`() async throws {
        let origin = try self.origin(speaksHTTP2: true, Self.answeringHTTP2)
        let stage = try self.stage()
        let tasks = try self.begin(stage, origin)
        await self.allUnderWay(stage)
        self.mayShakeHands.change { $0 = true }
        for task in tasks { #expect(try await task.value().text == "2") }
        #expect(origin.connections.count == 1)
    }

    @Test func `where HTTP 1 comes of it each has a connection of its own`() async throws {
        let asked = Watched(0)
        let origin = try self.origin(speaksHTTP2: false) { connection in
            _ = try connection.readRequest()
            asked.change { $0 += 1 }
            // No request waits for the answer to another one.
            try asked.wait(for: "all to have asked") { $0 == Self.count }
            try connection.send(response("1"))
            _ = try connection.waitForEnd()
        }
        let stage = try self.stage()
        let tasks = try self.begin(stage, origin)
        await self.allUnderWay(stage)
        #expect(origin.connections.count <= 1)
        self.mayShakeHands.change { $0 = true }
        for task in tasks { #expect(try await task.value().text == "1") }
        #expect(origin.connections.count == Self.count)
    }

    @Test func `when it fails only the one that made it has failed, and one of the others makes the next`() async throws
    {
        let origin = try self.origin(speaksHTTP2: true, isHonest: false, Self.answeringHTTP2)
        let stage = try self.stage()
        let tasks = try self.begin(stage, origin)
        await self.allUnderWay(stage)
        self.mayShakeHands.change { $0 = true }
        var (answers, errors): ([String], [SessionError.Code]) = ([], [])
        for task in tasks {
            do throws(SessionError) {
                answers.append(try await task.value().text)
            } catch {
                errors.append(error.code)
            }
        }
        #expect(answers == Array(repeating: "2", count: Self.count - 1) && errors == [.tlsFailure])
        #expect(origin.connections.count == 2)
    }

    @Test func `when the one that makes it is cancelled another one makes it`() async throws {
        let origin = try self.origin(speaksHTTP2: true, Self.answeringHTTP2)
        let stage = try self.stage()
        let first = try stage.session.dataTask(request(origin.port, scheme: .https))
        first.resume()
        while origin.connections.isEmpty { await Task.yield() }
        let tasks = try self.begin(stage, origin)
        while stage.session.runningTransfers() < Self.count + 1 { await Task.yield() }
        first.cancel()
        #expect(await sessionError { _ = try await first.value() }?.code == .cancelled)
        self.mayShakeHands.change { $0 = true }
        for task in tasks { #expect(try await task.value().text == "2") }
        #expect(origin.connections.count == 2)
    }
}
