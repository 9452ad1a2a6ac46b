// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

@Suite struct HostileInstanceTests {
    @Test func `a key that is there twice is a violation, and nothing else is judged`() throws {
        let schema = try schema(#"{"type":"array"}"#)
        #expect(
            schema.violations(of: try json(#"{"a":{"b/c":1,"b/c":2},"a":3}"#)) == [
                "at /a/b~1c: the key is there twice, so it is unknown which value counts",
                "at /a: the key is there twice, so it is unknown which value counts",
            ])
        // These two are canonically equivalent, but different keys.
        #expect(try PintleSchemaTests.schema("true").violations(of: json(#"{"é":1,"e\u0301":2}"#)) == [])
    }

    @Test func `an instance may be 512 levels deep`() throws {
        let schema = try schema(##"{"items":{"$ref":"#"},"uniqueItems":true,"not":{"const":{"a":1}}}"##)
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(schema.violations(of: try json(text)) == [])
        var value: Parameter = []
        for _ in 0..<100_000 { value = .array([value]) }
        let violations = schema.validate(value)
        #expect(violations.map(\.sentence) == ["is nested deeper than 512 levels"])
        // Taken apart from the outside: the destructor would recurse.
        while case .array(let elements) = value, let inner = elements.first { value = inner }
    }

    @Test func `values that JSON does not have are violations`() throws {
        let schema = try schema("true")
        #expect(
            schema.violations(of: .array([.number(.nan), .data([1]), .set([])])) == [
                "at /0: is a number that JSON does not have", "at /1: is a value that JSON does not have",
                "at /2: is a value that JSON does not have",
            ])
    }

    @Test func `a hundred thousand items are told apart`() throws {
        let schema = try schema(#"{"uniqueItems":true}"#)
        var items = (0..<100_000).map { Parameter.dictionary([.init("id", .integer($0)), .init("n", .number(0.5))]) }
        #expect(schema.validate(.array(items)) == [])
        items.append(["n": 0.5, "id": 77])
        #expect(
            schema.violations(of: .array(items)) == [
                "at the root: must have no item twice, has an object at 77 and at 100000"
            ])
    }

    @Test func `keys that are equivalent in every order do not collide`() throws {
        // All orders of these marks are canonically equivalent, so `String` would give them one hash.
        let marks = ["\u{316}", "\u{317}", "\u{318}", "\u{319}", "\u{301}", "\u{302}", "\u{303}", "\u{304}"]
        var keys = [""]
        for position in 0..<6 { keys = keys.flatMap { key in marks.map { key + $0 + (position == 5 ? "x" : "") } } }
        let entries = keys.prefix(50_000).map { Parameter.Entry("a" + $0, .null) }
        #expect(try schema(#"{"additionalProperties":{"type":"null"}}"#).validate(.dictionary(Array(entries))) == [])
    }

    @Test func `ten thousand properties are found among ten thousand`() throws {
        let names = (0..<10_000).map { "p\($0)" }
        let document = Parameter.dictionary([
            .init("properties", .dictionary(names.map { .init($0, ["type": "integer"]) })),
            .init("required", .array(names.map { .string($0) })),
            .init("additionalProperties", false),
        ])
        let schema = try JSONSchema(document, name: "wide.json") { _ in throw NoSuchFile() }
        var entries = names.map { Parameter.Entry($0, 1) }
        #expect(schema.validate(.dictionary(entries)) == [])
        entries[9_999] = .init("other", 1)
        #expect(
            schema.violations(of: .dictionary(entries)) == [
                "at the root: must have the property “p9999”", "at /other: is not allowed",
            ])
    }

    @Test func `what is told of hostile texts is short and on one line`() throws {
        let schema = try schema(#"{"additionalProperties":{"const":1}}"#)
        let key = String(repeating: "k\n", count: 10_000)
        let sentence = schema.violations(of: .dictionary([.init(key, .string(key))]))[0]
        #expect(sentence.count < 1000)
        #expect(!sentence.contains("\n"))
    }

    @Test func `numbers of any size are judged`() throws {
        let schema = try schema(#"{"items":{"type":"number","multipleOf":7,"minimum":-1e500}}"#)
        let digits = String(repeating: "7", count: 100_000)
        #expect(
            schema.violations(of: try json("[7e999999999999999999999999, \(digits), -7e499, -7e500]")) == [
                "at /3: must be at least -1e500, is -7e500"
            ])
    }

    @Test func `the work for a document grows with its length only`() throws {
        let schema = try schema(
            #"{"items":{"anyOf":[{"required":["a"]},{"required":["b"]},{"properties":{"x":{"enum":[1,2,3]}}}]}}"#)
        let items = (0..<50_000).map { Parameter.dictionary([.init("x", .integer(Int64($0 % 3 + 1)))]) }
        #expect(schema.validate(.array(items)) == [])
    }
}
