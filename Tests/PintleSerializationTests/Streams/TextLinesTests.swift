// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

struct TextLinesTests {
    private typealias Result = StreamedItems<String>

    private func lines(_ text: [UInt8], _ ending: LineEnding = .lineFeed, limit: Int = 100) -> Result {
        .of(text) { TextLines(ending: ending, limit: limit) }
    }

    @Test(arguments: [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("\n\n", ["", ""]),
        ("a\r\nb\r\n", ["a", "b"]), ("a\r\n\r\n", ["a", ""]), ("a\rb\n", ["a\rb"]), ("a\r\r\n", ["a\r"]),
        ("a\r", ["a\r"]), ("\r", ["\r"]), ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\u{FEFF}", []),
        ("\u{FEFF}\u{FEFF}", ["\u{FEFF}"]), ("größer\n→\n", ["größer", "→"]),
        ("a\u{0}\u{B}\u{2028}b", ["a\u{0}\u{B}\u{2028}b"]),
    ])
    func `lines end with a line feed, and a carriage return before it`(text: String, lines: [String]) {
        #expect(self.lines(bytes(text)).items == lines)
    }

    @Test(arguments: [
        ("a\rb\nc\r\nd", ["a", "b", "c", "d"]), ("a\r\r\nb", ["a", "", "b"]), ("a\n\rb", ["a", "", "b"]), ("\r", [""]),
        ("\r\n", [""]), ("\n", [""]), ("a\r", ["a"]), ("", []), ("\u{FEFF}\r\n\r", ["", ""]),
    ])
    func `lines end with a carriage return alone where that is asked`(text: String, lines: [String]) {
        #expect(self.lines(bytes(text), .any).items == lines)
    }

    @Test func `a line that a carriage return ends is given at once`() throws {
        var parser = LineParser(TextLines(ending: .any, limit: 10))
        let (taken, line) = try bytes("a\r").withUnsafeBytes { try parser.take($0) }
        #expect(taken == 2 && line == "a")
    }

    @Test(arguments: [LineEnding.lineFeed, .any], ["\n", "\r\n"])
    func `a line of the limit is taken, and a longer one is an error with its number`(ending: LineEnding, end: String) {
        #expect(self.lines(bytes("abc\(end)1234\(end)xyz"), ending, limit: 4).items == ["abc", "1234", "xyz"])
        let error = TextStreamError(.tooLong, line: 2, "more than 4 bytes")
        let found = self.lines(bytes("abc\(end)12345\(end)xyz"), ending, limit: 4)
        #expect(found.items == ["abc"] && found.error == error)
        #expect(self.lines(bytes("abc\(end)12345"), ending, limit: 4).error == error)
        #expect(error.description == "line 2: more than 4 bytes")
    }

    @Test func `a byte order mark and a carriage return at the limit do not count`() {
        #expect(self.lines(bytes("\u{FEFF}1234\r\n"), limit: 4).items == ["1234"])
        #expect(self.lines(bytes("1234\r"), limit: 4).error?.code == .tooLong)
        #expect(self.lines([0xEF, 0xBB], limit: 1).error == TextStreamError(.tooLong, line: 1, "more than 1 bytes"))
        #expect(self.lines(bytes("a\n"), limit: .max).items == ["a"])
        #expect(self.lines(bytes("\n\n"), limit: 0).items == ["", ""])
    }

    @Test(arguments: [[0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xFF], [0xEF, 0xBB]] as [[UInt8]])
    func `a line that is not UTF-8 is an error, after those before it`(broken: [UInt8]) {
        let error = TextStreamError(.notUTF8, line: 2, "the line is not UTF-8")
        for end in ["", "\n", "\r\nmore"] {
            let found = self.lines(bytes("good\n") + broken + bytes(end))
            #expect(found.items == ["good"] && found.error == error)
        }
        #expect(self.lines(broken).error?.line == 1)
    }

    @Test func `random texts have the lines that a plain search finds`() throws {
        var random = SeededGenerator(seed: 11)
        let tokens = ["a", "bc", "\n", "\r", "\r\n", "é", "\u{FEFF}", " "]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = bytes((0..<count).map { _ in tokens.randomElement(using: &random) ?? "" }.joined())
            for ending in LineEnding.allCases {
                let expected = Self.plainLines(text, ending)
                let pieces = Cuts.random(text, &random)
                let found = Result(TextLines(ending: ending, limit: 100), pieces)
                try #require(found.items == expected, "\(text) in \(pieces) by \(ending)")
            }
        }
    }

    /// The lines of a whole text, found in the plainest way.
    private static func plainLines(_ text: [UInt8], _ ending: LineEnding) -> [String] {
        var lines: [[UInt8]] = [[]]
        let text = Array(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...])
        var index = 0
        while index < text.count {
            let isPair = text[index] == 0x0D && index + 1 < text.count && text[index + 1] == 0x0A
            if isPair || text[index] == 0x0A || (text[index] == 0x0D && ending == .any) {
                lines.append([])
                index += isPair ? 2 : 1
            } else {
                lines[lines.count - 1].append(text[index])
                index += 1
            }
        }
        if lines.last == [] { lines.removeLast() }
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }
}
