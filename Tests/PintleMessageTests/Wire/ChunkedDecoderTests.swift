// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

/// Decodes `text` in pieces of `size` bytes.
private func decode(
    _ text: String, pieces size: Int = .max, limits: HeadLimits = HeadLimits()
) throws(WireError) -> (body: String, trailers: Fields, rest: Int)? {
    var decoder = ChunkedDecoder(limits: limits)
    let bytes = Array(text.utf8)
    var body: [UInt8] = []
    var start = 0
    while start < bytes.count {
        let end = size == .max ? bytes.count : min(bytes.count, start + size)
        let piece = Array(bytes[start..<end])
        var offset = 0
        reading: while true {
            var result: Result<ChunkedDecoder.Step, WireError> = .success(.needMore)
            piece.withUnsafeBytes { buffer in
                result = Result { () throws(WireError) in try decoder.next(buffer, from: &offset) }
            }
            switch try result.get() {
            case .data(let range): body += piece[range]
            case .needMore: break reading
            case .end(let offset, let trailers):
                return (String(decoding: body, as: UTF8.self), trailers, bytes.count - start - offset)
            }
        }
        start = end
    }
    return nil
}

@Suite struct ChunkedDecoderTests {
    @Test(arguments: [1, 2, 5, Int.max])
    func `chunks, extensions and trailers are read in whatever pieces they arrive`(size: Int) throws {
        let text = "4\r\nWiki\r\n5;a=b\r\npedia\r\n00E\r\n in\r\n\r\nchunks.\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nGET"
        let result = try #require(try decode(text, pieces: size))
        #expect(result.body == "Wikipedia in\r\n\r\nchunks.")
        #expect(result.trailers == ["X-Sum": "1", "Y": "2"])
        if size == .max { #expect(result.rest == 3) }
    }

    @Test func `an empty body has neither data nor trailers`() throws {
        let result = try #require(try decode("0\r\n\r\n"))
        #expect(result.body.isEmpty && result.trailers.isEmpty && result.rest == 0)
    }

    @Test(arguments: [
        "4\nWiki\r\n0\r\n\r\n", "+4\r\nWiki\r\n0\r\n\r\n", "-4\r\n", "0x4\r\nWiki\r\n", "\r\n", ";a\r\n",
        "4 \r\nWiki\r\n",
        "4\r\nWikipedia\r\n", "4\r\nWiki\n0\r\n\r\n", "0000000000000004\r\nWiki\r\n", "4;\u{1}\r\nWiki\r\n",
        "4\rX", "0\r\nBad Name: x\r\n\r\n", "0\r\n folded: x\r\n\r\n", "0\r\nX: y\n\r\n", "0\r\n\n",
    ])
    func `a malformed chunk is refused`(text: String) {
        #expect(throws: WireError.self) { try decode(text) }
        #expect(throws: WireError.self) { try decode(text, pieces: 1) }
    }

    @Test func `extensions and trailers are bounded`() {
        let limits = HeadLimits(bytes: 64, line: 32, count: 4)
        #expect(throws: WireError.self) {
            try decode("4;\(String(repeating: "x", count: 40))\r\nWiki\r\n0\r\n\r\n", limits: limits)
        }
        #expect(throws: WireError.self) {
            try decode("0\r\nX: \(String(repeating: "x", count: 80))", limits: limits)
        }
    }

    @Test func `an unfinished body asks for more`() throws {
        #expect(try decode("4\r\nWi") == nil)
        #expect(try decode("4\r\nWiki\r\n0\r\n") == nil)
        #expect(try decode("") == nil)
    }
}
