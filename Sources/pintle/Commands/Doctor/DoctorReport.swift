// SPDX-License-Identifier: Apache-2.0

internal import PintleAudit
internal import PintleSerialization

/// The report after all programs were tried.
enum DoctorReport {
    /// Returns the problems with advice, and the programs that are not installed.
    static func text(_ diagnoses: [Diagnosis]) -> String {
        var lines: [String] = []
        let tried = diagnoses.filter { $0.program != nil }
        for diagnosis in tried where diagnosis.hasObstacle {
            for (scheme, finding) in [("http", diagnosis.http), ("https", diagnosis.https)] {
                guard let finding, let reason = finding.reason else { continue }
                lines.append("\(diagnosis.client.name), \(scheme), \(finding.words): \(reason)")
            }
            lines += diagnosis.advice.map { "  \($0)" }
        }
        let working = tried.filter { !$0.hasObstacle }.count
        lines.append(
            "\(working) of \(ReportText.count(tried.count, "program")) \(tried.count == 1 ? "works" : "work") both ways"
        )
        let missing = diagnoses.filter { $0.program == nil }.map(\.client.name)
        if !missing.isEmpty { lines.append("not installed: \(missing.joined(separator: ", "))") }
        return lines.joined(separator: "\n")
    }

    /// Returns the report for programs: every client, in the order in which they are tried.
    static func json(_ diagnoses: [Diagnosis]) -> String {
        let clients = diagnoses.map { diagnosis -> Parameter in
            let finding = { (finding: Diagnosis.Finding?) -> Parameter in
                guard let finding else { return .null }
                return .object([
                    ("works", .bool(finding == .works)), ("result", .string(finding.words)),
                    ("reason", finding.reason.map(Parameter.string) ?? .null),
                ])
            }
            return .object([
                ("name", .string(diagnosis.client.name)),
                ("installed", .bool(diagnosis.program != nil)),
                ("program", diagnosis.program.map(Parameter.string) ?? .null),
                ("version", diagnosis.program == nil ? .null : .string(diagnosis.version)),
                ("http", finding(diagnosis.http)), ("https", finding(diagnosis.https)),
                ("proxy_variables", .string(diagnosis.client.reads.proxy)),
                ("trust_variables", .string(diagnosis.client.reads.trust)),
                ("advice", .array(diagnosis.advice.map(Parameter.string))),
            ])
        }
        let works = !diagnoses.contains(where: \.hasObstacle)
        return Parameter.object([("works", .bool(works)), ("clients", .array(clients))]).jsonText
    }
}

extension Diagnosis {
    /// The program's line in the table; empty if it is not installed.
    var line: String {
        guard self.program != nil, let http, let https else { return "" }
        let cells = [
            (self.client.name, 9), (self.version, 12), ("http \(http.words)", 20), ("https \(https.words)", 21),
        ]
        let text = cells.map { $0.padded(to: $1) }.joined(separator: " ")
        return "\(text) \(self.client.reads.proxy)\(self.reading)"
    }

    private var reading: String {
        self.client.reads.trust == self.client.reads.proxy ? "" : "; \(self.client.reads.trust)"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
