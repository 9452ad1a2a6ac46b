// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

/// The values that are chosen for a schema.
@Suite struct SampleTests {
    private static let pet =
        #"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"name":{"type":["string","null"]},"age":{"type":"integer","minimum":0,"maximum":30},"tags":{"type":"array","items":{"type":"string"}}}}"#

    private func samples(
        _ text: String, _ kind: SchemaSample.Kind, count: UInt64 = 200, options: SchemaOptions = SchemaOptions()
    ) throws -> [SchemaSample] {
        let schema = try schema(text, options: options)
        return (0..<count).compactMap { schema.sample(kind, seed: $0) }
    }

    /// The documents, each once.
    private func documents(_ text: String, _ kind: SchemaSample.Kind, count: UInt64 = 200) throws -> Set<String> {
        Set(try self.samples(text, kind, count: count).map { String(decoding: $0.bytes, as: UTF8.self) })
    }

    private func notes(_ text: String, count: UInt64 = 300) throws -> Set<String> {
        Set(try self.samples(text, .legal, count: count).flatMap(\.notes))
    }

    // MARK: Ordinary values

    @Test func `an ordinary value has the optional members in the order of the schema`() throws {
        for sample in try self.samples(Self.pet, .ordinary, count: 50) {
            guard case .dictionary(let entries) = sample.value else {
                Issue.record("\(sample)")
                continue
            }
            #expect(entries.map(\.key) == ["id", "name", "age", "tags"])
            #expect(sample.notes == [])
        }
    }

