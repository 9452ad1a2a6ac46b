// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit

/// The report for build servers: one suite, and a case for each host, or for the program if it asked none.
struct RunJUnitReport {
    let report: RunReport

    private struct Case {
        let name: String
        var findings: [RunTally.Finding] = []
    }

    var text: String {
        let cases = self.cases
        let attributes = ReportText.attributes([
            ("name", "pintle.run"), ("package", "pintle.run"), ("id", "0"),
            // The format knows neither fractions nor zones.
            ("timestamp", String(self.report.startedAt.description.prefix(19))), ("hostname", "localhost"),
            ("tests", "\(cases.count)"), ("failures", "\(cases.count { !$0.findings.isEmpty })"), ("errors", "0"),
            ("time", ReportText.seconds(self.report.duration)),
        ])
        let properties = [
            ("configuration", self.report.configuration), ("pintle.version", self.report.version),
            ("program", self.report.program), ("exit_code", "\(self.report.exitCode)"),
        ].map { "      <property\(ReportText.attributes([("name", $0.0), ("value", $0.1)]))/>" }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>", "  <testsuite\(attributes)>"]
        lines += ["    <properties>"] + properties + ["    </properties>"] + cases.flatMap(Self.lines)
        let past = self.report.past.map { "past the proxy: \($0.remote) by \($0.program)" }
        lines.append("    <system-out>\(ReportText.xml(past.joined(separator: "\n")))</system-out>")
        lines += ["    <system-err></system-err>", "  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    /// In the order in which the hosts were met; a finding's host may be none of those that are kept.
    private var cases: [Case] {
        var cases = self.report.tally.hosts.map { Case(name: $0.name) }
        var places = Dictionary(cases.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for finding in self.report.tally.findings {
            if let place = places[finding.what.host] {
                cases[place].findings.append(finding)
            } else {
                places[finding.what.host] = cases.count
                cases.append(Case(name: finding.what.host, findings: [finding]))
            }
        }
        // Build servers take a suite without cases for a run that never happened.
        return cases.isEmpty ? [Case(name: self.report.program)] : cases
    }

    private static func lines(of test: Case) -> [String] {
        let attributes = ReportText.attributes([("classname", "pintle.run"), ("name", test.name), ("time", "0.000")])
        guard let first = test.findings.first?.what else { return ["    <testcase\(attributes)/>"] }
        let body = test.findings.map { finding in
            let times = finding.count > 1 ? " (\(finding.count) times)" : ""
            return "\(finding.what.rule.id) \(finding.what.rule.name)\(times)\n\(finding.what.words)\n"
                + finding.what.rule.remedy
        }
        let head = ReportText.attributes([("message", first.words), ("type", "\(first.rule.id) \(first.rule.name)")])
        return [
            "    <testcase\(attributes)>",
            "      <failure\(head)>\(ReportText.xml(body.joined(separator: "\n\n")))</failure>", "    </testcase>",
        ]
    }
}
