// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleAudit
internal import PintleSystem

/// The build server on which a run takes place, with its own ways to show results.
enum BuildServer: Equatable {
    /// GitHub Actions, with the path of the file for the step's summary, if any.
    case github(summary: String?)
    case gitlab

    init?(environment: [String: String]) {
        if environment["GITHUB_ACTIONS"] == "true" {
            self = .github(summary: environment["GITHUB_STEP_SUMMARY"].flatMap { $0.isEmpty ? nil : $0 })
        } else if environment["GITLAB_CI"] == "true" {
            self = .gitlab
        } else {
            return nil
        }
    }

    /// The maximum number of annotations; GitHub accepts ten of a kind from each step.
    private static let mostAnnotations = 10
    /// The maximum size of a summary: GitHub accepts 1 MiB from each step, and drops a longer one.
    private static let longestSummary = 1 << 20

    // MARK: In the log

    /// Returns the summary in the form for the server's log: with annotations, or in a foldable section.
    func framed(_ summary: String, _ report: RunReport) -> String {
        switch self {
        case .github: return summary + Self.annotations(report).map { "\($0)\n" }.joined()
        case .gitlab:
            let start = report.startedAt.milliseconds / 1000
            let end = start + report.duration.components.seconds
            return "\u{1B}[0Ksection_start:\(start):pintle_run\r\u{1B}[0KPintle\n\(summary)"
                + "\u{1B}[0Ksection_end:\(end):pintle_run\r\u{1B}[0K\n"
        }
    }

    private static func annotations(_ report: RunReport) -> [String] {
        let findings = report.statistics.findings.prefix(Self.mostAnnotations).map { finding in
            Self.annotation(
                report.level(of: finding.what.rule), title: "Pintle: \(finding.what.rule.name)", finding.what.words)
        }
        let past = report.past.found.prefix(Self.mostAnnotations).map { connection in
            Self.annotation(
                report.level(of: .pastProxy), title: "Pintle: past the proxy",
                "\(connection.program) connected to \(connection.remote)")
        }
        let refused = report.refusedWords.map { words in
            [Self.annotation(report.level(of: .pastProxy), title: "Pintle: past the proxy", words)]
        }
        return findings + past + (refused ?? [])
    }

    /// Returns a workflow command. Its text is escaped: a line end or a colon in it would begin another command or
    /// property.
    static func annotation(_ kind: String, title: String, _ message: String) -> String {
        "::\(kind) title=\(Self.escaped(title, isProperty: true))::\(Self.escaped(message, isProperty: false))"
    }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        ReportText.block(text).mappingScalars { scalar in
            switch scalar {
            case "%": "%25"
            case "\r": "%0D"
            case "\n": "%0A"
            case ":" where isProperty: "%3A"
            case "," where isProperty: "%2C"
            default: nil
            }
        }
    }

    // MARK: Beside the log

    /// The reason why the step's summary cannot be extended, determined before a run; nil if it can, or if there is none.
    var obstacle: String? {
        guard case .github(let summary?) = self, let reason = OutputPlace.obstacle(toAddingTo: summary) else {
            return nil
        }
        return "GITHUB_STEP_SUMMARY=\(summary): \(reason)"
    }

    /// Appends to the summary of the step, if the server has one.
    ///
    /// - Returns: the reason of a failure; nil on success.
    func tell(_ report: RunReport) -> String? {
        guard case .github(let summary?) = self else { return nil }
        let bytes = Array((RunReportFormat.markdown.write(report) + "\n").utf8)
        guard bytes.count <= Self.longestSummary else {
            return
                "the summary of the step has room for 1 MiB, and there are \(bytes.count) bytes; use --report markdown=FILE"
        }
        let descriptor = open(summary, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return "GITHUB_STEP_SUMMARY=\(summary) cannot be written: \(SystemError.last)" }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try FileWriting.writeAll(bytes, to: descriptor) }
        }
        guard case .failure(let error) = written else { return nil }
        return "GITHUB_STEP_SUMMARY=\(summary) cannot be written: \(error)"
    }
}
