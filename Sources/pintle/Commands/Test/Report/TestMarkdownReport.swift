// SPDX-License-Identifier: Apache-2.0

internal import PintleAudit
internal import PintlePolicy
internal import PintleRehearsal

/// The report for comments and step summaries: tables in GitHub's Markdown.
struct TestMarkdownReport {
    let report: TestReport

    var text: String {
        let head = ReportText.markdown("\(self.report.configuration): \(self.report.conclusion).")
        let lines = ["# Policy tests", "", head, ""] + self.failures + self.coverage
        return lines.joined(separator: "\n") + "\n"
    }

    private var failures: [String] {
        let rows = self.report.suites.flatMap { suite in
            suite.results.flatMap { result in
                result.differences.map { difference in
                    [
                        result.test.name, difference.position.description(inMain: suite.file), difference.item,
                        difference.expected, difference.found,
                        result.reasons.map(self.report.words).joined(separator: "\n"),
                    ]
                }
            }
        }
        guard !rows.isEmpty else { return [] }
        return ["## Failures", ""]
            + ReportText.table(["Test", "Place", "Item", "Expected", "Found", "Reasons"], rows) + [""]
    }

    private var coverage: [String] {
        guard let coverage = self.report.coverage else { return [] }
        let shares = PolicyCoverage.Kind.allCases.map { kind in
            let (reached, all) = coverage.count(of: kind)
            return [kind.rawValue, "\(reached)", "\(all)", coverage.percentage(of: kind).map { "\($0) %" } ?? "–"]
        }
        let unreached = coverage.unreached.map { [self.report.place($0.position), $0.words] }
        return ["## Coverage", ""] + ReportText.table(["Part", "Reached", "All", "Share"], shares)
            + (unreached.isEmpty ? [] : [""] + ReportText.table(["Place", "Not reached"], unreached))
    }
}
