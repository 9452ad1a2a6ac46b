// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Streams of HTTP/2 that their server resets.
@Suite(.timeLimit(.minutes(15))) struct BrokenStreamTests {
    /// An origin that speaks just enough: it waits for a request on stream 1, and answers by these frames.
    private func origin(_ frames: [UInt8], mayReset: Watched<Bool>) throws -> RawOrigin {
        try RawOrigin { connection in
            let stream = connection.stream
            try stream.send(Self.frame(type: 4, stream: 0, []))
            _ = try stream.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
            var type: UInt8 = 0
            while type != 1 {
                let head = try stream.read(9)
                type = head[3]
                _ = try stream.read(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
            }
            try stream.send(frames)
            try mayReset.wait(for: "leave to reset") { $0 }
            try stream.send(Self.reset)
            _ = try connection.waitForEnd()
        }
    }

    private static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    /// `:status` 200, END_HEADERS.
    private static let head = Self.frame(type: 1, flags: 4, stream: 1, [0x88])
    private static let piece = Self.frame(type: 0, stream: 1, Array("abc".utf8))
    /// RST_STREAM with INTERNAL_ERROR.
    private static let reset = Self.frame(type: 3, stream: 1, [0, 0, 0, 2])

    private let stage: SessionStage

    init() throws {
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        self.stage = try SessionStage(configuration: configuration)
    }

    @Test func `a stream that is reset within the body is truncated`() async throws {
        let mayReset = Watched(false)
        let origin = try self.origin(Self.head + Self.piece, mayReset: mayReset)
        let response = try await self.stage.session.stream(request(origin.port))
        mayReset.change { $0 = true }
        let error = await sessionError { for try await _ in response.body {} }
        #expect(error?.code == .truncated, "\(String(describing: error))")
    }

    @Test func `a stream that is reset before the head is broken`() async throws {
        let origin = try self.origin([], mayReset: Watched(true))
        let error = await self.stage.failure(of: request(origin.port))
        #expect(error?.code == .connectionBroken, "\(String(describing: error))")
    }
}
