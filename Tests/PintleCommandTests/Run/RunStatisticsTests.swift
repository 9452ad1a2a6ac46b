// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintlePolicy
import Testing

@testable import pintle

/// Counts and findings of records, and the summary that is made of them.
struct RunStatisticsTests {
    @Test func `every exchange is counted, in all and for its host`() {
        let statistics = RunSample.report().statistics
        #expect(
            statistics.totals
                == RunStatistics.Counts(
                    requests: 8, tunnels: 2, denied: 2, violations: 2, failed: 1, bytesUp: 100, bytesDown: 2000))
        #expect(statistics.hosts.map(\.name).prefix(3) == ["good.test:80", "pinned.test:443", "tunnel.test:443"])
        #expect(
            statistics.hosts.map(\.proof) == [
                "in clear", "pinned (payments)", "not verified", "probed", "-", "pin mismatch (payments)", "in clear",
                "-",
            ])
        #expect(statistics.hosts[0].counts.requests == 2 && statistics.hosts[4].counts.denied == 2)
    }

    @Test func `the same finding is one, and a record with two has two`() {
        let findings = RunSample.report().statistics.findings
        #expect(
            findings.map { "\($0.what.rule.name) \($0.count)" } == [
                "denied 2", "pin-mismatch 1", "response-content-type 1", "response-body 1", "failed 1",
            ])
        #expect(findings[0].what.url == "http://ads.test:80/path?token=***")
        #expect(findings[2].what.reason == "unacceptable at http://odd.test/?key=***")
    }

    @Test func `counts are right where no more is kept`() {
        let limits = RunStatistics.Limits(hosts: 2, findings: 1)
        let statistics = RunSample.report(limits: limits).statistics
        #expect(statistics.totals == RunSample.report().statistics.totals)
        #expect(statistics.hosts.count == 2 && statistics.otherHosts == 7)
        #expect(statistics.findings.count == 1 && statistics.findings[0].count == 2 && statistics.otherFindings == 4)
    }

    @Test func `LOOK-78 a tunnel with two records is counted once`() {
        var statistics = RunStatistics(redaction: .off)
        statistics.add(RunSample.record("mail.test:25", method: "CONNECT", mode: "intercept"))
        statistics.add(
            RunSample.record("mail.test:25", method: "CONNECT", mode: "tunnel") { $0.continuesTunnel = true })
        #expect(
            statistics.totals.tunnels == 1 && statistics.totals.requests == 0 && statistics.hosts[0].counts.tunnels == 1
        )
    }

    @Test func `an answer that broke off has failed, unless a rule is the reason`() {
        var statistics = RunStatistics(redaction: .off)
        statistics.add(
            RunSample.record("cut.test:80") { ($0.isBrokenOff, $0.error) = (true, "cut.test:80 closed too early") })
        statistics.add(
            RunSample.record("bad.test:80", [.responseBody]) { ($0.isBrokenOff, $0.error) = (true, "no JSON") })
        #expect(statistics.totals.failed == 1 && statistics.totals.violations == 1)
        #expect(statistics.findings.map(\.what.rule) == [.failed, .responseBody])
        #expect(statistics.findings.first?.what.reason == "cut.test:80 closed too early")
    }

    @Test func `captured exchanges are counted, with their programs and a column of their own`() throws {
        let records = ["curl", "java", "curl"].map { program in
            RunSample.record("good.test:80") {
                $0.isCaptured = true
                $0.process = ExchangeRecord.Process(name: program, number: 1)
            }
        }
        let report = RunSample.report(records + [RunSample.record("good.test:80")])
        #expect(report.statistics.totals.captured == 3 && report.statistics.hosts[0].counts.captured == 3)
        #expect(report.statistics.capturedPrograms == ["curl", "java"])
        let lines = RunSummary(report: report, isColoured: false).text.split(separator: "\n")
        #expect(lines[1] == "  HOST          REQUESTS  TUNNELS  DENIED  VIOLATIONS  CAPTURED  ASSURANCE")
        #expect(lines[2] == "  good.test:80         4        0       0           0         3  in clear")
        #expect(
            lines.last == "ignored-proxy: curl, java did not use the proxy variables; 3 exchanges captured")
    }

    @Test func `a name that is denied is one finding and one denial, however often it is asked for`() {
        var statistics = RunStatistics(redaction: .on)
        for _ in 0..<4 {
            statistics.add(deniedName: "x.test", because: "destinations.default", at: Timestamp(milliseconds: 0))
        }
        #expect(statistics.totals.denied == 1 && statistics.hosts.map(\.counts.denied) == [1])
        #expect(statistics.findings.map { "\($0.what.rule.id) \($0.count)" } == ["PINTLE0314 4"])
        #expect(statistics.findings[0].what.words == "lookup x.test: x.test is denied by destinations.default")
    }

    @Test func `without redaction everything is shown`() {
        var statistics = RunStatistics(redaction: .off)
        statistics.add(RunSample.records[5])
        #expect(statistics.findings[0].what.url.hasSuffix("token=secret"))
    }

    @Test func `the summary has a table and a line for each finding`() {
        let text = RunSummary(report: RunSample.report(), isColoured: false).text
        let lines = text.split(separator: "\n").map(String.init)
        #expect(
            lines[0] == "pintle: 8 requests and 2 tunnels, 2 denied, 2 violations, 1 failed (conf/päge 1.yaml)")
        #expect(lines[1] == "  HOST             REQUESTS  TUNNELS  DENIED  VIOLATIONS  ASSURANCE")
        #expect(lines[2] == "  good.test:80            2        0       0           0  in clear")
        #expect(lines[3] == "  pinned.test:443         1        0       0           0  pinned (payments)")
        #expect(
            lines[10]
                == "denied: GET http://ads.test:80/path?token=***: ads.test:80 is denied by destinations.deny[0] "
                + "\"ads.test\" (2 times)")
        #expect(
            lines[11].hasPrefix(
                "pin-mismatch: GET http://moved.test:443/path?token=***: route charge, trust payments: "))
        #expect(lines.last == "past the proxy: 192.0.2.9:443 by node|x")
        #expect(!text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0 == "\u{202E}" })
    }

    @Test func `LOOK-107 what failed is told with its host and its reason, and is a warning unless asked for`() {
        var report = RunSample.report()
        let line = "failed: GET http://gone.test:80/path?token=***: refused"
        #expect(RunSummary(report: report, isColoured: false).text.contains("\n\(line)\n"))
        #expect(RunSummary(report: report, isColoured: true).text.contains("\u{1B}[33mfailed:"))
        report.failOn = [.failure]
        #expect(RunSummary(report: report, isColoured: true).text.contains("\u{1B}[31mfailed:"))
        for format in RunReportTests.plainFormats {
            let text = format.write(report)
            #expect(text.contains("gone.test:80") && text.contains("refused"), "\(format)")
        }
    }

    @Test(
        arguments: [
            ("violation", [true, false, false]), ("failure", [false, true, false]), ("bypass", [false, false, true]),
            ("violation,bypass", [true, false, true]), ("never", [false, false, false]),
        ])
    func `LOOK-105 LOOK-107 fail-on says what fails`(text: String, expected: [Bool]) throws {
        let concerns = try RunConcern.list(text)
        let records: [[ExchangeRecord]] = [[RunSample.records[5]], [RunSample.records[9]], []]
        for (place, records) in records.enumerated() {
            var report = RunSample.report(records)
            (report.failOn, report.past, report.refusedPast) = (concerns, PastConnections(), place == 2 ? 1 : 0)
            #expect(report.hasFindings == expected[place], "\(text) \(place)")
        }
    }

    @Test(arguments: ["", "never,bypass", "violation,", "all"])
    func `LOOK-105 fail-on names its words`(text: String) {
        #expect(
            throws: Malformed("some of violation, failure, bypass with commas between them, or never alone")
        ) { try RunConcern.list(text) }
    }

    @Test func `LOOK-105 attempts past the proxy are counted by the kernel's counters`() {
        let old = "Ip: Forwarding OutDiscards OutNoRoutes\nIp: 2 5 3\nIcmp: InMsgs\nIcmp: 9\n"
        #expect(NoRouteCount.count(in: old) == 3)
        #expect(NoRouteCount.count(in: "Ip6InReceives \t7\nIp6OutNoRoutes                  \t4\n") == 4)
        #expect(NoRouteCount.count(in: "Ip: Forwarding\nIp: 2\n") == 0 && NoRouteCount.count(in: "") == 0)
    }

    @Test func `colour is for terminals`() {
        let text = RunSummary(report: RunSample.report(), isColoured: true).text
        #expect(text.contains("\u{1B}[31mdenied:\u{1B}[0m GET "))
        #expect(text.contains("\u{1B}[33mpast the proxy:\u{1B}[0m 192.0.2.9:443"))
    }

    @Test func `a command without a request is warned of`() {
        let report = RunSample.report([])
        #expect(
            RunSummary(report: report, isColoured: false).text
                == "pintle: npm\\u{1B}[2J made no request through the proxy; docs/clients.md says how to make programs use "
                + "it\n")
        #expect(!report.hasFindings)
        // A captured one needs no proxy variables.
        var captured = report
        captured.isCaptured = true
        #expect(
            RunSummary(report: captured, isColoured: true).text == "pintle: npm\\u{1B}[2J made no request\n")
    }

    @Test func `long lists are cut with their number`() {
        let records = (0..<70).map { number in
            RunSample.record("h\(number).test:80", decision: "deny") { $0.error = "denied \(number)" }
        }
        let lines = RunSummary(report: RunSample.report(records), isColoured: false).text.split(separator: "\n")
        #expect(lines.contains("  and 30 more hosts") && lines.contains("and 20 more findings; see --report"))
    }
}
