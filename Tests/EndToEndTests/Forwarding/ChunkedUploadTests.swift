// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Chunked request bodies one after another, some with trailers, on connections that are used again.
struct ChunkedUploadTests {
    /// One upload.
    private struct Upload {
        let number: Int
        let hasTrailers: Bool

        var body: [UInt8] { pattern(self.number * 7_919 + 1) }
        var trailers: [MessageHead.Field] {
            self.hasTrailers
                ? [.init(name: "X-Sum", value: "\(self.number)"), .init(name: "X-More", value: "yes")] : []
        }

        func request(to port: Int) -> [UInt8] {
            var bytes = Array(
                "PUT http://127.0.0.1:\(port)/\(self.number) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .utf8)
            var rest = self.body[...]
            while !rest.isEmpty {
                let piece = rest.prefix(1 + self.number * 997)
                bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8)
                rest = rest.dropFirst(piece.count)
            }
            let lines = self.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
            return bytes + Array("0\r\n\(lines)\r\n".utf8)
        }
    }

    /// Five without trailers, one with, and so on.
    private static let uploads = (0..<23).map { Upload(number: $0, hasTrailers: $0 % 6 == 5) }

    private func check(_ origin: RawOrigin) throws {
        let seen = try origin.waitForRequests(Self.uploads.count)
        for upload in Self.uploads {
            let request = try #require(seen.first { $0.head.startLine == "PUT /\(upload.number) HTTP/1.1" })
            #expect(request.body == upload.body, "upload \(upload.number): \(request.body.count) bytes")
            #expect(request.trailers == upload.trailers, "upload \(upload.number)")
        }
    }

    @Test func `uploads before, with and after trailers on one connection arrive whole`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        for upload in Self.uploads {
            try client.send(upload.request(to: origin.port))
            #expect(try client.readResponse().text == "done", "upload \(upload.number)")
        }
        try self.check(origin)
        #expect(pintle.process.exitCode == nil)
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(5))")
    }

    @Test func `pipelined uploads before, with and after trailers arrive whole`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("engine: {threads: 1}")
        let client = try pintle.connect()
        let failure = Watched<String?>(nil)
        inBackground(failure) {
            for upload in Self.uploads { try client.send(upload.request(to: origin.port)) }
        }
        for upload in Self.uploads { #expect(try client.readResponse().text == "done", "upload \(upload.number)") }
        try self.check(origin)
        #expect(failure.current == nil)
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(5))")
    }

    @Test func `an upload with trailers that is refused half-way harms no later one`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let head = try connection.stream.readHead()
                guard head.startLine.hasPrefix("PUT /refuse") else {
                    try connection.send(response("\(try connection.stream.readBody(of: head).body.count)"))
                    continue
                }
                try connection.send(response("no", status: "403 Forbidden", fields: "Connection: close\r\n"))
                return
            }
        }
        let pintle = try PintleProcess("engine: {threads: 1}")
        for upload in Self.uploads.prefix(12) {
            let refused = try pintle.connect()
            try refused.send(
                "PUT http://127.0.0.1:\(origin.port)/refuse HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3\r\nabc\r\n")
            #expect(try refused.readResponse().status == 403)
            // The rest may meet a closed connection.
            try? refused.send("0\r\nX-Sum: 3\r\n\r\n")
            let client = try pintle.connect()
            try client.send(upload.request(to: origin.port))
            #expect(try client.readResponse().text == "\(upload.body.count)")
        }
        #expect(try pintle.stop() == 0, "\(pintle.process.errors.suffix(5))")
    }
}
