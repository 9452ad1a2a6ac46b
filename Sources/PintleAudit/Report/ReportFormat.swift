// SPDX-License-Identifier: Apache-2.0

/// The formats in which a report can be written.
package enum ReportFormat: String, Sendable, CaseIterable {
    case text
    case json
    case junit
    case sarif
    case markdown

    /// The report, ending with a line end. The same report gives the same bytes.
    ///
    /// - Parameter failure: from which severity on a finding fails a JUnit case; nil for never.
    package func write(_ report: AuditReport, failingFrom failure: Severity?) -> String {
        switch self {
        case .text: TextReport(report: report).text
        case .json: JSONReport(report: report).text
        case .junit: JUnitReport(report: report, failure: failure).text
        case .sarif: SARIFReport(report: report).text
        case .markdown: MarkdownReport(report: report).text
        }
    }
}
