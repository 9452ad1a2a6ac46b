// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The report for comments and wikis: tables in GitHub's Markdown. All text of servers is escaped.
struct MarkdownReport {
    let report: AuditReport

    var text: String {
        var lines = ["# Audit of \(ReportText.markdown(self.report.configuration))", "", self.head, ""]
        lines += self.findings
        lines += ["## Servers", ""]
        lines += ReportText.table(
            ["Policy", "Host", "Address", "TLS", "Post-quantum", "Key", "Verdict", "Expires", "Leaf pin"], self.rows)
        if !self.authorizations.isEmpty {
            lines += ["", "## CAA records", ""] + ReportText.table(["Host", "Authorities"], self.authorizations)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var head: String {
        let scope = self.report.scope.isEmpty ? "" : " Only \(self.report.scope.joined(separator: " "))."
        return ReportText.markdown("\(self.report.startedAt): \(self.report.conclusion).\(scope)")
    }

    private var findings: [String] {
        guard !self.report.findings.isEmpty else { return [] }
        let rows = self.report.findings.map { finding in
            [
                finding.severity.description, "\(finding.rule.id) \(finding.rule.name)", finding.policy,
                [finding.subject, finding.circumstances].filter { !$0.isEmpty }.joined(separator: "\n"),
                finding.place(in: self.report) ?? finding.source, finding.message, finding.rule.remedy,
            ]
        }
        return ["## Findings", ""]
            + ReportText.table(["Severity", "Rule", "Policy", "Where", "Configuration", "What", "What to do"], rows) + [
                ""
            ]
    }

    private var authorizations: [[String]] {
        self.report.targets.flatMap { target in
            target.caa.map { [target.target.authority.description, $0.summary] }
        }
    }

    private var rows: [[String]] {
        self.report.targets.flatMap { target -> [[String]] in
            let head = [target.target.policy, target.target.authority.description]
            guard !target.addresses.isEmpty else { return [head + ["-", "-", "-", "-", "not resolved", "-", "-"]] }
            return target.addresses.flatMap { address -> [[String]] in
                let versions = address.versions.map(\.description).joined(separator: ", ")
                let start = head + [address.address, versions, address.keyExchangeSummary]
                guard !address.chains.isEmpty else { return [start + ["-", "not judged", "-", "-"]] }
                return address.chains.map { chain in
                    start + [
                        chain.keyName, chain.verdict.word,
                        String(chain.presented.first?.notAfter.description.prefix(10) ?? "-"),
                        chain.presented.first?.spkiPin.description ?? "-",
                    ]
                }
            }
        }
    }
}
