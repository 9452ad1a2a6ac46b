// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The formats in which a run can be reported.
enum RunReportFormat: String, Sendable, CaseIterable {
    case json
    case junit
    case sarif
    case markdown
    case har
    case intoto

    /// Returns the report as text that ends with a line end. Equal reports give equal bytes. Signed reports are written by
    /// ``RunStatement``.
    func write(_ report: RunReport) -> String {
        switch self {
        case .json: RunJSONReport(report: report).text
        case .junit: RunJUnitReport(report: report).text
        case .sarif: RunSARIFReport(report: report).text
        case .markdown: RunMarkdownReport(report: report).text
        case .har: RunHARReport(report: report).text
        case .intoto: preconditionFailure("BUG: a signed report is written from its ledger")
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
        let endOfFormat = text.firstIndex { $0 == "=" || $0 == "@" }
        // A filter has more use for a = than the name of a file has.
        let hasFilter = endOfFormat.map { text[$0] == "@" } ?? false
        let equals = hasFilter ? text.lastIndex(of: "=") : endOfFormat
        guard let endOfFormat, let equals, equals >= endOfFormat else {
            throw ReportOption<RunReportFormat>.missing
        }
        let option = try ReportOption<RunReportFormat>(text[..<endOfFormat], text[text.index(after: equals)...])
        (self.format, self.path) = (option.format, option.path)
        self.filter = hasFilter ? try Self.filter(text[text.index(after: endOfFormat)..<equals]) : nil
    }

    private static func filter(_ text: Substring) throws(Malformed) -> ExchangeFilter {
        do throws(FilterError) { return try ExchangeFilter(String(text)) } catch {
            throw Malformed("\"\(text)\" is not a filter: \(error)")
        }
    }
}
