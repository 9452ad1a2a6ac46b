// SPDX-License-Identifier: Apache-2.0

import PintleSession
import PintleTesting
import Testing

/// Origins that send many frames with little content, as some implementations do for good reasons: they do not attack a
/// client that has chosen to ask them.
@Suite(.timeLimit(.minutes(15))) struct HTTP2FrequentFrameTests {
    private let stage: SessionStage

    init() throws {
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        self.stage = try SessionStage(configuration: configuration)
    }

    enum Frame: CaseIterable {
        case ping, settings, emptyData

        func bytes(on stream: Int) -> [UInt8] {
            switch self {
            case .ping: HTTP2Bytes.frame(HTTP2Bytes.Kind.ping, on: 0, [UInt8](repeating: 0, count: 8))
            case .settings: HTTP2Bytes.settings([(3, 100)])
            case .emptyData: HTTP2Bytes.frame(HTTP2Bytes.Kind.data, on: stream)
            }
        }
    }

    @Test(arguments: Frame.allCases) func `an origin may send many frames that say nothing within an answer`(
        frame: Frame
    ) async throws {
        let origin = try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            for _ in 0..<2 {
                let asked = try peer.nextRequest()
                try peer.begin(asked.stream)
                for _ in 0..<300 { try connection.stream.send(frame.bytes(on: asked.stream)) }
                try connection.stream.send(HTTP2Bytes.data("done", on: asked.stream))
            }
            _ = try connection.waitForEnd()
        }
        for _ in 0..<2 { #expect(try await self.stage.data(for: request(origin.port)).text == "done") }
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: [HTTP2Bytes.Code.cancel, .refusedStream, .noError, .internalError])
    func `an origin may reset one stream after the other, and each alone is over`(
        code: HTTP2Bytes.Code
    ) async throws {
        let origin = try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            for _ in 0..<(connection.number == 0 ? 300 : 0) {
                try connection.stream.send(HTTP2Bytes.reset(code.rawValue, on: try peer.nextRequest().stream))
            }
            while true { try peer.answer(try peer.nextRequest().stream, "done") }
        }
        for _ in 0..<301 { _ = await self.stage.failure(of: request(origin.port, method: "POST")) }
        #expect(try await self.stage.data(for: request(origin.port)).text == "done")
        #expect(code == .refusedStream || origin.connections.count == 1)
    }
}
