// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// Characters that end a line in YAML 1.1, which libyaml reads, and not in YAML 1.2 and editors.
struct LineEndTests {
    private static func refusal(_ code: String) -> String {
        "the character U+\(code) ends a line for some programs and not for others; leave it out, or write \"\\u\(code)\" in "
            + "double quotes"
    }

    @Test(arguments: [
        ("version: 1\nvia: a\u{2028}b", "2:7", "2028"), ("version: 1 # x\u{85}via: b\n", "1:15", "0085"),
        ("# ü\r\nversion: 1\r# \u{2029}", "3:3", "2029"), ("\u{FEFF}version: 1\n\u{2028}", "2:1", "2028"),
        ("version: 1\nvia: \"\u{85}\"", "2:7", "0085"), ("a: b: c\nvia: |\n  a\u{2028}b", "3:4", "2028"),
    ])
    func `such a character is refused with its place, wherever it stands`(yaml: String, place: String, code: String) {
        #expect(problems(yaml) == ["pintle.yaml:\(place): \(Self.refusal(code))"])
    }

    @Test func `such a character is refused in other documents, too`() {
        let error = #expect(throws: ConfigurationError.self) {
            try LocatedValue.read(Array("# a\u{2028}b: c\n".utf8), file: "acl.yaml")
        }
        #expect(error?.lines == ["acl.yaml:1:4: \(Self.refusal("2028"))"])
    }

    @Test func `such a character is taken as an escape`() throws {
        let configuration = try load("version: 1\nlog: {exchanges: \"a\\u2028\\u0085\\u2029b\"}")
        #expect(configuration.log.exchanges == .file("a\u{2028}\u{85}\u{2029}b"))
    }

    @Test func `a control character has its place behind every end of a line`() {
        #expect(
            problems("# ü\r\nversion: 1\r# \u{7F}") == [
                "pintle.yaml:3:3: not valid YAML: control characters are not allowed"
            ])
    }
}
