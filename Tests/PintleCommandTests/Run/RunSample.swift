// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintleProxy

@testable import pintle

/// Records like those of exchanges, with text chosen by others that breaks formats unless it is escaped.
enum RunSample {
    static let hostileName = "x|<b>&\"'`*_]]>@\u{1B}[2J\u{202E}\u{0}\r\n::error::%"

    static func record(
        _ host: String, method: String = "GET", mode: String = "forward", decision: String = "allow",
        _ violations: [ViolationKind] = [], change: (inout ExchangeRecord) -> Void = { _ in }
    ) -> ExchangeRecord {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_790_000_000_123), id: "1-1")
        (record.mode, record.method, record.host, record.decision) = (mode, method, host, decision)
        record.url = mode == "tunnel" ? host : "http://\(host)/path?token=secret"
        (record.violations, record.status, record.bytesIn, record.bytesOut) = (violations, 200, 10, 200)
        record.duration = .milliseconds(30)
        if decision == "allow" {
            (record.address, record.upstreamStatus, record.http) = ("192.0.2.1:80", 200, "1.1")
            (record.connect, record.firstByte) = (.milliseconds(5), .milliseconds(20))
        }
        change(&record)
        return record
    }

    /// One of each kind.
    static let records: [ExchangeRecord] = [
        Self.record("good.test:80"), Self.record("good.test:80", method: "POST"),
        Self.record("pinned.test:443") {
            ($0.trust, $0.pin, $0.tls, $0.tlsHandshake) = ("payments", "sha256/AAAA", "1.3", .milliseconds(7))
        },
        Self.record("tunnel.test:443", method: "CONNECT", mode: "tunnel"),
        Self.record("proved.test:443", method: "CONNECT", mode: "tunnel") { $0.assurance = "probed" },
        Self.record("ads.test:80", decision: "deny") {
            ($0.rule, $0.status) = ("destinations.deny[0] \"ads.test\"", 403)
            $0.error = "ads.test:80 is denied by destinations.deny[0] \"ads.test\""
        },
        Self.record("ads.test:80", decision: "deny") {
            ($0.rule, $0.status) = ("destinations.deny[0] \"ads.test\"", 403)
            $0.error = "ads.test:80 is denied by destinations.deny[0] \"ads.test\""
        },
        Self.record("moved.test:443", decision: "reject", [.pinMismatch]) {
            ($0.trust, $0.route, $0.status) = ("payments", "charge", 502)
            $0.error = "no pin for \(Self.hostileName)"
        },
        Self.record("odd.test:80", decision: "reject", [.responseContentType, .responseBody]) {
            ($0.route, $0.error, $0.upstreamStatus) = ("api", "unacceptable at http://odd.test/?key=secret", 200)
        },
        Self.record("gone.test:80", decision: "error") { ($0.status, $0.error) = (502, "refused") },
    ]

    static func report(
        _ records: [ExchangeRecord] = Self.records, limits: RunStatistics.Limits = RunStatistics.Limits(),
        kept: Int = 100,
        file: String? = "conf/päge 1.yaml", end: ChildEnd = .exited(0)
    ) -> RunReport {
        var statistics = RunStatistics(redaction: .on, limits: limits)
        let recent = RecentExchanges(exchanges: kept)
        for record in records {
            statistics.add(record)
            recent.keep(
                KeptRecord(ObservedExchange(record: record, target: .origin(path: "/"), isComplete: true)))
        }
        return RunReport(
            version: "0.1.0", file: file, program: "npm\u{1B}[2J",
            startedAt: Timestamp(milliseconds: 1_790_000_000_000),
            duration: .milliseconds(1234), end: end, exitCode: 1, statistics: statistics,
            archive: RunArchive(recent: recent, redaction: .on),
            past: PastConnections(
                found: records.isEmpty ? [] : [PastConnection(remote: "192.0.2.9:443", program: "node|x")]))
    }
}
