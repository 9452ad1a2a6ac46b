// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

@Suite struct JSONValidatorTests {
    private func verdict(_ document: [UInt8], _ scanner: JSONScanner = JSONScanner()) -> JSONSyntaxError? {
        do throws(JSONSyntaxError) {
            try scanner.validate(document)
            return nil
        } catch {
            return error
        }
    }

    private func verdict(
        _ pieces: some Sequence<ArraySlice<UInt8>>, _ scanner: JSONScanner = JSONScanner()
    ) -> JSONSyntaxError? {
        var validator = JSONValidator(scanner)
        do throws(JSONSyntaxError) {
            for piece in pieces { try validator.take(Array(piece)) }
            try validator.finish()
            return nil
        } catch {
            return error
        }
    }

    private static let documents = [
        "", " ", "{}", "[ ]\r\n", #"{"a":[1,-0.5e+10,true,false,null,"é日😀","\ud83d\ude00\n\u0041"],"b":{}}"#,
        "[1", "[12.", "[1.5e", "[1.5e-", "[-", "[-x]", "[01]", "[1.x]", "[1ex]", "[1e+x]", "[tru", "[trux]", "[nulL]",
        "[\"", "[\"\\", "[\"\\u12", "[\"\\u12g4\"]", "[\"\\ud83d\"]", "[\"\\ud83d\\", "[\"\\ud83d\\u0041\"]",
        "[\"\\ude00\"]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\" x}", "{,}", "[,]", "[1,]", "[1}", "{]",
        "[] x", "[\n1,\n  x]", "[\"\n\"]", "{\n\n\"a\":\n[\n", "1", "-0", "1.25 ", "\"a\"", "tru", "null", "\"", "x",
    ]

