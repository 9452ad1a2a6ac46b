// SPDX-License-Identifier: Apache-2.0

package import Logging

/// An event of the proxy itself, as a line of the log: a message that never changes, and its fields.
///
/// Each line with an ``EventName`` is made here, and so a test can hold the fields of all of them to those of the reference.
package enum ProxyEvent: Sendable {
    /// - Parameter admin: the address of the admin endpoint; nil without one.
    case ready(listening: String, configuration: String, admin: String?)
    /// - Parameter atMost: the longest wait, as the configuration spells it.
    case draining(connections: Int, atMost: String)
    case stopped(isClean: Bool)
    case activityState(ActivityStateMachine.Transition)
    case activityCounters(Counters.Snapshot)
    case reachabilityChanged(to: String)
    case exchangeLogFailed(path: String, reason: String)
    case exchangeLogIncomplete(dropped: Int, unwritten: Int)
    case tracesIncomplete(reason: String, lostSpans: Int, lostExchanges: Int)
    case slowTurn(TurnReport)
    /// - Parameters:
    ///   - long: the number of turns that took more than 10 ms.
    ///   - longest: in milliseconds.
    ///   - slow: the number of turns that were logged as ``slowTurn(_:)``.
    case loopTurns(Int, long: Int, longest: Int, slow: Int)
    /// - Parameters:
    ///   - client: nil if it was not known any more.
    ///   - authority: the destination of the tunnel; nil outside of one.
    case handshakeFailed(client: String?, authority: String?, reason: String)
    case certificateRefused(client: String?, authority: String, reason: String, hint: String)
    case simulation(seed: UInt64)
    /// - Parameter confirmed: the time of the text in force; `never` without a text.
    case listUnusable(name: String, url: String, reason: String, confirmed: String)
    case questionOpened(authority: String, rule: String, atMost: String)
    case questionClosed(authority: String, rule: String, reason: String)

    /// A turn of an engine thread that took too long. Times are in milliseconds of the processor.
    package struct TurnReport: Sendable {
        package var loop: String
        package var time: Int
        package var limit: Int
        /// The part that took longest, and its time.
        package var doing: (name: String, time: Int)
        /// The parts by kind: their number, and their time.
        package var parts: [String: (count: Int, time: Int)]

        package init(
            loop: String, time: Int, limit: Int, doing: (name: String, time: Int),
            parts: [String: (count: Int, time: Int)]
        ) {
            (self.loop, self.time, self.limit, self.doing, self.parts) = (loop, time, limit, doing, parts)
        }
    }

    package var name: EventName {
        switch self {
        case .ready: .ready
        case .draining: .draining
        case .stopped: .stopped
        case .activityState: .activityState
        case .activityCounters: .activityCounters
        case .reachabilityChanged: .reachabilityChanged
        case .exchangeLogFailed: .exchangeLogFailed
        case .exchangeLogIncomplete: .exchangeLogIncomplete
        case .tracesIncomplete: .tracesIncomplete
        case .slowTurn: .slowTurn
        case .loopTurns: .loopTurns
        case .handshakeFailed: .handshakeFailed
        case .certificateRefused: .certificateRefused
        case .simulation: .simulation
        case .listUnusable: .listUnusable
        case .questionOpened, .questionClosed: .ask
        }
    }

    /// The fields by their names in the log, which are those of ``EventName/fields``.
    package var metadata: Logger.Metadata {
        var fields: Logger.Metadata = [:]
        switch self {
        case .ready(let listening, let configuration, let admin):
            fields[LogKeys.listening] = .string(listening)
            fields[LogKeys.configuration] = .string(configuration)
            fields[LogKeys.admin] = admin.map { .string($0) }
        case .draining(let connections, let limit):
            fields[LogKeys.connections] = .stringConvertible(connections)
            fields[LogKeys.atMost] = .string(limit)
        case .stopped(let isClean): fields[LogKeys.clean] = .stringConvertible(isClean)
        case .activityState(let transition):
            fields[LogKeys.from] = .string(transition.from.rawValue)
            fields[LogKeys.to] = .string(transition.to.rawValue)
        case .activityCounters(let counters): fields = counters.metadata
        case .reachabilityChanged(let state): fields[LogKeys.reachability] = .string(state)
        case .exchangeLogFailed(let path, let reason):
            fields[LogKeys.path] = .string(path)
            fields[LogKeys.reason] = .string(reason)
        case .exchangeLogIncomplete(let dropped, let unwritten):
            fields[LogKeys.dropped] = .stringConvertible(dropped)
            fields[LogKeys.unwritten] = .stringConvertible(unwritten)
        case .tracesIncomplete(let reason, let spans, let exchanges):
            fields[LogKeys.reason] = .string(reason)
            fields[LogKeys.lostSpans] = .stringConvertible(spans)
            fields[LogKeys.lostExchanges] = .stringConvertible(exchanges)
        case .slowTurn(let turn): fields = turn.metadata
        case .loopTurns(let turns, let long, let longest, let slow):
            fields[LogKeys.turns] = .stringConvertible(turns)
            fields[LogKeys.longTurns] = .stringConvertible(long)
            fields[LogKeys.longestTurn] = .stringConvertible(longest)
            if slow > 0 { fields[LogKeys.slowTurns] = .stringConvertible(slow) }
        case .handshakeFailed(let client, let authority, let reason):
            fields[LogKeys.client] = client.map { .string($0) }
            fields[LogKeys.authority] = authority.map { .string($0) }
            fields[LogKeys.reason] = .string(reason)
        case .certificateRefused(let client, let authority, let reason, let hint):
            fields[LogKeys.client] = client.map { .string($0) }
            fields[LogKeys.authority] = .string(authority)
            fields[LogKeys.reason] = .string(reason)
            fields[LogKeys.hint] = .string(hint)
        case .simulation(let seed): fields[LogKeys.seed] = .string("\(seed)")
        case .listUnusable(let name, let url, let reason, let confirmed):
            fields[LogKeys.list] = .string(name)
            fields[LogKeys.url] = .string(url)
            fields[LogKeys.reason] = .string(reason)
            fields[LogKeys.confirmed] = .string(confirmed)
        case .questionOpened(let authority, let rule, let limit):
            fields[LogKeys.authority] = .string(authority)
            fields[LogKeys.rule] = .string(rule)
            fields[LogKeys.atMost] = .string(limit)
        case .questionClosed(let authority, let rule, let reason):
            fields[LogKeys.authority] = .string(authority)
            fields[LogKeys.rule] = .string(rule)
            fields[LogKeys.reason] = .string(reason)
        }
        return fields
    }
}

