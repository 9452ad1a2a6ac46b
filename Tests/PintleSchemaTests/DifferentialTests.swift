// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import Testing

@Suite struct DifferentialTests {
    @Test func `random schemas and instances are judged as python's jsonschema judges them`() throws {
        var lines: [String] = []
        var verdicts: [String] = []
        for seed in 0..<3000 as Range<UInt64> {
            var generator = SchemaGenerator(seed: seed)
            let document = generator.document()
            let instances = (0..<12).map { _ in generator.instance() }
            let schema = try schema(document)
            lines.append("[\(document),[\(instances.joined(separator: ","))]]")
            verdicts.append(try instances.map { schema.validate(try json($0)).isEmpty ? "1" : "0" }.joined())
        }
        for (index, (ours, theirs)) in zip(verdicts, try PythonValidator.verdicts(lines)).enumerated()
        where ours != theirs {
            Issue.record("\(lines[index])\nours   \(ours)\ntheirs \(theirs)")
        }
        // Neither all valid nor all invalid, or nothing would be compared.
        let valid = verdicts.joined().filter { $0 == "1" }.count
        #expect((5000..<31_000).contains(valid), "\(valid)")
    }
}
