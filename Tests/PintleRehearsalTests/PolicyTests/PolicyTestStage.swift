// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleRehearsal
import PintleTesting

/// A configuration and a file of tests, on no disk.
struct PolicyTestStage {
    /// YAML after `version: 1`.
    var policy = ""
    /// The file of tests.
    var tests = ""
    /// Other files that either may name.
    var files: [String: String] = [:]

    private var surroundings: LoaderEnvironment {
        let files = self.files.merging(["a.pintle-test.yaml": self.tests]) { $1 }
        return LoaderEnvironment(
            environment: [:],
            read: { (path, limit) throws(LoaderEnvironment.ReadingError) in
                guard let text = files[path] else { throw .notFound }
                guard text.utf8.count <= limit else { throw .tooLarge }
                return Array(text.utf8)
            },
            exists: { files[$0] != nil })
    }

    /// The tests of the file.
    func read() throws(ConfigurationError) -> [PolicyTest] {
        try PolicyTestReader.read("a.pintle-test.yaml", self.surroundings)
    }

    /// The faults of the file.
    var problems: [String] {
        do throws(ConfigurationError) {
            _ = try self.read()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    func runner() throws(ConfigurationError) -> PolicyTestRunner {
        PolicyTestRunner(
            try PolicyLoader.policy(
                yaml: Array("version: 1\n\(self.policy)".utf8), file: "pintle.yaml", surroundings: self.surroundings))
    }

    func run() throws(ConfigurationError) -> [PolicyTestResult] {
        var runner = try self.runner()
        return try self.read().map { runner.run($0) }
    }

    /// The differences as `key: expected …, found …`.
    func differences() throws(ConfigurationError) -> [String] {
        try self.run().flatMap(\.differences).map { "\($0.item): expected \($0.expected), found \($0.found)" }
    }
}
