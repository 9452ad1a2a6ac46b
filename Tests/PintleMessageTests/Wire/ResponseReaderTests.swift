// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

/// Parsing a response from lines, and finding the end of its body.
@Suite struct ResponseReaderTests {
    private func reader(_ head: String) throws -> ResponseReader {
        var reader = ResponseReader(limits: HeadLimits())
        for line in head.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            _ = try Array("\(line)\r\n".utf8).withUnsafeBytes { try reader.line($0, method: "GET") }
        }
        return reader
    }

    @Test(arguments: [1, 2, 3, 7])
    func `a body has its length, and what comes behind it is told of`(size: Int) throws {
        var reader = try self.reader("HTTP/1.1 200 OK\nContent-Length: 3\n\n")
        let bytes = Array("abcdefg".utf8)
        var body: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            try piece.withUnsafeBytes { piece in
                var offset = 0
                while let range = try reader.nextBody(piece, from: &offset) { body += piece[range] }
            }
        }
        #expect(body == Array("abc".utf8))
        #expect(reader.isBodyOver && reader.hasExcess)
    }

    @Test func `LOOK-10 a response has no longer lists than a request`() throws {
        let names = (0..<33).map { "x\($0)" }.joined(separator: ",")
        for name in ["Connection", "Upgrade"] {
            #expect(throws: WireError(.malformed, "\(name) has more than 32 members")) {
                try self.reader("HTTP/1.1 200 OK\n\(name): \(names)\n\n")
            }
            #expect(throws: WireError.self) { try self.reader("HTTP/1.1 103 Early\n\(name): \(names)\n\n") }
        }
    }
}
