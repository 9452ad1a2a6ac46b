// SPDX-License-Identifier: Apache-2.0

import Dispatch
import PintleActivity
import Testing

@testable import PintleWatch

@Suite struct ExchangeMetricsTests {
    @Test func `exchanges are counted by route, method and status`() throws {
        let metrics = ExchangeMetrics()
        metrics.count(.example())
        metrics.count(.example())
        metrics.count(.example(status: 404))
        metrics.count(.example(route: nil, method: "POST"))
        let routes = metrics.snapshot().routes
        func count(_ route: String, _ method: String, _ status: UInt16?) -> Int? {
            routes[route]?.counts[.init(method: MethodLabel(method), status: StatusLabel(status))]
        }
        #expect(routes.keys.sorted() == ["-", "api"])
        #expect(count("api", "GET", 200) == 2)
        #expect(count("api", "GET", 404) == 1)
        #expect(count("api", "POST", 200) == nil)
        #expect(count("-", "POST", 200) == 1)
    }

    @Test(arguments: [
        ("GET", "GET"), ("PATCH", "PATCH"), ("CONNECT", "CONNECT"), ("get", "other"), ("PROPFIND", "other"),
        ("", "other"),
        ("other", "other"),
    ])
    func `a method that is not registered counts as another`(method: String, label: String) {
        #expect(MethodLabel(method).name == label)
    }

    @Test(
        arguments: [
            (200, "200"), (418, "418"), (511, "511"), (299, "2xx"), (520, "5xx"), (599, "5xx"), (600, "5xx"),
            (999, "5xx"),
            (0, "5xx"), (99, "5xx"), (65_535, "5xx"), (nil, "-"),
        ] as [(UInt16?, String)])
    func `a status that is not registered counts as its class`(status: UInt16?, label: String) {
        #expect(StatusLabel(status).description == label)
    }

    @Test func `no client and no origin can add series without end`() {
        let metrics = ExchangeMetrics()
        for number in 0..<2000 {
            for method in ["GET", "POST", "M\(number)"] {
                metrics.count(.example(method: method, status: number, milliseconds: number))
            }
        }
        let statuses = Set((0...UInt16.max).map { StatusLabel($0) } + [StatusLabel(nil)])
        #expect(statuses.count == 70)
        #expect(MethodLabel.allCases.count == 10)
        let route = metrics.snapshot().routes["api"]
        // Three methods, and all statuses but none at all.
        #expect(route?.counts.count == 3 * 69)
        #expect(route?.counts.values.reduce(0, +) == 6000)
        #expect(route?.durations.buckets.count == 15)
    }

    @Test func `a histogram counts each duration in the first bucket that has room for it`() throws {
        let metrics = ExchangeMetrics()
        let all = [0, 5, 6, 100, 101, 10_000, 10_001, 3_600_000]
        for milliseconds in all {
            metrics.count(.example("x-\(milliseconds)", milliseconds: milliseconds))
        }
        let durations = try #require(metrics.snapshot().routes["api"]).durations
        #expect(durations.buckets.map(\.count) == [2, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 2])
        #expect(durations.count == 8)
        #expect(durations.sum == .milliseconds(all.reduce(0, +)))
        #expect(durations.buckets[2].exemplar == nil)
    }

    @Test func `an exemplar stands for a second`() throws {
        let metrics = ExchangeMetrics()
        func exemplar(after milliseconds: Int, _ id: String) throws -> DurationHistogram.Exemplar? {
            metrics.count {
                $0.count(
                    TestRoutes.counters("api"), .get, status: 200, nanoseconds: 3_000_000,
                    end: Timestamp(milliseconds: 1_767_225_600_000 + Int64(milliseconds))
                ) { id }
            }
            return try #require(metrics.snapshot().routes["api"]).durations.buckets[0].exemplar
        }
        #expect(try exemplar(after: 0, "a")?.id == "a")
        #expect(try exemplar(after: 1000, "b")?.id == "a")
        let next = try #require(try exemplar(after: 1001, "c"))
        #expect(next.id == "c" && next.value == .milliseconds(3) && next.time.milliseconds == 1_767_225_601_001)
        // The clock was set back.
        #expect(try exemplar(after: 500, "d")?.id == "d")
    }

    @Test func `a clock that was set back makes a duration of zero, and no duration is no value`() throws {
        let metrics = ExchangeMetrics()
        metrics.count(.example(milliseconds: -7))
        var unknown = ExchangeRecord.example()
        unknown.duration = nil
        metrics.count(unknown)
        let route = try #require(metrics.snapshot().routes["api"])
        #expect(route.counts.values.reduce(0, +) == 2)
        #expect(route.durations.count == 1 && route.durations.sum == .zero)
    }

    @Test func `pins count if they decided, under their trust policy`() {
        let metrics = ExchangeMetrics(trusts: ["payments", "unused"])
        var record = ExchangeRecord.example()
        record.trust = "payments"
        metrics.count(record)
        record.pin = "sha256/x"
        metrics.count(record)
        metrics.count(record)
        record.violations = [.responseStatus, .pinMismatch]
        metrics.count(record)
        metrics.expect(trusts: ["payments"])
        let pins = metrics.snapshot().pins
        #expect(pins.keys.sorted() == ["payments", "unused"])
        #expect(pins["payments"]?.matches == 2 && pins["payments"]?.mismatches == 1)
        #expect(pins["unused"] == ExchangeMetrics.Pins())
    }

    @Test func `many threads lose no exchange, also while others read`() throws {
        let (metrics, threads, each) = (ExchangeMetrics(), 8, 5000)
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for number in 0..<each {
                metrics.count(.example(route: "r\(number % 3)", status: 200 + thread % 2, milliseconds: number % 20))
                if number % 500 == 0 {
                    for route in metrics.snapshot().routes.values {
                        // Both belong to one moment.
                        #expect(route.counts.values.reduce(0, +) == route.durations.count)
                    }
                }
            }
        }
        let routes = metrics.snapshot().routes
        #expect(routes.values.reduce(0) { $0 + $1.durations.count } == threads * each)
        #expect(routes.values.reduce(0) { $0 + $1.counts.values.reduce(0, +) } == threads * each)
        let sum = routes.values.reduce(Duration.zero) { $0 + $1.durations.sum }
        let milliseconds = (0..<each).reduce(0) { $0 + $1 % 20 }
        #expect(sum == .milliseconds(threads * milliseconds))
    }
}