    @Test(arguments: [
        (#"{"type":"object","example":{"id":7}}"#, [#"{"id":7}"#]),
        (#"{"type":"integer","examples":[3,4]}"#, ["3", "4"]),
        (#"{"type":"integer","examples":["three",5]}"#, ["5"]),
        (#"{"type":"string","default":"active"}"#, [#""active""#]),
        (#"{"type":"string","default":"x","examples":["first"]}"#, [#""first""#]),
        (#"{"type":"integer","minimum":3,"maximum":3,"example":9}"#, ["3"]),
        (##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string","examples":["there"]}}}"##, [#""there""#]),
        (#"{"enum":[1,"a",null]}"#, ["1", #""a""#]),
        (#"{"const":null}"#, ["null"]),
        (#"{"anyOf":[{"type":"null"},{"const":5}]}"#, ["5"]),
    ])
    func `examples and the values that a schema lists are used if they are valid`(
        _ text: String, _ expected: [String]
    ) throws {
        #expect(try self.documents(text, .ordinary, count: 40) == Set(expected))
    }

    @Test(arguments: [
        "date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "uuid",
        "json-pointer",
        "regex",
    ])
    func `texts have their format, usual and unusual`(_ format: String) throws {
        let text = #"{"type":"string","format":"\#(format)"}"#
        let schema = try schema(text, options: SchemaOptions(assertsFormats: true))
        for kind in [SchemaSample.Kind.ordinary, .legal] {
            let samples = (0..<100).compactMap { schema.sample(kind, seed: $0) }
            #expect(samples.count == 100)
            #expect(samples.allSatisfy { schema.validate($0.value).isEmpty })
        }
        let unusual = try self.notes(text)
        #expect(unusual.contains { $0.contains("an unusual \(format)") }, "\(unusual)")
        let broken = (0..<20).compactMap { schema.sample(.broken, seed: $0) }
        #expect(broken.contains { $0.notes.contains { $0.contains("must have the format \(format)") } })
    }

    @Test(arguments: [
        #"^\d{3}-[A-F]{2}$"#, "^(red|green|blue)$", #"^\p{Lu}\p{Ll}+$"#, "^a*b+c?$", "^[^a-z]{4}$", "x{20}",
        #"^(\w)(\w)\2\1$"#,
        "^(?<name>ab|cd)-\\k<name>$", "^\\u0041\\x42\\cA$", "^.{0,3}$", #"^\{\}\[\]\(\)$"#, "^(?:(?:a|b){2}c){2}$",
        "[-a]]b",
        "^$", "^a|b$", #"^https?://[a-z.]+(:\d+)?/$"#, "^[\\d-]{3}$", "^[+\\-]?\\d+(?:[.,]\\d+)?$",
    ])
    func `texts match their pattern`(_ pattern: String) throws {
        let quoted = String(decoding: try JSONWriter.write(.string(pattern), options: .fragmentsAllowed), as: UTF8.self)
        let text = #"{"type":"string","pattern":\#(quoted)}"#
        #expect(try self.samples(text, .ordinary, count: 40).count == 40, "\(pattern)")
        #expect(try self.samples(text, .legal, count: 40).count == 40, "\(pattern)")
    }

    @Test func `a recursive schema ends`() throws {
        let text =
            ##"{"$defs":{"n":{"type":"object","required":["l","r"],"properties":{"l":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"integer"}]},"r":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"integer"}]}}}},"$ref":"#/$defs/n"}"##
        #expect(try self.samples(text, .ordinary, count: 50).count == 50)
        #expect(try self.samples(text, .legal, count: 50).count == 50)
    }

    @Test func `members that belong in requests are left out if nothing requires them`() throws {
        let schema = try schema(
            ##"{"$defs":{"secret":{"writeOnly":true,"type":"string"}},"type":"object","required":["b"],"properties":{"a":{"$ref":"#/$defs/secret"},"b":{"$ref":"#/$defs/secret"},"c":{"type":"integer","const":1}}}"##
        )
        for seed in 0..<20 as Range<UInt64> {
            let value = try #require(schema.sample(.ordinary, seed: seed, leavesOutWriteOnly: true)).value
            #expect(value["a"] == nil && value["b"] != nil && value["c"] == 1)
            #expect(try #require(schema.sample(.ordinary, seed: seed)).value["a"] != nil)
        }
    }

    @Test func `an example loses the members that belong in requests, at every level`() throws {
        let schema = try schema(
            ##"""
            {"$defs":{"user":{"properties":{"password":{"writeOnly":true},"pin":{"writeOnly":true}},"required":["pin"]}},
             "example":{"users":[{"password":"p","pin":1,"name":"a"}],"owner":{"password":"p","pin":2}},
             "properties":{"users":{"items":{"$ref":"#/$defs/user"}},"owner":{"$ref":"#/$defs/user"}}}
            """##)
        let sample = try #require(schema.sample(.ordinary, seed: 1, leavesOutWriteOnly: true))
        #expect(
            String(decoding: sample.bytes, as: UTF8.self) == #"{"users":[{"pin":1,"name":"a"}],"owner":{"pin":2}}"#)
    }

    // MARK: Legal values

    @Test(arguments: [
        "/name: absent", "/age: absent", "/name: null", "/age: the minimum", "/age: the maximum",
        "/tags: an empty array",
        "the whole: the required members only", "the whole: members in another order", "/id: a number beyond 2^53",
        "/id: −0", "/id: a whole number with a fraction of 0", "/name: empty", "/name: not ASCII", "/tags/0: empty",
        "/unknown: an unknown member", "the whole: on several lines",
        #"the whole: characters beyond ASCII as \u escapes"#,
    ])
    func `a legal value has what programs forget, and the note says what`(_ note: String) throws {
        let notes = try self.notes(Self.pet, count: 1_500)
        #expect(notes.contains(note), "\(notes.sorted())")
    }

    @Test func `nearly every legal value has something unusual`() throws {
        let samples = try self.samples(Self.pet, .legal, count: 200)
        #expect(samples.count == 200)
        #expect(samples.filter { $0.notes.isEmpty }.count <= 2)
    }

    @Test(arguments: [
        (#"{"type":"string","minLength":2,"maxLength":5}"#, ["the shortest", "the longest", "the longest, not ASCII"]),
        (#"{"anyOf":[{"const":1},{"const":"b"},{"const":true}]}"#, ["branch 2 of anyOf", "branch 3 of anyOf"]),
        (#"{"oneOf":[{"const":1},{"const":"b"}]}"#, ["branch 2 of oneOf"]),
        (
            #"{"type":"array","minItems":1,"maxItems":4}"#,
            ["as many items as are allowed, 4", "as few items as are allowed, 1"]
        ),
        (
            #"{"type":"string","pattern":"^[a-z]{2,9}$"}"#,
            ["a short text for the pattern", "a long text for the pattern"]
        ),
        (#"{"enum":["a","b"]}"#, ["the value “a” of enum", "the value “b” of enum"]),
        (
            #"{"type":"number"}"#,
            ["2^64, which no 64 bits hold", "more digits than a double holds", "100 with an exponent"]
        ),
        (#"{"properties":{}}"#, ["another type than the keywords are about"]),
    ])
    func `legal values go to the limits`(_ text: String, _ expected: [String]) throws {
        let notes = try self.notes(text)
        for note in expected { #expect(notes.contains("the whole: \(note)"), "\(note): \(notes.sorted())") }
    }

    @Test func `a number keeps to the range of its format`() throws {
        for sample in try self.samples(#"{"type":"integer","format":"int32"}"#, .legal, count: 300) {
            let digits = String(decoding: sample.bytes, as: UTF8.self)
            #expect(Double(digits).map { $0.magnitude <= 0x1p31 } == true, "\(digits)")
        }
        #expect(try self.documents(#"{"type":"integer","format":"int32"}"#, .legal, count: 300).contains("2147483647"))
    }

    @Test func `a legal value adds no member that the schema forbids`() throws {
        let text = #"{"type":"object","properties":{"a":{"const":1}},"additionalProperties":false}"#
        #expect(try self.documents(text, .legal).isSubset(of: [#"{"a":1}"#, "{}", "{\n  \"a\": 1\n}", "{\n}"]))
    }

    // MARK: Broken values

    @Test(arguments: [
        (#"{"type":"integer"}"#, "must be an integer"), (#"{"enum":["a"]}"#, "must be “a”"),
        (#"{"const":3}"#, "must be 3"),
        (#"{"type":"integer","maximum":7}"#, "must be at most 7, is 8"),
        (#"{"type":"integer","minimum":7}"#, "must be at least 7, is 6"),
        (#"{"type":"integer","exclusiveMinimum":7}"#, "must be above 7, is 7"),
        (#"{"type":"number","multipleOf":0.5}"#, "must be a multiple of 0.5"),
        (#"{"type":"string","maxLength":3}"#, "must have at most 3 characters, has 4"),
        (#"{"type":"string","minLength":3}"#, "must have at least 3 characters, has 2"),
        (#"{"type":"string","pattern":"^a$"}"#, "must match the pattern “^a$”"),
        (#"{"type":"array","maxItems":2}"#, "must have at most 2 items, has 3"),
        (#"{"type":"array","minItems":2}"#, "must have at least 2 items, has 1"),
        (#"{"type":"array","uniqueItems":true}"#, "must have no item twice"),
        (#"{"type":"object","required":["a","b"]}"#, "must have the property “b”"),
        (#"{"type":"object","maxProperties":1}"#, "must have at most 1 property, has 2"),
        (#"{"type":"object","minProperties":2}"#, "must have at least 2 properties, has 1"),
        (#"{"type":"object","additionalProperties":false}"#, "is not allowed"),
        (
            #"{"type":"object","required":["a"],"dependentRequired":{"a":["b"]}}"#,
            "must have the property “b”, because it has “a”"
        ),
        (#"{"type":"array","contains":{"const":1}}"#, "must have at least 1 item that keep to contains"),
        (#"{"not":{"const":1}}"#, "must not keep to the schema of not"),
        (#"{"type":"object","properties":{"a":{"type":"string"}},"unevaluatedProperties":false}"#, "is not allowed"),
    ])
    func `a broken value breaks each keyword in its turn, and the note is the violation`(
        _ text: String, _ violation: String
    ) throws {
        let samples = try self.samples(text, .broken, count: 100)
        #expect(samples.count == 100)
        let notes = Set(samples.flatMap(\.notes))
        #expect(notes.contains { $0.contains(violation) }, "\(notes.sorted())")
    }

    @Test func `a broken value is otherwise as it should be`() throws {
        let samples = try self.samples(Self.pet, .broken)
        // Most breaches are deep inside, not at the root.
        #expect(samples.filter { $0.notes.first?.hasPrefix("/") == true }.count > 100)
        #expect(samples.allSatisfy { $0.notes.count == 1 })
    }

    @Test(arguments: ["true", "{}", #"{"title":"anything"}"#, #"{"properties":{}}"#, #"{"minItems":0}"#])
    func `a schema that forbids nothing has no broken value`(_ text: String) throws {
        #expect(try self.samples(text, .broken, count: 10).isEmpty)
        #expect(try self.samples(text, .ordinary, count: 10).count == 10)
    }

    @Test(arguments: [
        "false", #"{"type":"string","minLength":3,"maxLength":2}"#, #"{"allOf":[{"type":"string"},{"type":"null"}]}"#,
        #"{"type":"string","minLength":1000000}"#, #"{"type":"array","minItems":1000000000}"#,
        ##"{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}"##,
    ])
    func `a schema that no small value satisfies has no valid value, but a broken one`(_ text: String) throws {
        #expect(try self.samples(text, .ordinary, count: 3).isEmpty)
        #expect(try self.samples(text, .legal, count: 3).isEmpty)
        #expect(try self.samples(text, .broken, count: 3).count == 3)
    }

    // MARK: Work

    @Test(arguments: APISchemas.all)
    func `a schema of an API takes few steps`(_ text: String) throws {
        let schema = try schema(text)
        for kind in SchemaSample.Kind.allCases {
            for seed in 0..<5 as Range<UInt64> {
                #expect(schema.sample(kind, seed: seed, within: WorkBudget(steps: 50_000)) != nil, "\(kind) \(seed)")
            }
        }
    }

    // MARK: Seeds

    /// The bytes do not depend on the run: a dictionary has another order in each, and none may be seen.
    @Test(
        arguments: [
            (1, #"{"id":197,"name":"river linden","age":19,"tags":["opal saffron","thistle saffron","umber"]}"#),
            (2, #"{"id":813,"name":"umber amber","age":2,"tags":["thistle"]}"#),
            (3, #"{"id":419,"name":"ember","age":28,"tags":["violet"]}"#),
        ] as [(UInt64, String)])
    func `a seed makes the same bytes in every run`(_ seed: UInt64, _ expected: String) throws {
        let sample = try #require(try schema(Self.pet).sample(.ordinary, seed: seed))
        #expect(String(decoding: sample.bytes, as: UTF8.self) == expected)
    }
}
