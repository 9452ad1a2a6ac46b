// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting
import PintleWatch
import Testing

@testable import PintleProxy
@testable import pintle

/// One run in every format.
struct RunReportTests {
    private typealias Object = [String: Any]

    private func object(_ format: RunReportFormat, _ report: RunReport = RunSample.report()) throws -> Object {
        try #require(try JSONSerialization.jsonObject(with: Data(format.write(report).utf8)) as? Object)
    }

    /// The others are signed.
    static let plainFormats = RunReportFormat.allCases.filter { $0 != .intoto }

    @Test(arguments: RunReportTests.plainFormats)
    func `a format writes the same report alike, ends it with a line end and steers no terminal`(
        format: RunReportFormat
    ) {
        let text = format.write(RunSample.report())
        #expect(text == format.write(RunSample.report()))
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        let marks = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        #expect(marks.isEmpty && !text.contains("secret"))
    }

    @Test(arguments: [RunReportFormat.json, .junit, .sarif, .markdown])
    func `every finding is there with its id, its request and what to do`(format: RunReportFormat) {
        let text = format.write(RunSample.report())
        for id in ["PINTLE0301", "PINTLE0303", "PINTLE0304", "PINTLE0306"] { #expect(text.contains(id)) }
        #expect(text.contains("moved.test:443") && text.contains("192.0.2.9:443"))
    }

    @Test func `every answer to a question stands in the report as a line for the configuration`() throws {
        let authority = try #require(Authority("api.test:8443", defaultPort: nil))
        var report = RunSample.report()
        report.grants = [
            AskGrant(
                authority: authority, place: .terminal, scope: .run, moment: Timestamp(milliseconds: 0), requests: 3)
        ]
        let line = "destinations: {allow: [\"api.test:8443\"]}"
        for format in Self.plainFormats where format != .har {
            let text = format.write(report).replacing("\\\"", with: "\"").replacing("&quot;", with: "\"")
            #expect(text.replacing("\\", with: "").contains(line), "\(format): \(text)")
        }
        #expect(
            RunSummary(report: report, isColoured: false).text.contains(
                "granted: api.test:8443 was granted at the terminal, for this run (3 requests); to keep it: \(line)\n"))
        let grant = try #require((try self.object(.json, report)["grants"] as? [Object])?.first)
        #expect(
            grant["by"] as? String == "terminal" && grant["for"] as? String == "run" && grant["line"] as? String == line
        )
    }

    @Test func `JSON has counts, hosts and findings`() throws {
        let root = try self.object(.json)
        #expect(root["schema"] as? Int == 1 && root["exit_code"] as? Int == 1)
        let summary = try #require(root["summary"] as? [String: Int])
        #expect(summary["requests"] == 8 && summary["denied"] == 2 && summary["bytes_down"] == 2000)
        #expect((root["hosts"] as? [Object])?.count == 8)
        let finding = try #require((root["findings"] as? [Object])?.first)
        #expect(finding["name"] as? String == "denied" && finding["count"] as? Int == 2)
        #expect(finding["decided_by"] as? String == "destinations.deny[0] \"ads.test\"")
        #expect((root["past_proxy"] as? [Object])?.first?["program"] as? String == "node|x")
        let killed = try self.object(.json, RunSample.report(end: .killed(signal: 9)))
        #expect((killed["ended"] as? Object)?["signal"] as? Int == 9)
    }

    @Test(arguments: [RunSample.report(), RunSample.report([]), RunSample.report(file: nil)])
    func `JUnit is what every reader of it demands`(report: RunReport) throws {
        #expect(try ReportSchemas.junitProblems(RunReportFormat.junit.write(report)) == [])
    }

    @Test(.enabled(if: ReportSchemas.isAvailable, Comment(rawValue: ReportSchemas.requirement)))
    func `SARIF keeps to its schema`() throws {
        for report in [RunSample.report(), RunSample.report([]), RunSample.report(file: nil)] {
            #expect(try ReportSchemas.sarifProblems(RunReportFormat.sarif.write(report)) == [])
        }
    }

    @Test func `LOOK-85 every SARIF result has a file, also without a configuration`() throws {
        for file in ["conf/mine.yaml", nil] {
            let root = try self.object(.sarif, RunSample.report(file: file))
            let results = try #require((root["runs"] as? [Object])?.first?["results"] as? [Object])
            #expect(!results.isEmpty)
            for result in results {
                let location = try #require((result["locations"] as? [Object])?.first)
                let artifact = (location["physicalLocation"] as? Object)?["artifactLocation"] as? Object
                #expect(artifact?["uri"] as? String == file ?? "pintle.yaml")
            }
        }
    }

    @Test func `LOOK-85 a JUnit suite of a run without requests has a case named by the program`() {
        var report = RunSample.report([])
        report.program = "make"
        let text = RunReportFormat.junit.write(report)
        #expect(text.contains("tests=\"1\" failures=\"0\""))
        #expect(text.contains("<testcase classname=\"pintle.run\" name=\"make\""))
    }

    @Test func `LOOK-107 a JUnit case of a host that gave no answer is an error with the reason`() {
        let text = RunReportFormat.junit.write(RunSample.report())
        #expect(text.contains("failures=\"3\" errors=\"1\""))
        #expect(
            text.contains(
                "<error message=\"GET http://gone.test:80/path?token=***: refused\" type=\"PINTLE0311 failed\">"))
    }

    @Test func `LOOK-105 what went past the proxy fails a case where the build is to fail for it`() throws {
        var report = RunSample.report([RunSample.records[0]])
        report.refusedPast = 2
        let words = "2 attempts were refused by the command's own network"
        #expect(RunReportFormat.junit.write(report).contains("tests=\"1\" failures=\"0\""))
        #expect(RunSummary(report: report, isColoured: false).text.hasSuffix("past the proxy: \(words)\n"))
        report.failOn = [.bypass]
        let text = RunReportFormat.junit.write(report)
        #expect(text.contains("tests=\"2\" failures=\"1\"") && text.contains("past the proxy: 2 attempts were"))
        #expect(try ReportSchemas.junitProblems(text) == [])
        #expect(try self.object(.json, report)["refused_past_proxy"] as? Int == 2)
        #expect(RunReportFormat.markdown.write(report).contains("2 attempts were refused"))
        let results = try #require(
            (try self.object(.sarif, report)["runs"] as? [Object])?.first?["results"] as? [Object])
        #expect(results.count == 2 && results.allSatisfy { $0["level"] as? String == "error" })
    }

    @Test func `programs that were captured are a note in every format`() throws {
        let record = RunSample.record("good.test:80") {
            $0.isCaptured = true
            $0.process = ExchangeRecord.Process(name: RunSample.hostileName, number: 1)
        }
        let report = RunSample.report([record])
        let results = try #require(
            (try self.object(.sarif, report)["runs"] as? [Object])?.first?["results"] as? [Object])
        #expect(results.filter { $0["ruleId"] as? String == "PINTLE0315" }.map { $0["level"] as? String } == ["note"])
        #expect(try self.object(.json, report)["ignored_proxy"] as? [String] == [RunSample.hostileName])
        #expect(RunReportFormat.markdown.write(report).contains("did not use the proxy variables; 1 exchange captured"))
        #expect(try ReportSchemas.junitProblems(RunReportFormat.junit.write(report)) == [])
        // A machine without network has no schema.
        if ReportSchemas.isAvailable {
            #expect(try ReportSchemas.sarifProblems(RunReportFormat.sarif.write(report)) == [])
        }
    }

    @Test func `LOOK-119 every SARIF result has a region`() throws {
        let root = try self.object(.sarif)
        let results = try #require((root["runs"] as? [Object])?.first?["results"] as? [Object])
        for result in results {
            let place = ((result["locations"] as? [Object])?.first?["physicalLocation"] as? Object)
            #expect((place?["region"] as? Object)?["startLine"] as? Int == 1)
        }
    }

    @Test func `HAR has an entry for each exchange, whose times add up`() throws {
        let log = try #require(try self.object(.har)["log"] as? Object)
        #expect(log["version"] as? String == "1.2" && (log["creator"] as? Object)?["name"] as? String == "pintle")
        let entries = try #require(log["entries"] as? [Object])
        #expect(entries.count == RunSample.records.count)
        for entry in entries {
            let timings = try #require(entry["timings"] as? [String: Int])
            let sum = ["blocked", "dns", "connect", "send", "wait", "receive"].reduce(0) {
                $0 + max(0, timings[$1] ?? -9)
            }
            #expect(entry["time"] as? Int == sum && sum == 30)
            #expect(["send", "wait", "receive"].allSatisfy { (timings[$0] ?? -1) >= 0 })
            let (request, response) = (
                try #require(entry["request"] as? Object), try #require(entry["response"] as? Object)
            )
            for name in [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize",
            ] {
                #expect(request[name] != nil)
            }
            for name in [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ] { #expect(response[name] != nil) }
            #expect(URL(string: request["url"] as? String ?? "") != nil)
        }
        #expect((entries[3]["request"] as? Object)?["url"] as? String == "https://tunnel.test:443/")
        #expect(entries[0]["startedDateTime"] as? String == "2026-09-21T14:13:20.123Z")
        #expect(entries[0]["serverIPAddress"] as? String == "192.0.2.1")
    }

    @Test(arguments: [(nil, "HTTP/1.1"), ("1.0", "HTTP/1.0"), ("2", "HTTP/2")] as [(String?, String)])
    func `HAR has the versions that the client and the origin spoke`(client: String?, version: String) throws {
        let record = RunSample.record("good.test:80") { $0.clientHTTP = client }
        let log = try #require(try self.object(.har, RunSample.report([record]))["log"] as? Object)
        let entry = try #require((log["entries"] as? [Object])?.first)
        #expect((entry["request"] as? Object)?["httpVersion"] as? String == version)
        #expect((entry["response"] as? Object)?["httpVersion"] as? String == "HTTP/1.1")
    }

    @Test func `HAR says how many are left out`() throws {
        let report = RunSample.report(kept: 2)
        let log = try #require(try self.object(.har, report)["log"] as? Object)
        #expect(
            (log["entries"] as? [Object])?.count == 2
                && log["comment"] as? String == "8 earlier exchanges were forgotten")
    }

    @Test(
        arguments: [
            (
                "json",
                "a format and a file, as in junit=report.xml; the formats are json, junit, sarif, markdown, har, intoto"
            ),
            ("pdf=x", "the format is one of json, junit, sarif, markdown, har, intoto"),
            ("json=", "a file follows the =, as in json=report"),
            ("har=-", "standard output is the command's; name a file"),
            (
                "har@~deny",
                "a format and a file, as in junit=report.xml; the formats are json, junit, sarif, markdown, har, intoto"
            ),
            ("=har@x", "the format is one of json, junit, sarif, markdown, har, intoto"),
            ("har@~rout x=y", "\"~rout x\" is not a filter: there is no ~rout; did you mean ~route?, at character 1"),
        ])
    func `an option that names no report says what does`(text: String, reason: String) {
        #expect(throws: Malformed(reason)) { try RunReportFile(text) }
    }

    @Test func `a file's name may have any sign, and a filter, too`() throws {
        var file = try RunReportFile("har=a=b@c.har")
        #expect(file.format == .har && file.path == "a=b@c.har" && file.filter == nil)
        file = try RunReportFile("json@~u a=b ~m GET=c.json")
        #expect(file.format == .json && file.path == "c.json" && file.filter?.source == "~u a=b ~m GET")
    }
}
