// SPDX-License-Identifier: Apache-2.0

internal import PintleAttestation
internal import PintleAudit
internal import PintleSerialization
internal import PintleTrust

/// A verified statement for people: a line for each fact.
struct StatementText {
    let lines: [String]

    init(_ statement: VerifiedStatement, by key: VerifyingKey) {
        let predicate = statement.predicate
        let report = predicate["report"] ?? .null
        var lines = ["holds: signed by \(key.pin)"]
        lines.append(
            "run: \(report.text("program") ?? "-") at \(report.text("started_at") ?? "-") for "
                + "\(report.number("duration_ms") ?? 0) ms, exit code \(report.number("exit_code") ?? 0) of pintle "
                + (report["tool"]?.text("version") ?? "-"))
        lines += Self.configuration(predicate, report)
        lines += Self.exchanges(statement, predicate, report)
        lines += Self.pastProxy(report)
        let proofs = Self.proofs(report)
        lines += predicate.elements("hosts").map { Self.host($0, proofs) }
        lines += Self.more(predicate, "exchanges_with_other_hosts", "exchange", "with further hosts")
        lines += predicate.elements("rules").map(Self.rule)
        lines += Self.more(predicate, "exchanges_of_other_rules", "exchange", "decided by further rules")
        let files = statement.document.elements("subject").filter { $0.text("name") != "exchanges" }
        lines += files.map(Self.file)
        lines += Self.more(predicate, "files_left_out", "further file", "fetched")
        self.lines = lines
    }

    private static func configuration(_ predicate: Parameter, _ report: Parameter) -> [String] {
        var lines = ["configuration: \(report.text("configuration") ?? "embedded default")"]
        if let digest = predicate["configuration"] {
            let files = ReportText.count(digest.elements("files").count, "file")
            lines[0] += ", \(files), sha256 \(digest.text("sha256") ?? "-")"
        }
        let options = predicate.texts("options")
        if !options.isEmpty { lines.append("options: \(options.joined(separator: " "))") }
        if let filter = report.text("filter") { lines.append("only the exchanges that the filter takes: \(filter)") }
        return lines
    }

    private static func exchanges(_ statement: VerifiedStatement, _ predicate: Parameter, _ report: Parameter)
        -> [String]
    {
        var words = "\(statement.count)"
        if case .dictionary(let decisions)? = predicate["decisions"], !decisions.isEmpty {
            let counts = decisions.map { "\(predicate["decisions"]?.number($0.key) ?? 0) \($0.key)" }
            words += " (\(counts.joined(separator: ", ")))"
        }
        let summary = report["summary"] ?? .null
        words += ", \(ReportText.count(summary.number("violations") ?? 0, "violation"))"
        var lines = ["exchanges: \(words), Merkle root \(predicate.text("merkle_root") ?? "-")"]
        lines += Self.more(predicate, "exchanges_missing", "exchange", "missing in the report")
        return lines
    }

    /// The connections that the report knows to have bypassed the proxy, and how well it would know.
    private static func pastProxy(_ report: Parameter) -> [String] {
        let count = report.elements("past_proxy").count + (report.number("other_past_proxy") ?? 0)
        let refused = report.number("refused_past_proxy") ?? 0
        let seen = report.text("past_proxy_seen") ?? "none"
        return [
            "past the proxy: \(ReportText.count(count, "connection")), \(ReportText.count(refused, "attempt")) refused (seen: \(seen))"
        ]
    }

    /// The proof of each host's identity: `pinned (payments)`.
    private static func proofs(_ report: Parameter) -> [String: String] {
        report.elements("hosts").reduce(into: [:]) { proofs, host in
            let (assurance, trust) = (host.texts("assurance"), host.texts("trust"))
            guard let name = host.text("host"), !assurance.isEmpty else { return }
            let policies = trust.isEmpty ? "" : " (\(trust.joined(separator: ", ")))"
            proofs[name] = ", \(assurance.joined(separator: ", "))\(policies)"
        }
    }

    private static func host(_ host: Parameter, _ proofs: [String: String]) -> String {
        let name = host.text("host") ?? "-"
        var line = "host: \(name): \(ReportText.count(host.number("exchanges") ?? 0, "exchange"))\(proofs[name] ?? "")"
        for case .array(let chain) in host.elements("keys") {
            line += "; keys \(chain.compactMap(\.text).joined(separator: " "))"
        }
        if let more = host.number("other_keys") { line += "; and \(more) with further keys" }
        return line
    }

    private static func rule(_ rule: Parameter) -> String {
        let place = rule.text("place").map { " (\($0))" } ?? ""
        return
            "rule: \(rule.text("rule") ?? "-")\(place): \(ReportText.count(rule.number("exchanges") ?? 0, "exchange"))"
    }

    private static func file(_ file: Parameter) -> String {
        let coding = file["annotations"]?.text("content_coding").map { " (\($0))" } ?? ""
        return "file: \(file["digest"]?.text("sha256") ?? "-")  \(file.text("name") ?? "-")\(coding)"
    }

    private static func more(_ document: Parameter, _ member: String, _ thing: String, _ words: String) -> [String] {
        let count = document.number(member) ?? 0
        return count == 0 ? [] : ["\(ReportText.count(count, thing)) \(words)"]
    }
}

extension Parameter {
    /// The value, if it is text.
    fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements of the member called `key` that are text.
    fileprivate func texts(_ key: String) -> [String] { self.elements(key).compactMap(\.text) }
}
