// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit

/// The report for build servers: one suite, with a case for each host, or for the program if it made no request. Another
/// case lists connections past the proxy if they make the exit code 1.
struct RunJUnitReport {
    let report: RunReport

    private struct Case {
        let name: String
        var findings: [RunStatistics.Finding] = []

        /// The element of the case: `failure` if a rule was violated, `error` if requests only failed; nil if there is no
        /// finding.
        var element: String? {
            if self.findings.isEmpty { return nil }
            return self.findings.allSatisfy { $0.what.rule == .failed } ? "error" : "failure"
        }
    }

    var text: String {
        let cases = self.cases
        let bypass = self.report.failOn.contains(.bypass) ? self.past : []
        let failures = cases.count { $0.element == "failure" } + (bypass.isEmpty ? 0 : 1)
        let attributes = ReportText.attributes([
            ("name", "pintle.run"), ("package", "pintle.run"), ("id", "0"),
            // The format has neither fractions nor time zones.
            ("timestamp", String(self.report.startedAt.description.prefix(19))), ("hostname", "localhost"),
            ("tests", "\(cases.count + (bypass.isEmpty ? 0 : 1))"), ("failures", "\(failures)"),
            ("errors", "\(cases.count { $0.element == "error" })"),
            ("time", ReportText.seconds(self.report.duration)),
        ])
        let properties = [
            ("configuration", self.report.configuration), ("pintle.version", self.report.version),
            ("program", self.report.program), ("exit_code", "\(self.report.exitCode)"),
        ].map { "      <property\(ReportText.attributes([("name", $0.0), ("value", $0.1)]))/>" }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>", "  <testsuite\(attributes)>"]
        lines += ["    <properties>"] + properties + ["    </properties>"] + cases.flatMap(Self.lines)
        if !bypass.isEmpty { lines += Self.lines(ofBypass: bypass) }
        let granted = self.report.grants.map { "granted: \($0.sentence)" }
        let output = self.past + granted + [self.report.past.gap, self.report.capturedWords].compactMap { $0 }
        lines.append("    <system-out>\(ReportText.xml(output.joined(separator: "\n")))</system-out>")
        lines += ["    <system-err></system-err>", "  </testsuite>", "</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private var past: [String] {
        let more = self.report.past.more
        return self.report.past.found.map { "past the proxy: \($0.remote) by \($0.program)" }
            + (more > 0 ? ["past the proxy: \(more) more"] : [])
            + (self.report.refusedWords.map { ["past the proxy: \($0)"] } ?? [])
    }

    private static func lines(ofBypass words: [String]) -> [String] {
        let rule = RunRule.pastProxy
        let attributes = ReportText.attributes([
            ("classname", "pintle.run"), ("name", "past the proxy"), ("time", "0.000"),
        ])
        let head = ReportText.attributes([("message", words[0]), ("type", "\(rule.id) \(rule.name)")])
        return [
            "    <testcase\(attributes)>",
            "      <failure\(head)>\(ReportText.xml((words + [rule.remedy]).joined(separator: "\n")))</failure>",
            "    </testcase>",
        ]
    }

    /// One case for each host, in the order in which hosts first occurred. A finding's host may be missing among them.
    private var cases: [Case] {
        var cases = self.report.statistics.hosts.map { Case(name: $0.name) }
        var places = Dictionary(cases.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for finding in self.report.statistics.findings {
            if let place = places[finding.what.host] {
                cases[place].findings.append(finding)
            } else {
                places[finding.what.host] = cases.count
                cases.append(Case(name: finding.what.host, findings: [finding]))
            }
        }
        // Build servers take a suite without cases for a run that did not happen.
        return cases.isEmpty ? [Case(name: self.report.program)] : cases
    }

    private static func lines(of test: Case) -> [String] {
        let attributes = ReportText.attributes([("classname", "pintle.run"), ("name", test.name), ("time", "0.000")])
        guard let element = test.element,
            let first = (test.findings.first { element == "error" || $0.what.rule != .failed })?.what
        else { return ["    <testcase\(attributes)/>"] }
        let body = test.findings.map { finding in
            let times = finding.count > 1 ? " (\(finding.count) times)" : ""
            return "\(finding.what.rule.id) \(finding.what.rule.name)\(times)\n\(finding.what.words)\n"
                + finding.what.rule.remedy
        }
        let head = ReportText.attributes([("message", first.words), ("type", "\(first.rule.id) \(first.rule.name)")])
        return [
            "    <testcase\(attributes)>",
            "      <\(element)\(head)>\(ReportText.xml(body.joined(separator: "\n\n")))</\(element)>",
            "    </testcase>",
        ]
    }
}
