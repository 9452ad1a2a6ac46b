// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleRehearsal

/// The policy tests of some files, run against one configuration.
struct TestRun {
    /// The results of one file.
    struct Suite: Sendable {
        let file: String
        let results: [PolicyTestResult]
    }

    let suites: [Suite]
    let coverage: PolicyCoverage

    /// - Throws: the faults of all files; no test runs then.
    init(_ files: TestFiles, by policy: Policy, _ surroundings: LoaderEnvironment) throws(CommandFailure) {
        var tests: [(file: String, tests: [PolicyTest])] = []
        var faults: [String] = []
        // The problems of files behind the first with many of them are counted.
        var further = 0
        for file in files.paths {
            do throws(ConfigurationError) {
                tests.append((file, try PolicyTestReader.read(file, surroundings)))
            } catch {
                if faults.count < ConfigurationProblems.mostKept {
                    faults += error.lines
                } else {
                    further += error.count
                }
            }
        }
        if further > 0 { faults.append("and \(further) more in further files; mend these first") }
        guard faults.isEmpty else { throw CommandFailure(.configuration, lines: faults) }
        var runner = PolicyTestRunner(policy)
        var suites: [Suite] = []
        for (file, tests) in tests { suites.append(Suite(file: file, results: tests.map { runner.run($0) })) }
        (self.suites, self.coverage) = (suites, runner.coverage)
    }

    var results: [PolicyTestResult] { self.suites.flatMap(\.results) }
}
