// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The records of `pintle pins` about keys that audits have seen.
@Suite struct AuditedPinsTests {
    private let stage: AuditStage
    private let history: String

    init() throws {
        self.stage = try AuditStage()
        self.history = "\(self.stage.folder.path)/history.sqlite"
    }

    private func pins(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(
            ["pins"] + arguments + ["-c", "pintle.yaml", "--history", self.history], folder: self.stage.folder.path)
    }

    @Test func `pins that no audit saw are told, but for the backup`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        let hosts = ["127.0.0.1:\(server.port)"]
        try self.stage.configure(hosts: hosts)
        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        let fine = try self.pins("lint")
        #expect(fine.exitCode == 0, "\(fine.lines)")

        let forgotten = try self.stage.pki.leaf("forgotten", signedBy: self.stage.root)
        try self.stage.configure(
            hosts: hosts, pins: [self.stage.intermediate.pin, self.stage.backup.pin, forgotten.pin])
        let found = try self.pins("lint")
        #expect(found.exitCode == 1 && found.output.count == 2, "\(found.lines)")
        for (pin, line) in zip([self.stage.backup.pin, forgotten.pin], found.output) {
            #expect(line.contains("PINTLE0203 never-matched: trust.fleet.pins["), "\(line)")
            #expect(line.contains("the audit since ") && line.contains("never saw the key of \(pin);"), "\(line)")
        }
        let off = try PintleProcess.run(
            ["pins", "lint", "-c", "pintle.yaml", "--history", "off"], folder: self.stage.folder.path)
        #expect(off.exitCode == 0, "\(off.lines)")
    }

    @Test func `LOOK-39 a pinned key that servers send beside the verified chain is told`() throws {
        let pki = self.stage.pki
        // Amazon's servers do this: the chain leads to their own root, and they also send that root's certificate from an
        // older authority.
        let services = try pki.intermediate("Services", signedBy: try pki.root("Class 2"))
        let root = try pki.root("Own Root")
        let crossed = try pki.intermediate("Own Root", signedBy: services, reusing: root)
        let sub = try pki.intermediate("Sub", signedBy: crossed)
        let server = try OpenSSLServer([
            try pki.leaf("ec", ip: ["127.0.0.1"], signedBy: sub, reusing: self.stage.ec)
        ])
        try self.stage.folder.write(root.certificatePEM, to: "root.pem")
        let hosts = ["127.0.0.1:\(server.port)"]

        try self.stage.configure(hosts: hosts, pins: [services.pin, self.stage.backup.pin])
        let refused = try self.stage.audit()
        #expect(refused.exitCode == 1, "\(refused.lines)")
        #expect(refused.output.contains { $0.contains("Sent with a pinned key, but not on the chain above") })
        #expect(refused.output.contains { $0.contains("That chain ends at \"CN=Own Root\"") }, "\(refused.lines)")

        try self.stage.configure(hosts: hosts, pins: [services.pin, sub.pin])
        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        let found = try self.pins("lint")
        #expect(found.exitCode == 1 && found.output.count == 1, "\(found.lines)")
        let line = found.output.first ?? ""
        #expect(line.contains("PINTLE0212 beside-path: trust.fleet.pins[0]: servers send CN=Services"), "\(line)")
        #expect(line.contains("they end at CN=Own Root"), "\(line)")
    }

    @Test func `a pin has the date of the certificate that an audit saw`() throws {
        let server = try OpenSSLServer([self.stage.leaves("127.0.0.1")[1]])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        #expect(try self.stage.audit(history: self.history).exitCode == 0)
        let process = try self.pins("forecast", "--format", "json")
        let end = self.stage.intermediate.certificate.notAfter.advanced(by: .seconds(1))
        #expect(process.output.contains { $0.contains("\"date\" : \"\(end)\"") }, "\(process.lines)")
        #expect(process.output.contains { $0.contains("Audit Intermediate") }, "\(process.lines)")
    }

    @Test func `a history that was asked for and cannot be read is an error`() throws {
        try self.stage.configure(hosts: ["127.0.0.1:1"])
        #expect(try self.pins("lint").exitCode == 4)
        try self.stage.folder.write("no database", to: "history.sqlite")
        #expect(try self.pins("forecast").exitCode == 4)
    }
}
