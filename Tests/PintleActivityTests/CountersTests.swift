// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@Suite struct CountersTests {
    @Test func `every event has its counter`() throws {
        let counters = Counters(routes: ["charge", "other"])
        let route = counters[0]
        for _ in 0..<5 { route.started() }
        route.finished(.completed, bytesUp: 10, bytesDown: 20)
        route.finished(.failed, bytesUp: 0, bytesDown: 3)
        route.finished(.cancelled, bytesUp: 1, bytesDown: 0)
        route.moved(bytesUp: 100, bytesDown: 200)
        for (index, kind) in ViolationKind.allCases.enumerated() {
            for _ in 0...index { route.violated(kind) }
        }
        route.pinFailed()
        route.certificateRefused()
        route.hitCache()
        for _ in 0..<2 { route.missedCache() }
        for _ in 0..<3 { route.coalesced() }
        for kind in Simulation.allCases { route.simulated(kind) }
        route.simulated(.mock)
        for _ in 0..<4 { route.lostRecording() }
        route.tunnelOpened()
        route.tunnelOpened()
        route.tunnelClosed()
        counters[nil].started()

        let snapshot = counters.snapshot()
        #expect(snapshot.routes.map(\.name) == ["charge", "other", "-"])
        let counts = try #require(snapshot[route: "charge"])
        #expect(
            counts.named.map { "\($0.name)=\($0.value)" } == [
                "started=5", "active=2", "completed=1", "failed=1", "cancelled=1", "bytes_up=111", "bytes_down=223",
                "pin_failures=1", "certificates_refused=1", "cache_hits=1", "cache_misses=2", "coalesced=3",
                "recordings=1", "mocks=2", "faults=1", "recordings_lost=4",
                "tunnels_opened=2", "tunnels_active=1",
            ])
        #expect(ViolationKind.allCases.map { counts.violations[$0] } == Array(1...11))
        #expect(counts.violations.total == 66)
        #expect(snapshot[route: "other"] == Counts())
        #expect(snapshot[route: "-"]?.started == 1)
        #expect(snapshot[route: "none"] == nil)

        var overall = counts
        overall.started += 1
        overall.active += 1
        #expect(snapshot.overall == overall)
    }

    @Test func `violation kinds are the problem names`() {
        #expect(
            ViolationKind.allCases.map(\.rawValue) == [
                "response-status", "response-content-type", "response-body", "body-too-large", "pin-mismatch",
                "certificate-invalid", "unserializable-request", "destination-denied", "early-retry",
                "recording-differs", "credential-misuse",
            ])
    }

    @Test func `routes of one name share their counters, and a dash is no route`() {
        let counters = Counters(routes: ["a", "a", "-"])
        #expect(counters[0] === counters[1])
        #expect(counters[2] === counters[nil])
        #expect(counters.snapshot().routes.map(\.name) == ["a", "-"])
    }

    @Test func `a reload continues by name and keeps what disappeared`() {
        let before = Counters(routes: ["a", "b"])
        before[0].started()
        before[1].started()
        let running = before[1]
        let after = Counters(routes: ["c", "b"], continuing: before)
        running.finished(.completed, bytesUp: 0, bytesDown: 7)
        #expect(after[1] === running)
        #expect(after.unrouted === before.unrouted)
        let snapshot = after.snapshot()
        #expect(snapshot.routes.map(\.name) == ["c", "b", "-", "a"])
        // No number is given twice.
        #expect([before[0], running, after.unrouted, after[0]].map(\.number) == [0, 1, 2, 3])
        #expect(snapshot[route: "b"]?.completed == 1)
        #expect(snapshot.overall.started == 2)
    }

    @Test func `numbers of questions survive a reload, and have one name for each end`() {
        let before = Counters(routes: [])
        #expect(before.snapshot().questions == QuestionCounts())
        var counts = QuestionCounts()
        counts.waiting = 7
        for (index, end) in QuestionEnd.allCases.enumerated() {
            for _ in 0...index { counts.close(as: end) }
        }
        before.questions.set(counts)
        let snapshot = Counters(routes: ["a"], continuing: before).snapshot()
        #expect(snapshot.questions == counts)
        #expect(
            snapshot.questions.named.map { "\($0.name)=\($0.value)" } == [
                "questions_waiting=7", "questions_once=1", "questions_run=2", "questions_denied=3",
                "questions_expired=4", "questions_withdrawn=5",
            ])
    }

    @Test func `a finish without a start leaves active at zero`() {
        let counters = Counters(routes: [])
        counters.unrouted.finished(.failed, bytesUp: 0, bytesDown: 0)
        counters.unrouted.tunnelClosed()
        let counts = counters.snapshot().overall
        #expect(counts.active == 0)
        #expect(counts.tunnelsActive == 0)
    }

    @Test func `eight threads lose no count and no snapshot contradicts itself`() {
        let counters = Counters(routes: ["a", "b"])
        let rounds = 5_000
        onThreads(9) { thread in
            if thread == 8 {
                for _ in 0..<200 {
                    let overall = counters.snapshot().overall
                    #expect(
                        overall.started
                            == overall.active + overall.completed + overall.failed + overall.cancelled)
                }
                return
            }
            let route = counters[thread % 2]
            for round in 0..<rounds {
                route.started()
                route.violated(.pinMismatch)
                route.finished(Outcome.allCases[round % 3], bytesUp: 1, bytesDown: 2)
            }
        }
        let overall = counters.snapshot().overall
        #expect(overall.started == 8 * rounds)
        #expect(overall.active == 0)
        #expect(overall.completed + overall.failed + overall.cancelled == 8 * rounds)
        #expect(overall.bytesUp == 8 * rounds)
        #expect(overall.bytesDown == 16 * rounds)
        #expect(overall.violations[.pinMismatch] == 8 * rounds)
        #expect(counters.snapshot()[route: "a"]?.started == 4 * rounds)
    }
}
