// SPDX-License-Identifier: Apache-2.0

package import PintleActivity

/// A part that is told of each exchange once, when it has ended: the log, the report of a run, a feed for followers.
package protocol ExchangeSink: AnyObject, Sendable {
    /// True if the sink uses exchanges at present.
    var wantsExchanges: Bool { get }
    /// True if it also uses their header fields.
    var wantsFields: Bool { get }
    /// True if it also uses the processes of their clients.
    var wantsProcesses: Bool { get }
    /// True if it also uses the digests of bodies.
    var wantsDigests: Bool { get }
    /// Receives an exchange with all its secrets, on the thread that ended it. It must neither wait nor compute long.
    func take(_ exchange: ObservedExchange)
}

extension ExchangeSink {
    package var wantsProcesses: Bool { false }
    package var wantsFields: Bool { false }
    package var wantsDigests: Bool { false }
}

/// The one way out for what is known about exchanges.
///
/// A class, so that an exchange asks it without a copy.
package final class ExchangeSinks: Sendable {
    /// Nil for proxies without a log.
    package let log: ExchangeLog?
    /// Nil if no bodies are looked at.
    package let observer: ExchangeObserver?
    private let all: [any ExchangeSink]
    private let keeper: RecentExchanges?

    /// - Parameter keeper: keeps all exchanges, with header fields and processes.
    package init(
        log: ExchangeLog? = nil, observer: ExchangeObserver? = nil, _ others: [any ExchangeSink] = [],
        keeper: RecentExchanges? = nil
    ) {
        (self.log, self.observer, self.keeper) = (log, observer, keeper)
        var all: [any ExchangeSink] = others
        if let log { all.append(log) }
        if let observer { all.append(observer) }
        self.all = all
    }

    /// False if no sink would hear of an exchange, so that nothing is gathered for its record.
    var areWanted: Bool { self.keeper != nil || self.all.contains { $0.wantsExchanges } }
    /// True if exchanges are kept for an admin endpoint.
    var areKept: Bool { self.keeper != nil }
    var wantFields: Bool { self.keeper != nil || self.all.contains { $0.wantsFields } }
    var wantDigests: Bool { self.all.contains { $0.wantsDigests } }
    var wantProcesses: Bool { self.keeper != nil || self.all.contains { $0.wantsProcesses } }

    func take(_ report: ExchangeReport, _ end: ExchangeEnd, _ extras: EndedExtras?, in active: ActiveConfiguration) {
        self.keeper?.take(report, end, extras, in: active)
        // Mostly there is none, and the record need not be made.
        guard self.all.contains(where: { $0.wantsExchanges }) else { return }
        let hasFields = self.all.contains { $0.wantsFields }
        let observed = EndedExchange(report, end, extras, in: active, hasFields: hasFields).observed
        for sink in self.all where sink.wantsExchanges { sink.take(observed) }
    }
}

extension ExchangeLog: ExchangeSink {
    package var wantsExchanges: Bool { self.isEnabled }
    package var wantsProcesses: Bool { self.isEnabled }
    package func take(_ exchange: ObservedExchange) { self.write(exchange.record) }
}

/// Passes the records to a closure.
package final class RecordSink: ExchangeSink {
    private let take: @Sendable (ExchangeRecord) -> Void

    package init(_ take: @escaping @Sendable (ExchangeRecord) -> Void) { self.take = take }

    package var wantsExchanges: Bool { true }
    package func take(_ exchange: ObservedExchange) { self.take(exchange.record) }
}
