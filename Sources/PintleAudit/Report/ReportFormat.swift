// SPDX-License-Identifier: Apache-2.0

/// The formats in which a report can be written.
package enum ReportFormat: String, Sendable, CaseIterable {
    case text
    case json
    case junit
    case sarif
    case markdown

    /// Returns the report as text that ends with a line end. Equal reports give equal bytes.
    ///
    /// - Parameter failure: the lowest severity at which a finding fails a JUnit case; nil if none does.
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
