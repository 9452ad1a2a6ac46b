// SPDX-License-Identifier: Apache-2.0

/// The keywords that have schemas as values, and the keywords that are refused.
enum SchemaKeywords {
    /// Keywords whose value is a schema.
    static let single: Set<String> = [
        "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties",
    ]
    /// Keywords whose value is an array of schemas.
    static let list: Set<String> = ["allOf", "anyOf", "oneOf", "prefixItems"]
    /// Keywords whose value is an object of schemas.
    static let named: Set<String> = [
        "$defs", "definitions", "dependentSchemas", "patternProperties", "properties",
    ]

    /// Keywords of older drafts, which 2020-12 would silently ignore, each with a remedy.
    static let refused: [String: String] = [
        "$recursiveRef": "belongs to draft 2019-09; write $dynamicRef",
        "$recursiveAnchor": "belongs to draft 2019-09; write $dynamicAnchor",
        "additionalItems": "belongs to older drafts; write items, and prefixItems for what was items",
        "dependencies": "belongs to older drafts; write dependentRequired or dependentSchemas",
    ]

    /// Keywords that OpenAPI 3.0 does not have. To ignore them silently is never what the author of a schema wants.
    static let unknownToOpenAPI30: Set<String> = [
        "$anchor", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "const", "contains", "dependentRequired",
        "dependentSchemas", "else", "if", "maxContains", "minContains", "patternProperties", "prefixItems",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    ]

    /// Values of `$schema` and `jsonSchemaDialect` that are accepted.
    static let dialects: Set<String> = [
        "https://json-schema.org/draft/2020-12/schema",
        "https://spec.openapis.org/oas/3.1/dialect/base",
    ]
}
