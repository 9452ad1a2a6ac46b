// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleSchema
internal import PintleSerialization

/// Fuzzes JSON Schema: an instance with the built-in schemas or, if the document is `{"schema": …, "instance": …}`, with
/// the schema in it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSchema(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let document = try? JSONScanner(fragmentsAllowed: true).parse(fuzzedBytes(data, count)) else { return 0 }
    var schemas = houseSchemas
    var instance = document
    if let schema = document["schema"] {
        guard let own = try? compiled(schema) else { return 0 }
        schemas = [own]
        instance = document["instance"] ?? .null
    }
    for schema in schemas {
        let violations = schema.validate(instance)
        hold(violations.count <= 16, "no more violations than the limit: \(violations.count)")
        hold(violations.map(\.description) == schema.violations(of: instance), "the verdict is one")
    }
    if document["schema"] != nil { sample(schemas[0], seed: UInt64(count)) }
    return 0
}

/// Makes values for a schema of the input, which are what they should be.
private func sample(_ schema: JSONSchema, seed: UInt64) {
    for kind in SchemaSample.Kind.allCases {
        guard let sample = schema.sample(kind, seed: seed) else { continue }
        hold(sample.bytes.count <= SchemaSample.sizeLimit, "a value is no longer than it may be")
        guard let value = try? JSONScanner(fragmentsAllowed: true).parse(sample.bytes) else {
            hold(false, "a value is a document")
            continue
        }
        hold(schema.validate(value).isEmpty == (kind != .broken), "a \(kind.rawValue) value is what it should be")
        hold(schema.sample(kind, seed: seed) == sample, "a seed makes one value")
    }
}

private func compiled(_ schema: Parameter) throws(SchemaError) -> JSONSchema {
    try JSONSchema(schema, name: "fuzz.json", options: SchemaOptions(assertsFormats: true)) {
        name throws(SchemaError) in
        throw SchemaError(name, "there are no other files.")
    }
}

/// Schemas with every applicator and assertion once, and references in a circle.
private let houseSchemas: [JSONSchema] = [
    #"""
    {"$defs": {"node": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/node"}, "value": {}},
      "additionalProperties": false}}, "$ref": "#/$defs/node"}
    """#,
    #"""
    {"type": "object", "required": ["a"], "minProperties": 1, "maxProperties": 9,
     "propertyNames": {"maxLength": 5, "pattern": "^[a-z]*$"},
     "patternProperties": {"^x": {"type": "integer", "multipleOf": 0.01, "minimum": -1e400, "exclusiveMaximum": 1e300}},
     "properties": {"a": {"type": "string", "minLength": 1, "pattern": "^(a+)+$"}, "b": {"enum": [1, 1.0, "1", [1], null]},
       "d": {"type": "string", "format": "date-time"}, "u": {"format": "uri"}, "e": {"format": "email"},
       "i": {"format": "ipv6"}, "h": {"format": "hostname"}},
     "dependentRequired": {"b": ["a"]}, "dependentSchemas": {"d": {"required": ["u"]}}, "unevaluatedProperties": false}
    """#,
    #"""
    {"type": "array", "prefixItems": [{"const": 1}, {"type": "number"}], "items": {"anyOf": [{"type": "string"},
      {"type": "array", "items": {"not": {"type": "null"}}}]}, "contains": {"type": "string"}, "minContains": 0,
     "maxContains": 3, "uniqueItems": true, "minItems": 1, "maxItems": 50}
    """#,
    #"""
    {"oneOf": [{"if": {"type": "array"}, "then": {"minItems": 2}, "else": {"maxProperties": 2}}, {"allOf": [
      {"type": "array", "unevaluatedItems": {"type": "boolean"}}, {"contains": {"const": true}}]}]}
    """#,
].map { text in
    do {
        return try compiled(try JSONScanner().parse(Array(text.utf8)))
    } catch {
        fatalError("a schema of the fuzzer is none: \(error)")
    }
}
