// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSchema
import PintleTesting
import Testing

@Suite struct DifferentialTests {
    /// Reads lines of `[schema, [instance, …]]` and writes a line of ones and zeros for each.
    private static let script = """
        import json, sys
        from jsonschema import Draft202012Validator as Validator
        for line in open(sys.argv[1], encoding="utf-8"):
            schema, instances = json.loads(line)
            validator = Validator(schema)
            verdicts = ["1" if validator.is_valid(instance) else "0" for instance in instances]
            sys.stdout.write("".join(verdicts) + chr(10))
        """

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
        let folder = try TemporaryFolder()
        let path = folder.path + "/cases"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        let child = try ChildProcess("/usr/bin/python3", ["-X", "utf8", "-c", Self.script, path])
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        try #require(child.output.count == lines.count)
        for (index, (ours, theirs)) in zip(verdicts, child.output).enumerated() where ours != theirs {
            Issue.record("\(lines[index])\nours   \(ours)\ntheirs \(theirs)")
        }
        // Neither all valid nor all invalid, or nothing would be compared.
        let valid = verdicts.joined().filter { $0 == "1" }.count
        #expect((5000..<31_000).contains(valid), "\(valid)")
    }
}
