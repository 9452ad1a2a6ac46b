// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleSystem

@testable import PintleWatch

extension ExchangeRecord {
    /// A finished exchange that began at the beginning of 2026.
    static func example(
        _ id: String = "a-1", route: String? = "api", method: String? = "GET", status: Int? = 200,
        milliseconds: Int = 42
    ) -> ExchangeRecord {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_767_225_600_000), id: id)
        (record.route, record.method, record.status) = (route, method, status)
        record.duration = .milliseconds(milliseconds)
        return record
    }
}

extension ExchangeMetrics {
    /// Counts the exchange of a record, as the program does.
    func count(_ record: ExchangeRecord) {
        let length = record.duration.map { Int64($0 / .nanoseconds(1)) }
        let isMismatch = record.violations.contains(.pinMismatch)
        self.count { tally in
            tally.count(
                TestRoutes.counters(record.route ?? Counters.noRoute), MethodLabel(record.method ?? ""),
                status: record.status.map(UInt16.init), nanoseconds: length,
                end: Timestamp(milliseconds: record.time.milliseconds + (length ?? 0) / 1_000_000)
            ) { record.id }
            if isMismatch || record.pin != nil, let trust = record.trust {
                tally.countPins(of: trust, isMismatch: isMismatch)
            }
        }
    }
}

extension MethodLabel {
    init(_ method: String) {
        var method = method
        self = method.withUTF8 { MethodLabel(UnsafeRawBufferPointer($0)) }
    }
}

/// The counters of routes with any name, numbered as those of one process.
enum TestRoutes {
    private static let known = Locked<(counters: Counters, routes: [String: RouteCounters])>(
        (Counters(routes: []), [:]))

    static func counters(_ name: String) -> RouteCounters {
        self.known.withLock { known in
            if let route = known.routes[name] { return route }
            known.counters = Counters(routes: [name], continuing: known.counters)
            known.routes[name] = known.counters[0]
            return known.counters[0]
        }
    }
}

extension MetricsReading {
    /// A reading with something in every family.
    static var example: MetricsReading {
        let metrics = ExchangeMetrics(trusts: ["payments"])
        metrics.count(.example("a-1"))
        metrics.count(.example("a-2", method: "POST", status: 502, milliseconds: 12_345))
        var refused = ExchangeRecord.example("a-3", route: nil, method: "CONNECT", status: nil, milliseconds: 0)
        (refused.trust, refused.pin, refused.violations) = ("payments", "sha256/x", [.pinMismatch])
        metrics.count(refused)
        let counters = Counters(routes: ["api"])
        counters[0].started()
        counters[0].moved(bytesUp: 100, bytesDown: 2000)
        counters[0].violated(.responseStatus)
        counters[0].hitCache()
        var questions = QuestionCounts()
        questions.waiting = 2
        questions.close(as: .denied)
        counters.questions.set(questions)

        var reading = MetricsReading()
        reading.exchanges = metrics.snapshot()
        reading.counters = counters.snapshot()
        reading.upstreamConnections = [.idle: 3, .active: 1]
        reading.processSearches = [.dropped: 2, .found: 40, .missing: 5]
        reading.certificates = [.init(trust: "payments", host: "api.pay.example:443", secondsLeft: -5)]
        reading.revision = "4f2a"
        reading.reload = Reload(isSuccessful: true, lastSuccess: Timestamp(milliseconds: 1_767_225_600_250))
        reading.lists = ["partners": Timestamp(milliseconds: 1_767_225_600_000)]
        reading.version = "1.2.3"
        return reading
    }
}

/// The files of the repository that name metrics.
enum MetricsFiles {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The names of all samples that the writer writes.
    static let samples = Set(MetricFamily.allCases.flatMap(\.samples))

    /// The words of a text that are names of metrics, if they are anything.
    static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\bpintle_[a-z_]+/).map { String($0.output) })
    }
}
