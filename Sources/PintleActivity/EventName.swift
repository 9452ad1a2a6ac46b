// SPDX-License-Identifier: Apache-2.0

/// The message of a log line of Pintle's own, by which such lines can be found. Other lines are sentences. ``ProxyEvent`` is such a
/// line.
package enum EventName: String, Sendable, CaseIterable {
    /// The proxy serves clients.
    case ready
    /// The proxy finishes the exchanges under way, and accepts no more.
    case draining
    /// The proxy has ended.
    case stopped
    /// The activity state machine changed its state.
    case activityState = "activity.state"
    /// The current counters.
    case activityCounters = "activity.counters"
    /// Other networks have become reachable or unreachable.
    case reachabilityChanged = "reachability.changed"
    /// An exchange could not be written to its log. Logged once; later failures are only counted.
    case exchangeLogFailed = "exchange_log.failed"
    /// Exchanges are missing from the exchange log.
    case exchangeLogIncomplete = "exchange_log.incomplete"
    /// The receiver of traces does not take spans, or spans were lost. Logged at most once a minute, and at the end.
    case tracesIncomplete = "traces.incomplete"
    /// One turn of an engine thread took longer than its limit, and delayed all connections of that thread.
    case slowTurn = "loop.slow_turn"
    /// Statistics of the turns of the engine's threads.
    case loopTurns = "loop.turns"
    /// A client of a listener with TLS did not complete the handshake.
    case handshakeFailed = "tls.handshake_failed"
    /// A client refused the certificate that the proxy presented in an intercepted tunnel.
    case certificateRefused = "interception.certificate_refused"
    /// Routes answer in the place of their origins, or show faults.
    case simulation
    /// The server of a list of hosts did not answer with a list. Logged once for each new failure; the last good text stays in
    /// force.
    case listUnusable = "list.unusable"
    /// A question about a destination was opened or closed.
    case ask

    /// The counters that a line may have beside other fields.
    package static let counters =
        CounterName.allCases.map(\.rawValue) + MemoryCounterName.allCases.map(\.rawValue)
        + QuestionCounterName.allCases.map(\.rawValue)

    /// The fields that a line may have, by their names in the log. ``ProxyEvent/metadata`` writes them.
    package var fields: [String] {
        switch self {
        case .ready: [LogKeys.listening, LogKeys.configuration, LogKeys.admin]
        case .draining: [LogKeys.connections, LogKeys.atMost]
        case .stopped: [LogKeys.clean]
        case .activityState: [LogKeys.from, LogKeys.to]
        case .activityCounters: Self.counters + [LogKeys.violations, LogKeys.routes]
        case .reachabilityChanged: [LogKeys.reachability]
        case .exchangeLogFailed: [LogKeys.path, LogKeys.reason]
        case .exchangeLogIncomplete: [LogKeys.dropped, LogKeys.unwritten]
        case .tracesIncomplete: [LogKeys.reason, LogKeys.lostSpans, LogKeys.lostExchanges]
        case .slowTurn:
            [
                LogKeys.loop, LogKeys.processorTime, LogKeys.limit, LogKeys.doing, LogKeys.doingTime, LogKeys.parts,
            ]
        case .loopTurns: [LogKeys.turns, LogKeys.longTurns, LogKeys.longestTurn, LogKeys.slowTurns]
        case .handshakeFailed: [LogKeys.client, LogKeys.authority, LogKeys.reason]
        case .certificateRefused: [LogKeys.client, LogKeys.authority, LogKeys.reason, LogKeys.hint]
        case .simulation: [LogKeys.seed]
        case .listUnusable: [LogKeys.list, LogKeys.url, LogKeys.reason, LogKeys.confirmed]
        case .ask: [LogKeys.authority, LogKeys.rule, LogKeys.atMost, LogKeys.reason]
        }
    }
}
