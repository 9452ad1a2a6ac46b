// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleTesting
import Testing

@testable import PintleProxy
@testable import pintle

/// The end of a run whose reports cannot all be written.
struct RunOutcomeTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func outcome(
        _ reports: [String], end: ChildEnd = .exited(0), missed: Int = 0, learnt: RunLearning.Result? = nil
    ) throws -> RunOutcome {
        RunOutcome(
            report: RunSample.report(end: end),
            reports: try reports.map { (file: try RunReportFile($0), statistics: nil, ledger: nil) },
            missed: missed, missedBySigned: 0, signing: nil, logged: [], learnt: learnt, isInterrupted: false,
            environment: [:])
    }

    /// The exit code that the report in the folder states.
    private func statedCode() throws -> Int? {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(self.folder.path)/report.json"))
        let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return root["exit_code"] as? Int
    }

    private var report: String { "json=\(self.folder.path)/report.json" }

    @Test func `without a failure the exit code tells the findings, and the report states it`() throws {
        #expect(try self.outcome([self.report]).tell() == 1)
        #expect(try self.statedCode() == 1)
    }

    @Test func `a report behind one for which the disk is full states the exit code of that`() throws {
        #expect(try self.outcome(["markdown=/dev/full", self.report]).tell() == 125)
        #expect(try self.statedCode() == 125)
    }

    @Test func `a report states the exit code of a configuration that was learnt and not written`() throws {
        let learnt = RunLearning.Result(line: "pintle run: --learn a.yaml: no space left on the device", isWhole: false)
        #expect(try self.outcome([self.report], learnt: learnt).tell() == 125)
        #expect(try self.statedCode() == 125)
        #expect(try self.outcome([self.report], missed: 3).tell() == 125)
        #expect(try self.statedCode() == 125)
    }

    @Test func `the exit code of a command that fails stays`() throws {
        #expect(try self.outcome(["json=/dev/full", self.report], end: .exited(7)).tell() == 7)
        #expect(try self.statedCode() == 7)
    }

    @Test func `a report that cannot be written leaves the one that is there`() throws {
        try self.folder.write(Array("old".utf8), to: "report.json")
        // A file in the place of the folder; permissions would not stop root.
        #expect(try self.outcome(["json=\(self.folder.path)/report.json/new.json"]).tell() == 125)
        #expect(try String(contentsOfFile: "\(self.folder.path)/report.json", encoding: .utf8) == "old")
    }

    @Test func `the answers that the summary leaves to the reports are all there`() throws {
        var report = RunSample.report()
        report.grants = try (0..<100).map { number in
            AskGrant(
                authority: try #require(Authority("h\(number).test:443", defaultPort: nil)), place: .terminal,
                scope: .run, moment: report.startedAt, requests: 1)
        }
        let summary = RunSummary(report: report, isColoured: false)
        let lines = summary.text.split(separator: "\n").map(String.init) + summary.furtherGrants
        for number in 0..<100 {
            let line = "destinations: {allow: [\"h\(number).test:443\"]}"
            #expect(lines.filter { $0.hasPrefix("granted: ") && $0.hasSuffix(line) }.count == 1, "\(line)")
        }
    }
}
