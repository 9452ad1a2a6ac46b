// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import PintleTesting
import Testing

@testable import pintle

/// Learnt schemas accept the values that they were learnt from, but not everything.
struct InferredSchemaTests {
    private func document(_ text: String) throws -> Parameter {
        try JSONScanner(fragmentsAllowed: true).parse(Array(text.utf8))
    }

    private func sketch(_ texts: [String]) throws -> InferredSchema {
        var documents = try texts.map(self.document)
        var sketch = InferredSchema(documents.removeFirst())
        for document in documents { sketch.merge(InferredSchema(document)) }
        return sketch
    }

    private func compiled(_ schema: Parameter) throws -> JSONSchema {
        // The schema after writing and reading it.
        let bytes = try JSONWriter.write(schema, options: [.pretty, .fragmentsAllowed])
        return try JSONSchema(JSONScanner(fragmentsAllowed: true).parse(bytes), name: "learnt.json") { _ in
            throw TestFailure("a schema that is learnt refers to nothing")
        }
    }

    private func text(_ sketch: InferredSchema) throws -> String {
        String(decoding: try JSONWriter.write(sketch.schema), as: UTF8.self)
    }

    @Test func `kinds, members and elements are told`() throws {
        let sketch = try self.sketch([
            #"{"id": 1, "name": "x", "price": 1, "tags": ["a"], "gone": null}"#,
            #"{"id": 2, "price": 1.5, "tags": [], "gone": "now"}"#,
        ])
        #expect(
            try self.text(sketch)
                == #"{"type":"object","properties":{"gone":{"type":["null","string"]},"id":{"type":"integer"},"#
                + #""name":{"type":"string"},"price":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}},"#
                + #""required":["gone","id","price","tags"]}"#)
    }

    @Test func `what differs from all that was seen is refused`() throws {
        let schema = try self.compiled(
            self.sketch([#"{"id": 1, "list": [{"a": "x"}]}"#, #"{"id": 2, "list": []}"#]).schema)
        for text in [#"{"id": 3, "list": []}"#, #"{"id": 3, "list": [{"a": ""}], "new": true}"#] {
            #expect(try schema.validate(self.document(text)).isEmpty, "\(text)")
        }
        for text in [
            #"{"list": []}"#, #"{"id": "3", "list": []}"#, #"{"id": 1.5, "list": []}"#, #"{"id": 3, "list": [1]}"#,
            #"{"id": 3, "list": [{}]}"#, "[]",
        ] {
            #expect(try !schema.validate(self.document(text)).isEmpty, "\(text)")
        }
    }

    @Test func `no value and no key of a map is in a schema`() throws {
        let text = try self.text(
            self.sketch([#"{"user": "secret", "by": {"joe@example.com": {"n": 4711}, "8421": {"n": 1}}}"#]))
        #expect(!text.contains("secret") && !text.contains("4711") && !text.contains("joe") && !text.contains("8421"))
        #expect(text.contains(#""additionalProperties":{"type":"object","properties":{"n":{"type":"integer"}}"#))
    }

    @Test func `many names are keys of a map`() throws {
        let members = (0..<70).map { number in
            let letters = [number / 26, number % 26].map { String(UnicodeScalar(UInt8(97 + $0))) }
            return "\"word-\(letters.joined())\": \(number)"
        }
        let text = try self.text(self.sketch(["{\(members.joined(separator: ","))}"]))
        #expect(text == #"{"type":"object","additionalProperties":{"type":"integer"}}"#)
    }

    @Test func `a key that is there twice is found at any depth`() throws {
        #expect(try self.document(#"[{"a": [{"b": 1, "b": 2}]}]"#).repeatsKey)
        #expect(try !self.document(#"[{"a": 1}, {"a": {"a": 2}}]"#).repeatsKey)
    }

    @Test func `what is large or deep is cut`() throws {
        let deep = String(repeating: #"{"a":["#, count: 100) + String(repeating: "]}", count: 100)
        let sketch = try self.sketch([deep, deep])
        #expect(try self.compiled(sketch.schema).validate(self.document(deep)).isEmpty)
        #expect(try self.text(sketch).utf8.count < 1000)

        var random = SeededGenerator(seed: 7)
        var all = InferredSchema(.dictionary([]))
        for _ in 0..<200 { all.merge(InferredSchema(RandomDocument.make(&random, depth: 6))) }
        #expect(try self.text(all).utf8.count < 64 * InferredSchema.mostNodes)
    }

    @Test(arguments: 0..<40)
    func `a schema takes all the documents that it was learnt from`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let documents = (0..<12).map { _ in RandomDocument.make(&random, depth: 5) }
        var sketch = InferredSchema(documents[0])
        var reversed = InferredSchema(documents[11])
        for index in 1..<12 {
            sketch.merge(InferredSchema(documents[index]))
            reversed.merge(InferredSchema(documents[11 - index]))
        }
        #expect(sketch.schema == reversed.schema, "the order does not matter")
        let schema = try self.compiled(sketch.schema)
        for document in documents {
            #expect(schema.validate(document).isEmpty, "\(document)\n\(sketch.schema)")
        }
        let fragments = documents.contains { document in
            switch document {
            case .array, .dictionary: false
            default: true
            }
        }
        #expect(sketch.hasFragments == fragments)
    }
}

/// Documents of all kinds, with few names, so that they meet.
enum RandomDocument {
    private static let names = [
        "id", "name", "list", "next", "42", "joe@example.com", "é", "a/b", "~", "", "x-y", "$ref",
    ]

    static func make(_ random: inout SeededGenerator, depth: Int) -> Parameter {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 8), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2, 3: return .integer(Int64.random(in: -5...5, using: &random))
        case 4: return .number(Double.random(in: -1...1, using: &random))
        case 5: return .decimal("1e400")
        case 6, 7: return .string("text \(Int.random(in: 0..<9, using: &random))")
        case 8, 9:
            let count = Int.random(in: 0...4, using: &random)
            return .array((0..<count).map { _ in self.make(&random, depth: depth - 1) })
        default:
            let names = self.names.shuffled(using: &random).prefix(Int.random(in: 0...6, using: &random))
            return .dictionary(names.map { Parameter.Entry($0, self.make(&random, depth: depth - 1)) })
        }
    }
}
