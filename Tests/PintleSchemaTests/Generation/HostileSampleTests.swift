// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

/// Schemas that would take endless work, or grow without a bound.
@Suite struct HostileSampleTests {
    private static let branches = (0..<40).map { _ in ##"{"items":{"$ref":"#"},"minItems":2,"type":"array"}"## }

    private static let documents = [
        // Branches in branches, of which none ends.
        ##"{"anyOf":[\##(HostileSampleTests.branches.joined(separator: ","))]}"##,
        // A chain of references.
        "{\"$ref\":\"#/$defs/a0\",\"$defs\":{"
            + (0..<3_000).map { "\"a\($0)\":{\"$ref\":\"#/$defs/a\($0 + 1)\"}" }.joined(separator: ",")
            + ",\"a3000\":{\"type\":\"integer\"}}}",
        // Objects whose members multiply.
        "{\"type\":\"object\",\"required\":["
            + (0..<60).map { "\"p\($0)\"" }.joined(separator: ",") + "],\"additionalProperties\":{\"$ref\":\"#\"}}",
        // Many names, each of which needs others.
        "{\"type\":\"object\",\"minProperties\":500,\"dependentRequired\":{"
            + (0..<2_000).map { "\"p\($0)\":[\"p\(($0 + 1) % 2_000)\"]" }.joined(separator: ",") + "}}",
        // Long lists.
        "{\"enum\":[" + (0..<20_000).map(String.init).joined(separator: ",") + "],\"not\":{\"maximum\":19998}}",
        "{\"allOf\":[" + (0..<2_000).map { "{\"minimum\":\($0)}" }.joined(separator: ",") + "]}",
        #"{"type":"string","pattern":"^(a+)+$","not":{"pattern":"a"}}"#,
        #"{"type":"string","pattern":"^((((((((((((((((((((((((((((a))))))))))))))))))))))))))))$"}"#,
        #"{"type":"string","pattern":"^(?:(?:a{60}){60}){60}$"}"#,
        #"{"type":"array","minItems":2000,"items":{"type":"array","minItems":2000,"items":{"type":"string","minLength":100}}}"#,
        #"{"type":"number","minimum":1e400,"maximum":1e-400}"#,
        #"{"type":"integer","minimum":1e30,"multipleOf":1e-30}"#,
        #"{"type":"number","multipleOf":1e300,"exclusiveMinimum":0}"#, #"{"maxLength":1e300,"minLength":9e99}"#,
        #"{"type":"array","contains":true,"minContains":9223372036854775807,"maxItems":9223372036854775807}"#,
        #"{"not":{"maxItems":9223372036854775807,"maxLength":9223372036854775807,"maxProperties":9223372036854775807}}"#,
    ]

    /// The work is counted in steps, and each of them is small.
    @Test(arguments: HostileSampleTests.documents.indices)
    func `the budget bounds the work for a value`(_ index: Int) throws {
        let schema = try schema(Self.documents[index])
        for kind in SchemaSample.Kind.allCases {
            for seed in 0..<3 as Range<UInt64> {
                let sample = schema.sample(kind, seed: seed)
                if let sample {
                    #expect(schema.validate(sample.value).isEmpty == (kind != .broken))
                    #expect(sample.bytes.count <= SchemaSample.sizeLimit)
                }
            }
        }
    }

    @Test func `a budget that is used up makes no value`() throws {
        let schema = try schema(#"{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}"#)
        #expect(schema.sample(.ordinary, seed: 1) != nil)
        let budget = WorkBudget(steps: 3)
        _ = budget.spend(4)
        for kind in SchemaSample.Kind.allCases { #expect(schema.sample(kind, seed: 1, within: budget) == nil) }
    }

    @Test func `work ends as soon as nobody waits for the value`() throws {
        let schema = try schema(Self.documents[0])
        let budget = WorkBudget(steps: .max, inspect: { .cancelled })
        #expect(schema.sample(.ordinary, seed: 1, within: budget) == nil)
        #expect(budget.interruption == .cancelled)
    }
}
