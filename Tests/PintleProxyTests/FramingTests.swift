// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import Testing

@testable import PintleProxy

@Suite struct FramingTests {
    @Test func `a head carries its framing and what becomes of the connection`() {
        let head = ResponseHead(status: 200, reason: "OK", fields: ["A": "1"])
        func text(_ framing: ResponseFraming, keepAlive: Bool = true, minorVersion: UInt8 = 1) -> String {
            var buffer = ByteBuffer()
            buffer.writeHead(head, framing: framing, keepAlive: keepAlive, minorVersion: minorVersion)
            return String(buffer: buffer)
        }
        #expect(text(.length(1_234_567)) == "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 1234567\r\n\r\n")
        #expect(
            text(.chunked, keepAlive: false)
                == "HTTP/1.1 200 OK\r\nA: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        #expect(
            text(.none(wouldBe: 0), minorVersion: 0).hasSuffix("Content-Length: 0\r\nConnection: keep-alive\r\n\r\n"))
    }

    @Test func `chunks are sized in hexadecimal, and an empty one does not end the body`() {
        var buffer = ByteBuffer()
        let bytes = [UInt8](repeating: 0x61, count: 26)
        bytes.withUnsafeBytes { buffer.writeChunk($0) }
        [UInt8]().withUnsafeBytes { buffer.writeChunk($0) }
        buffer.writeLastChunk(["X": "y"])
        #expect(String(buffer: buffer) == "1a\r\n\(String(repeating: "a", count: 26))\r\n0\r\nX: y\r\n\r\n")
    }

    /// Reads a body from `text`, given in pieces of `size` bytes.
    private func read(_ framing: BodyFraming, _ text: String, pieces size: Int) throws -> (body: String, rest: String)?
    {
        var reader = BodyReader(framing, limits: HeadLimits())
        var inbox = ByteBuffer()
        var body = ""
        var bytes = Array(text.utf8)[...]
        while true {
            switch try reader.next(&inbox) {
            case .data(let piece): body += String(buffer: piece)
            case .end: return (body, String(buffer: inbox) + String(decoding: bytes, as: UTF8.self))
            case .waiting:
                if bytes.isEmpty { return nil }
                inbox.writeBytes(bytes.prefix(size))
                bytes = bytes.dropFirst(size)
            }
        }
    }

    @Test(arguments: [1, 3, 100])
    func `a body ends where its framing says, and the next request stays`(size: Int) throws {
        let counted = try #require(try self.read(.length(5), "helloGET /", pieces: size))
        #expect(counted.body == "hello" && counted.rest == "GET /")
        let chunked = try #require(try self.read(.chunked, "5\r\nhello\r\n0\r\n\r\nGET /", pieces: size))
        #expect(chunked.body == "hello" && chunked.rest == "GET /")
        #expect(try self.read(.length(6), "hello", pieces: size) == nil)
    }
}
