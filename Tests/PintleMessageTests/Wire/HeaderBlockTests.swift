// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

/// Header blocks of HTTP/2 whose bytes pass a decoder and an encoder of text.
struct HeaderBlockTests {
    private typealias Field = PlainHPACK.Field

    private static func escape(_ pieces: [[UInt8]], _ escaper: inout HeaderBlockEscaper) throws -> [UInt8] {
        var output: [UInt8] = []
        for (number, piece) in pieces.enumerated() {
            let isLast = number == pieces.count - 1
            try piece.withUnsafeBytes { try escaper.escape($0, isLast: isLast, into: &output) }
        }
        return output
    }

    private static func unescape(_ block: [UInt8]) throws -> [UInt8]? {
        try block.withUnsafeBytes { try HeaderBlockUnescaper.unescape($0) }
    }

    /// The text that bytes are if their UTF-8 is read.
    private static func widened(_ bytes: [UInt8]) -> [UInt8] { Array(String(latin1: bytes).utf8) }

    // MARK: The examples of RFC 7541

    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The most bytes of the table.
        var table = 4096
        let blocks: [(hex: String, fields: String, size: Int)]
    }

    private static let requests: [(fields: String, size: Int)] = [
        (":method: GET|:scheme: http|:path: /|:authority: www.example.com", 57),
        (":method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache", 110),
        (
            ":method: GET|:scheme: https|:path: /index.html|:authority: www.example.com|custom-key: custom-value", 164
        ),
    ]

    private static let date = "Mon, 21 Oct 2013 20:13:2"

    private static let responses: [(fields: String, size: Int)] = [
        (":status: 302|cache-control: private|date: \(date)1 GMT|location: https://www.example.com", 222),
        (":status: 307|cache-control: private|date: \(date)1 GMT|location: https://www.example.com", 222),
        (
            ":status: 200|cache-control: private|date: \(date)2 GMT|location: https://www.example.com|content-encoding: gzip|"
                + "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1", 215
        ),
    ]

    private static func example(
        _ name: String, table: Int = 4096, _ hex: [String], _ expected: [(fields: String, size: Int)]
    ) -> Example {
        Example(
            testDescription: name, table: table,
            blocks: zip(hex, expected).map { (hex: $0, fields: $1.fields, size: $1.size) })
    }

    private static let examples = [
        Self.example(
            "C.3",
            [
                "828684410f7777772e6578616d706c652e636f6d", "828684be58086e6f2d6361636865",
                "828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
            ], Self.requests),
        Self.example(
            "C.4",
            [
                "828684418cf1e3c2e5f23a6ba0ab90f4ff", "828684be5886a8eb10649cbf",
                "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
            ], Self.requests),
        Self.example(
            "C.5", table: 256,
            [
                "4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e17"
                    + "68747470733a2f2f7777772e6578616d706c652e636f6d",
                "4803333037c1c0bf",
                "88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d41"
                    + "53444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b20766572"
                    + "73696f6e3d31",
            ], Self.responses),
        Self.example(
            "C.6", table: 256,
            [
                "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97"
                    + "c8e9ae82ae43d3", "4883640effc1c0bf",
                "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd"
                    + "5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
            ], Self.responses),
    ]

    @Test(arguments: Self.examples)
    func `LOOK-72 the examples of RFC 7541 stay what they are`(example: Example) throws {
        var escaper = HeaderBlockEscaper(fieldLimit: 1000)
        var (peer, decoder) = (PlainHPACK(), PlainHPACK(most: HeaderBlockEscaper.decoderTable))
        for (number, block) in example.blocks.enumerated() {
            let digits = Array(block.hex)
            var bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0
            }
            if number == 0, example.table != 4096 { bytes = HTTP2Bytes.integer(example.table, 5, 0x20) + bytes }
            let fields = try peer.decode(bytes)
            #expect(fields.map(\.description).joined(separator: "|") == block.fields)
            #expect(try decoder.decode(Self.escape([bytes], &escaper)) == fields)
            #expect(escaper.tableSize == block.size && escaper.entryCount == peer.table.count)
        }
    }

    // MARK: Huffman's code

    @Test func `LOOK-72 every byte has its code, and codes leave nothing over`() throws {
        // Counted in units of the longest code.
        #expect(HuffmanCode.lengths.reduce(0) { $0 + 1 << (30 - Int($1)) } == 1 << 30)
        #expect(HuffmanCode.lengths.count == 257 && HuffmanCode.lengths[256] == 30)
        // Codes that appendix B shows: of "0", "a", 0xE9, 0xFF and LF.
        let shown = [
            (0x30, "00000"), (0x61, "00011"), (0xE9, "1111111111111111101011"),
            (0x0A, "111111111111111111111111111100"),
        ]
        for (byte, code) in shown { #expect(PlainHPACK.codes[byte] == code) }
        #expect(PlainHPACK.codes[0xFF] == "11111111111111111111101110")
        for byte in UInt8.min...UInt8.max {
            for text in [[byte], [byte, 0x61], [0x61, byte, byte]] {
                var decoded: [UInt8] = []
                try PlainHPACK.packed(text).withUnsafeBytes { try HuffmanCode.decode($0, into: &decoded) }
                #expect(decoded == text)
            }
        }
    }

    @Test func `LOOK-72 random bits are Huffman's code for both readers, or for neither`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<4000 {
            var bytes = (0..<Int.random(in: 0...8, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                bytes.append(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF].prefix(Int.random(in: 1...4, using: &random)))
            }
            var decoded: [UInt8] = []
            let found = Result { try bytes.withUnsafeBytes { try HuffmanCode.decode($0, into: &decoded) } }
            let expected = try? PlainHPACK.unpacked(bytes)
            #expect((try? found.get()).map { decoded } == expected, "\(bytes), seed \(Seed.ofThisRun)")
        }
    }

    // MARK: Bytes of peers

    /// A field of few names and values, so that many are there already.
    private static func field(_ random: inout SeededGenerator) -> Field {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return PlainHPACK.fixed.randomElement(using: &random) ?? Field("x", "y")
        case 1:
            // Longer than the table, or half of it.
            let count = [1500, 3000, 5000].randomElement(using: &random) ?? 0
            return Field(name: Array("long".utf8), value: [UInt8](repeating: 0xE9, count: count))
        case 2:
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            return Field(name: Array("x-random".utf8), value: bytes)
        default:
            let name = ["content-disposition", "x-a", "x-b", "server"].randomElement(using: &random) ?? ""
            let value = ["résumé.txt", "r\u{E9}", "", "plain", "\u{FFFD}"].randomElement(using: &random) ?? ""
            let isLatin1 = Bool.random(using: &random) && !value.contains("\u{FFFD}")
            return Field(
                name: Array(name.utf8),
                value: isLatin1 ? value.unicodeScalars.map { UInt8($0.value) } : Array(value.utf8))
        }
    }

    private static func pieces(_ block: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        guard Bool.random(using: &random) else { return [block] }
        let cuts = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            Int.random(in: 0...block.count, using: &random)
        }.sorted()
        return zip([0] + cuts, cuts + [block.count]).map { Array(block[$0..<$1]) }
    }

    @Test func `LOOK-72 whatever a peer writes is text of the same bytes for the decoder`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for connection in 0..<30 {
            var (peer, decoder) = (PlainHPACK(), PlainHPACK(most: HeaderBlockEscaper.decoderTable))
            var escaper = HeaderBlockEscaper(fieldLimit: 100_000)
            for block in 0..<40 {
                var bytes: [UInt8] = []
                if Int.random(in: 0..<6, using: &random) == 0 {
                    bytes += peer.encode(limit: [0, 64, 300, 4096].randomElement(using: &random) ?? 0)
                    if Bool.random(using: &random) { bytes += peer.encode(limit: 4096) }
                }
                let fields = (0..<Int.random(in: 0...12, using: &random)).map { _ in Self.field(&random) }
                for field in fields {
                    bytes += peer.encode(
                        field, PlainHPACK.Form.allCases.randomElement(using: &random) ?? .kept,
                        refers: Int.random(in: 0..<4, using: &random) > 0, packs: Bool.random(using: &random))
                }
                let escaped = try Self.escape(Self.pieces(bytes, &random), &escaper)
                let found = try decoder.decode(escaped)
                let context = "connection \(connection), block \(block), seed \(Seed.ofThisRun)"
                #expect(found == fields.map { Field(name: $0.name, value: Self.widened($0.value)) }, "\(context)")
                #expect(found.allSatisfy { String(validating: $0.value, as: UTF8.self) != nil }, "\(context)")
                #expect(escaper.entryCount == peer.table.count, "\(context)")
                guard !Task.isCancelled else { return }
            }
        }
    }

    @Test func `LOOK-72 bytes that are no header block are refused, and never read beyond their end`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        var refused = 0
        for _ in 0..<4000 {
            var (peer, escaper) = (PlainHPACK(), HeaderBlockEscaper(fieldLimit: 100_000))
            var bytes = peer.encode(Self.field(&random), .kept, refers: true, packs: Bool.random(using: &random))
            bytes += peer.encode(Self.field(&random), .plain, refers: true, packs: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
            var (plain, decoder) = (PlainHPACK(), PlainHPACK(most: HeaderBlockEscaper.decoderTable))
            let expected = Result { try plain.decode(bytes) }
            let found = Result { try decoder.decode(Self.escape(Self.pieces(bytes, &random), &escaper)) }
            switch (expected, found) {
            case (.success(let fields), .success(let others)):
                let wide = fields.map { Field(name: Self.widened($0.name), value: Self.widened($0.value)) }
                #expect(others == wide, "\(bytes), seed \(Seed.ofThisRun)")
            case (.failure, .failure): refused += 1
            // The plain one allows any number of changes of the table's size.
            case (.success, .failure):
                #expect(bytes.count { 0x20..<0x40 ~= $0 } > 2, "\(bytes), seed \(Seed.ofThisRun)")
            case (.failure, .success): Issue.record("taken: \(bytes), seed \(Seed.ofThisRun)")
            }
        }
        #expect(refused > 200)
    }

    @Test func `LOOK-72 a field in pieces takes no more than its limit`() throws {
        var escaper = HeaderBlockEscaper(fieldLimit: 100)
        // A value of 10,000 bytes.
        let beginning = [0, 1, 0x78] + HTTP2Bytes.integer(10_000, 7)
        var output: [UInt8] = []
        #expect(throws: WireError.self) {
            for piece in [beginning] + [[UInt8]](repeating: [UInt8](repeating: 0x61, count: 50), count: 3) {
                try piece.withUnsafeBytes { try escaper.escape($0, isLast: false, into: &output) }
            }
        }
    }

    // MARK: Bytes for peers

    @Test func `LOOK-72 text without indexing becomes bytes again, and nothing else changes`() throws {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        // The encoder of text and the peer remember the same.
        var (encoder, peer) = (PlainHPACK(), PlainHPACK())
        for _ in 0..<500 {
            let fields = (0..<Int.random(in: 1...8, using: &random)).map { _ in Self.field(&random) }
            var block: [UInt8] = []
            for field in fields {
                let isASCII = field.value.allSatisfy { $0 < 0x80 }
                let text = Field(name: field.name, value: Self.widened(field.value))
                block += encoder.encode(
                    text, isASCII ? .kept : .plain, refers: true, packs: Bool.random(using: &random))
            }
            let unescaped = try Self.unescape(block)
            #expect((unescaped == nil) == fields.allSatisfy { $0.value.allSatisfy { $0 < 0x80 } })
            #expect(try peer.decode(unescaped ?? block) == fields, "seed \(Seed.ofThisRun)")
        }
    }

    @Test func `LOOK-72 text of bytes is text of nothing else`() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(String(latin1: all).latin1Bytes == all)
        #expect(Array(String(latin1: all).unicodeScalars.map(\.value)) == (0...255).map { $0 })
        #expect(String(latin1: Array("plain".utf8)) == "plain")
    }
}
