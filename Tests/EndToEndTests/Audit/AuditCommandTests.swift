// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// The command line of audits: accepted and refused arguments, and the outputs of reports.
@Suite struct AuditCommandTests {
    private let stage: AuditStage

    init() throws { self.stage = try AuditStage() }

    private func server() throws -> OpenSSLServer {
        try OpenSSLServer([self.stage.pki.leaf(ip: ["127.0.0.1"], signedBy: self.stage.intermediate)])
    }

    @Test(arguments: [
        (["--host", "https://a.test"], "--host \"https://a.test\": must be HOST or HOST:PORT"),
        (["--policy", "none"], "--policy \"none\": no trust policy has that name; there are fleet"),
        (["--concurrency", "0"], "--concurrency 0: must be a whole number from 1 to 1024"),
        (["--timeout", "soon"], "--timeout: must be a duration"),
        (["--timeout", "0s"], "--timeout: must be from 1ms to 1h"),
        (["--at", "yesterday"], "--at \"yesterday\": must be a date or a time, as in 2027-01-01T12:00:00Z"),
    ])
    func `what is not understood is refused`(arguments: [String], words: String) throws {
        try self.stage.configure(hosts: ["127.0.0.1:1"])
        let process = try self.stage.audit(arguments)
        #expect(process.exitCode == 2 && process.output.isEmpty)
        #expect(process.errors.contains { $0.contains("pintle audit: \(words)") }, "\(process.errors)")
    }

    @Test func `formats and thresholds that do not exist are refused`() throws {
        try self.stage.configure(hosts: ["127.0.0.1:1"])
        #expect(try self.stage.audit(["--format", "html"]).exitCode == 2)
        #expect(try self.stage.audit(["--fail-on", "note"]).exitCode == 2)
    }

    @Test func `a configuration that is invalid, missing or names nobody`() throws {
        try self.stage.folder.write("version: 1\ntrust: {a: {hosts: []", to: "pintle.yaml")
        #expect(try self.stage.audit().exitCode == 3)
        #expect(try self.stage.audit(["-c", "none.yaml"]).exitCode == 4)
        try self.stage.folder.write("version: 1\n", to: "pintle.yaml")
        let empty = try self.stage.audit()
        #expect(empty.exitCode == 4)
        #expect(empty.errors.last?.hasPrefix("pintle audit: there is nothing to audit") == true)
    }

    @Test func `patterns are a note once, until a host is named`() throws {
        let server = try self.server()
        try self.stage.configure(hosts: ["127.0.0.0/8:\(server.port)", "*.fleet.test"])
        let process = try self.stage.audit()
        #expect(process.exitCode == 4)
        let report = try self.stage.report(["--host", "127.0.0.1:\(server.port)"])
        let notes = report.objects("findings").filter { $0.text("name") == "not-audited" }
        #expect(notes.map { $0.text("source") } == ["trust.fleet.hosts[1]"])
        #expect(report.objects("servers").map { $0.text("source") } == ["trust.fleet.hosts[0]"])
        #expect(report["scope"] as? [String] == ["--host 127.0.0.1:\(server.port)"])
    }

    @Test func `a report goes to a file, and a word about it to standard error`() throws {
        let server = try self.server()
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let file = "\(self.stage.folder.path)/report.json"
        let process = try self.stage.audit(["--format", "json", "--out", file])
        #expect(process.exitCode == 0 && process.output.isEmpty)
        #expect(process.errors.last == "pintle audit: 1 server at 1 address: 0 errors, 0 warnings, 2 notes")
        #expect(try jsonObject(String(contentsOfFile: file, encoding: .utf8)).number("schema") == 1)
        let failed = try self.stage.audit(["--out", "/nowhere/report"])
        #expect(failed.exitCode == 4)
        #expect(failed.errors.last?.hasPrefix("pintle audit: --out /nowhere/report cannot be written: ") == true)
    }

    @Test func `every format comes out of the same audit`() throws {
        let server = try self.server()
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        for (format, start) in [
            ("text", "Audit of pintle.yaml, "), ("json", "{"), ("junit", "<?xml version="), ("sarif", "{"),
            ("markdown", "# Audit of pintle.yaml"),
        ] {
            let process = try self.stage.audit(["--format", format])
            #expect(process.exitCode == 0)
            #expect(process.output.first?.hasPrefix(start) == true, "\(format): \(process.output)")
        }
    }

    @Test func `progress is shown on a terminal, and taken away`() throws {
        let server = try self.server()
        let file = try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let arguments = ["audit", "--history", "off", "-c", file]
        let terminal = try PseudoTerminal(arguments, output: "\(self.stage.folder.path)/report")
        #expect(try terminal.waitForExit() == 0)
        #expect(terminal.text.contains("audit: 0 of 1 addresses"))
        // Text that is written in two pieces may be read as one.
        let text = terminal.text.replacingOccurrences(of: "\n", with: "")
        #expect(text.hasSuffix("audit: 1 of 1 addresses\r\u{1B}[J"), "\(terminal.text.debugDescription)")
        let dumb = try PseudoTerminal(
            arguments, environment: ["TERM": "dumb"], output: "\(self.stage.folder.path)/report2")
        #expect(try dumb.waitForExit() == 0 && !dumb.text.contains("addresses"))
    }
}
