// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@testable import PintleSchema

/// The message of each keyword when it is violated; the same schema accepts the other value.
@Suite struct KeywordTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let schema: String
        let valid: String
        let invalid: String
        let sentences: [String]
        var testDescription: String { self.schema }

        init(_ schema: String, _ valid: String, _ invalid: String, _ sentences: String...) {
            (self.schema, self.valid, self.invalid, self.sentences) = (schema, valid, invalid, sentences)
        }
    }

    private func check(_ test: Case) throws {
        let schema = try schema(test.schema)
        #expect(schema.violations(of: try json(test.valid)) == [])
        #expect(schema.violations(of: try json(test.invalid)) == test.sentences)
    }

    @Test(arguments: [
        Case(#"{"type":"string"}"#, #""a""#, "3", "at the root: must be a string, is 3"),
        Case(#"{"type":"integer"}"#, "1.0", "1.5", "at the root: must be an integer, is 1.5"),
        Case(#"{"type":"integer"}"#, "1e400", "1e-400", "at the root: must be an integer, is 1e-400"),
        Case(#"{"type":["object","null"]}"#, "null", "[]", "at the root: must be null or an object, is an empty array"),
        Case(#"{"enum":[1,"é",{"a":[2]}]}"#, #"{"a":[2.0]}"#, "2", "at the root: must be 1, “é” or an object, is 2"),
        Case(
            #"{"const":{"a":1,"b":2}}"#, #"{"b":2,"a":1}"#, "{}", "at the root: must be an object, is an empty object"),
        Case(#"{"const":"é"}"#, #""é""#, #""e\u0301""#, "at the root: must be “é”, is “e\u{301}”"),
        Case(#"{"const":false}"#, "false", "0", "at the root: must be false, is 0"),
    ])
    func `a value has its type and is one of those that are listed`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(#"{"multipleOf":0.1}"#, "0.3", "0.35", "at the root: must be a multiple of 0.1, is 0.35"),
        Case(#"{"multipleOf":1e-300}"#, "1e400", "1e-301", "at the root: must be a multiple of 1e-300, is 1e-301"),
        Case(#"{"multipleOf":3}"#, "-9", "10", "at the root: must be a multiple of 3, is 10"),
        Case(#"{"minimum":0}"#, "0", "-1", "at the root: must be at least 0, is -1"),
        Case(#"{"maximum":1e308}"#, "1e308", "1e400", "at the root: must be at most 1e+308, is 1e400"),
        Case(#"{"exclusiveMinimum":0}"#, "1e-400", "0", "at the root: must be above 0, is 0"),
        Case(
            #"{"exclusiveMaximum":9007199254740993}"#, "9007199254740992", "9007199254740993",
            "at the root: must be below 9007199254740993, is 9007199254740993"),
    ])
    func `numbers are compared exactly`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(#"{"minLength":3}"#, #""日本語""#, #""ab""#, "at the root: must have at least 3 characters, has 2"),
        Case(#"{"maxLength":1}"#, #""😀""#, #""e\u0301""#, "at the root: must have at most 1 character, has 2"),
        Case(#"{"pattern":"^a+$"}"#, #""aa""#, #""aa\n""#, "at the root: must match the pattern “^a+$”, is “aa\\u{A}”"),
        Case(#"{"pattern":"b"}"#, #""abc""#, #""ac""#, "at the root: must match the pattern “b”, is “ac”"),
    ])
    func `strings are measured in code points and searched for patterns`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(#"{"minItems":1}"#, "[1]", "[]", "at the root: must have at least 1 item, has 0"),
        Case(#"{"maxItems":1}"#, "[1]", "[1,2]", "at the root: must have at most 1 item, has 2"),
        Case(
            #"{"uniqueItems":true}"#, "[1,true,[1],[true]]", #"[{"a":1,"b":2},3,{"b":2.0,"a":1}]"#,
            "at the root: must have no item twice, has an object at 0 and at 2"),
        Case(#"{"items":{"type":"null"}}"#, "[null]", "[null,1]", "at /1: must be null, is 1"),
        Case(
            #"{"prefixItems":[{"const":1},{"const":2}],"items":false}"#, "[1,2]", "[1,3,4]", "at /1: must be 2, is 3",
            "at /2: is not allowed"),
        Case(
            #"{"contains":{"const":1}}"#, "[2,1]", "[2]",
            "at the root: must have at least 1 item that keep to contains, has 0"),
        Case(
            #"{"contains":{"const":1},"minContains":0,"maxContains":1}"#, "[]", "[1,1]",
            "at the root: must have at most 1 item that keep to contains, has more"),
    ])
    func `arrays are counted and their items judged`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(#"{"minProperties":1}"#, #"{"a":1}"#, "{}", "at the root: must have at least 1 property, has 0"),
        Case(
            #"{"maxProperties":2}"#, "{}", #"{"a":1,"b":2,"c":3}"#, "at the root: must have at most 2 properties, has 3"
        ),
        Case(
            #"{"required":["a","b"]}"#, #"{"b":1,"a":1}"#, "{}",
            "at the root: must have the properties “a” and “b”"),
        Case(
            #"{"dependentRequired":{"a":["b"]}}"#, "{}", #"{"a":1}"#,
            "at the root: must have the property “b”, because it has “a”"),
        Case(
            #"{"dependentSchemas":{"a":{"required":["b"]}}}"#, "{}", #"{"a":1}"#,
            "at the root: must have the property “b”"),
        Case(
            #"{"properties":{"a/~":{"type":"null"}}}"#, #"{"b":1}"#, #"{"a/~":1}"#,
            "at /a~1~0: must be null, is 1"),
        Case(
            #"{"properties":{"a":true},"patternProperties":{"^x-":{"type":"null"}},"additionalProperties":false}"#,
            #"{"a":1,"x-b":null}"#, #"{"x-b":1,"c":1}"#, "at /x-b: must be null, is 1", "at /c: is not allowed"),
        Case(
            #"{"propertyNames":{"maxLength":1}}"#, #"{"a":1}"#, #"{"ab":1}"#,
            "at the root: must have at most 1 character, has 2"),
    ])
    func `objects are counted and their members judged`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(#"{"allOf":[{"minimum":1},{"maximum":2}]}"#, "1", "3", "at the root: must be at most 2, is 3"),
        Case(
            #"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"null"}},"required":["a"]}]}"#, #"{"a":null}"#,
            #"{"a":1}"#,
            "at the root: must keep to at least one of the 2 schemas of anyOf, keeps to none (must be a string, is an object; at /a: must be null, is 1)"
        ),
        Case(
            #"{"oneOf":[{"minimum":1},{"maximum":2}]}"#, "3", "1",
            "at the root: must keep to exactly one of the 2 schemas of oneOf, keeps to more"),
        Case(#"{"not":{"type":"null"}}"#, "1", "null", "at the root: must not keep to the schema of not"),
        Case(
            #"{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"multipleOf":2}}"#, "20", "15",
            "at the root: must be a multiple of 10, is 15"),
        Case(
            #"{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"multipleOf":2}}"#, "4", "5",
            "at the root: must be a multiple of 2, is 5"),
    ])
    func `schemas are combined`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        Case(
            #"{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}"#,
            #"{"a":1,"b":2}"#, #"{"a":1,"c":2}"#, "at /c: is not allowed"),
        Case(
            #"{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":true}}],"unevaluatedProperties":false}"#,
            #"{"a":1,"b":2}"#, #"{"a":2,"b":2}"#, "at /a: is not allowed"),
        Case(
            #"{"if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"properties":{"x":true}},"unevaluatedProperties":{"type":"null"}}"#,
            #"{"k":1,"x":1}"#, #"{"k":2,"x":null}"#, "at /k: must be null, is 2"),
        Case(
            #"{"prefixItems":[true],"contains":{"type":"string"},"unevaluatedItems":false}"#, #"[1,"a"]"#,
            #"[1,"a",2]"#, "at /2: is not allowed"),
        Case(
            #"{"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false}"#, "{}", #"{"a":1}"#,
            "at /a: is not allowed"),
        Case(
            #"{"patternProperties":{"^a":true},"additionalProperties":{"type":"null"},"unevaluatedProperties":false}"#,
            #"{"ab":1,"b":null}"#, #"{"b":1}"#, "at /b: must be null, is 1"),
    ])
    func `what no schema has looked at is known`(_ test: Case) throws { try self.check(test) }

    @Test(arguments: [
        (#"{"type":["integer","null"]}"#, #""x""#, "must be null or an integer, is a string"),
        (#"{"type":"string"}"#, "[1]", "must be a string, is an array"),
        (#"{"type":"null"}"#, "1.5", "must be null, is a number"),
        (#"{"enum":["a",1]}"#, #""x""#, "must be “a” or 1"), (#"{"const":true}"#, #""x""#, "must be true"),
        (#"{"multipleOf":2}"#, "7", "must be a multiple of 2"), (#"{"maximum":2}"#, "7", "must be at most 2"),
        (#"{"exclusiveMinimum":8}"#, "7", "must be above 8"),
        (#"{"pattern":"^a"}"#, #""x""#, "must match the pattern “^a”"),
        (#"{"maxLength":0}"#, #""x""#, "must have at most 0 characters"),
        (#"{"minLength":2}"#, #""x""#, "must have at least 2 characters"),
        (#"{"uniqueItems":true}"#, #"["x","x"]"#, "must have no item twice, has the same at 0 and at 1"),
        (#"{"maxItems":1}"#, #"["x","x"]"#, "must have at most 1 item, has 2"),
        (#"{"format":"uuid"}"#, #""x""#, "must have the format uuid"),
        (
            #"{"anyOf":[{"const":1},{"properties":{"a":{"type":"null"}},"type":"object"}]}"#, #"{"a":"x"}"#,
            "must keep to at least one of the 2 schemas of anyOf, keeps to none (must be 1; at /a: must be null, is a string)"
        ),
    ])
    func `values can be left out of sentences`(text: String, instance: String, sentence: String) throws {
        let options = SchemaOptions(assertsFormats: true, showsValues: false)
        let value = try json(instance)
        #expect(try schema(text, options: options).validate(value).map(\.sentence) == [sentence])
        let shown = try schema(text, options: SchemaOptions(assertsFormats: true))
        #expect(shown.hidingValues.validate(value) == (try schema(text, options: options).validate(value)))
        #expect(shown.hidingValues != shown)
    }

    @Test func `a violation names the place in the instance, the keyword and the schema`() throws {
        let schema = try schema(
            #"{"properties":{"items":{"items":{"$ref":"other.json#/$defs/a~1b"}}}}"#,
            files: [
                "other.json": #"{"$defs":{"a/b":{"properties":{"price":{"minimum":0}}}}}"#
            ])
        let violations = schema.validate(try json(#"{"items":[{"price":1},{"price":-1}]}"#))
        #expect(
            violations == [
                SchemaViolation(
                    instanceLocation: "/items/1/price",
                    schemaLocation: "other.json#/$defs/a~1b/properties/price/minimum", keyword: "minimum",
                    sentence: "must be at least 0, is -1")
            ])
    }

    @Test func `annotations and unknown keywords judge nothing`() throws {
        let schema = try schema(
            #"{"title":1,"format":"ipv4","contentMediaType":"application/json","x-limit":{"type":5},"default":{}}"#)
        #expect(schema.violations(of: .string("no address")) == [])
    }

    @Test func `a schema is the document rule of a response's contract`() throws {
        let rule = ResponseContract.JSONRule(document: try schema(#"{"required":["id"]}"#))
        #expect(rule.document?.violations(of: [:]) == ["at the root: must have the property “id”"])
        #expect(rule == ResponseContract.JSONRule(document: try schema(#"{"required":["id"]}"#)))
        #expect(rule != ResponseContract.JSONRule(document: try schema(#"{"required":["name"]}"#)))
        #expect(rule != ResponseContract.JSONRule())
    }

    @Test func `no more violations are told than asked for`() throws {
        let options = SchemaOptions(violationLimit: 3)
        let schema = try schema(#"{"items":{"type":"string"}}"#, options: options)
        #expect(schema.validate(.array(Array(repeating: 1, count: 100))).count == 3)
        #expect(try PintleSchemaTests.schema("false").validate(.null).map(\.sentence) == ["is not allowed"])
    }
}
