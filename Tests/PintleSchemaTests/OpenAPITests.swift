// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSchema
import Testing

@Suite struct OpenAPITests {
    private static let shop = ##"""
        {"openapi":"3.1.0","info":{"title":"Shop","version":"1"},
         "servers":[{"url":"https://api.example.com/v1/"},{"url":"/{stage}/v2","variables":{"stage":{"default":"live","enum":["live","test"]}}}],
         "paths":{
          "/pets":{
           "get":{"operationId":"listPets",
            "parameters":[
             {"name":"limit","in":"query","schema":{"type":"integer","maximum":100}},
             {"name":"tag","in":"query","schema":{"type":"array","items":{"$ref":"#/components/schemas/Tag"}}},
             {"name":"ids","in":"query","explode":false,"schema":{"type":"array","items":{"type":"integer"}}},
             {"name":"X-Trace","in":"header","required":true,"schema":{"type":"string","minLength":3}},
             {"name":"Accept","in":"header","required":true,"schema":{"type":"string"}},
             {"name":"filter","in":"query","style":"deepObject","schema":{"type":"object"}}],
            "responses":{
             "200":{"content":{"application/json; charset=utf-8":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Pet"}}},"text/csv":{}}},
             "2XX":{"description":"no body"},
             "default":{"$ref":"#/components/responses/Problem"}}},
           "post":{
            "requestBody":{"$ref":"#/components/requestBodies/NewPet"},
            "responses":{"201":{"content":{"application/*":{"schema":{"$ref":"#/components/schemas/Pet"}},"*/*":{}}}}}},
          "/pets/mine":{"get":{"responses":{"200":{}}}},
          "/pets/{id}":{
           "parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
           "get":{"responses":{"200":{}}},
           "delete":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"204":{}}}},
          "/files/{name}.{type}":{"get":{"responses":{}}},
          "/other":{"$ref":"paths.json#/other"}},
         "components":{
          "schemas":{"Pet":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"tag":{"$ref":"#/components/schemas/Tag"}}},
           "Tag":{"type":["string","null"],"maxLength":3}},
          "requestBodies":{"NewPet":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Pet"}}}}},
          "responses":{"Problem":{"content":{"application/problem+json":{"schema":{"required":["title"]}}}}}}}
        """##

    private static let files = [
        "paths.json":
            #"{"other":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"s.json"}}}}}}}}"#,
        "s.json": #"{"type":"null"}"#,
    ]

    private func document(_ text: String = Self.shop) throws -> OpenAPIDocument {
        try OpenAPIDocument(json(text), name: "api.json", resolve: reader(of: Self.files), examples: bytes(of: [:]))
    }

    private func operation(_ method: String, _ path: String) throws -> OpenAPIOperation {
        try self.document().operation(method: method, path: path).operation
    }

    // MARK: Operations

    @Test(arguments: [
        ("GET", "/v1/pets", "GET /pets"), ("GET", "/live/v2/pets?x=/", "GET /pets"),
        ("GET", "/test/v2/pets", "GET /pets"),
        ("POST", "/v1/pets", "POST /pets"), ("GET", "/v1/pets/mine", "GET /pets/mine"),
        ("GET", "/v1/pets/7", "GET /pets/{id}"), ("DELETE", "/v1/pets/a%2Fb", "DELETE /pets/{id}"),
        ("GET", "/v1/files/a.tar.gz", "GET /files/{name}.{type}"), ("GET", "/v1/other", "GET /other"),
        ("GET", "/v1/%70ets", "GET /pets"),
    ])
    func `an operation is found by method and path`(_ method: String, _ path: String, _ name: String) throws {
        #expect(try self.operation(method, path).name == name)
    }

    @Test(arguments: [
        ("GET", "/pets", "the contract has no path for /pets"), ("GET", "/v1", "the contract has no path for /v1"),
        ("GET", "/v1/pets/", "the contract has no path for /v1/pets/"),
        ("GET", "/v1pets", "the contract has no path for /v1pets"),
        ("GET", "/v1/pets/7/toys", "the contract has no path for /v1/pets/7/toys"),
        ("GET", "/v1/files/.x", "the contract has no path for /v1/files/.x"),
        ("PUT", "/v1/pets", "the contract has no PUT for /pets; it has GET and POST"),
        ("get", "/v1/pets", "the contract has no get for /pets; it has GET and POST"),
        ("DELETE", "/v1/pets/mine", "the contract has no DELETE for /pets/mine; it has GET"),
        ("GET", "*", "the contract has no path for *"),
    ])
    func `a request that is not declared is told from one whose method is not`(
        _ method: String, _ path: String, _ sentence: String
    ) throws {
        let document = try self.document()
        #expect {
            _ = try document.operation(method: method, path: path)
        } throws: { "\($0)" == sentence }
    }

    @Test func `the names in a path have values`() throws {
        let document = try self.document()
        let match = try document.operation(method: "GET", path: "/v1/files/a%20b.tar.gz")
        #expect(match.pathValues == ["name": "a b", "type": "tar.gz"])
        #expect(try self.operation("GET", "/v1/pets").identifier == "listPets")
    }

    // MARK: Bodies

    private func text(_ rule: OpenAPIBodyRule, _ body: String = "null") throws -> [String] {
        switch rule {
        case .schema(let schema): schema.violations(of: try json(body))
        case .anyBody: ["any"]
        case .noBody: ["none"]
        case .undeclaredStatus(let sentence), .undeclaredType(let sentence): [sentence]
        }
    }

    @Test(arguments: [
        (200, "application/json", ##"[{"id":"x"}]"##, "at /0/id: must be an integer, is “x”"),
        (
            200, "Application/JSON;charset=utf-8", ##"[{"id":1,"tag":"long"}]"##,
            "at /0/tag: must have at most 3 characters, has 4"
        ),
        (200, "text/csv", "", "any"), (204, "text/csv", "", "none"),
        (
            200, "text/html", "",
            "has the media type text/html, which GET /pets with status 200 does not declare; it declares application/json and text/csv"
        ),
        (500, "application/problem+json", "{}", "at the root: must have the property “title”"),
        (
            404, "application/json", "",
            "has the media type application/json, which GET /pets with status 404 does not declare; it declares application/problem+json"
        ),
    ])
    func `a response has the rule of its status and media type`(
        _ status: UInt16, _ type: String, _ body: String, _ expected: String
    ) throws {
        let rule = try self.operation("GET", "/v1/pets").responseRule(status: status, contentType: type)
        #expect(try self.text(rule, body.isEmpty ? "null" : body) == [expected])
    }

    @Test func `a media range has a schema for what is JSON`() throws {
        let operation = try self.operation("POST", "/v1/pets")
        let wrong = try self.text(operation.responseRule(status: 201, contentType: "application/hal+json"), "{}")
        #expect(wrong == ["at the root: must have the property “id”"])
        #expect(try self.text(operation.responseRule(status: 201, contentType: "application/xml")) == ["any"])
        #expect(try self.text(operation.responseRule(status: 201, contentType: "image/png")) == ["any"])
        #expect(
            try self.text(operation.responseRule(status: 200, contentType: nil)) == [
                "has the status 200, which POST /pets does not declare; it declares 201"
            ])
        #expect(
            try self.text(operation.responseRule(status: 201, contentType: nil)) == [
                "has no media type; POST /pets with status 201 declares application/* and */*"
            ])
    }

    @Test func `a request has a rule too`() throws {
        let post = try self.operation("POST", "/v1/pets")
        #expect(post.requiresBody)
        #expect(
            try self.text(post.requestRule(contentType: "application/json"), #"{"id":1.5}"#) == [
                "at /id: must be an integer, is 1.5"
            ])
        #expect(
            try self.text(post.requestRule(contentType: "text/plain")) == [
                "has the media type text/plain, which POST /pets does not declare; it declares application/json"
            ])
        let get = try self.operation("GET", "/v1/pets")
        #expect(!get.requiresBody)
        #expect(try self.text(get.requestRule(contentType: nil)) == ["none"])
    }

    @Test func `references lead to other files`() throws {
        let rule = try self.operation("GET", "/v1/other").responseRule(status: 200, contentType: "application/json")
        #expect(try self.text(rule, "1") == ["at the root: must be null, is 1"])
    }

    // MARK: Parameters

    private func parameters(_ method: String, _ target: String, _ trace: [String] = ["abc"]) throws -> [String] {
        let match = try self.document().operation(method: method, path: target)
        let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        return match.operation.parameterViolations(pathValues: match.pathValues, query: query) {
            $0 == "X-Trace" ? trace : []
        }
    }

    @Test(arguments: [
        ("/v1/pets?limit=100&tag=a&tag=b%20c&ids=1,2&filter=x&other", []),
        ("/v1/pets?limit=101", ["the query parameter limit: must be at most 100, is 101"]),
        ("/v1/pets?limit=many", ["the query parameter limit: must be an integer, is “many”"]),
        ("/v1/pets?limit=1&limit=2", ["the query parameter limit is there 2 times; send it once"]),
        ("/v1/pets?tag=a&tag=1+2+3", ["the query parameter tag at /1: must have at most 3 characters, has 5"]),
        ("/v1/pets?ids=1,x", ["the query parameter ids at /1: must be an integer, is “x”"]),
        ("/v1/pets/x", ["the path parameter id: must be an integer, is “x”"]),
    ])
    func `parameters keep to their schemas`(_ target: String, _ expected: [String]) throws {
        #expect(try self.parameters("GET", target) == expected)
    }

    @Test func `a parameter of an operation replaces that of its path, and a required one is there`() throws {
        #expect(try self.parameters("DELETE", "/v1/pets/x") == [])
        #expect(
            try self.parameters("GET", "/v1/pets", []) == [
                "the header parameter X-Trace is missing; GET /pets requires it"
            ])
        #expect(
            try self.parameters("GET", "/v1/pets", ["a"]) == [
                "the header parameter X-Trace: must have at least 3 characters, has 1"
            ])
    }
}
