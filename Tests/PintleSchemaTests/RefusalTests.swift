// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

@Suite struct RefusalTests {
    @Test(arguments: [
        (#"5"#, "schema.json#: must be a schema, is 5; write an object, true or false"),
        (#"{"not":[]}"#, "schema.json#/not: must be a schema, is an empty array; write an object, true or false"),
        (
            #"{"properties":{"name":{"minLength":"3"}}}"#,
            "schema.json#/properties/name/minLength: must be a whole number from 0, is “3”; write one, without quotes"
        ),
        (#"{"maxItems":-1}"#, "schema.json#/maxItems: must be a whole number from 0, is -1; write one, without quotes"),
        (#"{"minimum":"0"}"#, "schema.json#/minimum: must be a number, is “0”; write one, without quotes"),
        (
            #"{"exclusiveMinimum":true}"#,
            "schema.json#/exclusiveMinimum: must be a number, is true; write one, without quotes"
        ),
        (
            #"{"multipleOf":0}"#,
            "schema.json#/multipleOf: must be above 0 and have at most 18 digits, is 0; correct it"
        ),
        (
            #"{"type":"strnig"}"#,
            "schema.json#/type: “strnig” is no type; write null, boolean, object, array, number, string or integer"
        ),
        (#"{"enum":1}"#, "schema.json#/enum: must be an array, is 1; put the values in brackets"),
        (
            #"{"uniqueItems":1}"#,
            "schema.json#/uniqueItems: must be true or false, is 1; write one of them, without quotes"
        ),
        (#"{"required":"a"}"#, "schema.json#/required: must hold arrays of names, holds “a”; use brackets"),
        (#"{"required":[1]}"#, "schema.json#/required: must hold names only, holds 1; put it in quotes"),
        (
            #"{"allOf":[]}"#,
            "schema.json#/allOf: must be an array with a schema at least, is an empty array; put the schemas in brackets"
        ),
        (
            #"{"properties":[]}"#,
            "schema.json#/properties: must be an object, is an empty array; write schemas under names"
        ),
        (
            #"{"items":[{}]}"#,
            "schema.json#/items: must be a schema, is an array; write prefixItems for a schema per item"
        ),
        (
            #"{"pattern":"(a"}"#,
            "schema.json#/pattern: the pattern “(a” cannot be compiled: missing closing parenthesis; correct it"
        ),
        (
            #"{"patternProperties":{"a++":true}}"#,
            "schema.json#/patternProperties/a++: the pattern “a++” has a quantifier with nothing to repeat before it, at character 3; correct it"
        ),
        (#"{"$defs":{"a":{"pattern":1}}}"#, "schema.json#/$defs/a/pattern: must be a string, is 1; put it in quotes"),
        (
            #"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            "schema.json#/$schema: “http://json-schema.org/draft-07/schema#” is not supported; write the schema for https://json-schema.org/draft/2020-12/schema"
        ),
        (
            #"{"dependencies":{}}"#,
            "schema.json#/dependencies: dependencies belongs to older drafts; write dependentRequired or dependentSchemas"
        ),
        (
            #"{"$recursiveRef":"x"}"#,
            "schema.json#/$recursiveRef: $recursiveRef belongs to draft 2019-09; write $dynamicRef"
        ),
        (
            #"{"a":{"b":1,"b":2}}"#,
            "schema.json#/a/b: the key is there twice, so it is unknown which value counts; mend the document"
        ),
    ])
    func `a schema that is wrong is refused with its place and a remedy`(_ text: String, _ sentence: String) throws {
        #expect(try refusal(of: text) == sentence)
    }

    @Test func `the dialects of 2020-12 and of OpenAPI 3.1 are taken`() throws {
        #expect(try refusal(of: #"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#) == nil)
        #expect(try refusal(of: #"{"$schema":"https://spec.openapis.org/oas/3.1/dialect/base"}"#) == nil)
    }

    @Test func `a schema is nested at most 512 levels deep`() throws {
        var value: Parameter = true
        for _ in 0..<600 { value = ["not": value] }
        #expect {
            _ = try JSONSchema(value, name: "deep.json") { _ in .null }
        } throws: { error in
            "\(error)".hasSuffix(": is nested deeper than 512 levels; mend the document")
        }
    }
}
