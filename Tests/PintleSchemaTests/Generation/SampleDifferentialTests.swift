// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization
import Testing

/// Values for hundreds of schemas, judged by the validator and by python's jsonschema.
@Suite struct SampleDifferentialTests {
    /// The values of one schema.
    private struct Case {
        let document: String
        var samples: [(kind: SchemaSample.Kind, bytes: [UInt8])] = []
    }

    /// Counts the schemas for which there should be a value, and those for which none was made.
    private struct Tally {
        var expected = 0
        var missed: [String] = []
    }

    private static let randomSchemas = 400

    private static func documents() -> [(document: String, instances: [String], isSatisfiable: Bool)] {
        let random = (0..<UInt64(Self.randomSchemas)).map { seed in
            var generator = SchemaGenerator(seed: seed &+ 7_000)
            let document = generator.document()
            // Instances tell which schemas can be satisfied and broken at all.
            return (document, (0..<100).map { _ in generator.instance() }, false)
        }
        return random + APISchemas.all.map { ($0, ["null", "{}", "[]", "\"\"", "0", "true", "-0.3", "[[[7]]]"], true) }
    }

    @Test func `values keep to their schemas or break them, as python's jsonschema finds, too`() throws {
        var cases: [Case] = []
        var tallies: [SchemaSample.Kind: Tally] = [:]
        for (number, (document, instances, isSatisfiable)) in Self.documents().enumerated() {
            let schema = try schema(document)
            let verdicts = try instances.map { schema.validate(try json($0)).isEmpty }
            var known = Case(document: document)
            for kind in SchemaSample.Kind.allCases {
                let isExpected = kind == .broken ? verdicts.contains(false) : isSatisfiable || verdicts.contains(true)
                let seeds = (0..<3).map { UInt64(number * 3 + $0) }
                let samples = seeds.compactMap { schema.sample(kind, seed: $0) }
                if isExpected {
                    tallies[kind, default: Tally()].expected += seeds.count
                    let missing = repeatElement(document, count: seeds.count - samples.count)
                    tallies[kind, default: Tally()].missed += missing
                }
                for sample in samples {
                    let value = try JSONScanner(fragmentsAllowed: true).parse(sample.bytes)
                    let isValid = schema.validate(value).isEmpty
                    #expect(
                        isValid == (kind != .broken),
                        "\(kind) \(String(decoding: sample.bytes, as: UTF8.self)) \(document)")
                    #expect(sample.bytes.count <= SchemaSample.sizeLimit)
                    known.samples.append((kind, sample.bytes))
                }
                #expect(seeds.compactMap { schema.sample(kind, seed: $0) } == samples, "\(kind) \(document)")
            }
            cases.append(known)
        }
        for (kind, tally) in tallies {
            #expect(tally.expected > 3 * 300)
            #expect(tally.missed.count * 50 <= tally.expected, "\(kind): \(Set(tally.missed).prefix(8))")
        }
        try self.compare(cases)
    }

    private func compare(_ cases: [Case]) throws {
        let lines = cases.map { known in
            let texts = known.samples.map { String(decoding: $0.bytes, as: UTF8.self).replacing("\n", with: " ") }
            return "[\(known.document),[\(texts.joined(separator: ","))]]"
        }
        for (known, (line, verdicts)) in zip(cases, zip(lines, try PythonValidator.verdicts(lines))) {
            let expected = known.samples.map { $0.kind == .broken ? "0" : "1" }.joined()
            if expected != verdicts { Issue.record("\(line)\nours   \(expected)\ntheirs \(verdicts)") }
        }
    }
}
