// SPDX-License-Identifier: Apache-2.0

internal import PintleAudit

/// The summary for people after the end of a command. Text of servers is escaped for the terminal.
struct RunSummary {
    let report: RunReport
    let isColoured: Bool

    /// The maximum number of lines of each kind; reports have all.
    private static let mostHosts = 40
    private static let mostFindings = 50
    private static let mostPast = 20
    private static let mostGrants = 40

    /// The summary, with a line end.
    var text: String {
        let credentials = self.statistics.deliveryWords.map { ReportText.line($0) }
        let lines = [self.head] + self.gap + self.table + credentials + self.grants + self.findings + self.past
        return lines.map { "\($0)\n" }.joined()
    }

    private var statistics: RunStatistics { self.report.statistics }

    /// The first line: `pintle: 3 requests and 1 tunnel, 1 denied, 2 violations (pintle.yaml)`.
    private var head: String {
        let totals = self.statistics.totals
        guard self.statistics.count > 0 else {
            let program = ReportText.line(self.report.program)
            // There is nothing that the program would have to be told.
            if self.report.isCaptured { return "pintle: \(program) made no request" }
            return self.coloured(.warning, "pintle: \(program) made no request through the proxy")
                + "; docs/clients.md says how to make programs use it"
        }
        var parts = [ReportText.count(totals.requests, "request")]
        if totals.tunnels > 0 { parts = [parts[0] + " and " + ReportText.count(totals.tunnels, "tunnel")] }
        if totals.denied > 0 { parts.append(self.coloured(.error, "\(totals.denied) denied")) }
        if totals.wouldDeny > 0 { parts.append(self.coloured(.error, "\(totals.wouldDeny) would be denied")) }
        if totals.violations > 0 {
            parts.append(self.coloured(.error, ReportText.count(totals.violations, "violation")))
        }
        if totals.failed > 0 { parts.append(self.coloured(.warning, "\(totals.failed) failed")) }
        if let words = totals.simulationWords {
            parts.append(words + (self.report.seed.map { " by the seed \($0)" } ?? ""))
        }
        return "pintle: \(parts.joined(separator: ", ")) (\(ReportText.line(self.report.configuration)))"
    }

    // MARK: Hosts

    private var table: [String] {
        guard !self.statistics.hosts.isEmpty else { return [] }
        let hosts = self.statistics.hosts.prefix(Self.mostHosts)
        // A column of zeros would say nothing.
        let showsCaptured = self.statistics.totals.captured > 0
        let numbers = ["REQUESTS", "TUNNELS", "DENIED", "VIOLATIONS"] + (showsCaptured ? ["CAPTURED"] : [])
        let head = ["HOST"] + numbers + ["ASSURANCE"]
        let rows = hosts.map { host in
            let counts = host.counts
            return [ReportText.line(host.name)]
                + [counts.requests, counts.tunnels, counts.denied, counts.violations].map { "\($0)" }
                + (showsCaptured ? ["\(counts.captured)"] : []) + [host.proof]
        }
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([head] + rows).map { row in
            let cells = row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                // Numbers are aligned on the right.
                return (1...numbers.count).contains(column)
                    ? space + row[column] : column == 0 ? row[column] + space : row[column]
            }
            return "  " + cells.joined(separator: "  ")
        }
        let rest = self.statistics.hosts.count - hosts.count
        let more = rest > 0 ? ["  and \(ReportText.count(rest, "more host"))"] : []
        return lines + more
            + (self.statistics.otherHosts > 0
                ? [
                    "  and \(ReportText.count(self.statistics.otherHosts, "exchange")) with hosts beyond the first thousand"
                ]
                : [])
    }

    // MARK: Findings

    private var findings: [String] {
        let shown = self.statistics.findings.prefix(Self.mostFindings)
        let rest = self.statistics.findings.count - shown.count + self.statistics.otherFindings
        return shown.map(self.line) + (rest > 0 ? ["and \(ReportText.count(rest, "more finding")); see --report"] : [])
    }

    private var grants: [String] {
        let shown = self.report.grants.prefix(Self.mostGrants)
        let rest = self.report.grants.count - shown.count + self.report.otherGrants
        return shown.map { "\(RunRule.granted.name): \(ReportText.line($0.sentence))" }
            + (rest > 0 ? ["and \(ReportText.count(rest, "more answer")); see --report"] : [])
    }

    /// The lines of the answers that the summary leaves to the reports.
    var furtherGrants: [String] {
        self.report.grants.dropFirst(Self.mostGrants).map { "\(RunRule.granted.name): \(ReportText.line($0.sentence))" }
    }

    private func line(_ finding: RunStatistics.Finding) -> String {
        let times = finding.count > 1 ? " (\(finding.count) times)" : ""
        let weight = self.report.level(of: finding.what.rule) == "error" ? Weight.error : .warning
        return self.coloured(weight, "\(finding.what.rule.name):") + " \(ReportText.line(finding.what.words))\(times)"
    }

    /// The note about unseen connections. It follows the first line, because it says what the rest does not contain.
    private var gap: [String] { self.report.past.gap.map { [self.coloured(.warning, "note:") + " \($0)"] } ?? [] }

    private var past: [String] {
        let label = self.coloured(self.report.level(of: .pastProxy) == "error" ? .error : .warning, "past the proxy:")
        let shown = self.report.past.found.prefix(Self.mostPast)
        let rest = self.report.past.count - shown.count
        return shown.map { connection in
            "\(label) \(connection.remote) by \(ReportText.line(connection.program))"
        } + (rest > 0 ? ["and \(rest) more past the proxy"] : [])
            + (self.report.refusedWords.map { ["\(label) \($0)"] } ?? [])
            + (self.report.capturedWords.map { ["\(RunRule.ignoredProxy.name): \(ReportText.line($0))"] } ?? [])
    }

    // MARK: Colour

    private enum Weight: Int {
        case error = 31
        case warning = 33
    }

    private func coloured(_ weight: Weight, _ text: String) -> String {
        self.isColoured ? "\u{1B}[\(weight.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension RunStatistics.Host {
    /// The observed proofs with their policies: `pinned (payments)`.
    var proof: String {
        let words = self.assurances.sorted().map(\.rawValue).joined(separator: ", ")
        let names = self.trust.sorted().map(ReportText.line).joined(separator: ", ")
        if words.isEmpty { return "-" }
        return names.isEmpty ? words : "\(words) (\(names))"
    }
}

extension RunFinding {
    /// The finding in one line: the request, the rule that decided, and the reason.
    var words: String {
        var parts = ["\(self.method) \(self.url)"]
        // Most reasons already name the rule.
        let decider = self.decidedBy.flatMap { self.rule == .denied && !self.reason.contains($0) ? $0 : nil }
        let places = [
            decider, self.route.map { "route \($0)" },
            self.trust.map { "trust \($0)" },
        ].compactMap { $0 }
        if !places.isEmpty { parts.append(places.joined(separator: ", ")) }
        parts.append(self.reason)
        return parts.joined(separator: ": ")
    }
}
