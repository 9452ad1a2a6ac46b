// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Python's jsonschema, asked about many schemas in one process.
enum PythonValidator {
    private static let script = """
        import json, sys
        from jsonschema import Draft202012Validator as Validator
        for line in open(sys.argv[1], encoding="utf-8"):
            schema, instances = json.loads(line)
            validator = Validator(schema)
            verdicts = ["1" if validator.is_valid(instance) else "0" for instance in instances]
            sys.stdout.write("".join(verdicts) + chr(10))
        """

    /// Returns ones and zeros for the instances of each line.
    ///
    /// - Parameter lines: texts of the form `[schema, [instance, …]]`, without line ends in them.
    static func verdicts(_ lines: [String]) throws -> [String] {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cases"
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        let child = try ChildProcess("/usr/bin/python3", ["-X", "utf8", "-c", Self.script, path])
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        try #require(child.output.count == lines.count)
        return child.output
    }
}