extension Logger {
    /// Logs an event of the proxy, which is made only if its level is logged.
    package func log(_ level: Logger.Level, _ event: @autoclosure () -> ProxyEvent) {
        // The line would not be written, and its counters need not be read.
        guard self.logLevel <= level else { return }
        let event = event()
        self.log(level: level, Logger.Message(stringLiteral: event.name.rawValue), metadata: event.metadata)
    }
}

extension ProxyEvent.TurnReport {
    fileprivate var metadata: Logger.Metadata {
        let parts = self.parts.mapValues { part in
            Logger.Metadata.Value.dictionary([
                LogKeys.count: .stringConvertible(part.count), LogKeys.processorTime: .stringConvertible(part.time),
            ])
        }
        return [
            LogKeys.loop: .string(self.loop), LogKeys.processorTime: .stringConvertible(self.time),
            LogKeys.limit: .stringConvertible(self.limit), LogKeys.doing: .string(self.doing.name),
            LogKeys.doingTime: .stringConvertible(self.doing.time), LogKeys.parts: .dictionary(parts),
        ]
    }
}

extension Counters.Snapshot {
    /// The counters that are not zero: overall ones under their own names, the others under `routes` and the name of the
    /// route.
    fileprivate var metadata: Logger.Metadata {
        var metadata = self.overall.metadata
        for name in MemoryCounterName.allCases where self.memory[name] > 0 {
            metadata[name.rawValue] = .stringConvertible(self.memory[name])
        }
        for (name, value) in self.questions.named where value > 0 { metadata[name] = .stringConvertible(value) }
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
