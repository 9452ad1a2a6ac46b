// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A text format for metrics.
package enum MetricsFormat: Sendable, CaseIterable {
    /// Prometheus' text format 0.0.4, which every scraper reads.
    case text
    /// OpenMetrics 1.0.0, which also has exemplars and units.
    case openMetrics

    /// The value of Content-Type.
    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Chooses the format of a response (RFC 9110 §12.5.1). The response varies with Accept.
    ///
    /// OpenMetrics is chosen only if it is named, in version 1.0.0 or in none, with at least the weight of the text format. A
    /// request that accepts neither gets the text format: a refusal would help no scraper.
    ///
    /// - Parameter accept: the field's value, its lines joined by commas; nil without the field.
    package init(accept: String?) {
        var openMetrics = 0.0
        var text = (rank: 0, weight: 0.0)
        // Only the first KiB counts, so that a list of thousands costs little; scrapers send some hundred bytes.
        let folded = String(decoding: (accept ?? "").utf8.prefix(1024).map(ASCII.folded), as: UTF8.self)
        for range in folded.split(separator: ",").map(AcceptedType.init) {
            switch range.type {
            case "application/openmetrics-text" where ["1.0.0", nil].contains(range.version):
                openMetrics = max(openMetrics, range.weight)
            case "text/plain" where ["0.0.4", nil].contains(range.version):
                if text.rank < 3 || text.weight < range.weight { text = (3, range.weight) }
            case "text/*": if text.rank < 2 { text = (2, range.weight) }
            case "*/*": if text.rank < 1 { text = (1, range.weight) }
            default: continue
            }
        }
        self = openMetrics > 0 && openMetrics >= text.weight ? .openMetrics : .text
    }
}

/// A member of Accept.
private struct AcceptedType {
    let type: String
    private(set) var version: String?
    /// From 0 to 1; 0 for a weight that is none.
    private(set) var weight = 1.0

    init(_ member: Substring) {
        let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
        self.type = parts.first ?? ""
        for part in parts.dropFirst() {
            if part.hasPrefix("version=") {
                self.version = part.dropFirst(8).filter { $0 != "\"" }
            } else if part.hasPrefix("q=") {
                self.weight = Double(part.dropFirst(2)).flatMap { 0...1 ~= $0 ? $0 : nil } ?? 0
            }
        }
    }
}
