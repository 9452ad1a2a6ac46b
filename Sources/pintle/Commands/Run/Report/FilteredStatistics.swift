// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy

/// The statistics of reports that take only some exchanges. Filters take time, so another thread applies them.
struct FilteredStatistics: Sendable {
    private let filters: [ExchangeFilter?]
    let sink: DeferredSink<[RunStatistics]>

    /// - Parameter reports: all reports, also those without a filter.
    init(_ reports: [RunReportFile], redaction: Redaction) {
        let filters = reports.map(\.filter)
        let none = reports.map { _ in RunStatistics(redaction: redaction) }
        self.filters = filters
        self.sink = DeferredSink(none, wants: [.fields, .processes]) { statistics, exchange in
            let shown = ShownExchange(
                exchange.record, request: exchange.requestFields, response: exchange.responseFields,
                redaction: redaction)
            for (index, filter) in filters.enumerated() where filter?.matches(shown) == true {
                statistics[index].add(exchange.record)
            }
        }
    }

    /// Nil if no report has a filter, so that nothing has to be gathered for one.
    var neededSink: (any ExchangeSink)? { self.filters.contains { $0 != nil } ? self.sink : nil }

    /// The statistics of each report, nil for those without a filter, and the number of exchanges that are missing in them.
    func finish() -> (statistics: [RunStatistics?], missed: Int) {
        let (statistics, missed) = self.sink.finish()
        return (zip(self.filters, statistics).map { filter, statistics in filter.map { _ in statistics } }, missed)
    }
}
