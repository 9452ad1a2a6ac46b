// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The effect of a suspended task on the wire.
@Suite(.timeLimit(.minutes(15))) struct SuspensionTests {
    /// More than the buffers of two sockets hold.
    private static let size = 48 << 20
    private static let piece = [UInt8].pattern(1 << 20)

    private let silent: RawOrigin

    init() throws { self.silent = try RawOrigin { _ = try $0.waitForEnd() } }

    /// Other requests that time out tell that time has passed.
    private func letTimePass() async throws {
        let stage = try SessionStage()
        for _ in 0..<3 {
            let error = await stage.failure(of: request(self.silent.port, timeout: .milliseconds(200)))
            #expect(error?.code == .timeout)
        }
    }

    @Test func `a task that is suspended before it has a connection receives nothing until it is resumed`() async throws
    {
        let (mayAnswer, sent) = (Watched(false), Watched(0))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("first"))
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n")
            for _ in 0..<Self.size / Self.piece.count {
                try connection.stream.send(Self.piece)
                sent.change { $0 += Self.piece.count }
            }
        }
        var configuration = SessionConfiguration()
        configuration.connectionsPerHost = 1
        let stage = try SessionStage(configuration: configuration)
        let tasks = try (0..<2).map { _ in try stage.session.dataTask(request(origin.port)) }
        tasks[0].resume()
        try await origin.reachRequests(1)
        tasks[1].resume()
        while stage.session.runningTransfers() < 2 { await Task.yield() }
        tasks[1].suspend()
        mayAnswer.change { $0 = true }
        #expect(try await tasks[0].value().text == "first")
        try await origin.reachRequests(2)
        try await self.letTimePass()
        #expect(sent.current < Self.size)
        tasks[1].resume()
        var expected = ByteBuffer()
        for _ in 0..<Self.size / Self.piece.count { expected.writeBytes(Self.piece) }
        let isWhole = try await tasks[1].value().body == expected
        #expect(isWhole)
    }

    @Test(arguments: [false, true])
    func `a body of either version is whole after a suspension that began before the connection`(
        http2: Bool
    ) async throws {
        let nginx = try NginxOrigin(http2: http2)
        var configuration = SessionConfiguration()
        configuration.httpVersion = http2 ? .http2 : .http1
        let stage = try SessionStage(configuration: configuration)
        var bytes = ByteBuffer()
        for _ in 0..<8 { bytes.writeBytes(Self.piece) }
        _ = try await stage.data(for: request(nginx.httpPort, "/store/x", method: "PUT"), from: .bytes(bytes))
        // A task may be over before it is suspended; another one is begun then.
        var (fresh, task) = (stage, try stage.session.dataTask(request(nginx.httpPort, "/store/x")))
        repeat {
            task.cancel()
            fresh = try SessionStage(configuration: configuration)
            task = try fresh.session.dataTask(request(nginx.httpPort, "/store/x"))
            task.resume()
            while fresh.session.runningTransfers() < 1, task.state == .running { await Task.yield() }
            task.suspend()
            try await self.letTimePass()
        } while task.state == .completed
        #expect(task.state == .suspended)
        task.resume()
        let isWhole = try await task.value().body == bytes
        #expect(isWhole)
    }

    @Test(arguments: [false, true])
    func `a suspended task sends nothing more of its body`(isStream: Bool) async throws {
        let (mayRead, read) = (Watched(false), Watched(0))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try mayRead.wait(for: "leave to read") { $0 }
            while read.current < Self.size {
                let count = try connection.stream.readSome()?.count ?? 0
                connection.stream.forgetTaken()
                guard count > 0 else { return }
                read.change { $0 += count }
            }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let source = isStream ? Self.manyPieces() : .bytes(ByteBuffer(repeating: 7, count: Self.size))
        let task = try stage.session.uploadTask(request(origin.port, method: "PUT"), from: source)
        task.resume()
        try await origin.reachRequests(1)
        task.suspend()
        _ = stage.session.runningTransfers()
        let atSuspension = task.progress.sent
        mayRead.change { $0 = true }
        try await self.letTimePass()
        #expect(task.progress.sent == atSuspension && read.current < Self.size)
        task.resume()
        #expect(try await task.value().text == "done" && read.current == Self.size)
    }

    private static func manyPieces() -> UploadSource {
        let count = Self.size / Self.piece.count
        let stream = AsyncStream<ByteBuffer> { feed in
            for _ in 0..<count { feed.yield(ByteBuffer(bytes: Self.piece)) }
            feed.finish()
        }
        return .stream(BodyStream(stream, length: UInt64(Self.size)))
    }
}
