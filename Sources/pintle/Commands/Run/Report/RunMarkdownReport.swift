// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy

/// The report for comments and step summaries: tables in GitHub's Markdown. All text of servers is escaped.
struct RunMarkdownReport {
    let report: RunReport

    var text: String {
        let lines = ["# Requests of \(ReportText.markdown(self.report.program))", "", self.head, ""]
        return (lines + self.findings + self.hosts + self.grants + self.past).joined(separator: "\n") + "\n"
    }

    private var statistics: RunStatistics { self.report.statistics }

    private var head: String {
        let totals = self.statistics.totals
        let parts = [
            ReportText.count(totals.requests, "request"), ReportText.count(totals.tunnels, "tunnel"),
            "\(totals.denied) denied", totals.wouldDeny > 0 ? "\(totals.wouldDeny) would be denied" : nil,
            ReportText.count(totals.violations, "violation"), "\(totals.failed) failed",
            totals.simulationWords,
        ].compactMap { $0 }
        return ReportText.markdown(
            "\(self.report.startedAt), \(self.report.configuration)\(self.report.filter.map { ", \($0.source)" } ?? ""): \(parts.joined(separator: ", ")), exit code "
                + "\(self.report.exitCode).")
    }

    private var findings: [String] {
        guard !self.statistics.findings.isEmpty else { return [] }
        let rows = self.statistics.findings.map { finding in
            let what = finding.what
            return [
                "\(what.rule.id) \(what.rule.name)", "\(what.method) \(what.url)", "\(finding.count)",
                [what.decidedBy, what.route.map { "route \($0)" }, what.trust.map { "trust \($0)" }].compactMap { $0 }
                    .joined(separator: "\n"),
                what.reason, what.rule.remedy,
            ]
        }
        let rest = self.statistics.otherFindings
        return ["## Findings", ""]
            + ReportText.table(["Rule", "Request", "Times", "Configuration", "Reason", "Remedy"], rows)
            + (rest > 0 ? ["", "And \(ReportText.count(rest, "more finding"))."] : []) + [""]
    }

    private var hosts: [String] {
        guard !self.statistics.hosts.isEmpty else { return ["No request went through the proxy."] }
        let rows = self.statistics.hosts.map { host in
            let counts = host.counts
            let numbers = [
                counts.requests, counts.tunnels, counts.denied, counts.violations, counts.failed, counts.captured,
            ]
            return [host.name] + numbers.map { "\($0)" } + [host.proof]
        }
        return ["## Hosts", ""]
            + ReportText.table(
                ["Host", "Requests", "Tunnels", "Denied", "Violations", "Failed", "Captured", "Assurance"], rows)
            + (self.report.capturedWords.map { ["", ReportText.markdown("\($0).")] } ?? [])
            + self.statistics.deliveryWords.map { "\n" + ReportText.markdown("\($0).") }
    }

    private var grants: [String] {
        guard !self.report.grants.isEmpty else { return [] }
        let rows = self.report.grants.map { ["\($0.authority)", $0.words, "\($0.requests)", $0.line] }
        let rest = self.report.otherGrants
        return ["", "## Granted", ""] + ReportText.table(["Host", "Answer", "Requests", "For the configuration"], rows)
            + (rest > 0 ? ["", "And \(rest) more."] : [])
    }

    private var past: [String] {
        let (past, more, gap) = (self.report.past.found, self.report.past.more, self.report.past.gap)
        guard past.count + more + self.report.refusedPast > 0 || gap != nil else { return [] }
        var lines = ["", "## Past the proxy"]
        if !past.isEmpty {
            lines += [""] + ReportText.table(["Address", "Program"], past.map { [$0.remote, $0.program] })
        }
        if more > 0 { lines += ["", "And \(more) more."] }
        if let gap { lines += ["", ReportText.markdown("\(gap.prefix(1).uppercased())\(gap.dropFirst()).")] }
        if let words = self.report.refusedWords { lines += ["", ReportText.markdown("\(words).")] }
        return lines
    }
}
