// SPDX-License-Identifier: Apache-2.0

package import Logging

/// The messages and metadata keys of Pintle's own log lines, so that a line can be found by its name.
package enum LogKeys {
    /// The activity machine took a step.
    package static let activityState: Logger.Message = "activity.state"
    /// The counters, now.
    package static let activityCounters: Logger.Message = "activity.counters"
    /// Other networks can, or cannot, be reached any more.
    package static let reachabilityChanged: Logger.Message = "reachability.changed"
    /// An exchange could not be written to its log. Said once; the rest is only counted.
    package static let exchangeLogFailed: Logger.Message = "exchange_log.failed"

    /// Exchanges are missing from their log.
    package static let exchangeLogIncomplete: Logger.Message = "exchange_log.incomplete"
    /// One turn of an engine thread took longer than it may, and everybody on that thread has waited.
    package static let slowTurn: Logger.Message = "loop.slow_turn"
    /// The turns of the engine's threads, now.
    package static let loopTurns: Logger.Message = "loop.turns"

    /// A client of a listener with TLS did not complete the handshake.
    package static let handshakeFailed: Logger.Message = "tls.handshake_failed"

    /// A client did not accept the certificate that it was shown in an intercepted tunnel.
    package static let certificateRefused: Logger.Message = "interception.certificate_refused"

    /// The state that was left.
    package static let from = "from"
    /// The state that was entered.
    package static let to = "to"
    /// Whether other networks can be reached.
    package static let reachability = "reachability"
    /// Counters of one route each, by name.
    package static let routes = "routes"
    /// Violations by kind.
    package static let violations = "violations"
    /// A file.
    package static let path = "path"
    /// Why, in words.
    package static let reason = "reason"
    /// The remedy, in words.
    package static let hint = "hint"
    /// What went wrong.
    package static let error = "error"

    /// The engine thread.
    package static let loop = "loop"
    /// The thread's processor time for a turn.
    package static let processorTime = "processor_ms"
    /// The most that it may be.
    package static let limit = "limit_ms"
    /// The part of a turn that took longest.
    package static let doing = "doing"
    /// The processor time of that part.
    package static let doingTime = "doing_ms"
    /// The parts of a turn by kind: how many there were, and their processor time.
    package static let parts = "parts"
    /// How many.
    package static let count = "count"
    /// How many turns there were.
    package static let turns = "turns"
    /// How many of them took more than 10 ms, elapsed time.
    package static let longTurns = "over_10ms"
    /// How many were told of as too long.
    package static let slowTurns = "slow"
    /// The longest one, elapsed time.
    package static let longestTurn = "longest_ms"

    /// Exchanges that were not logged, because too many waited to be written.
    package static let dropped = "dropped"
    /// Exchanges that could not be written.
    package static let unwritten = "unwritten"

    /// The exchange's id.
    package static let exchangeID = "pintle.exchange.id"
    /// The client's address.
    package static let client = "pintle.client"
    /// The destination's name and port.
    package static let authority = "pintle.authority"
    /// What was decided about a request.
    package static let decision = "pintle.decision"
    /// The rule that decided.
    package static let rule = "pintle.rule"
    /// What trust evaluation found.
    package static let trustVerdict = "pintle.trust.verdict"
    /// The status sent to the client.
    package static let status = "pintle.status"
    /// Body bytes sent upstream.
    package static let bytesUp = "pintle.bytes.up"
    /// Body bytes sent to the client.
    package static let bytesDown = "pintle.bytes.down"
    /// How long it took.
    package static let duration = "pintle.duration_ms"
}

extension Logger {
    /// Logs a step of the activity machine, at debug: each request of a quiet machine makes four.
    package func log(transition: ActivityStateMachine.Transition) {
        self.debug(
            LogKeys.activityState,
            metadata: [
                LogKeys.from: .string(transition.from.rawValue),
                LogKeys.to: .string(transition.to.rawValue),
            ])
    }

    /// Logs the counters that are not zero: overall ones under their own names, the others under `routes` and the route's
    /// name.
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
