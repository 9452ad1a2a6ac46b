// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// Nodes of YAML texts, with their places, before anything is read from them.
struct YAMLComposerTests {
    /// The documents of a text in short: `[…]` and `{…}` as in JSON, plain scalars as they are, others in quotes; each with
    /// its line and column.
    private func compose(_ text: String) throws(YAMLFault) -> [String] {
        var composer = try YAMLComposer(Array(text.utf8))
        var documents: [String] = []
        while let root = try composer.next() { documents.append(self.short(root)) }
        return documents
    }

    private func short(_ node: YAMLNode) -> String {
        let content =
            switch node.content {
            case .scalar(let scalar): scalar.isPlain ? scalar.string : scalar.string.debugDescription
            case .sequence(let members): "[\(members.map(self.short).joined(separator: ", "))]"
            case .mapping(let entries):
                "{\(entries.map { "\(self.short($0.key)): \(self.short($0.value))" }.joined(separator: ", "))}"
            }
        return "\(content)@\(node.position)"
    }

    private func fault(_ text: String) -> String? {
        do throws(YAMLFault) {
            _ = try self.compose(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(
        arguments: [
            ("", []), ("# nothing\n", []), ("---\n", ["@2:1"]), ("a", ["a@1:1"]), ("~", ["~@1:1"]),
            ("- a\n- b: c\n  d: [e]\n", ["[a@1:3, {b@2:3: c@2:6, d@3:3: [e@3:7]@3:6}@2:3]@1:1"]),
            ("ключ: [ü, 𝄞, x]", ["{ключ@1:1: [ü@1:8, 𝄞@1:11, x@1:14]@1:7}@1:1"]),
            ("{a: , b}", ["{a@1:2: @1:5, b@1:7: @1:8}@1:1"]),
            ("a\r\n...\r\n--- b\r--- c", ["a@1:1", "b@3:5", "c@4:5"]),
            ("a: 1 # x\n\n\nb:\n  2", ["{a@1:1: 1@1:4, b@4:1: 2@5:3}@1:1"]),
        ] as [(String, [String])])
    func `lists, maps and documents have the places of their first characters`(text: String, expected: [String]) throws
    {
        #expect(try self.compose(text) == expected)
    }

    @Test(arguments: [
        ("'it''s'", #""it\'s"@1:1"#), (#""a\tb\0\u263a""#, #""a\tb\0☺"@1:1"#), ("|\n a\n b\n", #""a\nb\n"@1:1"#),
        (">-\n a\n b\n", #""a b"@1:1"#), ("a\n  b", "a b@1:1"), ("!!str 1", #""1"@1:1"#), ("! 'x'", #""x"@1:1"#),
        (#""""#, #"""@1:1"#), ("1:2", "1:2@1:1"), ("x\u{FEFF}y", "x\u{FEFF}y@1:1"), ("!!int '7'", "7@1:1"),
        ("!!str ~", #""~"@1:1"#), ("!!null ''", "@1:1"), ("!!seq [!!bool \"no\"]", "[no@1:8]@1:1"),
        ("!!map {a: b}", "{a@1:8: b@1:11}@1:1"), ("! 12", #""12"@1:1"#),
        ("! [! {a: ! b}]", #"[{a@1:7: "b"@1:10}@1:4]@1:1"#), ("!\n- a", "[a@2:3]@1:1"), ("! &x [a]", "[a@1:7]@1:1"),
    ])
    func `a scalar is its text, and a tag may say of which type it is`(text: String, expected: String) throws {
        #expect(try self.compose(text) == [expected])
    }

    @Test(arguments: [
        ("!!binary aGk=", "!!binary", 1), ("[!secret x]", "!secret", 2), ("{a: !include b}", "!include", 5),
        ("!!set {a}", "!!set", 1), ("!!seq {a: b}", "!!seq", 1), ("!!map x", "!!map", 1), ("- !!str [a]", "!!str", 3),
        ("!<tag:test,2000:x> y", "tag:test,2000:x", 1), ("{!!timestamp 2001-12-14: x}", "!!timestamp", 2),
    ])
    func `a tag that is not of the core schema is a fault, unless tags are ignored`(
        text: String, tag: String, column: Int
    ) throws {
        let fault = #expect(throws: YAMLFault.self) { try self.compose(text) }
        guard case .tag(tag, SourcePosition(line: 1, column: column)) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        var composer = try YAMLComposer(Array(text.utf8), ignoringTags: true)
        #expect(try composer.next() != nil)
    }

    @Test func `an alias is the node of its anchor, with its place`() throws {
        #expect(try self.compose("a: &x [1]\nb: *x") == ["{a@1:1: [1@1:8]@1:4, b@2:1: [1@1:8]@1:4}@1:1"])
        #expect(try self.compose("[&x 1, *x, &x 2, *x]") == ["[1@1:2, 1@1:2, 2@1:12, 2@1:12]@1:1"])
        #expect(try self.compose("{&x a: 1, b: *x}") == ["{a@1:2: 1@1:8, b@1:11: a@1:2}@1:1"])
    }

    @Test(arguments: [
        ("{a: 1, b: 2, a: 3}", ["a"], 1, 2), ("b: 1\na: 1\na: 2\nb: 2", ["a", "b"], 2, 1),
        ("1: x\n'1': y", ["1"], 1, 1), ("&k a: 1\n*k : 2", ["a"], 1, 1), ("- {a: {'': 1, \"\": 2}}", [""], 1, 8),
    ])
    func `a key that is there twice is a fault, however it is written`(
        text: String, keys: [String], line: Int, column: Int
    ) throws {
        let fault = #expect(throws: YAMLFault.self) { try self.compose(text) }
        guard case .repeatedKeys(keys, SourcePosition(line: line, column: column)) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func `keys that are no text are not compared`() throws {
        #expect(try self.compose("{[a]: 1, [a]: 2}") == ["{[a@1:3]@1:2: 1@1:7, [a@1:11]@1:10: 2@1:15}@1:1"])
    }

    @Test(arguments: [
        ("[a\n", "did not find expected ',' or ']'", 2, 1), ("a: *x", "found undefined alias", 1, 4),
        ("a: &x [*x]", "found undefined alias", 1, 8), ("[&x 1, &x [*x]]", "found undefined alias", 1, 12),
        ("--- &x a\n--- *x", "found undefined alias", 2, 5), ("a: 'b", "found unexpected end of stream", 1, 6),
        ("ü: b: c", "mapping values are not allowed in this context", 1, 5),
    ])
    func `a fault of the syntax has libyaml's words and the parser's place`(
        text: String, words: String, line: Int, column: Int
    ) throws {
        let fault = #expect(throws: YAMLFault.self) { try self.compose(text) }
        guard case .syntax(words, SourcePosition(line: line, column: column)) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func `a control character has the number of bytes before it`() throws {
        let fault = #expect(throws: YAMLFault.self) { try self.compose("ü: \u{1}") }
        guard case .character("control characters are not allowed", offset: 4) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    // MARK: Limits

    @Test func `the deepest nest has 64 levels, aliases expanded`() {
        func nest(_ levels: Int, _ inner: String = "x") -> String {
            String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
        }
        #expect(self.fault(nest(64)) == nil)
        #expect(self.fault(nest(65)) == "tooMuch")
        #expect(self.fault("[&a \(nest(40)), \(nest(23, "*a"))]") == nil)
        #expect(self.fault("[&a \(nest(40)), \(nest(24, "*a"))]") == "tooMuch")
    }

    @Test func `all documents have 500,000 nodes together, aliases expanded`() {
        let thousand = "[" + String(repeating: "x, ", count: 999) + "]"
        func aliases(_ count: Int) -> String { "[&a \(thousand)" + String(repeating: ", *a", count: count - 1) + "]" }
        #expect(self.fault(aliases(499)) == nil)
        #expect(self.fault(aliases(500)) == "tooMuch")
        let half = "--- \(aliases(249))\n"
        #expect(self.fault(half + half) == nil)
        #expect(self.fault(half + half + half) == "tooMuch")
    }
}
