// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@testable import PintleSchema

@Suite struct PatternTests {
    private func search(_ pattern: String, _ text: String) throws -> Pattern.Outcome {
        try Pattern(pattern).search(text, steps: Pattern.stepLimit(forLength: text.utf8.count))
    }

    @Test(arguments: [
        (#"^\d+$"#, "42", true), (#"^\d+$"#, "٤٢", false), (#"^\w$"#, "é", false), (#"^\s$"#, "\u{A0}", true),
        (#"^\s$"#, "\u{FEFF}", true), (#"^\S$"#, "\u{2003}", false), (#"^[\s]$"#, "\u{3000}", true),
        (#"^[^\s]$"#, "a", true), (#"^.$"#, "\u{2028}", false), (#"^.$"#, "😀", true), (#"^.$"#, "\r", false),
        (#"^a$"#, "a\n", false), (#"^[^]$"#, "\n", true), (#"a[]|b"#, "b", true), (#"a[]"#, "a", false),
        (#"^\u0061\x62\u{1F600}$"#, "ab😀", true), (#"^\uD83D\uDE00$"#, "😀", true), (#"^[\uD83D\uDE00]$"#, "😀", true),
        (#"^\v\0\cJ$"#, "\u{B}\0\n", true), (#"^[\b]$"#, "\u{8}", true), (#"^\p{Letter}+$"#, "éß", true),
        (#"^\p{Script=Greek}$"#, "λ", true), (#"^\P{Lu}$"#, "a", true), (#"^[[:alpha:]]$"#, ":]", true),
        (#"^a{2}$"#, "aa", true), (#"^a{,2}$"#, "a{,2}", true), (#"^{}$"#, "{}", true), (#"^]$"#, "]", true),
        (#"^(?:a|b)(?=c)c$"#, "bc", true), (#"(?<!a)b"#, "ab", false), (#"^(?<x>a)\k<x>$"#, "aa", true),
        (#"^(a)?\1b$"#, "b", true), (#"^a+?b*?$"#, "aab", true), (#"^\/\-\_\"$"#, #"/-_""#, true),
        (#"^a b#c$"#, "a b#c", true), (#"^[\w.-]+@[a-z]+$"#, "a.b-c@d", true), ("", "anything", true),
    ])
    func `patterns mean what they mean in ECMA-262`(_ pattern: String, _ text: String, _ matches: Bool) throws {
        #expect(
            try self.search(pattern, text)
                == (matches ? .matches : .differs))
    }

    @Test(arguments: [
        (
            #"\A"#,
            #"has the escape \A, which ECMA-262 does not know; write the character without backslash, at character 1"#
        ),
        (
            #"a\Z"#,
            #"has the escape \Z, which ECMA-262 does not know; write the character without backslash, at character 2"#
        ),
        (
            #"\a"#,
            #"has the escape \a, which ECMA-262 does not know; write the character without backslash, at character 1"#
        ),
        (
            #"\Qa\E"#,
            #"has the escape \Q, which ECMA-262 does not know; write the character without backslash, at character 1"#
        ),
        ("(?i)a", "has a group that ECMA-262 does not know; remove what follows “(?”, at character 1"),
        ("(?P<a>b)", "has a group that ECMA-262 does not know; remove what follows “(?”, at character 1"),
        ("(*UTF)a", "has a quantifier with nothing to repeat before it, at character 2"),
        ("a**", "has a quantifier with nothing to repeat before it, at character 3"),
        ("a++", "has a quantifier with nothing to repeat before it, at character 3"),
        ("+", "has a quantifier with nothing to repeat before it, at character 1"),
        ("^*", "has a quantifier with nothing to repeat before it, at character 2"),
        ("[a", "has a “[” without its “]”, at character 1"),
        ("a)", "cannot be compiled: unmatched closing parenthesis"),
        (#"a\"#, #"ends with a backslash; write \\ for one, at character 2"#),
        (#"\u{110000}"#, #"has \u without the number of a character behind it, at character 1"#),
        (#"\uD83D"#, #"has \u without the number of a character behind it, at character 1"#),
        (#"\x1"#, #"has \x without two hexadecimal digits behind it, at character 1"#),
        (#"\01"#, #"has an octal escape; write \x and two hexadecimal digits, at character 1"#),
        (#"\pL"#, #"has \p without a property in braces behind it, at character 1"#),
        (#"\c1"#, #"has \c without a letter behind it, at character 1"#),
        (#"(a)\2"#, "cannot be compiled: reference to non-existent subpattern"),
        ("a{2,1}", "cannot be compiled: numbers out of order in {} quantifier"),
        ("(?<=a+)b", "cannot be compiled: lookbehind assertion is not fixed length"),
    ])
    func `what ECMA-262 does not have is refused`(_ pattern: String, _ sentence: String) {
        #expect {
            _ = try Pattern(pattern)
        } throws: { "\($0)" == sentence }
    }

    @Test(arguments: ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(.*a){20}$"])
    func `a search that goes astray is given up`(_ pattern: String) throws {
        let text = String(repeating: "a", count: 5000) + "!"
        #expect(try self.search(pattern, text) == .exhausted)
        let schema = try schema(#"{"items":{"pattern":"\#(pattern)"}}"#)
        let violations = schema.validate(.array(Array(repeating: .string(text), count: 1000)))
        #expect(violations.map(\.instanceLocation) == ["/0"])
        #expect(
            violations.map(\.sentence)
                == ["needs more steps or memory to be matched than a string may; simplify the pattern"])
    }

    @Test func `many strings that are dear to match are more than one document may have`() throws {
        let schema = try schema(#"{"items":{"anyOf":[{"pattern":"^(a|b|ab)*[cd]$"},{"type":"string"}]}}"#)
        // Each takes some thousand steps, which is within the limit of one.
        let text = Parameter.string(String(repeating: "ab", count: 10))
        #expect(schema.validate(.array(Array(repeating: text, count: 100))) == [])
        let violations = schema.validate(.array(Array(repeating: text, count: 5_000)))
        #expect(violations.map(\.sentence) == ["needs more than 2280256 steps to be judged; simplify the schema"])
    }

    @Test func `long strings are matched by patterns that repeat`() throws {
        let text = String(repeating: "abcd", count: 50_000)
        #expect(
            try self.search("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$", text) == .matches)
        #expect(try self.search("^[a-z]+$", text) == .matches)
        #expect(try self.search("^(abcd)*$", text) == .matches)
        #expect(try self.search("^.*z.*$", text) == .differs)
    }

    @Test func `one pattern is searched for by many at once`() async throws {
        let pattern = try Pattern("^(a|b)+c$")
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let text = String(repeating: "ab", count: number * 10 + 1)
                    return pattern.search(text + "c", steps: 100_000) == .matches
                        && pattern.search(text, steps: 100_000) == .differs
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
