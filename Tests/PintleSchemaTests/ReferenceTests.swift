// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

@Suite struct ReferenceTests {
    @Test(arguments: [
        ##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
        ##"{"$ref":"#/$defs/a%20b~1c","$defs":{"a b/c":{"type":"null"}}}"##,
        ##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"null"}}}"##,
        ##"{"$ref":"#/x-parts/0","x-parts":[{"type":"null"}]}"##,
        ##"{"$ref":"item","$id":"https://example.com/root","$defs":{"x":{"$id":"/item","type":"null"}}}"##,
        ##"{"$id":"urn:x:y","$ref":"urn:x:y#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
        ##"{"$ref":"#/allOf/1","allOf":[true,{"type":"null"}]}"##,
        ##"{"$ref":"other.json"}"##, ##"{"$ref":"sub/deep.json#here"}"##,
        ##"{"$id":"https://example.com/schema.json","$ref":"other.json"}"##,
        ##"{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"null"}}}"##,
    ])
    func `a reference leads to its schema`(_ text: String) throws {
        let schema = try schema(
            text,
            files: [
                "other.json": #"{"type":"null"}"#,
                "sub/deep.json": #"{"$defs":{"x":{"$anchor":"here","$ref":"../other.json"}}}"#,
            ])
        #expect(schema.violations(of: .null) == [])
        #expect(schema.violations(of: 1) == ["at the root: must be null, is 1"])
    }

    @Test func `what stands beside a reference counts too`() throws {
        let schema = try schema(##"{"$ref":"#/$defs/a","minimum":2,"$defs":{"a":{"maximum":3}}}"##)
        #expect(schema.violations(of: 1) == ["at the root: must be at least 2, is 1"])
        #expect(schema.violations(of: 4) == ["at the root: must be at most 3, is 4"])
    }

    @Test func `schemas that contain themselves judge instances of any depth`() throws {
        let schema = try schema(
            ##"{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}"##)
        #expect(schema.violations(of: try json(#"{"next":{"next":{}}}"#)) == [])
        #expect(
            schema.violations(of: try json(#"{"next":{"next":{"x":1}}}"#)) == ["at /next/next/x: is not allowed"])
    }

    @Test func `a dynamic reference leads to the outermost anchor`() throws {
        let tree =
            ##"{"$id":"tree","$dynamicAnchor":"node","properties":{"children":{"items":{"$dynamicRef":"#node"}}}}"##
        let strict = try schema(
            #"{"$id":"strict","$dynamicAnchor":"node","$ref":"tree.json","unevaluatedProperties":false}"#,
            files: ["tree.json": tree])
        #expect(strict.violations(of: try json(#"{"children":[{"children":[]}]}"#)) == [])
        #expect(strict.violations(of: try json(#"{"children":[{"x":1}]}"#)) == ["at /children/0/x: is not allowed"])
    }

    @Test(arguments: [
        (
            ##"{"$ref":"#"}"##,
            "schema.json#: leads back to schema.json# without going into the instance, which would never end; take one reference out of the loop"
        ),
        (
            ##"{"properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/properties/a"}]}}}"##,
            "schema.json#/properties/a/anyOf/1: leads back to schema.json#/properties/a without going into the instance, which would never end; take one reference out of the loop"
        ),
        (
            ##"{"$ref":"#/$defs/b"}"##,
            "schema.json#/$ref: “#/$defs/b” names nothing in schema.json; correct the reference or add what it names"
        ),
        (
            ##"{"$ref":"#b"}"##,
            "schema.json#/$ref: “#b” names nothing in schema.json; correct the reference or add what it names"
        ),
        (
            ##"{"$ref":"missing.json#/a"}"##,
            "schema.json#/$ref: “missing.json” cannot be read: there is no such file"
        ),
        (
            ##"{"items":{"$ref":"https://example.com/a.json"}}"##,
            "schema.json#/items/$ref: “https://example.com/a.json” is in none of the files, and nothing is fetched from the network; refer to a file by its relative path"
        ),
        (
            ##"{"$ref":"//example.com/a.json"}"##,
            "schema.json#/$ref: “//example.com/a.json” is in none of the files, and nothing is fetched from the network; refer to a file by its relative path"
        ),
        (
            ##"{"$ref":"bad.json"}"##,
            "bad.json#/minLength: must be a whole number from 0, is “3”; write one, without quotes"
        ),
        (
            ##"{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}"##,
            "schema.json#/$defs/a/$id: “x” is the $id of two schemas; give one another"
        ),
        (
            ##"{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}"##,
            "schema.json#/$defs/a/$anchor: “x” is the anchor of two schemas; give one another"
        ),
        (
            ##"{"$defs":{"a":{"$id":"x#y"}}}"##,
            "schema.json#/$defs/a/$id: must have no fragment, is “x#y”; write $anchor"
        ),
    ])
    func `a reference that leads nowhere is refused`(_ text: String, _ sentence: String) throws {
        #expect(try refusal(of: text, files: ["bad.json": #"{"minLength":"3"}"#]) == sentence)
    }

    @Test func `a loop through the instance's depth alone is bounded`() throws {
        // Each branch may reach every level of the instance: 2 to the power of the depth, if there were no limit.
        let schema = try schema(
            ##"{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}"##
        )
        let text = String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)
        let violations = schema.validate(try json(text))
        #expect(violations.count == 1)
        #expect(violations[0].sentence == "needs more than 1102656 steps to be judged; simplify the schema")
    }
}
