// SPDX-License-Identifier: Apache-2.0

/// Makes schemas and instances that have something to do with each other, as JSON texts; the same for the same seed.
struct SchemaGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    private mutating func next(_ bound: Int) -> Int {
        // SplitMix64.
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ z >> 31) % UInt64(bound))
    }

    private mutating func pick(_ texts: [String]) -> String { texts[self.next(texts.count)] }

    private mutating func several(_ most: Int, _ make: (inout Self) -> String) -> String {
        (0..<self.next(most) + 1).map { _ in make(&self) }.joined(separator: ",")
    }

    private static let names = ["a", "b", "ab", "é"]

    // MARK: Instances

    mutating func instance(_ depth: Int = 3) -> String {
        switch self.next(depth > 0 ? 10 : 6) {
        case 0: return self.pick(["null", "true", "false"])
        case 1, 2: return self.pick(["0", "1", "2", "3", "-1", "1.0", "0.5", "1.5", "2e0", "4", "10"])
        case 3, 4, 5: return self.pick([#""""#, #""a""#, #""b""#, #""ab""#, #""é""#, #""1""#, #""abc""#])
        case 6, 7:
            if self.next(5) == 0 { return "[]" }
            return "[" + self.several(4) { $0.instance(depth - 1) } + "]"
        default:
            let members = Self.names.filter { _ in self.next(2) == 0 }.map { "\"\($0)\":\(self.instance(depth - 1))" }
            return "{" + members.joined(separator: ",") + "}"
        }
    }

    // MARK: Schemas

    /// A schema with `$defs` that refer to each other only by way of members, so that nothing loops.
    mutating func document() -> String {
        let parts = ["x", "y"].map { "\"\($0)\":\(self.schema(2))" }.joined(separator: ",")
        let root = self.keywords(3)
        return
            ##"{"$defs":{\##(parts),"deep":{"properties":{"a":{"$ref":"#/$defs/deep"}},"maxProperties":2}},\##(root)}"##
    }

    private mutating func schema(_ depth: Int) -> String {
        if depth == 0 || self.next(12) == 0 { return self.pick(["true", "false", "{}", #"{"type":"string"}"#]) }
        return "{" + self.keywords(depth) + "}"
    }

    private mutating func keywords(_ depth: Int) -> String {
        var seen: Set<String> = []
        var keywords: [String] = []
        for _ in 0..<self.next(3) + 1 {
            let (name, text) = self.keyword(depth - 1)
            // Side by side Debian's jsonschema 4.10 lets the one judge what the other has looked at.
            let rival = [
                "unevaluatedProperties": "additionalProperties", "additionalProperties": "unevaluatedProperties",
            ]
            if let rival = rival[name], seen.contains(rival) { continue }
            if seen.insert(name).inserted { keywords.append("\"\(name)\":\(text)") }
            if name == "if" {
                for name in ["then", "else"] where seen.insert(name).inserted {
                    keywords.append("\"\(name)\":\(self.schema(depth - 1))")
                }
            }
        }
        return keywords.joined(separator: ",")
    }

    private mutating func keyword(_ depth: Int) -> (String, String) {
        let name = self.pick([
            "type", "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
            "minLength", "maxLength", "pattern", "items", "items", "prefixItems", "contains", "minItems", "maxItems",
            "uniqueItems", "properties", "properties", "properties", "patternProperties", "additionalProperties",
            "propertyNames", "required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties",
            "allOf", "anyOf", "oneOf", "not", "if", "$ref", "unevaluatedProperties", "minContains", "maxContains",
        ])
        switch name {
        case "type":
            let types = ["null", "boolean", "object", "array", "number", "string", "integer"].map { "\"\($0)\"" }
            let chosen = types.filter { _ in self.next(3) == 0 }
            return (name, chosen.isEmpty ? self.pick(types) : "[" + chosen.joined(separator: ",") + "]")
        case "enum": return (name, "[" + self.several(3) { $0.instance(1) } + "]")
        case "const": return (name, self.instance(2))
        case "multipleOf": return (name, self.pick(["1", "2", "0.5", "1.5"]))
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
            return (name, self.pick(["0", "1", "1.5", "3"]))
        case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains",
            "maxContains":
            return (name, self.pick(["0", "1", "2"]))
        case "uniqueItems": return (name, self.pick(["true", "false"]))
        case "pattern": return (name, self.pick([#""^a""#, #""b$""#, #""^.{2}$""#, #""[0-9]""#, #""é|a""#]))
        case "prefixItems", "allOf", "anyOf", "oneOf": return (name, "[" + self.several(3) { $0.schema(depth) } + "]")
        case "required": return (name, "[" + self.several(2) { "\"\($0.pick(Self.names))\"" } + "]")
        case "dependentRequired": return (name, #"{"\#(self.pick(Self.names))":["\#(self.pick(Self.names))"]}"#)
        case "dependentSchemas": return (name, #"{"\#(self.pick(Self.names))":\#(self.schema(depth))}"#)
        case "properties":
            let members = Self.names.filter { _ in self.next(2) == 0 }.map { "\"\($0)\":\(self.schema(depth))" }
            return (name, "{" + members.joined(separator: ",") + "}")
        case "patternProperties": return (name, #"{"\#(self.pick(["^a", "b", "é"]))":\#(self.schema(depth))}"#)
        case "propertyNames":
            return (name, self.pick([#"{"maxLength":1}"#, #"{"pattern":"a"}"#, #"{"enum":["a","b"]}"#]))
        case "$ref":
            return (name, depth == 2 ? self.pick([##""#/$defs/x""##, ##""#/$defs/y""##]) : ##""#/$defs/deep""##)
        default: return (name, self.schema(depth))
        }
    }
}
