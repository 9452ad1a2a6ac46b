// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// The plans that follow from a route's mocks and faults, its counters and its seed.
struct SimulationScheduleTests {
    private func schedule(_ rules: String, seed: UInt64 = 1) throws -> SimulationSchedule {
        SimulationSchedule(
            try load("version: 1\nroutes:\n  - name: a\n    \(rules)").routes[0].simulation, seed: seed)
    }

    private func request(
        _ path: String = "/", method: String = "GET", client: String = "127.0.0.1"
    ) -> SimulatedRequest {
        SimulatedRequest(
            method: method, scheme: .http, authority: Authority(host: "a.test", port: 80), path: path, fields: Fields(),
            client: client)
    }

    @Test func `the first mock that is for the request answers`() throws {
        var schedule = try self.schedule(
            """
            mock:
                  - {when: {methods: [POST]}, status: 201}
                  - {when: {paths: ["/a/*"]}, status: 202}
                  - {when: {first: 1}, status: 203}
            """)
        var statuses: [UInt16?] = []
        for request in [
            self.request("/a/b", method: "POST"), self.request("/a/b?c"), self.request("/b"), self.request("/b"),
        ] {
            if case .mock(let answer)? = schedule.plan(for: request, at: .zero).answer {
                statuses.append(answer.status)
            } else {
                statuses.append(nil)
            }
        }
        #expect(statuses == [201, 202, 203, nil])
    }

    @Test(arguments: [
        ("", [true, true, false, false, false]), (", per: url", [true, true, true, false, true]),
        (", per: client", [true, true, false, true, false]),
    ])
    func `the first requests are counted for all, for each URL, or for each client`(unit: String, expected: [Bool])
        throws
    {
        var schedule = try self.schedule("faults: [{when: {first: 2\(unit)}, status: 500}]")
        let requests = [
            self.request("/a"), self.request("/a?x"), self.request("/b"), self.request("/a", client: "10.0.0.1"),
            self.request("/b"),
        ]
        #expect(requests.map { schedule.plan(for: $0, at: .zero).answer != nil } == expected)
    }

    @Test func `a part of the requests is chosen by the seed, and equal seeds choose alike`() throws {
        func choices(_ seed: UInt64) throws -> [Bool] {
            var schedule = try self.schedule("faults: [{when: {rate: 10%}, status: 500}]", seed: seed)
            return (0..<10_000).map { _ in schedule.plan(for: self.request(), at: .zero).answer != nil }
        }
        let (first, again, other) = (try choices(1), try choices(1), try choices(2))
        #expect(first == again && first != other)
        #expect((900...1100).contains(first.count { $0 }), "\(first.count { $0 })")
    }

    @Test func `delays follow their distributions`() throws {
        func sorted(_ delay: String) throws -> [Duration] {
            var schedule = try self.schedule("faults: [{delay: \(delay)}]")
            return (0..<10_000).map { _ in schedule.plan(for: self.request(), at: .zero).delay }.sorted()
        }
        let range = try sorted("{min: 100ms, max: 200ms}")
        #expect(range[0] >= .milliseconds(100) && range[9999] <= .milliseconds(200))
        #expect((Duration.milliseconds(147)...Duration.milliseconds(153)).contains(range[5000]), "\(range[5000])")
        let normal = try sorted("{mean: 100ms, deviation: 50ms}")
        #expect(normal[0] == .zero && (Duration.milliseconds(97)...Duration.milliseconds(103)).contains(normal[5000]))
        let tail = try sorted("{median: 100ms, p99: 1s}")
        #expect((Duration.milliseconds(95)...Duration.milliseconds(105)).contains(tail[5000]), "\(tail[5000])")
        #expect((Duration.milliseconds(850)...Duration.milliseconds(1200)).contains(tail[9900]), "\(tail[9900])")
        #expect(try sorted("1s").allSatisfy { $0 == .seconds(1) })
    }

    @Test func `effects of several faults add up, and the first ending counts`() throws {
        var schedule = try self.schedule(
            """
            faults:
                  - {delay: 1s}
                  - {delay: 2s, throttle: 2KiB/s}
                  - {throttle: 1KiB/s}
                  - {status: 503}
                  - {reset: before_response}
            """)
        let plan = schedule.plan(for: self.request(), at: .zero)
        #expect(plan.delay == .seconds(3) && plan.bytesPerSecond == 1024)
        guard case .fault(let answer) = plan.answer else {
            Issue.record("\(plan)")
            return
        }
        #expect(answer.status == 503 && plan.isChanged && plan.isFaulty)
        #expect(plan.rules == ["faults[0]", "faults[1]", "faults[2]", "faults[3]"])
    }

    @Test func `a limit shows itself, and refuses what is beyond it until its time is over`() throws {
        var schedule = try self.schedule("faults: [{limit: {requests: 2, per: 10s}}]")
        func plan(_ seconds: Double) -> SimulationPlan { schedule.plan(for: self.request(), at: .seconds(seconds)) }
        let first = plan(100)
        #expect(first.answer == nil && !first.isFaulty)
        #expect(first.fields.first { $0.name == "RateLimit" }?.value == "\"default\";r=1;t=10")
        #expect(first.fields.first { $0.name == "RateLimit-Policy" }?.value == "\"default\";q=2;w=10")
        #expect(plan(101).answer == nil)
        guard case .fault(let answer) = plan(103.5).answer else {
            Issue.record("the third request passes")
            return
        }
        #expect(answer.status == 429 && answer.fields.first { $0.name == "Retry-After" }?.value == "7")
        #expect(plan(110).answer == nil)
    }

    @Test func `a client that comes back before Retry-After is told of`() throws {
        var schedule = try self.schedule(
            "faults: [{when: {first: 1, per: url}, status: 503, headers: {Retry-After: \"2\"}}]")
        func complaint(_ seconds: Double, _ path: String = "/", client: String = "127.0.0.1") -> String? {
            schedule.plan(for: self.request(path, client: client), at: .seconds(seconds)).complaint
        }
        #expect(complaint(10) == nil && complaint(10, "/other") == nil && complaint(10, client: "10.0.0.1") == nil)
        #expect(complaint(10.5) == "the client came back 2 s before the time that Retry-After named")
        #expect(complaint(12) == nil)
    }

    @Test func `clients cannot fill the memory with URLs`() throws {
        var schedule = try self.schedule("faults: [{when: {first: 1, per: url}, status: 500}]")
        let hits = (0..<20_000).count { schedule.plan(for: self.request("/\($0)"), at: .zero).answer != nil }
        // The URLs beyond the first ten thousand are counted as one.
        #expect(hits == 10_001)
    }
}
