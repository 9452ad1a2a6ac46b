// SPDX-License-Identifier: Apache-2.0

package import Logging

/// The messages and metadata keys of Pintle's own log lines, by which lines can be found.
package enum LogKeys {
    /// The activity state machine changed its state.
    package static let activityState: Logger.Message = "activity.state"
    /// The current counters.
    package static let activityCounters: Logger.Message = "activity.counters"
    /// Other networks have become reachable or unreachable.
    package static let reachabilityChanged: Logger.Message = "reachability.changed"
    /// An exchange could not be written to its log. Logged once; later failures are only counted.
    package static let exchangeLogFailed: Logger.Message = "exchange_log.failed"

    /// Exchanges are missing from the exchange log.
    package static let exchangeLogIncomplete: Logger.Message = "exchange_log.incomplete"
    /// The receiver of traces does not take spans, or spans were lost. Logged at most once a minute, and at the end.
    package static let tracesIncomplete: Logger.Message = "traces.incomplete"
    /// One turn of an engine thread took longer than its limit, and delayed all connections of that thread.
    package static let slowTurn: Logger.Message = "loop.slow_turn"
    /// Statistics of the turns of the engine's threads.
    package static let loopTurns: Logger.Message = "loop.turns"

    /// A client of a listener with TLS did not complete the handshake.
    package static let handshakeFailed: Logger.Message = "tls.handshake_failed"

    /// A client refused the certificate that the proxy presented in an intercepted tunnel.
    package static let certificateRefused: Logger.Message = "interception.certificate_refused"

    /// Routes answer in the place of their origins, or show faults.
    package static let simulation: Logger.Message = "simulation"

    /// A question about a destination was opened or closed.
    package static let ask: Logger.Message = "ask"

    /// The seed of everything that a simulation leaves to chance.
    package static let seed = "seed"
    /// The old state.
    package static let from = "from"
    /// The new state.
    package static let to = "to"
    /// The reachability of other networks.
    package static let reachability = "reachability"
    /// The counters of each route, by name.
    package static let routes = "routes"
    /// The violations by kind.
    package static let violations = "violations"
    /// The number of spans that were lost since the start.
    package static let lostSpans = "lost_spans"
    /// The number of exchanges that were lost since the start, before spans were made of them.
    package static let lostExchanges = "lost_exchanges"
    /// The path of a file.
    package static let path = "path"
    /// The reason, in words.
    package static let reason = "reason"
    /// The longest wait, as a duration of the configuration.
    package static let atMost = "at_most"
    /// The remedy, in words.
    package static let hint = "hint"
    /// An error.
    package static let error = "error"

    /// The name of the engine thread.
    package static let loop = "loop"
    /// The thread's processor time for the turn.
    package static let processorTime = "processor_ms"
    /// The limit of a turn's processor time.
    package static let limit = "limit_ms"
    /// The part of the turn that took longest.
    package static let doing = "doing"
    /// The processor time of that part.
    package static let doingTime = "doing_ms"
    /// The parts of the turn by kind: their number and their processor time.
    package static let parts = "parts"
    /// The number of such parts.
    package static let count = "count"
    /// The number of turns.
    package static let turns = "turns"
    /// The number of turns that took more than 10 ms of elapsed time.
    package static let longTurns = "over_10ms"
    /// The number of turns that were logged as too long.
    package static let slowTurns = "slow"
    /// The longest turn, in elapsed time.
    package static let longestTurn = "longest_ms"

    /// The number of exchanges that were not logged because too many waited to be written.
    package static let dropped = "dropped"
    /// The number of exchanges that could not be written.
    package static let unwritten = "unwritten"

    /// The exchange's id.
    package static let exchangeID = "pintle.exchange.id"
    /// The client's address.
    package static let client = "pintle.client"
    /// The destination's name and port.
    package static let authority = "pintle.authority"
    /// The decision about a request.
    package static let decision = "pintle.decision"
    /// The rule that made the decision.
    package static let rule = "pintle.rule"
    /// The result of trust evaluation.
    package static let trustVerdict = "pintle.trust.verdict"
    /// The status sent to the client.
    package static let status = "pintle.status"
    /// Body bytes sent upstream.
    package static let bytesUp = "pintle.bytes.up"
    /// Body bytes sent to the client.
    package static let bytesDown = "pintle.bytes.down"
    /// The duration of the exchange.
    package static let duration = "pintle.duration_ms"
}

extension Logger {
    /// Logs a transition of the activity machine, at debug: each request to an idle proxy makes four.
    package func log(transition: ActivityStateMachine.Transition) {
        self.debug(
            LogKeys.activityState,
            metadata: [
                LogKeys.from: .string(transition.from.rawValue),
                LogKeys.to: .string(transition.to.rawValue),
            ])
    }

    /// Logs the counters that are not zero: overall ones under their own names, the others under `routes` and the name of
    /// the route.
    package func log(counters: Counters.Snapshot) {
        self.info(LogKeys.activityCounters, metadata: counters.metadata)
    }
}

extension Counters.Snapshot {
    fileprivate var metadata: Logger.Metadata {
        var metadata = self.overall.metadata
        for (name, count) in [
            ("held_bytes", self.memory.held), ("held_bytes_peak", self.memory.peak),
            ("held_bytes_refused", self.memory.refusals),
        ] where count > 0 { metadata[name] = .stringConvertible(count) }
        let routes: Logger.Metadata = self.routes.reduce(into: [:]) { routes, route in
            let counts = route.counts.metadata
            if !counts.isEmpty { routes[route.name] = .dictionary(counts) }
        }
        if !routes.isEmpty { metadata[LogKeys.routes] = .dictionary(routes) }
        return metadata
    }
}

extension Counts {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for (name, value) in self.named where value != 0 { metadata[name] = .stringConvertible(value) }
        let violations: Logger.Metadata = ViolationKind.allCases.reduce(into: [:]) { violations, kind in
            let count = self.violations[kind]
            if count != 0 { violations[kind.rawValue] = .stringConvertible(count) }
        }
        if !violations.isEmpty { metadata[LogKeys.violations] = .dictionary(violations) }
        return metadata
    }
}
