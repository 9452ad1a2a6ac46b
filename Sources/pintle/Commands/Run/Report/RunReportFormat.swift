// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The formats in which a run can be reported.
enum RunReportFormat: String, Sendable, CaseIterable {
    case json
    case junit
    case sarif
    case markdown
    case har

    /// Returns the report as text that ends with a line end. Equal reports give equal bytes.
    func write(_ report: RunReport) -> String {
        switch self {
        case .json: RunJSONReport(report: report).text
        case .junit: RunJUnitReport(report: report).text
        case .sarif: RunSARIFReport(report: report).text
        case .markdown: RunMarkdownReport(report: report).text
        case .har: RunHARReport(report: report).text
        }
    }
}

/// One value of `--report`: `junit=report.xml`.
struct RunReportFile: Sendable, Equatable {
    let format: RunReportFormat
    let path: String

    init(_ text: String) throws(Malformed) {
        let formats = RunReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        guard let equals = text.firstIndex(of: "=") else {
            throw Malformed("a format and a file, as in junit=report.xml; the formats are \(formats)")
        }
        guard let format = RunReportFormat(rawValue: String(text[..<equals])) else {
            throw Malformed("the format is one of \(formats)")
        }
        let path = String(text[text.index(after: equals)...])
        guard !path.isEmpty else { throw Malformed("a file follows the =, as in \(format.rawValue)=report") }
        // The report would be mixed with the command's own output.
        guard path != "-" else { throw Malformed("standard output is the command's; name a file") }
        (self.format, self.path) = (format, path)
    }
}
