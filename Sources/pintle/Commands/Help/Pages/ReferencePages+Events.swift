// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

extension ReferencePages {
    static var events: ReferencePage {
        ReferencePage(
            topic: .events,
            introduction: [
                "Lines about the proxy itself go to standard error, with `time`, `level` and `message`. These messages never "
                    + "change, so that scripts and alerts can look for them; all others are sentences for people."
            ],
            sections: [
                .init(
                    kind: "message",
                    entries: EventName.allCases.map { event in
                        let fields = event.fields.isEmpty ? nil : event.fields.joined(separator: ", ")
                        return .init(event.rawValue, [("level", event.level), ("fields", fields)], event.meaning)
                    })
            ], more: ["configuration.md"])
    }
}

extension EventName {
    fileprivate var level: String {
        switch self {
        case .ready, .draining, .stopped, .simulation: "notice"
        case .activityState: "debug"
        case .activityCounters, .loopTurns: "info"
        case .reachabilityChanged: "debug; warning if nothing can be reached, notice afterwards"
        case .exchangeLogFailed: "error"
        case .exchangeLogIncomplete, .tracesIncomplete, .slowTurn, .listUnusable: "warning"
        case .handshakeFailed: "info; error if the proxy cannot do its own part"
        case .certificateRefused: "warning for the first of a host, then debug"
        case .ask: "info for a new question, notice for its answer"
        }
    }

    /// The fields that the lines may have, by their names in the log.
    private var fieldNames: [String] {
        switch self {
        case .ready: ["listening", "configuration", "admin"]
        case .draining: ["connections"]
        case .stopped: ["clean"]
        case .activityState: [LogKeys.from, LogKeys.to]
        case .activityCounters: ["counters", LogKeys.violations, LogKeys.routes]
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
        case .ask: [LogKeys.authority, LogKeys.rule, LogKeys.reason]
        }
    }

    fileprivate var fields: [String] {
        self.fieldNames.map { $0 == "counters" ? "the counters that are not zero" : "`\($0)`" }
    }

    fileprivate var meaning: String {
        switch self {
        case .ready:
            "The proxy serves clients: the addresses, the configuration in use, and the admin endpoint's address."
        case .draining: "A signal to stop has come; the connections that are open may end what they do."
        case .stopped: "The proxy has ended; `clean` is false if something was cut off after `limits.drain_timeout`."
        case .activityState: "The activity state has changed: `not_active`, `delaying_start`, `active`, `delaying_end`."
        case .activityCounters:
            "The counters (`pintle help counters`): at intervals while they change (`activity.log_interval`), on SIGUSR1, and "
                + "at the end."
        case .reachabilityChanged: "Other networks have become reachable or unreachable."
        case .exchangeLogFailed:
            "The exchange log cannot be written, for the reason. Later failures are only counted. Make room, or correct the "
                + "path and run `pintle reload`."
        case .exchangeLogIncomplete:
            "Exchanges are missing from the log: `dropped` because its reader is too slow, `unwritten` because of failures."
        case .tracesIncomplete: "The receiver of traces takes no spans, or some were lost; once a minute at most."
        case .slowTurn:
            "One turn of an engine thread took too long and delayed all connections of the thread: a defect; please report it."
        case .loopTurns: "Turns of the engine's threads: their number, and the longest. On SIGUSR1, and at the end."
        case .handshakeFailed:
            "A client of a listener with TLS, or in an intercepted tunnel, did not complete the handshake."
        case .certificateRefused:
            "A client refused the certificate of an intercepted tunnel: it pins its server's keys, or does not know the "
                + "authority. See `pintle ca trust`, and `interception.pass_through_on_alert`."
        case .simulation: "Routes answer in the place of their origins, or show faults; the seed repeats their choices."
        case .listUnusable:
            "The server of a list of hosts did not answer with a list that can be used, for the reason; the text of the time "
                + "`confirmed` stays in force. Once for each new reason."
        case .ask: "A question about a destination was opened, or closed for the reason."
        }
    }
}
