// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintlePolicy
internal import PintleRehearsal

/// The report for build servers: a suite for each file, a case for each test.
struct TestJUnitReport {
    let report: TestReport

    var text: String {
        let suites = self.report.suites.enumerated().flatMap { self.lines(of: $1, number: $0) }
        let lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"] + suites + ["</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func lines(of suite: TestRun.Suite, number: Int) -> [String] {
        // The tests of all files together take some milliseconds, which are the first suite's.
        let duration = number == 0 ? self.report.duration : .zero
        let attributes = ReportText.attributes([
            ("name", suite.file), ("package", "pintle.test"), ("id", "\(number)"),
            // The format has neither fractions nor time zones.
            ("timestamp", String(self.report.startedAt.description.prefix(19))), ("hostname", "localhost"),
            ("tests", "\(suite.results.count)"), ("failures", "\(suite.results.count { !$0.hasPassed })"),
            ("errors", "0"), ("time", ReportText.seconds(duration)),
        ])
        let properties = [
            ("configuration", self.report.configuration), ("pintle.version", self.report.version),
        ].map { "      <property\(ReportText.attributes([("name", $0.0), ("value", $0.1)]))/>" }
        let output = number == 0 ? self.report.shares : []
        return ["  <testsuite\(attributes)>", "    <properties>"] + properties + ["    </properties>"]
            + suite.results.flatMap { self.lines(of: $0, suite.file) }
            + [
                "    <system-out>\(ReportText.xml(output.joined(separator: "\n")))</system-out>",
                "    <system-err></system-err>", "  </testsuite>",
            ]
    }

    private func lines(of result: PolicyTestResult, _ file: String) -> [String] {
        let attributes = ReportText.attributes([
            ("classname", file), ("name", result.test.name), ("time", "0.000"),
        ])
        guard let first = result.differences.first else { return ["    <testcase\(attributes)/>"] }
        let words = result.differences.map { "\($0.position.description(inMain: file)): \($0.words)" }
        let body = words + result.reasons.map(self.report.words)
        let head = ReportText.attributes([("message", first.words), ("type", TestRule.failedTest.id)])
        return [
            "    <testcase\(attributes)>",
            "      <failure\(head)>\(ReportText.xml(body.joined(separator: "\n")))</failure>", "    </testcase>",
        ]
    }
}
