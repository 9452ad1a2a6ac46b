// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

extension ReferencePages {
    static var events: ReferencePage {
        ReferencePage(
            topic: .events,
            introduction: [
                "Lines of the log about the proxy itself, and the events of `/api/events`, which programs and the page of the "
                    + "admin endpoint follow. Lines about exchanges have a page of their own (`pintle help fields`)."
            ],
            sections: [Self.lines] + Self.live, more: ["configuration.md", "admin.md"])
    }

    private static var lines: ReferencePage.Section {
        .init(
            title: "Lines of the log",
            text: "They go to standard error, with `time`, `level` and `message`. These messages never change, so that "
                + "scripts and alerts can look for them; all others are sentences for people.",
            kind: "message",
            entries: EventName.allCases.map { event in
                .init(event.rawValue, [("level", event.level), ("fields", event.fieldText)], event.meaning)
            })
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

    /// The fields that the lines may have; the counters are told on a page of their own.
    fileprivate var fieldText: String {
        let named = self.fields.filter { !Self.counters.contains($0) }.map { "`\($0)`" }
        let counters = named.count < self.fields.count ? ["the counters that are not zero"] : []
        return (counters + named).joined(separator: ", ")
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
