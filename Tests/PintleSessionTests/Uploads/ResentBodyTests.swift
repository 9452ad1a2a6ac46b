// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Bodies that have to be sent a second time.
@Suite(.timeLimit(.minutes(15))) struct ResentBodyTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    private static let bytes = sampleBytes(300_000)

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
        try self.folder.write(Self.bytes, to: "up")
    }

    /// Sources that can provide their body again.
    enum Source: String, Sendable, CaseIterable { case bytes, throttledBytes, file, form, stream }

    private func source(_ source: Source) throws -> UploadSource {
        switch source {
        case .bytes, .throttledBytes: return .bytes(ByteBuffer(bytes: Self.bytes))
        case .file: return .file(path: self.folder.path("up"))
        case .form:
            var form = MultipartForm()
            try form.append(name: "file", file: self.folder.path("up"))
            return .multipart(form)
        case .stream: return .stream(BodyStream { Self.pieces() })
        }
    }

    private static func pieces() -> AsyncStream<ByteBuffer> {
        AsyncStream { feed in
            for start in stride(from: 0, to: Self.bytes.count, by: 50_000) {
                feed.yield(ByteBuffer(bytes: Self.bytes[start..<(start + 50_000)]))
            }
            feed.finish()
        }
    }

    private func isWhole(_ seen: Message, _ source: Source) -> Bool {
        source == .form ? seen.body.count > 300_000 && seen.body.suffix(60).contains(0x2D) : seen.body == Self.bytes
    }

    /// Keeps its first connection alive, and drops it in the middle of the second body.
    ///
    /// - Parameter count: of bytes of that body which it takes.
    private func fickleOrigin(after count: Int = 1000) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("done"))
            guard connection.number == 0 else { return }
            _ = try connection.stream.readHead()
            _ = try connection.stream.read(count)
        }
    }

    private func sendTwice(_ source: UploadSource, _ wanted: SessionRequest) async throws -> SessionTask {
        _ = try await self.stage.session.data(for: request(Int(wanted.url.authority.port)))
        let task = try self.stage.session.uploadTask(wanted, from: source)
        task.resume()
        _ = try await task.value()
        return task
    }

    @Test(arguments: Source.allCases)
    func `a body whose old connection turns out to be dead is sent again on a new one`(source: Source) async throws {
        let origin = try self.fickleOrigin()
        var wanted = request(origin.port, method: "PUT")
        if source == .throttledBytes { wanted.throttle = try Throttle(packet: 30_000, delay: .milliseconds(1)) }
        let task = try await self.sendTwice(self.source(source), wanted)
        let seen = try await origin.reachRequests(2)
        // libcurl may open another connection before it finds that it cannot have the body.
        #expect(seen.count == 2 && origin.connections.count >= 2 && self.isWhole(seen[1], source))
        #expect(task.progress.sent == UInt64(seen[1].body.count))
    }

    @Test func `a stream that can be read once cannot be sent again, and the error says what to do`() async throws {
        // More than is kept of a body that was sent.
        let origin = try self.fickleOrigin(after: 150_000)
        let error = await sessionError {
            _ = try await self.sendTwice(
                .stream(BodyStream(Self.pieces())), request(origin.port, method: "PUT"))
        }
        #expect(error?.code == .cannotRewind)
        #expect(error?.message.hasSuffix("or set the hook needsBody") == true)
        #expect(self.stage.session.tasks.isEmpty && self.stage.session.runningTransfers() == 0)
    }

    @Test(arguments: Source.allCases)
    func `a redirect that keeps the method sends the body again`(source: Source) async throws {
        let origin = try self.redirectingOrigin()
        let result = try await self.stage.session.data(
            for: request(origin.port, "/first", method: "PUT"), from: self.source(source))
        let seen = try await origin.reachRequests(2)
        #expect(result.url.path == "/second" && seen.count == 2)
        #expect(self.isWhole(seen[0], source) && seen[1].body == seen[0].body)
        #expect(seen[1]["Content-Type"] == seen[0]["Content-Type"])
    }

    @Test func `a file that is gone when it has to be sent again is an error`() async throws {
        let folder = self.folder
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try folder.remove("up")
            try connection.send("HTTP/1.1 307 Again\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n")
            _ = try connection.waitForEnd()
        }
        let error = await sessionError {
            _ = try await self.stage.session.data(
                for: request(origin.port, method: "PUT"), from: self.source(.file))
        }
        #expect(error?.code == .unreadableSource && error?.cause == "no such file or folder")
        #expect(self.stage.session.runningTransfers() == 0)
    }

    private func redirectingOrigin() throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                let isFirst = try connection.readRequest().head.startLine.contains("/first")
                try connection.send(
                    isFirst
                        ? "HTTP/1.1 307 Again\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n" : response("done"))
            }
        }
    }
}
