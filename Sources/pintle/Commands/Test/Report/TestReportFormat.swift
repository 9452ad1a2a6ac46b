// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// The formats in which policy tests can be reported.
enum TestReportFormat: String, Sendable, CaseIterable {
    case json
    case junit
    case sarif
    case markdown

    /// Returns the report as text that ends with a line end. Equal reports give equal bytes.
    func write(_ report: TestReport) -> String {
        switch self {
        case .json: TestJSONReport(report: report).text
        case .junit: TestJUnitReport(report: report).text
        case .sarif: TestSARIFReport(report: report).text
        case .markdown: TestMarkdownReport(report: report).text
        }
    }
}
