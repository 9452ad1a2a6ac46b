// SPDX-License-Identifier: Apache-2.0

package import Logging

/// The metadata keys of Pintle's own log lines. ``EventName`` has the messages, and ``ProxyEvent`` the lines.
package enum LogKeys {
    /// The addresses of the listeners.
    package static let listening = "listening"
    /// The source of the configuration.
    package static let configuration = "configuration"
    /// The address of the admin endpoint.
    package static let admin = "admin"
    /// The number of open connections.
    package static let connections = "connections"
    /// True if nothing was cut off.
    package static let clean = "clean"
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
    /// The name of a list of hosts.
    package static let list = "list"
    /// A URL.
    package static let url = "url"
    /// The time at which the text of a list was last sent or confirmed; `never` without a text.
    package static let confirmed = "confirmed"

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
    package func log(transition: ActivityStateMachine.Transition) { self.log(.debug, .activityState(transition)) }

    /// Logs the counters that are not zero: overall ones under their own names, the others under `routes` and the name of
    /// the route.
    package func log(counters: Counters.Snapshot) { self.log(.info, .activityCounters(counters)) }
}
