// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct FieldScannerTests {
    private func scanner(_ text: String) -> FieldScanner { FieldScanner(Array(text.utf8)[...]) }

    private func text(_ bytes: (some Collection<UInt8>)?) -> String? {
        bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `a list of parameters is read part by part`() {
        var scanner = self.scanner(", ,\tname ; key=\"a, \\\"b\\\\\" , next")
        scanner.skipCommas()
        #expect(self.text(scanner.token()) == "name")
        #expect(!scanner.isAtMemberEnd)
        scanner.skipSpaces()
        #expect(!scanner.take(",") && scanner.take(";"))
        scanner.skipSpaces()
        #expect(self.text(scanner.take { $0 != UInt8(ascii: "=") }) == "key")
        #expect(scanner.take("=") && scanner.isAtQuote)
        #expect(self.text(scanner.tokenOrQuotedString()) == "a, \"b\\")
        scanner.skipSpaces()
        #expect(scanner.isAtMemberEnd)
        scanner.skipCommas()
        #expect(self.text(scanner.tokenOrQuotedString()) == "next")
        #expect(scanner.isAtMemberEnd && scanner.next() == nil && scanner.token() == nil)
    }

    @Test(arguments: ["", "a", "\"", "\"a", "\"a\\", "\"a\\\""])
    func `a quoted string that is not there, or does not end, stays unread`(value: String) {
        var scanner = self.scanner(value)
        #expect(scanner.quotedString() == nil)
        #expect(self.text(scanner.rest) == value)
    }

    @Test(arguments: [
        ("", []), (";", [""]), ("a", ["a"]), (" a ; b", ["a", "b"]), ("a;", ["a"]), (";;a", ["", "", "a"]),
        ("a=\"x;y\" ;b", ["a=\"x;y\"", "b"]), ("a=\"\\\";\";b", ["a=\"\\\";\"", "b"]), ("a\"b;c", ["a\"b;c"]),
    ])
    func `parts end at separators outside of quoted strings`(value: String, parts: [String]) {
        var scanner = self.scanner(value)
        var read: [String] = []
        while let part = scanner.part(before: ";") { read.append(String(decoding: part, as: UTF8.self)) }
        #expect(read == parts)
    }

    @Test func `a text in quotation marks is read back`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<1000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Array("a\"\\ ;,".utf8)[Int.random(in: 0..<6, using: &random)]
            }
            var scanner = self.scanner(FieldSyntax.quoted(bytes))
            #expect(scanner.quotedString() == bytes)
            #expect(scanner.rest.isEmpty)
        }
    }
}
