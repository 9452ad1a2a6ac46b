// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// HTTP/2 heads without a body: interim responses, and answers to HEAD.
@Suite(.timeLimit(.minutes(15))) struct HTTP2HeadTests {
    /// Makes a HEADERS frame.
    ///
    /// - Parameters:
    ///   - flags: flags in addition to END_HEADERS.
    ///   - block: the fields, encoded with HPACK (RFC 7541 §6).
    private static func head(_ stream: Int, flags: UInt8 = 0, _ block: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(block.count), 1, 4 | flags, 0, 0, 0, UInt8(stream)] + block
    }

    /// Makes the block of `:status` 103, with a field whose value has this many bytes unless that is 0.
    private static func hints(value: Int) -> [UInt8] {
        let status = [0x08, 3] + Array("103".utf8)
        guard value > 0 else { return status }
        return status + [0x00, 4] + Array("link".utf8) + [UInt8(value)] + [UInt8](repeating: 0x61, count: value)
    }

    private static func stage(limits: HeadLimits = HeadLimits()) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        configuration.responseHead = limits
        return try SessionStage(configuration: configuration)
    }

    // A bare head counts for two of the hundred lines, and one with that field for 114 of the 2000 bytes.
    @Test(arguments: [(value: 0, most: 50), (value: 100, most: 17)])
    func `interim responses have the limits of one head, and the stream with more of them is refused`(
        value: Int, most: Int
    ) async throws {
        let stage = try Self.stage(limits: HeadLimits(bytes: 2000, line: 1000, count: 100))
        let origin = try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            for count in [most, most + 1, 0] {
                let asked = try peer.nextRequest()
                for _ in 0..<count { try connection.stream.send(Self.head(asked.stream, Self.hints(value: value))) }
                try peer.answer(asked.stream, "\(count)")
            }
            _ = try connection.waitForEnd()
        }
        #expect(try await stage.data(for: request(origin.port)).text == "\(most)")
        let error = await stage.failure(of: request(origin.port))
        #expect(error?.code == .malformedResponse, "\(String(describing: error))")
        #expect(
            error?.message == "the response of 127.0.0.1:\(origin.port) is malformed: "
                + "its interim responses are over the limits")
        #expect(try await stage.data(for: request(origin.port)).text == "0", "the connection goes on")
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: [true, false])
    func `an answer to HEAD has the length that it names, and no body is waited for`(endsWithHead: Bool) async throws {
        let origin = try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            let asked = try peer.nextRequest()
            let block = [0x88, 0x0F, 0x0D, 4] + Array("1234".utf8)
            try connection.stream.send(Self.head(asked.stream, flags: endsWithHead ? 1 : 0, block))
            if !endsWithHead { try connection.stream.send([0, 0, 0, 0, 1, 0, 0, 0, UInt8(asked.stream)]) }
            try peer.answer(try peer.nextRequest().stream, "next")
            _ = try connection.waitForEnd()
        }
        let stage = try Self.stage()
        let answer = try await stage.fetch(request(origin.port, method: "HEAD"))
        #expect(answer.head.status == 200 && answer.head.fields.values(of: "Content-Length") == ["1234"])
        // If there can be no body, there is no length, as over HTTP/1.1.
        #expect(answer.length == nil && answer.body.isEmpty)
        #expect(try await stage.data(for: request(origin.port)).text == "next")
        #expect(origin.connections.count == 1)
    }
}
