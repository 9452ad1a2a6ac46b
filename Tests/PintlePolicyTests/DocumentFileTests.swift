// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@testable import PintlePolicy

/// Schemas and API descriptions in YAML, as documents of JSON's types.
struct DocumentFileTests {
    private func read(_ yaml: String) throws(Malformed) -> Parameter {
        try DocumentFile.read("a.yaml", surroundings(files: ["a.yaml": yaml]))
    }

    @Test(arguments: [
        ("7", "7"), ("+7", "7"), ("-7.5e1", "-7.5e1"), (".5", "0.5"), ("-.5e1", "-0.5e1"), ("+.5", "0.5"),
        ("1.", "1.0"), ("-1.", "-1.0"), ("1.e2", "1.0e2"), ("0x1F", "31"), ("0o17", "15"), ("!!int '7'", "7"),
        ("true", "true"), ("FALSE", "false"), ("~", "null"), ("", "null"), ("Null", "null"),
    ])
    func `plain text is a number, a boolean or null as in YAML's core schema`(yaml: String, json: String) throws {
        let expected = try JSONScanner(fragmentsAllowed: true).parse(Array(json.utf8))
        #expect(try self.read("a: \(yaml)\n") == .object([("a", expected)]))
    }

    @Test(arguments: [
        "+-5", "-+5", "--5", "++5", "0x-5", "0x+5", "0o-7", "0o8", "0x", "0xG", "010", "-010", ".", "+.", ".e5", "1..2",
        "1.2.3", "1.2.", "1e", "yes", "off", "0X1F", "1_000", "12:30", ".inf", ".nan", "2001-12-14",
    ])
    func `other text is text`(text: String) throws {
        #expect(try self.read("a: \(text)\n") == .object([("a", .string(text))]))
    }

    @Test func `a tag may say that a number is text`() throws {
        #expect(try self.read("[!!str 5, !!str ~, '5']") == .array([.string("5"), .string("~"), .string("5")]))
    }

    @Test(arguments: [
        (
            "a: &a {b: 1}\nc: {<<: *a, d: 2}",
            "a.yaml:2:5: c: unknown key \"<<\": merge keys are not supported; repeat the lines"
        ),
        (
            "a: !!binary aGk=",
            "a.yaml:1:4: the tag \"!!binary\" means nothing here; write the value without it, and env:NAME or file:PATH "
                + "for one that stands elsewhere"
        ),
    ])
    func `what would be read as something else is refused`(yaml: String, reason: String) {
        let error = #expect(throws: Malformed.self) { try self.read(yaml) }
        #expect(error?.reason == reason)
    }

    @Test func `a key in quotes is no merge key`() throws {
        #expect(try self.read("{\"<<\": 1}") == .object([("<<", .integer(1))]))
    }
}
