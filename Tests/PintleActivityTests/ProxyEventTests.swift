// SPDX-License-Identifier: Apache-2.0

import Logging
import PintleActivity
import Testing

/// The lines of the log about the proxy itself.
@Suite struct ProxyEventTests {
    @Test(arguments: EventName.allCases)
    func `lines with a name have the fields that are told of it, and no other`(name: EventName) {
        let lines = Self.lines(named: name)
        #expect(lines.allSatisfy { $0.name == name })
        let written = Set(lines.flatMap(\.metadata.keys))
        #expect(written.subtracting(name.fields) == [], "the reference lacks them")
        #expect(Set(name.fields).subtracting(written) == [], "no line has them")
        #expect(Set(name.fields).count == name.fields.count)
    }

    @Test func `fields without a value are left out`() {
        let failure = ProxyEvent.handshakeFailed(client: nil, authority: nil, reason: "no common version")
        #expect(failure.metadata == [LogKeys.reason: "no common version"])
        #expect(
            ProxyEvent.ready(listening: "127.0.0.1:1", configuration: "embedded default", admin: nil).metadata
                == [LogKeys.listening: "127.0.0.1:1", LogKeys.configuration: "embedded default"])
    }

    @Test func `an event is made only for a log that takes its level`() {
        let log = CapturedLog()
        var logger = log.logger
        logger.logLevel = .notice
        var made = 0
        func event() -> ProxyEvent {
            made += 1
            return .stopped(isClean: true)
        }
        logger.log(.info, event())
        #expect(made == 0 && log.events.isEmpty)
        logger.log(.notice, event())
        #expect(made == 1 && log.events.map(\.message.description) == ["stopped"])
        #expect(log.events.first?.level == .notice)
    }

    /// Lines that have every field between them. A new name needs one to compile.
    private static func lines(named name: EventName) -> [ProxyEvent] {
        switch name {
        case .ready: [.ready(listening: "127.0.0.1:1", configuration: "pintle.yaml", admin: "http://127.0.0.1:2/")]
        case .draining: [.draining(connections: 1, atMost: "30s")]
        case .stopped: [.stopped(isClean: true)]
        case .activityState: [.activityState(.init(from: .notActive, to: .delayingStart))]
        case .activityCounters: [.activityCounters(Self.counters)]
        case .reachabilityChanged: [.reachabilityChanged(to: "reachable")]
        case .exchangeLogFailed: [.exchangeLogFailed(path: "/dev/full", reason: "no space left on the device")]
        case .exchangeLogIncomplete: [.exchangeLogIncomplete(dropped: 1, unwritten: 2)]
        case .tracesIncomplete: [.tracesIncomplete(reason: "503", lostSpans: 1, lostExchanges: 2)]
        case .slowTurn:
            [
                .slowTurn(
                    .init(
                        loop: "engine-0", time: 12, limit: 10, doing: (name: "timer", time: 11),
                        parts: ["timer": (count: 1, time: 11)]))
            ]
        case .loopTurns: [.loopTurns(3, long: 2, longest: 12, slow: 1)]
        case .handshakeFailed:
            [.handshakeFailed(client: "127.0.0.1", authority: "a.test:443", reason: "no common version")]
        case .certificateRefused:
            [.certificateRefused(client: "127.0.0.1", authority: "a.test:443", reason: "unknown_ca", hint: "it pins")]
        case .simulation: [.simulation(seed: 7)]
        case .listUnusable:
            [.listUnusable(name: "ads", url: "https://a.test/", reason: "it answered 404", confirmed: "never")]
        case .ask:
            [
                .questionOpened(authority: "a.test:443", rule: "destinations.ask[0]", atMost: "60s"),
                .questionClosed(authority: "a.test:443", rule: "destinations.ask[0]", reason: "not answered"),
            ]
        }
    }

    /// Counters of which none is zero.
    private static var counters: Counters.Snapshot {
        var counts = Counts()
        (counts.started, counts.active, counts.completed, counts.failed, counts.cancelled) = (5, 1, 1, 2, 1)
        (counts.bytesUp, counts.bytesDown, counts.pinFailures, counts.certificatesRefused) = (1, 1, 1, 1)
        (counts.cacheHits, counts.cacheMisses, counts.coalesced) = (1, 1, 1)
        (counts.recordings, counts.mocks, counts.faults, counts.recordingsLost) = (1, 1, 1, 1)
        (counts.tunnelsOpened, counts.tunnelsActive) = (1, 1)
        counts.violations[.pinMismatch] = 1
        var counters = Counters.Snapshot(routes: [.init(name: "charge", counts: counts)])
        (counters.memory.held, counters.memory.peak, counters.memory.refusals) = (4096, 4096, 1)
        counters.questions.waiting = 1
        for end in QuestionEnd.allCases { counters.questions.close(as: end) }
        return counters
    }
}
