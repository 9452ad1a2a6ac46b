// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

extension ReferencePages {
    static var counters: ReferencePage {
        ReferencePage(
            topic: .counters,
            introduction: [
                "Counted since the start, for all routes and for each: in `activity.counters` of the log (at intervals, on "
                    + "SIGUSR1, and at the end), in `pintle status` and `pintle top`, and at `/api/activity`. The log leaves "
                    + "out those that are zero; counters of a route are below `routes.NAME`."
            ],
            sections: [
                .init(
                    title: "Of exchanges", kind: "counter",
                    entries: CounterName.allCases.map { .init($0.rawValue, [("unit", $0.unit)], $0.meaning) }),
                .init(
                    title: "Of violations", text: "Named `violations.KIND`, refused and reported ones together.",
                    kind: "kind",
                    entries: ViolationKind.allCases.map { .init($0.rawValue, [("unit", "violations")], $0.meaning) }),
                .init(
                    title: "Of held memory", text: "Shared by all routes; see `limits.held_bytes`.", kind: "counter",
                    entries: MemoryCounterName.allCases.map { .init($0.rawValue, [("unit", $0.unit)], $0.meaning) }),
                .init(
                    title: "Of questions", text: "Shared by all routes; see `destinations.ask`.", kind: "counter",
                    entries: QuestionCounterName.allCases.map {
                        .init($0.rawValue, [("unit", "questions")], $0.meaning)
                    }),
            ], more: ["metrics.md", "configuration.md"])
    }
}

extension CounterName {
    fileprivate var unit: String {
        switch self {
        case .bytesUp, .bytesDown: "bytes"
        case .pinFailures, .certificatesRefused: "handshakes"
        case .cacheHits, .cacheMisses, .coalesced: "requests"
        case .recordings, .mocks, .faults: "answers"
        case .recordingsLost: "recordings"
        case .tunnelsOpened, .tunnelsActive: "tunnels"
        case .started, .active, .completed, .failed, .cancelled: "exchanges"
        }
    }

    fileprivate var meaning: String {
        switch self {
        case .started: "Exchanges that have begun."
        case .active: "Exchanges that have begun and not ended, now."
        case .completed: "Exchanges whose response the client received whole."
        case .failed: "Exchanges that broke, or that a rule refused."
        case .cancelled: "Exchanges that the client abandoned."
        case .bytesUp: "Bytes of bodies and tunnels that went to origins."
        case .bytesDown: "Bytes of bodies and tunnels that went to clients."
        case .pinFailures: "Handshakes in which an origin showed no pinned key."
        case .certificatesRefused: "Handshakes in intercepted tunnels whose client refused the certificate."
        case .cacheHits: "Requests that were answered from the cache."
        case .cacheMisses: "Requests of routes with a cache that were sent to an origin."
        case .coalesced: "Requests that were answered with the response to an equal request."
        case .recordings: "Answers that came from a recording."
        case .mocks: "Answers that came from a mock."
        case .faults: "Answers that a fault gave or changed."
        case .recordingsLost: "Recordings that were to be made and could not be written."
        case .tunnelsOpened: "Tunnels that were opened."
        case .tunnelsActive: "Tunnels that are open now."
        }
    }
}

extension MemoryCounterName {
    fileprivate var unit: String {
        switch self {
        case .held, .peak: "bytes"
        case .refused: "requests"
        }
    }

    fileprivate var meaning: String {
        switch self {
        case .held: "Bytes that are held for clients and origins now."
        case .peak: "The most that were held at a time."
        case .refused: "Requests that were refused because there was no room."
        }
    }
}

extension QuestionCounterName {
    fileprivate var meaning: String {
        switch self {
        case .waiting: "Questions about destinations that wait for an answer, now."
        case .once: "Questions whose answer allowed the requests that waited."
        case .run: "Questions whose answer allowed the destination until the process ends."
        case .denied: "Questions whose answer was a denial."
        case .expired: "Questions that were not answered within `ask.timeout`."
        case .withdrawn: "Questions whose last client left before an answer."
        }
    }
}