    @Test(arguments: JSONValidatorTests.documents, [false, true])
    func `every cut gives the verdict on the whole`(document: String, fragmentsAllowed: Bool) throws {
        let scanner = JSONScanner(fragmentsAllowed: fragmentsAllowed)
        for encoding in [String.Encoding.utf8, .utf16BigEndian, .utf16LittleEndian, .utf32LittleEndian] {
            for mark in ["", "\u{FEFF}"] {
                let document = Array(try #require((mark + document).data(using: encoding)))
                let whole = self.verdict(document, scanner)
                for pieces in Cuts.systematic(document) where self.verdict(pieces, scanner) != whole {
                    Issue.record("\(pieces.map { Array($0) }): \(String(describing: self.verdict(pieces, scanner)))")
                }
            }
        }
    }

    /// Invalid UTF-8, each for another reason.
    static let brokenUTF8: [(name: String, bytes: [UInt8])] = [
        ("a lone continuation", [0x80]), ("two of them", [0xBF, 0x80]), ("overlong, two bytes", [0xC0, 0x80]),
        ("overlong, two bytes, highest", [0xC1, 0xBF]), ("overlong, three bytes", [0xE0, 0x9F, 0xBF]),
        ("overlong, four bytes", [0xF0, 0x8F, 0xBF, 0xBF]), ("the first surrogate", [0xED, 0xA0, 0x80]),
        ("the last surrogate", [0xED, 0xBF, 0xBF]), ("beyond U+10FFFF", [0xF4, 0x90, 0x80, 0x80]),
        ("far beyond", [0xF7, 0xBF, 0xBF, 0xBF]), ("five bytes", [0xF8, 0x88, 0x80, 0x80, 0x80]),
        ("six bytes", [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]), ("0xFE", [0xFE]), ("0xFF", [0xFF]),
        ("two bytes, cut", [0xC3]), ("three bytes, cut after one", [0xE2]), ("three bytes, cut", [0xE2, 0x82]),
        ("four bytes, cut after one", [0xF0]), ("four bytes, cut after two", [0xF0, 0x9F]),
        ("four bytes, cut", [0xF0, 0x9F, 0x98]),
    ]

    @Test func `broken UTF-8 is found at every cut, whatever follows`() {
        for (name, broken) in Self.brokenUTF8 {
            for rest in ["", "\"]", "x\"]", "xxxxxxxxxxxxxxxxxxx\"]"] {
                let document = bytes("[\"é") + broken + bytes(rest)
                let whole = self.verdict(document)
                #expect(whole?.expected == "valid UTF-8", "\(name)")
                #expect(whole?.offset == 4, "\(name)")
                for pieces in Cuts.systematic(document) { #expect(self.verdict(pieces) == whole, "\(name)") }
            }
        }
    }

    @Test func `broken UTF-16 and UTF-32 are found at every cut`() {
        let documents: [[UInt8]] = [
            [0x5B, 0, 0x5D], [0x5B, 0, 0x22, 0, 0x00, 0xD8, 0x22, 0, 0x5D, 0], [0xFF, 0xFE, 0x5B, 0, 0x5D, 0, 0],
            [0, 0, 0, 0x5B, 0, 0x11, 0, 0], [0, 0, 0, 0x5B, 0, 0, 0xD8, 0], [0x5B, 0, 0x74, 0, 0x72, 0, 0x00, 0xDC],
            [0x5B, 0, 0x78, 0, 0x00, 0xDC], [0x5B, 0, 0x22, 0, 0x5C, 0, 0x00, 0xDC], [0x5B, 0, 0x00, 0xD8],
        ]
        for document in documents {
            let whole = self.verdict(document)
            #expect(whole != nil)
            for pieces in Cuts.systematic(document) { #expect(self.verdict(pieces) == whole, "\(document)") }
        }
    }

    @Test func `random documents have one verdict, however they are cut`() throws {
        var random = SeededGenerator(seed: 11)
        var refused = 0
        for round in 0..<2000 {
            var document = try JSONWriter.write(
                RandomParameter.document(depth: 4, &random), options: Bool.random(using: &random) ? .pretty : [])
            for _ in 0..<Int.random(in: 0...2, using: &random) { Mutation.json.apply(to: &document, &random) }
            if round % 3 == 0 {
                let encodings = [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32BigEndian]
                let data = String(decoding: document, as: UTF8.self).data(
                    using: encodings.randomElement(using: &random) ?? .utf16)
                document = Array(try #require(data))
                if Bool.random(using: &random) { Mutation.json.apply(to: &document, &random) }
            }
            let scanner = JSONScanner(
                fragmentsAllowed: Bool.random(using: &random), nestingLimit: Int.random(in: 2...8, using: &random))
            let whole = self.verdict(document, scanner)
            if whole != nil { refused += 1 }
            for _ in 0..<3 {
                let pieces = Cuts.random(document, &random)
                guard self.verdict(pieces, scanner) != whole else { continue }
                Issue.record("\(pieces.map { Array($0) }), where the whole is \(String(describing: whole))")
            }
        }
        #expect(refused > 300 && refused < 1700)
    }

    @Test func `levels are kept beyond the innermost 64`() {
        var document = ""
        var ends: [String] = []
        for level in 0..<300 {
            document += level % 3 == 0 ? "[" : "{\"a\":"
            ends.append(level % 3 == 0 ? "]" : "}")
        }
        let closing = ends.reversed().joined()
        #expect(self.verdict(bytes(document + "1" + closing)) == nil)
        for level in 1...300 {
            var wrong = Array(closing.utf8)
            wrong[300 - level] = wrong[300 - level] == 0x5D ? 0x7D : 0x5D
            let broken = bytes(document + "1") + wrong
            let whole = self.verdict(broken)
            #expect(whole?.offset == document.utf8.count + 1 + 300 - level)
            #expect(self.verdict([broken[..<700], broken[700...]]) == whole)
        }
    }

    @Test func `an error is told as soon as it is certain, and again`() {
        var validator = JSONValidator()
        let error = #expect(throws: JSONSyntaxError.self) {
            try bytes("{\"a\":x").withUnsafeBytes { try validator.take($0) }
        }
        #expect(error?.offset == 5)
        #expect(throws: JSONSyntaxError.self) { try validator.take(bytes("1}")) }
        #expect(#expect(throws: JSONSyntaxError.self) { try validator.finish() } == error)
    }

    @Test func `lines are counted over all pieces`() {
        let document = Array("[\n1,\n\n  2,\n x]".utf8)
        #expect(
            self.verdict(document.indices.map { document[$0...$0] })?.description
                == "line 5, column 2 (byte 12): expected a value, found “x”")
    }
}
