// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Audits that are kept, by the command.
@Suite struct AuditHistoryCommandTests {
    private let stage: AuditStage
    private let history: String

    init() throws {
        self.stage = try AuditStage()
        self.history = "\(self.stage.folder.path)/history/audit.sqlite"
    }

    private func diff(_ arguments: [String] = []) throws -> ChildProcess {
        try PintleProcess.run(["audit", "diff", "--history", self.history] + arguments)
    }

    @Test func `a new certificate, a new key and a server that is gone are told`() throws {
        let first = try self.stage.leaves("127.0.0.1")[1]
        let origin = try NginxOrigin(https: [first])
        try self.stage.configure(hosts: ["127.0.0.1:\(origin.httpsPort)"])
        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        let alone = try self.diff()
        #expect(alone.exitCode == 0 && alone.output.isEmpty)
        let nothing = try self.diff(["--format", "json"])
        #expect(nothing.exitCode == 0)
        #expect(try jsonObject(nothing.output.joined())["from"] is NSNull)
        #expect(alone.errors.last?.contains("is the first of") == true)
        #expect(alone.errors.last?.hasSuffix("/pintle.yaml") == true, "\(alone.errors)")

        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        #expect(try self.diff().exitCode == 0)

        origin.stop()
        try origin.show(self.stage.leaves("127.0.0.1")[1])
        try origin.start()
        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        let renewed = try self.diff()
        #expect(renewed.exitCode == 1)
        let host = "127.0.0.1:\(origin.httpsPort) (fleet)"
        #expect(renewed.output.count == 1)
        #expect(renewed.output.first?.hasPrefix("\(host) ECDSA renewed-certificate: \(first.pin) is now in ") == true)

        origin.stop()
        let other = try self.stage.pki.intermediate("Other", signedBy: self.stage.root)
        try origin.show(self.stage.pki.leaf(ip: ["127.0.0.1"], signedBy: other))
        try origin.start()
        #expect(try self.stage.audit(history: self.history).exitCode == 1)
        let changed = try self.diff()
        #expect(
            changed.output.map { $0.split(separator: ":").dropFirst().first?.split(separator: " ").last } == [
                "new-key", "changed-issuer", "new-verdict",
            ])
        #expect(changed.output.last == "\(host) new-verdict: trusted → pin-mismatch")
        let document = try self.diff(["--format", "json"])
        #expect(document.exitCode == 1)
        let object = try jsonObject(document.output.joined())
        let changes = try #require(object["changes"] as? [JSONObject])
        #expect(changes.map { $0["change"] as? String } == ["new-key", "changed-issuer", "new-verdict"])
        #expect(changes.allSatisfy { $0["host"] as? String == "127.0.0.1:\(origin.httpsPort)" })
        #expect(changes.map { $0["keys"] as? String } == ["ecdsa", "ecdsa", nil])
        // All four are younger than that, so that the oldest is compared.
        #expect(try self.diff(["--since", "2020-01-01"]).output.count == 3)
    }

    @Test func `audits that run at once are all kept`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let arguments = ["audit", "--history", self.history]
        let processes = try (0..<6).map { _ in
            try ChildProcess(PintleProcess.binary, arguments, environment: [:], folder: self.stage.folder.path)
        }
        for process in processes {
            #expect(try process.waitForExit() == 0)
            #expect(!process.errors.contains { $0.contains("history") }, "\(process.errors)")
        }
        let script =
            "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); "
            + "sys.stdout.write('%d %d' % (c.execute('SELECT COUNT(*) FROM audit').fetchone() + "
            + "c.execute('SELECT COUNT(*) FROM observation').fetchone()))"
        let count = try ChildProcess("/usr/bin/python3", ["-c", script, self.history])
        #expect(try count.waitForExit() == 0 && count.output == ["6 6"], "\(count.lines)")
    }

    @Test func `a damaged history is set aside and the audit still runs`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        try self.stage.folder.write(String(repeating: "damage ", count: 1000), to: "history/audit.sqlite")
        let unread = try self.diff()
        #expect(unread.exitCode == 4)
        #expect(unread.errors.last?.contains("the next pintle audit sets it aside and begins a new one") == true)
        let process = try self.stage.audit(history: self.history)
        #expect(process.exitCode == 0)
        #expect(process.output.last == "1 server at 1 address: 0 errors, 0 warnings, 2 notes")
        #expect(process.errors.last?.contains("the audit history is damaged (") == true, "\(process.errors)")
        #expect(try self.diff().exitCode == 0)
    }

    @Test func `a history that cannot be kept is worth a word, not the exit code`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let process = try self.stage.audit(history: "/dev/null/audit.sqlite")
        #expect(process.exitCode == 0)
        #expect(process.errors.last?.hasPrefix("pintle audit: this audit is not in the history: ") == true)
    }

    @Test func `the history is in the state folder unless another is given`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        let file = try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        let state = "\(self.stage.folder.path)/state"
        let environment = ["XDG_STATE_HOME": state]
        #expect(try PintleProcess.run(["audit", "-c", file], environment: environment).exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: "\(state)/pintle/audit.sqlite"))
        #expect(try PintleProcess.run(["audit", "diff"], environment: environment).exitCode == 0)
        let homeless = try PintleProcess.run(["audit", "-c", file])
        #expect(homeless.exitCode == 0 && homeless.errors.last?.contains("no history is kept") == true)
    }

    @Test func `what diff cannot do is refused`() throws {
        for (arguments, words) in [
            (["--format", "sarif"], "--format sarif is for audits; changes are text or json"),
            (["--at", "2027-01-01"], "--at is for audits; diff has --history, --since and --format"),
            (["--since", "soon"], "--since \"soon\": must be a date or a time"),
        ] {
            let process = try self.diff(arguments)
            #expect(process.exitCode == 2)
            #expect(process.errors.contains { $0.contains("pintle audit diff: \(words)") }, "\(process.errors)")
        }
        #expect(try PintleProcess.run(["audit", "diff", "--history", "off"]).exitCode == 2)
        let missing = try self.diff()
        #expect(missing.exitCode == 4)
        #expect(missing.errors.last?.hasSuffix("there is no audit history; pintle audit writes one") == true)
    }
}
