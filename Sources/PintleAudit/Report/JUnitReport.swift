// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The report for build servers: one suite for each policy, one case for each server.
///
/// Writes only the elements of Ant's JUnit task, so that every reader of the format finds all that it requires. A case has
/// one `failure`, or one `error` if the server could not be judged.
struct JUnitReport {
    let report: AuditReport
    /// Findings of this severity or worse fail a case; nil if none does.
    let failure: Severity?

    private struct Case {
        let name: String
        let duration: Duration
        let findings: [AuditFinding]
        /// True if the server could not be judged: it was unreachable, or the handshake failed.
        let isError: Bool
    }

    var text: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<testsuites>"]
        for (number, policy) in self.policies.enumerated() { lines += self.suite(policy, number) }
        return (lines + ["</testsuites>"]).joined(separator: "\n") + "\n"
    }

    /// The names of the policies, in the order of the report.
    private var policies: [String] {
        var seen: Set<String> = []
        return (self.report.targets.map(\.target.policy) + self.report.findings.map(\.policy)).filter {
            seen.insert($0).inserted
        }
    }

    private func suite(_ policy: String, _ number: Int) -> [String] {
        let cases = self.cases(of: policy)
        let failed = cases.filter { !$0.findings.isEmpty }
        let duration = cases.reduce(.zero) { $0 + $1.duration }
        let attributes = [
            ("name", "trust.\(policy)"), ("package", "pintle.audit"), ("id", "\(number)"),
            ("timestamp", String(self.report.startedAt.description.dropLast())), ("hostname", "localhost"),
            ("tests", "\(cases.count)"), ("failures", "\(failed.count { !$0.isError })"),
            ("errors", "\(failed.count { $0.isError })"), ("time", ReportText.seconds(duration)),
        ]
        let properties =
            [
                ("configuration", self.report.configuration), ("pintle.version", self.report.version),
                ("judged_at", self.report.moment.description),
            ] + self.facts(of: policy)
        var lines = ["  <testsuite\(ReportText.attributes(attributes))>", "    <properties>"]
        lines += properties.map { "      <property\(ReportText.attributes([("name", $0.0), ("value", $0.1)]))/>" }
        lines.append("    </properties>")
        lines += cases.flatMap { self.lines(of: $0, policy) }
        let others = self.report.findings.filter { $0.policy == policy && !self.fails($0) }
        let output = others.map { "\($0.severity) \($0.rule.id) \($0.rule.name): \(self.words(of: $0))" }
        lines.append("    <system-out>\(ReportText.xml(output.joined(separator: "\n")))</system-out>")
        return lines + ["    <system-err></system-err>", "  </testsuite>"]
    }

    /// Facts about the servers that are no findings.
    private func facts(of policy: String) -> [(String, String)] {
        self.report.targets.filter { $0.target.policy == policy }.flatMap { target in
            let host = target.target.authority.description
            return target.addresses.map { ("post_quantum \(host) \($0.address)", $0.keyExchangeSummary) }
                + target.caa.map { ("caa \(host)", $0.summary) }
        }
    }

    private func fails(_ finding: AuditFinding) -> Bool { self.failure.map { finding.severity >= $0 } ?? false }

    private func cases(of policy: String) -> [Case] {
        let findings = self.report.findings.filter { $0.policy == policy && self.fails($0) }
        var cases = self.report.targets.filter { $0.target.policy == policy }.map { target in
            let own = findings.filter { $0.authority == target.target.authority }
            return Case(
                name: target.target.authority.description,
                duration: target.addresses.reduce(.zero) { $0 + $1.duration }, findings: own,
                isError: own.contains { $0.rule == .unreachable || $0.rule == .handshakeFailed })
        }
        let general = findings.filter { $0.authority == nil }
        if !general.isEmpty {
            cases.append(Case(name: "pins", duration: .zero, findings: general, isError: false))
        }
        return cases
    }

    private func lines(of test: Case, _ policy: String) -> [String] {
        let attributes = ReportText.attributes([
            ("classname", "trust.\(policy)"), ("name", test.name), ("time", ReportText.seconds(test.duration)),
        ])
        guard let first = test.findings.first else { return ["    <testcase\(attributes)/>"] }
        let element = test.isError ? "error" : "failure"
        let message = first.message.split(separator: "\n").first.map(String.init) ?? ""
        let head = ReportText.attributes([("message", message), ("type", "\(first.rule.id) \(first.rule.name)")])
        let body = test.findings.map { finding in
            "\(finding.severity) \(finding.rule.id) \(finding.rule.name)\n\(self.words(of: finding))\n"
                + finding.rule.remedy
        }
        return [
            "    <testcase\(attributes)>",
            "      <\(element)\(head)>\(ReportText.xml(body.joined(separator: "\n\n")))</\(element)>",
            "    </testcase>",
        ]
    }

    private func words(of finding: AuditFinding) -> String {
        let place = finding.place(in: self.report).map { "\($0): " } ?? ""
        let circumstances = finding.circumstances.isEmpty ? "" : "\n(\(finding.circumstances))"
        return "\(place)\(finding.message)\(circumstances)"
    }
}
