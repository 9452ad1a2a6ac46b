// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleRehearsal

/// The report for people: a line for each test that failed, with what differs and why, and a summary.
struct TestTextReport {
    let report: TestReport

    /// Without a line end.
    var text: String {
        var lines: [String] = []
        for suite in self.report.suites {
            for result in suite.results where !result.hasPassed { lines += self.lines(of: result, suite.file) }
        }
        for part in self.report.coverage?.unreached ?? [] {
            lines.append("\(self.report.place(part.position)): \(part.words)")
        }
        let shares = self.report.shares
        if !shares.isEmpty { lines.append("coverage: \(shares.joined(separator: ", "))") }
        return (lines + [self.report.conclusion]).joined(separator: "\n")
    }

    private func lines(of result: PolicyTestResult, _ file: String) -> [String] {
        let head = "\(result.test.position.description(inMain: file)): failed: \(result.test.name)"
        let differences = result.differences.map { difference in
            "  \(difference.position.description(inMain: file)): \(difference.words)"
        }
        return [head] + differences + result.reasons.map { "    \(self.report.words(of: $0))" }
    }
}
