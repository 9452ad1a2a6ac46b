// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleAudit
import PintleTesting
import PintleTrust
import Testing

/// One report in every format.
@Suite struct ReportTests {
    private let sample: ReportSample

    init() throws { self.sample = try ReportSample() }

    @Test(arguments: ReportFormat.allCases)
    func `a format writes the same report alike, ends it with a line end and steers no terminal`(
        format: ReportFormat
    ) {
        let text = self.sample.text(format)
        #expect(text == self.sample.text(format))
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        let marks = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        #expect(marks.isEmpty, "\(marks)")
    }

    @Test(arguments: ReportFormat.allCases)
    func `every finding is there with its id, where it was found and what to do`(format: ReportFormat) {
        let text = self.sample.text(format, failingFrom: .note)
        for finding in self.sample.report.findings {
            #expect(text.contains(finding.rule.id))
            let isEscaped = format == .junit || format == .markdown
            #expect(isEscaped || text.contains(finding.rule.remedy))
        }
        #expect(text.contains("good.test:443") && text.contains("gone.test:443") && text.contains("127.0.0.1"))
    }

    @Test func `text begins with a table and draws the chains`() {
        let lines = self.sample.text(.text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0] == "Audit of conf/päge 1.yaml, 2026-09-21T14:13:20Z")
        #expect(
            Array(lines[2...5]).map { $0.split(separator: " ").joined(separator: " ") } == [
                "POLICY HOST ADDRESS TLS POST-QUANTUM KEY VERDICT EXPIRES",
                "first good.test:443 127.0.0.1 - X25519MLKEM768 RSA+ECDSA trusted \(self.day)",
                "second bad.test:443 127.0.0.1 - X25519MLKEM768 RSA+ECDSA wrong-name \(self.day)",
                "second gone.test:443 - - - - not resolved -",
            ])
        #expect(lines.contains("good.test:443 RSA+ECDSA at 127.0.0.1: trusted, verified chain"))
        #expect(lines.contains("  └─ CN=Sample Root"))
        #expect(lines.contains { $0.hasSuffix("root, EC P-256, until \(self.day)  pinned") })
        #expect(lines.contains("error PINTLE0106 name-mismatch: bad.test:443 at 127.0.0.1, RSA key (second)"))
        #expect(lines.contains("  conf/päge 1.yaml:8:7: trust.second.hosts[0]"))
        #expect(lines.contains("  for a|<b>&\"'`*_]]>@x\\u{1B}[2J\\u{9B}2J\\u{202E}\\u{0}"))
        #expect(
            lines.contains(
                "bad.test:443: CAA for *.bad.test: any authority by 128 iodef \"a|<b>&\"'`*_]]>@x\\u{1B}[2J\\u{9B}2J"
                    + "\\u{202E}\\u{0}\\u{A}line\" at test"))
        #expect(lines[lines.count - 2] == "3 servers at 2 addresses: 2 errors, 1 warning, 1 note")
    }

    private var day: String {
        String(self.sample.report.targets[0].addresses[0].chains[0].presented[0].notAfter.description.prefix(10))
    }

    @Test func `JSON says its schema and keeps what servers sent`() throws {
        let text = self.sample.text(.json)
        let root = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(root["schema"] as? Int == 1)
        let findings = try #require(root["findings"] as? [[String: Any]])
        #expect(findings.map { $0["severity"] as? String } == ["error", "error", "warn", "note"])
        #expect(findings[0]["message"] as? String == "for \(ReportSample.hostileName)\nsecond line")
        #expect(findings[0]["line"] as? Int == 8 && findings[1]["line"] == nil)
        let servers = try #require(root["servers"] as? [[String: Any]])
        let addresses = try #require(servers[0]["addresses"] as? [[String: Any]])
        let chains = try #require(addresses[0]["chains"] as? [[String: Any]])
        #expect(chains[0]["trusted"] as? Bool == true)
        let exchange = try #require(addresses[0]["post_quantum"] as? [String: Any])
        #expect(exchange["groups"] as? [String] == ["X25519MLKEM768"] && exchange["conclusive"] as? Bool == true)
        let caa = try #require((servers[1]["caa"] as? [[String: Any]])?.first)
        #expect(caa["name"] as? String == "*.bad.test" && caa["permission"] as? String == "any")
        #expect((caa["records"] as? [[String: Any]])?.first?["value"] as? String == ReportSample.hostileName)
        #expect(servers[0]["caa"] == nil)
        let certificates = try #require(chains[0]["chain"] as? [[String: Any]])
        #expect(certificates[0]["signature"] as? String == "ecdsa-with-SHA256")
        #expect(certificates[0]["lifetime_days"] as? Int == 92)
        #expect(certificates[0]["pin"] as? String == self.sample.pin.description && certificates.count == 2)
    }

    @Test(arguments: [(Severity?.none, 0, 0), (.error, 1, 1), (.warning, 2, 1), (.note, 3, 1)])
    func `JUnit keeps to its schema and counts what fails`(from: Severity?, failures: Int, errors: Int) throws {
        let text = self.sample.text(.junit, failingFrom: from)
        #expect(try ReportSchemas.junitProblems(text) == [])
        #expect(text.components(separatedBy: "<failure ").count - 1 == failures)
        #expect(text.components(separatedBy: "<error ").count - 1 == errors)
        #expect(text.components(separatedBy: "<testsuite ").count - 1 == 2)
        let counted = text.matches(of: /failures="(\d+)" errors="(\d+)"/).reduce((0, 0)) { sum, match in
            (sum.0 + (Int(match.1) ?? 0), sum.1 + (Int(match.2) ?? 0))
        }
        #expect(counted == (failures, errors))
    }

    @Test(arguments: ReportFormat.allCases)
    func `the groups of each address and the CAA records of each name are there`(format: ReportFormat) {
        let text = self.sample.text(format)
        #expect(text.contains("X25519MLKEM768") && text.contains("iodef"))
        #expect(text.contains(format == .markdown ? "\\*.bad.test" : "*.bad.test"))
    }

    @Test func `the schemas refuse what is no report`() throws {
        let junit = self.sample.text(.junit).replacingOccurrences(of: "hostname=\"localhost\"", with: "")
        #expect(try ReportSchemas.junitProblems(junit).count == 2)
    }

    @Test(.enabled(if: ReportSchemas.isAvailable, Comment(rawValue: ReportSchemas.requirement)))
    func `SARIF keeps to its schema, with and without a file`() throws {
        #expect(try ReportSchemas.sarifProblems(self.sample.text(.sarif)) == [])
        var embedded = self.sample.report
        embedded.file = nil
        embedded.targets = []
        #expect(try ReportSchemas.sarifProblems(ReportFormat.sarif.write(embedded, failingFrom: nil)) == [])
        let broken = self.sample.text(.sarif).replacingOccurrences(of: "\"startLine\": 8", with: "\"startLine\": 0")
        #expect(try ReportSchemas.sarifProblems(broken).count == 1)
    }

    @Test func `SARIF points at the line of the configuration, and has every rule`() throws {
        let root = try JSONSerialization.jsonObject(with: Data(self.sample.text(.sarif).utf8)) as? [String: Any]
        let run = try #require((root?["runs"] as? [[String: Any]])?.first)
        let driver = (run["tool"] as? [String: Any])?["driver"] as? [String: Any]
        let rules = try #require(driver?["rules"] as? [[String: Any]])
        #expect(rules.count == FindingRule.allCases.count)
        let results = try #require(run["results"] as? [[String: Any]])
        for result in results {
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
        }
        let location = (results[0]["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any]
        #expect((location?["artifactLocation"] as? [String: Any])?["uri"] as? String == "conf/p%C3%A4ge%201.yaml")
        #expect((location?["region"] as? [String: Any])?["startLine"] as? Int == 8)
        let message = (results[0]["message"] as? [String: Any])?["text"] as? String
        #expect(message?.contains("*_\\]\\]>@x\\\\u{1B}") == true)
    }

    @Test func `Markdown has no mark that a server could have made`() throws {
        let text = self.sample.text(.markdown)
        let row = try #require(text.split(separator: "\n").first { $0.contains("PINTLE0106") })
        // Ten bars that are not escaped: those of seven cells and the two ends, which share the rest.
        #expect(row.matches(of: /[^\\]\|/).count == 7 && row.hasPrefix("| "))
        #expect(row.contains("a\\|&lt;b&gt;&amp;\"'\\`\\*\\_\\]\\]&gt;&#64;x"))
        #expect(text.contains("a note \\[of a link\\]\\(http://x\\)"))
        #expect(!text.contains("<b>"))
    }
}
