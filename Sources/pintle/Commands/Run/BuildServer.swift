// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleAudit
internal import PintleSystem

/// The build server that a run is part of, and what it is told in its own way.
enum BuildServer: Equatable {
    /// GitHub Actions, with the file for the summary of the step where there is one.
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

    /// Annotations of a step that are shown; GitHub takes ten of a kind.
    private static let mostAnnotations = 10
    /// GitHub takes 1 MiB from a step, and nothing of more.
    private static let longestSummary = 1 << 20

    // MARK: In the log

    /// The summary as the server's log shows it best: annotated, or in a section that can be folded.
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
        let findings = report.tally.findings.prefix(Self.mostAnnotations).map { finding in
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

    /// A workflow command. A line end or a colon in the text of others would begin another command, or another property.
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

    /// Tells before a run why the summary of the step could not be added to; nil where it can, or there is none.
    var obstacle: String? {
        guard case .github(let summary?) = self, let reason = OutputPlace.obstacle(toAddingTo: summary) else {
            return nil
        }
        return "GITHUB_STEP_SUMMARY=\(summary): \(reason)"
    }

    /// Adds to the summary of the step, where the server has one.
    ///
    /// - Returns: why that failed; nil where it did not.
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
