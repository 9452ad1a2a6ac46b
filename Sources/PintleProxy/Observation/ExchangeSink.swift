// SPDX-License-Identifier: Apache-2.0

package import PintleActivity

/// The parts of exchanges that a sink uses at present.
package struct SinkWants: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The records of exchanges that have ended.
    package static let records = SinkWants(rawValue: 1)
    /// Their header fields.
    package static let fields = SinkWants(rawValue: 2)
    /// The processes of their clients.
    package static let processes = SinkWants(rawValue: 4)
    /// The digests of bodies.
    package static let digests = SinkWants(rawValue: 8)
}

/// A part that is told of each exchange once, when it has ended: the log, the report of a run, a feed for followers.
package protocol ExchangeSink: AnyObject, Sendable {
    var wants: SinkWants { get }
    /// Receives an exchange with all its secrets, on the thread that ended it. It must neither wait nor compute long.
    func take(_ exchange: ObservedExchange)
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

    /// The parts that any sink wants; empty if no sink would hear of an exchange, so that nothing is gathered for its record.
    var wants: SinkWants {
        // A keeper copies facts and heads, and needs no record.
        var wants: SinkWants = self.keeper == nil ? [] : [.fields, .processes]
        for sink in self.all { wants.formUnion(sink.wants) }
        return wants
    }
    /// True if exchanges are kept for an admin endpoint.
    var areKept: Bool { self.keeper != nil }

    /// - Parameter wants: the ``wants`` of this moment.
    func take(
        _ report: ExchangeReport, _ end: ExchangeEnd, _ extras: EndedExtras?, for wants: SinkWants,
        in active: ActiveConfiguration
    ) {
        self.keeper?.take(report, end, extras, in: active)
        // Mostly there is no other sink, and the record need not be made.
        guard wants.contains(.records) else { return }
        let observed = EndedExchange(report, end, extras, in: active, hasFields: wants.contains(.fields)).observed
        for sink in self.all where sink.wants.contains(.records) { sink.take(observed) }
    }
}

extension ExchangeLog: ExchangeSink {
    package var wants: SinkWants { self.isEnabled ? [.records, .processes] : [] }
    package func take(_ exchange: ObservedExchange) { self.write(exchange.record) }
}

/// Passes the records to a closure.
package final class RecordSink: ExchangeSink {
    private let take: @Sendable (ExchangeRecord) -> Void

    package init(_ take: @escaping @Sendable (ExchangeRecord) -> Void) { self.take = take }

    package var wants: SinkWants { .records }
    package func take(_ exchange: ObservedExchange) { self.take(exchange.record) }
}
