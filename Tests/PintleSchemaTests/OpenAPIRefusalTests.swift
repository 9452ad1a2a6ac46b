// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSchema
import Testing

@Suite struct OpenAPIRefusalTests {
    private func operation(_ schema: String, version: String = "3.0.3") throws -> OpenAPIOperation {
        let text = ##"""
            {"openapi":"\##(version)","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":\##(schema)}}}}}}},
             "components":{"schemas":{"S":{"type":"string"}}}}
            """##
        return try OpenAPIDocument(json(text), name: "api.json", resolve: reader(of: [:]), examples: bytes(of: [:]))
            .operation(method: "GET", path: "/a").operation
    }

    private func violations(_ schema: String, _ body: String) throws -> [String] {
        guard
            case .schema(let schema) = try self.operation(schema)
                .responseRule(status: 200, contentType: "application/json")
        else { return ["no schema"] }
        return schema.violations(of: try json(body))
    }

    @Test func `the schemas of OpenAPI 3.0 mean what they meant there`() throws {
        #expect(try self.violations(#"{"type":"string","nullable":true}"#, "null") == [])
        #expect(try self.violations(#"{"type":"string"}"#, "null") == ["at the root: must be a string, is null"])
        #expect(
            try self.violations(#"{"minimum":1,"exclusiveMinimum":true}"#, "1") == [
                "at the root: must be above 1, is 1"
            ])
        #expect(
            try self.violations(#"{"maximum":1,"exclusiveMaximum":false}"#, "2")
                == ["at the root: must be at most 1, is 2"])
        #expect(try self.violations(##"{"$ref":"#/components/schemas/S","maxLength":1}"##, #""long""#) == [])
    }

    @Test(arguments: [
        (
            #"{"const":1}"#,
            "api.json#/paths/~1a/get/responses/200/content/application~1json/schema/const: OpenAPI 3.0 does not have const and would ignore it; write openapi: 3.1.0 or remove it"
        ),
        (
            #"{"type":["string"]}"#,
            "api.json#/paths/~1a/get/responses/200/content/application~1json/schema/type: an array is no type; write null, boolean, object, array, number, string or integer"
        ),
        (
            #"{"exclusiveMinimum":1,"minimum":0}"#,
            "api.json#/paths/~1a/get/responses/200/content/application~1json/schema/exclusiveMinimum: must be true or false, is 1; write one of them, without quotes"
        ),
    ])
    func `what OpenAPI 3.0 does not have is refused`(_ schema: String, _ sentence: String) {
        #expect {
            _ = try self.operation(schema)
        } throws: { "\($0)" == sentence }
    }

    @Test(arguments: [
        (
            #"{"swagger":"2.0"}"#,
            "api.json#/openapi: must be a version in quotes, such as \"3.1.0\"; is this an OpenAPI document?"
        ),
        (#"{"openapi":"4.0.0"}"#, "api.json#/openapi: must be 3.1 or 3.0, is “4.0.0”; convert the document"),
        (
            #"{"openapi":"3.1.0","jsonSchemaDialect":"x"}"#,
            "api.json#/jsonSchemaDialect: “x” is not supported; remove it, for the dialect of OpenAPI 3.1"
        ),
        (
            #"{"openapi":"3.1.0","paths":{"a":{}}}"#,
            "api.json#/paths/a: is no path; begin it with a slash, and close each brace"
        ),
        (
            #"{"openapi":"3.1.0","paths":{"/{a}":{},"/{b}":{}}}"#,
            "api.json#/paths/~1{b}: matches the same paths as /{a}; remove one of them"
        ),
        (
            #"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"20":{}}}}}}"#,
            "api.json#/paths/~1a/get/responses/20: is no status; write one such as 200, a range such as 2XX, or default"
        ),
        (
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/components/x"}}}}}}"##,
            "api.json#/paths/~1a/get/responses/200/$ref: “#/components/x” names nothing in api.json; correct the reference or add what it names"
        ),
        (
            ##"{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/paths/~1a/get/responses/200"}}}}}}"##,
            "api.json#/paths/~1a/get/responses/200: is one of more than 32 references that lead to each other; take one out"
        ),
        (
            #"{"openapi":"3.1.0","paths":{"/a":{"get":{"requestBody":{"content":{"json":{}}}}}}}"#,
            "api.json#/paths/~1a/get/requestBody/content/json: is no media type; write one such as application/json"
        ),
        (
            #"{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"name":"x","in":"body"}]}}}}"#,
            "api.json#/paths/~1a/get/parameters/0: is in “body”; write path, query, header or cookie"
        ),
        (
            #"{"openapi":"3.1.0","components":{"schemas":{"Unused":{"minLength":"3"}}}}"#,
            "api.json#/components/schemas/Unused/minLength: must be a whole number from 0, is “3”; write one, without quotes"
        ),
        (
            #"{"openapi":"3.1.0","paths":[]}"#,
            "api.json#/paths: must be an object, is an empty array; write names with values"
        ),
        (#"{"openapi":"3.1.0","servers":[{}],"paths":{}}"#, "api.json#/servers/0: must have a url; add it"),
    ])
    func `a document that is wrong is refused with its place and a remedy`(_ text: String, _ sentence: String) {
        #expect {
            _ = try OpenAPIDocument(json(text), name: "api.json", resolve: reader(of: [:]), examples: bytes(of: [:]))
        } throws: { "\($0)" == sentence }
    }
}
