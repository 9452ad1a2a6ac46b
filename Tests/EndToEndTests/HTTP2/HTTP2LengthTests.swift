// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind

/// Answers without content: the origin's length is passed on, and none is added if the origin has not sent one.
@Suite(.timeLimit(.minutes(15))) struct HTTP2LengthTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        var method = "GET"
        let status: Int
        /// The origin's Content-Length, which the client gets as it is.
        var length: String?
        /// Further lines of the head over HTTP/1.1, if it has no length.
        var coding = ""

        var testDescription: String {
            "\(self.status) to \(self.method), length \(self.length ?? "none") \(self.coding)"
        }
    }

    private static let answers = [
        Answer(status: 200, length: "0"), Answer(status: 200, coding: "chunked"), Answer(status: 404, length: "0"),
        Answer(status: 204), Answer(status: 304), Answer(status: 304, length: "1234"),
        Answer(method: "HEAD", status: 200), Answer(method: "HEAD", status: 200, length: "0"),
        Answer(method: "HEAD", status: 200, length: "1234"), Answer(method: "POST", status: 200, length: "0"),
    ]

    /// The answer that a client of HTTP/2 gets: frames on its stream, and the length in the head.
    private func fetch(_ answer: Answer, from stage: HTTP2Stage) throws -> (
        kinds: [UInt8], length: String?, status: Int
    ) {
        let client = try stage.client()
        try client.greet()
        try client.send(Bytes.headers(HTTP2Case.request(answer.method, "/")))
        var kinds: [UInt8] = []
        while let frame = try client.next() {
            if frame.stream == 1 { kinds.append(frame.kind) }
            if frame.stream == 1, frame.isEnd { break }
        }
        let found = client.answers[1] ?? HTTP2Client.Answer()
        return (kinds, found["content-length"], found.status)
    }

    @Test(arguments: Self.answers)
    func `LOOK-71 the length of an answer of HTTP 1 without content is told as it came`(answer: Answer) throws {
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequest()
            let length = answer.length.map { "Content-Length: \($0)\r\n" } ?? ""
            let coding = answer.coding.isEmpty ? "" : "Transfer-Encoding: chunked\r\n"
            try connection.send(
                "HTTP/1.1 \(answer.status) X\r\n\(length)\(coding)\r\n\(answer.coding.isEmpty ? "" : "0\r\n\r\n")")
            _ = try connection.waitForEnd()
        }
        let found = try self.fetch(answer, from: stage)
        #expect(found == ([Kind.headers], answer.length, answer.status), "\(found)")
    }

    @Test(arguments: Self.answers)
    func `LOOK-71 the length of an answer of HTTP 2 that ends with its head is told as it came`(answer: Answer) throws {
        let site = try PrivateSite()
        let side = try TLSServerSide(site.leaf, speaksHTTP2: true)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            var peer = try HTTP2Peer(connection.stream)
            let fields = [(":status", "\(answer.status)")] + (answer.length.map { [("content-length", $0)] } ?? [])
            while true { try peer.begin(try peer.nextRequest().stream, Bytes.block(fields), endsStream: true) }
        }
        let stage = try HTTP2Stage(
            "trust: {site: {hosts: [\"127.0.0.1\"], roots: [\"\(site.folder.path)/root.pem\"]}}",
            leadingTo: origin.port, by: "https")
        let found = try self.fetch(answer, from: stage)
        #expect(found == ([Kind.headers], answer.length, answer.status), "\(found)")
    }
}
