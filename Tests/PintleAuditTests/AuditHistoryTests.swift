// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleAudit
import PintleTesting
import PintleTrust
import Testing

/// Stored audits, and damaged files.
@Suite struct AuditHistoryTests {
    private let folder: TemporaryFolder
    private let path: String
    private let report: AuditReport

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = "\(self.folder.path)/state/pintle/audit.sqlite"
        self.report = try ReportSample().report
    }

    private func report(at seconds: Int64, scope: [String] = [], file: String = "/a.yaml") -> AuditReport {
        var report = self.report
        report.startedAt = UnixTime(seconds: seconds)
        report.scope = scope
        report.file = file
        return report
    }

    private func open() throws -> AuditHistory {
        try AuditHistory.forWriting(self.path) { Issue.record("\($0)") }
    }

    @Test func `what an audit saw is read as it was written`() throws {
        let history = try self.open()
        #expect(try history.pair(since: nil) == nil)
        try history.record(self.report)
        let pair = try #require(try AuditHistory.existing(self.path).pair(since: nil))
        #expect(pair.old == nil && pair.new.startedAt == self.report.startedAt)
        let seen = try history.observations(of: pair.new)
        #expect(seen == self.report.observations)
        let facts = try history.facts(of: pair.new)
        #expect(Set(facts) == Set(self.report.facts) && facts.count == 3)
        #expect(Set(facts.map(\.value)).contains("X25519MLKEM768"))
        #expect(seen.map(\.keys) == ["rsa", "ecdsa", "rsa", "ecdsa", ""])
        #expect(seen.map(\.verdict) == ["trusted", "trusted", "wrong-name", "wrong-name", "unreachable"])
    }

    @Test func `an audit is compared with the one before it of the same configuration and scope`() throws {
        let history = try self.open()
        for report in [
            self.report(at: 100), self.report(at: 200), self.report(at: 250, scope: ["--host x"]),
            self.report(at: 260, file: "/b.yaml"), self.report(at: 300),
        ] {
            try history.record(report)
        }
        func old(_ since: Int64?) throws -> Int64? {
            try history.pair(since: since.map { UnixTime(seconds: $0) })?.old?.startedAt.seconds
        }
        #expect(try history.pair(since: nil)?.new.startedAt.seconds == 300)
        #expect(try old(nil) == 200)
        #expect(try old(199) == 100 && old(200) == 200 && old(1) == 100)
    }

    @Test func `a damaged database is set aside with its journal, and a new one begins`() throws {
        try self.open().record(self.report)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: self.path))
        // Behind the header and its first page, so that only a look at all pages tells.
        bytes.replaceSubrange(4096..<bytes.count, with: repeatElement(0x5A, count: bytes.count - 4096))
        try bytes.write(to: URL(fileURLWithPath: self.path))
        try self.expectSetAside(bytes)
    }

    @Test(arguments: ["this is no database, and long enough to be read as the head of one, as far as that goes", "x"])
    func `a file that is no database is set aside`(text: String) throws {
        let bytes = Data(String(repeating: text, count: 20).utf8)
        try FileManager.default.createDirectory(
            atPath: "\(self.folder.path)/state/pintle", withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: self.path))
        #expect(throws: HistoryError.self) { try AuditHistory.existing(self.path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: self.path)) == bytes)
        try self.expectSetAside(bytes)
    }

    private func expectSetAside(_ bytes: Data) throws {
        var warnings: [String] = []
        let history = try AuditHistory.forWriting(self.path) { warnings.append($0) }
        try history.record(self.report)
        #expect(try history.pair(since: nil)?.old == nil)
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1 && warning.hasPrefix("\(self.path): the audit history is damaged ("))
        let match = try #require(warning.firstMatch(of: /it is now (.*\.damaged-\d{8}T\d{6}Z), and a new one begins/))
        // Opening writes to the first page, and may add one.
        let kept = try Data(contentsOf: URL(fileURLWithPath: String(match.1)))
        #expect(kept.prefix(bytes.count).dropFirst(4096) == bytes.dropFirst(4096))
        #expect(bytes.count > 4096 || kept == bytes)
        // The history is sound now.
        try self.open().record(self.report)
    }

    @Test func `several that find the same damage set one file aside and lose no audit`() async throws {
        try FileManager.default.createDirectory(
            atPath: "\(self.folder.path)/state/pintle", withIntermediateDirectories: true)
        try Data(String(repeating: "damage", count: 500).utf8).write(to: URL(fileURLWithPath: self.path))
        let count = 8
        let warnings = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    var warnings = 0
                    let history = try AuditHistory.forWriting(self.path) { _ in warnings += 1 }
                    for turn in 0..<5 { try history.record(self.report(at: Int64(number * 10 + turn))) }
                    return warnings
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(warnings == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(self.folder.path)/state/pintle")
        #expect(names.count { $0.contains(".damaged-") } == 1, "\(names)")
        #expect(try self.countOfAudits() == count * 5)
    }

    private func countOfAudits() throws -> Int {
        var count = 0
        var since: Int64 = 1000
        let history = try AuditHistory.existing(self.path)
        guard let newest = try history.pair(since: nil)?.new.startedAt.seconds else { return 0 }
        count = 1
        since = newest - 1
        while let old = try history.pair(since: UnixTime(seconds: since))?.old, old.startedAt.seconds <= since {
            count += 1
            since = old.startedAt.seconds - 1
        }
        return count
    }

    @Test func `a history of a later version, one that is not there and one that cannot be made are told apart`() throws
    {
        try self.open().record(self.report)
        let change = "INSERT INTO grdb_migrations VALUES ('9 of the future')"
        let script = "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
        let child = try ChildProcess("/usr/bin/python3", ["-c", script, self.path, change])
        #expect(try child.waitForExit() == 0)
        for use in [{ _ = try AuditHistory.existing(self.path) }, { _ = try self.open() }] {
            #expect { try use() } throws: { "\($0)".contains("a newer version of pintle wrote this history") }
        }
        #expect { try AuditHistory.existing("/nowhere/audit.sqlite") } throws: {
            "\($0)" == "/nowhere/audit.sqlite: there is no audit history; pintle audit writes one"
        }
        #expect { try AuditHistory.forWriting("/dev/null/audit.sqlite") { _ in } } throws: {
            "\($0)".hasPrefix("/dev/null/audit.sqlite: its folder cannot be made: ")
        }
    }
}
