// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// The pace of bodies. Only lower bounds of time are looked at: a busy machine is as slow as it likes.
@Suite(.timeLimit(.minutes(15))) struct ThrottleTests {
    let folder: TemporaryFolder
    let hooks = PacketHooks()
    let stage: SessionStage
    private static let bytes = sampleBytes(10_000)

    init() throws {
        self.folder = try TemporaryFolder()
        self.stage = try SessionStage(hooks: self.hooks)
        try self.folder.write(Self.bytes, to: "up")
    }

    /// Every kind of source has the same pace.
    enum Source: String, Sendable, CaseIterable { case bytes, file, stream }

    private func source(_ source: Source) -> UploadSource {
        switch source {
        case .bytes: .bytes(ByteBuffer(bytes: Self.bytes))
        case .file: .file(path: self.folder.path("up"))
        case .stream:
            .stream(
                BodyStream {
                    AsyncStream<ByteBuffer> { feed in
                        feed.yield(ByteBuffer(bytes: Self.bytes))
                        feed.finish()
                    }
                })
        }
    }

    private func wanted(
        _ origin: RawOrigin, _ path: String = "/", packet: Int, delay: Duration
    ) throws -> SessionRequest {
        var wanted = request(origin.port, path, method: "PUT")
        wanted.throttle = try Throttle(packet: packet, delay: delay)
        return wanted
    }

    @Test(arguments: Source.allCases)
    func `THR-01 THR-02 no packet is larger than it may be, and a rest follows each`(source: Source) async throws {
        let origin = try RawOrigin(answering: response("done"))
        let wanted = try self.wanted(origin, packet: 999, delay: .milliseconds(10))
        let time = try await ContinuousClock().measure {
            _ = try await self.stage.session.data(for: wanted, from: self.source(source))
        }
        #expect(origin.requests[0].body == Self.bytes && origin.requests[0]["Throttle"] == nil)
        #expect(self.hooks.packets.current == Array(repeating: 999, count: 10) + [10])
        #expect(time >= .milliseconds(10 * 10))
    }

    @Test func `THR-02 the parts of a form have packets of their own`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        var form = MultipartForm()
        try form.append(name: "file", file: self.folder.path("up"))
        let wanted = try self.wanted(origin, packet: 4096, delay: .milliseconds(10))
        let time = try await ContinuousClock().measure {
            _ = try await self.stage.session.data(for: wanted, from: .multipart(form))
        }
        let packets = self.hooks.packets.current
        #expect(packets.count == 5 && packets[1...3] == [4096, 4096, 1808] && time >= .milliseconds(40))
        #expect(packets.reduce(0, +) == origin.requests[0].body.count)
    }

    @Test func `THR-03 the proposed pace is 16 KiB every 200 ms`() async throws {
        #expect(Throttle.slowMobile.packet == 16_384 && Throttle.slowMobile.delay == .milliseconds(200))
        let origin = try RawOrigin(answering: response("done"))
        var wanted = request(origin.port, method: "PUT")
        wanted.throttle = .slowMobile
        let time = try await ContinuousClock().measure {
            _ = try await self.stage.session.data(for: wanted, from: .bytes(ByteBuffer(bytes: sampleBytes(40_000))))
        }
        #expect(time >= .milliseconds(400) && self.hooks.packets.current == [16_384, 16_384, 7232])
    }

    @Test func `THR-04 a pace that never ends is an error when it is made`() async throws {
        let none = await sessionError { _ = try Throttle(packet: 0, delay: .zero) }
        #expect(none?.code == .invalidRequest && none?.message == "a throttle's packet has at least 1 byte")
        #expect(await sessionError { _ = try Throttle(packet: -1, delay: .zero) }?.code == .invalidRequest)
        let negative = await sessionError { _ = try Throttle(packet: 1, delay: .nanoseconds(-1)) }
        #expect(negative?.message == "a throttle's delay is not negative")
    }

    @Test(arguments: Source.allCases)
    func `THR-05 a body that is sent again has the same pace`(source: Source) async throws {
        let origin = try RawOrigin { connection in
            while true {
                let isFirst = try connection.readRequest().head.startLine.contains("/first")
                let again = "HTTP/1.1 307 Again\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n"
                try connection.send(isFirst ? again : response("done"))
            }
        }
        let wanted = try self.wanted(origin, "/first", packet: 2000, delay: .milliseconds(10))
        let time = try await ContinuousClock().measure {
            _ = try await self.stage.session.data(for: wanted, from: self.source(source))
        }
        #expect(origin.requests.map(\.body) == [Self.bytes, Self.bytes])
        #expect(self.hooks.packets.current == Array(repeating: 2000, count: 10) && time >= .milliseconds(80))
    }

    @Test func `without a delay packets follow each other at once`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        _ = try await self.stage.session.data(
            for: self.wanted(origin, packet: 7, delay: .zero), from: self.source(.file))
        #expect(origin.requests[0].body == Self.bytes)
    }

    @Test func `a task that is cancelled while it rests ends at once`() async throws {
        let origin = try RawOrigin { _ = try $0.waitForEnd() }
        let task = try self.stage.session.uploadTask(
            self.wanted(origin, packet: 1, delay: .seconds(360_000)), from: self.source(.file))
        task.resume()
        try await self.hooks.packets.reach("the first packet") { $0.count == 1 }
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(self.stage.session.runningTransfers() == 0 && task.progress.sent == 1)
    }

    @Test func `an answer ends a rest`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            _ = try connection.waitForEnd()
        }
        let result = try await self.stage.session.data(
            for: self.wanted(origin, packet: 1, delay: .seconds(360_000)), from: self.source(.file))
        #expect(result.response.status == 413)
    }

    @Test func `a task that is suspended while it rests goes on later`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let task = try self.stage.session.uploadTask(
            self.wanted(origin, packet: 1000, delay: .milliseconds(10)), from: self.source(.bytes))
        task.resume()
        try await self.hooks.packets.reach("the first packet") { !$0.isEmpty }
        task.suspend()
        task.resume()
        _ = try await task.value()
        #expect(origin.requests[0].body == Self.bytes)
        #expect(self.hooks.packets.current == Array(repeating: 1000, count: 10))
    }
}

struct PacketHooks: HookSet {
    let packets = Watched<[Int]>([])

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.sentBody = { [packets] _, count, _ in packets.change { $0.append(count) } }
        }
    }
}
