// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSchema
internal import PintleSerialization

/// Fuzzes requests and responses with an OpenAPI document. The input is `METHOD TARGET`, a line with a media type, and a
/// body; if its first line begins with a brace, it is an OpenAPI document itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOpenAPI(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = fuzzedBytes(data, count)
    var contract = houseContract
    var request = input
    if input.first == UInt8(ascii: "{") {
        let (document, rest) = input.split(at: UInt8(ascii: "\n"))
        guard let value = try? JSONScanner().parse(document), let own = try? read(value) else { return 0 }
        (contract, request) = (own, rest)
    }
    let (first, rest) = request.split(at: UInt8(ascii: "\n"))
    let (type, body) = rest.split(at: UInt8(ascii: "\n"))
    let (method, target) = first.split(at: UInt8(ascii: " "))
    let path = String(decoding: target, as: UTF8.self)
    let match = outcome { () throws(OpenAPIMismatch) in
        try contract.operation(method: String(decoding: method, as: UTF8.self), path: path)
    }
    guard let match = try? match.get() else { return 0 }
    let mark = target.split(at: UInt8(ascii: "?"))
    let contentType = type.isEmpty ? nil : String(decoding: type, as: UTF8.self)
    _ = match.operation.parameterViolations(
        pathValues: match.pathValues, query: String(decoding: mark.rest, as: UTF8.self),
        header: { _ in contentType.map { [$0] } ?? [] })
    for kind in SchemaSample.Kind.allCases {
        _ = match.operation.answer(kind, accept: contentType, prefer: contentType, seed: UInt64(count))
    }
    let rules = [
        match.operation.requestRule(contentType: contentType),
        match.operation.responseRule(status: UInt16(body.count % 600), contentType: contentType),
    ]
    guard let value = try? JSONScanner(fragmentsAllowed: true).parse(body) else { return 0 }
    for case .schema(let schema) in rules { _ = schema.validate(value) }
    return 0
}

private func read(_ document: Parameter) throws(SchemaError) -> OpenAPIDocument {
    try OpenAPIDocument(
        document, name: "fuzz.json", options: SchemaOptions(assertsFormats: true),
        resolve: { name throws(SchemaError) in throw SchemaError(name, "there are no other files.") },
        examples: { name in throw SchemaError(name, "there are no other files.") })
}

private let houseContract: OpenAPIDocument = {
    let text = #"""
        {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://a.test/v1"}, {"url": "/"}],
         "paths": {
          "/pets": {"get": {"operationId": "list", "parameters": [
              {"name": "limit", "in": "query", "required": true, "schema": {"type": "integer", "maximum": 9}},
              {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
              {"name": "X-Kind", "in": "header", "schema": {"enum": ["a", "b"]}}],
            "responses": {"200": {"description": "", "content": {"application/json": {"schema":
              {"type": "array", "items": {"$ref": "#/components/schemas/pet"}}}}}, "default": {"description": ""}}}},
          "/pets/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
            "get": {"responses": {"2XX": {"description": "", "content": {"application/*": {"schema": {}}}}}},
            "put": {"requestBody": {"required": true, "content": {"application/json": {"schema":
              {"$ref": "#/components/schemas/pet"}}}}, "responses": {"204": {"description": ""}}}},
          "/pets/{id}/files/{name}.{kind}": {"get": {"parameters": [
              {"name": "id", "in": "path", "required": true, "schema": {}},
              {"name": "name", "in": "path", "required": true, "schema": {"type": "string"}},
              {"name": "kind", "in": "path", "required": true, "schema": {"minLength": 3}}],
            "responses": {"200": {"description": ""}}}}},
         "components": {"schemas": {"pet": {"type": "object", "required": ["name"], "properties": {
           "name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/pet"}}}}}}
        """#
    do {
        return try read(try JSONScanner().parse(Array(text.utf8)))
    } catch {
        fatalError("the contract of the fuzzer is none: \(error)")
    }
}()
