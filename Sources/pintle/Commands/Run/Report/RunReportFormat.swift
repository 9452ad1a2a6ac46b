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

/// One value of `--report`: `junit=report.xml`, or `junit@~deny=denied.xml` with a filter.
struct RunReportFile: Sendable {
    let format: RunReportFormat
    /// The exchanges that the report takes; nil for all.
    let filter: ExchangeFilter?
    let path: String

    init(_ text: String) throws(Malformed) {
        let formats = RunReportFormat.allCases.map(\.rawValue).joined(separator: ", ")
        let endOfFormat = text.firstIndex { $0 == "=" || $0 == "@" }
        // A filter has more use for a = than the name of a file has.
        let hasFilter = endOfFormat.map { text[$0] == "@" } ?? false
        guard let endOfFormat, let equals = hasFilter ? text.lastIndex(of: "=") : endOfFormat, equals >= endOfFormat
        else {
            throw Malformed("a format and a file, as in junit=report.xml; the formats are \(formats)")
        }
        guard let format = RunReportFormat(rawValue: String(text[..<endOfFormat])) else {
            throw Malformed("the format is one of \(formats)")
        }
        let path = String(text[text.index(after: equals)...])
        guard !path.isEmpty else { throw Malformed("a file follows the =, as in \(format.rawValue)=report") }
        // The report would be mixed with the command's own output.
        guard path != "-" else { throw Malformed("standard output is the command's; name a file") }
        self.filter = hasFilter ? try Self.filter(text[text.index(after: endOfFormat)..<equals]) : nil
        (self.format, self.path) = (format, path)
    }

    private static func filter(_ text: Substring) throws(Malformed) -> ExchangeFilter {
        do throws(FilterError) { return try ExchangeFilter(String(text)) } catch {
            throw Malformed("\"\(text)\" is not a filter: \(error)")
        }
    }
}
