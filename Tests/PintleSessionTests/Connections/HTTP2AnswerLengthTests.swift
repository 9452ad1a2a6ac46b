// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleSession
import PintleTesting
import Testing

/// Answers of HTTP/2 that declare a length, and their content (RFC 9113 §8.1.1).
struct HTTP2AnswerLengthTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = "GET"
        var status = "200"
        var lengths: [String] = []
        /// Nil if the stream ends with the head.
        var content: String?
    }

    private let stage: SessionStage

    init() throws {
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        self.stage = try SessionStage(configuration: configuration)
    }

    /// An origin that gives the answer to a request without content, and then `done` to one with content, on one connection.
    private static func origin(_ answer: Answer) throws -> RawOrigin {
        try RawOrigin { connection in
            var peer = try HTTP2Peer(connection.stream)
            let requests = [try peer.nextRequest(), try peer.nextRequest()]
            let fields = [(":status", answer.status)] + answer.lengths.map { ("content-length", $0) }
            for request in requests where request.body.isEmpty {
                try peer.begin(request.stream, HTTP2Bytes.block(fields), endsStream: answer.content == nil)
                if let content = answer.content {
                    try connection.stream.send(HTTP2Bytes.data(content, on: request.stream))
                }
            }
            try peer.settle()
            for request in requests where !request.body.isEmpty { try peer.answer(request.stream, "done") }
            _ = try connection.waitForEnd()
        }
    }

    private func other(at origin: RawOrigin) async throws -> String {
        let post = request(origin.port, method: "POST")
        return try await self.stage.data(for: post, from: .bytes(ByteBuffer(string: "body"))).text
    }

    @Test(arguments: [
        Answer(testDescription: "longer", lengths: ["3"], content: "four"),
        Answer(testDescription: "shorter", lengths: ["5"], content: "four"),
        Answer(testDescription: "none", lengths: ["5"], content: nil),
        Answer(testDescription: "two lengths", lengths: ["3", "4"], content: "four"),
        Answer(testDescription: "no number", lengths: ["four"], content: "four"),
        Answer(testDescription: "content to HEAD", method: "HEAD", lengths: ["4"], content: "four"),
        Answer(testDescription: "content with 204", status: "204", content: "four"),
        Answer(testDescription: "content with 304", status: "304", lengths: ["4"], content: "four"),
    ])
    func `LOOK-71 an answer whose content is not what it declares fails alone`(answer: Answer) async throws {
        let origin = try Self.origin(answer)
        async let other = self.other(at: origin)
        let error = await self.stage.failure(of: request(origin.port, method: answer.method))
        #expect(error?.code == .truncated || error?.code == .malformedResponse, "\(String(describing: error))")
        #expect(try await other == "done")
        #expect(origin.connections.count == 1)
    }

    @Test(arguments: [
        Answer(testDescription: "right", lengths: ["4"], content: "four"),
        Answer(testDescription: "twice", lengths: ["4", "4"], content: "four"),
        Answer(testDescription: "no length", content: "four"),
        Answer(testDescription: "nothing", lengths: ["0"], content: nil),
        Answer(testDescription: "HEAD", method: "HEAD", lengths: ["4"], content: nil),
        Answer(testDescription: "HEAD that ends with DATA", method: "HEAD", lengths: ["4"], content: ""),
        Answer(testDescription: "204 with a length", status: "204", lengths: ["0"], content: nil),
        Answer(testDescription: "304", status: "304", lengths: ["4"], content: nil),
    ])
    func `LOOK-71 an answer whose content is what it declares, or that has none, is whole`(answer: Answer) async throws
    {
        let origin = try Self.origin(answer)
        async let other = self.other(at: origin)
        let result = try await self.stage.data(for: request(origin.port, method: answer.method))
        #expect(result.text == (answer.status == "200" && answer.method == "GET" ? answer.content ?? "" : ""))
        #expect(try await other == "done")
        #expect(origin.connections.count == 1)
    }
}
