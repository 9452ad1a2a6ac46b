// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The report for people at a terminal: a table, the chains, and the findings.
struct TextReport {
    let report: AuditReport

    var text: String {
        var lines = ["Audit of \(ReportText.line(self.report.configuration)), \(self.report.startedAt)"]
        if self.report.moment != self.report.startedAt { lines.append("Certificates judged at \(self.report.moment)") }
        if !self.report.scope.isEmpty {
            lines.append("Only \(ReportText.line(self.report.scope.joined(separator: " ")))")
        }
        lines.append("")
        lines += Self.table(self.rows)
        lines += self.chains
        lines += self.authorizations
        lines += self.findings
        lines += ["", self.report.conclusion]
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: The table

    private var rows: [[String]] {
        [["POLICY", "HOST", "ADDRESS", "TLS", "POST-QUANTUM", "KEY", "VERDICT", "EXPIRES"]]
            + self.report.targets.flatMap { target in
                let head = [target.target.policy, target.target.authority.description]
                guard !target.addresses.isEmpty else { return [head + ["-", "-", "-", "-", "not resolved", "-"]] }
                return target.addresses.flatMap { address in self.rows(of: address, head) }
            }
    }

    private func rows(of address: AddressReport, _ head: [String]) -> [[String]] {
        let versions = address.versions.map { $0.rawValue }.joined(separator: " ")
        let start = head + [address.address, versions.isEmpty ? "-" : versions, address.keyExchangeSummary]
        guard !address.chains.isEmpty else { return [start + ["-", "not judged", "-"]] }
        return address.chains.map { chain in
            start + [chain.keyName, chain.verdict.word, Self.day(chain.presented.first?.notAfter)]
        }
    }

    private static func day(_ moment: UnixTime?) -> String { moment.map { String($0.description.prefix(10)) } ?? "-" }

    private static func table(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(ReportText.line) }
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    // MARK: Chains

    /// The lines that draw each chain of a server once, with all addresses that showed it.
    private var chains: [String] {
        self.report.targets.flatMap { target -> [String] in
            var drawn: [(chain: AuditedChain, addresses: [String])] = []
            for address in target.addresses {
                for chain in address.chains {
                    let known = drawn.firstIndex { $0.chain.verdict == chain.verdict && $0.chain.keys == chain.keys }
                    if let known {
                        drawn[known].addresses.append(address.address)
                    } else {
                        drawn.append((chain, [address.address]))
                    }
                }
            }
            return drawn.flatMap { chain, addresses in
                let places = addresses.prefix(4).joined(separator: " ") + (addresses.count > 4 ? " …" : "")
                let head = "\(target.target.authority) \(chain.keyName) at \(places): \(chain.verdict.summary)"
                return ["", ReportText.line(head)] + Self.drawing(of: chain.verdict)
            }
        }
    }

    private static func drawing(of verdict: Verdict) -> [String] {
        let pins = Set(verdict.configuredPins)
        let shown = verdict.chain.prefix(20)
        let lines = shown.enumerated().flatMap { depth, entry in
            let indent = String(repeating: "   ", count: max(0, depth - 1))
            let branch = depth == 0 ? "  " : "  \(indent)└─ "
            let below = String(repeating: " ", count: branch.count)
            let mark = pins.contains(entry.spkiPin) ? "  pinned" : ""
            let subject = entry.subject.isEmpty ? "(no subject)" : String(entry.subject.prefix(200))
            return [
                "\(branch)\(ReportText.line(subject))",
                "\(below)\(entry.spkiPin)  \(entry.position.rawValue), \(entry.certificate.keyType), until \(Self.day(entry.notAfter))\(mark)",
            ]
        }
        let rest = verdict.chain.count - shown.count
        return lines + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    // MARK: CAA records

    private var authorizations: [String] {
        let lines = self.report.targets.flatMap { target in
            target.caa.map { ReportText.line("\(target.target.authority): CAA for \($0.summary)") }
        }
        return lines.isEmpty ? [] : [""] + lines
    }

    // MARK: Findings

    private var findings: [String] {
        self.report.findings.flatMap { finding -> [String] in
            let circumstances = finding.circumstances.isEmpty ? "" : " at \(finding.circumstances)"
            let head =
                "\(finding.severity) \(finding.rule.id) \(finding.rule.name): \(finding.subject)\(circumstances)"
                + " (\(finding.policy))"
            let message = ReportText.block(finding.message).split(separator: "\n", omittingEmptySubsequences: false)
            let place = finding.place(in: self.report).map { ["  \(ReportText.line($0)): \(finding.source)"] } ?? []
            return ["", ReportText.line(head)] + place + message.map { "  \($0)" } + ["  \(finding.rule.remedy)"]
        }
    }
}

extension Verdict {
    /// The decision in a word or two: `trusted`, or the reason for the refusal.
    var word: String {
        if let error { return error.problem?.rawValue ?? error.code.rawValue }
        if let reported { return "reported: \(reported.code.rawValue)" }
        return self.waived == nil ? "trusted" : "trusted, waived"
    }

    /// The decision, and the kind of chain that is shown: verified, or as it was sent.
    var summary: String {
        self.chainOrigin == .verified ? "\(self.word), verified chain" : "\(self.word), chain as it was sent"
    }
}
