// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Audits of single servers, each with something to say.
@Suite struct AuditServerTests {
    private let stage: AuditStage

    init() throws { self.stage = try AuditStage() }

    private func leaf(_ key: TestPKI.KeyKind = .ec, signedBy signer: TestIdentity? = nil) throws -> TestIdentity {
        try self.stage.pki.leaf(ip: ["127.0.0.1"], signedBy: signer ?? self.stage.intermediate, key: key)
    }

    /// Audits one port of 127.0.0.1.
    private func report(_ port: Int, _ arguments: [String] = []) throws -> JSONObject {
        try self.stage.configure(hosts: ["127.0.0.1:\(port)"])
        return try self.stage.report(arguments)
    }

    private func only(_ report: JSONObject) throws -> JSONObject {
        let notes = ["unused-pin", "no-post-quantum", "no-tls13"]
        let findings = report.objects("findings").filter { !notes.contains($0.text("name")) }
        return try #require(findings.count == 1 ? findings[0] : nil, "\(report.found)")
    }

    @Test func `each kind of key is judged by itself`() throws {
        let other = try self.stage.pki.intermediate("Other", signedBy: self.stage.root)
        let server = try OpenSSLServer([self.leaf(.rsa(bits: 2048)), self.leaf(signedBy: other)])
        let report = try self.report(server.port)
        let finding = try self.only(report)
        #expect(finding.text("name") == "pin-mismatch" && finding["keys"] as? [String] == ["ecdsa"])
        #expect(finding.number("line") == 5 && finding.text("source") == "trust.fleet.pins[0]")
        let address = try #require(report.objects("servers").first?.objects("addresses").first)
        #expect(address["versions"] as? [String] == ["TLS 1.2", "TLS 1.3"])
        let signatures = address.objects("handshakes").map { $0.text("signature") }
        #expect(signatures == ["RSA-PSS", "ECDSA", "RSA-PSS", "ECDSA", "", ""])
        #expect(address.objects("chains").map { $0.text("verdict") } == ["trusted", "pin-mismatch"])
    }

    @Test func `a server that wants more than one kind of signature at a time is asked for any`() throws {
        // No other server offers this signature algorithm.
        let server = try OpenSSLServer([self.leaf()], arguments: ["-tls1_2", "-sigalgs", "ECDSA+SHA224"])
        let report = try self.report(server.port)
        #expect(report.found == ["unused-pin "])
        let address = try #require(report.objects("servers").first?.objects("addresses").first)
        #expect(address.objects("chains").map { $0["keys"] as? [String] } == [["any"]])
    }

    @Test func `a server in order has only notes, on the backup pin and on groups that it does not support`() throws {
        let server = try OpenSSLServer([self.leaf()])
        let process = try self.stage.audit(["-c", self.stage.configure(hosts: ["127.0.0.1:\(server.port)"])])
        #expect(process.exitCode == 0)
        #expect(process.output.contains { $0.hasPrefix("note PINTLE0105 unused-pin: trust.fleet") })
        #expect(process.output.contains { $0.hasPrefix("note PINTLE0124 no-post-quantum: 127.0.0.1:\(server.port)") })
        #expect(process.output.last == "1 server at 1 address: 0 errors, 0 warnings, 2 notes")
    }

    @Test func `a policy that only reports makes a warning of a mismatch`() throws {
        let other = try self.stage.pki.intermediate("Other", signedBy: self.stage.root)
        let server = try OpenSSLServer([self.leaf(signedBy: other)])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"], more: "enforcement: report")
        let finding = try self.only(try self.stage.report())
        #expect(finding.text("name") == "pin-mismatch" && finding.text("severity") == "warn")
    }

    @Test func `LOOK-29 a chain of bad form is a warning, and an error where the policy is strict`() throws {
        let odd = try self.stage.pki.mint(
            .server("IP:127.0.0.1").changed { $0.serial = "00" }, signedBy: self.stage.intermediate)
        let server = try OpenSSLServer([odd])
        let hosts = ["127.0.0.1:\(server.port)"]
        try self.stage.configure(hosts: hosts)
        let report = try self.stage.report()
        let finding = try self.only(report)
        #expect(finding.text("name") == "bad-form" && finding.text("severity") == "warn")
        #expect(
            finding.text("message")
                == "127.0.0.1: the certificate \"CN=server\" is not of the form that public authorities keep: its serial "
                + "number is not positive, or longer than 20 bytes (serial-number)")
        let chain = report.objects("servers").first?.objects("addresses").first?.objects("chains").first
        #expect(chain?["form"] as? [String] == ["serial-number"])

        try self.stage.configure(hosts: hosts, options: ", form: strict")
        let strict = try self.only(try self.stage.report())
        #expect(strict.text("name") == "certificate-invalid" && strict.text("severity") == "error")
    }

    @Test func `a single pin is a warning`() throws {
        let server = try OpenSSLServer([self.leaf()])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"], pins: [self.stage.intermediate.pin])
        let finding = try self.only(try self.stage.report())
        #expect(finding.text("name") == "no-backup-pin" && finding.text("severity") == "warn")
        #expect(try self.stage.audit(["--fail-on", "warn"]).exitCode == 1)
        #expect(try self.stage.audit().exitCode == 0)
    }

    @Test(arguments: [
        ("-tls1", "error", "TLS 1.0 and nothing newer"), ("-tls1_1", "error", "TLS 1.1 and nothing newer"),
    ])
    func `a server that knows old versions only is judged all the same`(
        option: String, severity: String, words: String
    ) throws {
        let server = try OpenSSLServer([self.leaf()], arguments: [option, "-cipher", "DEFAULT:@SECLEVEL=0"])
        let report = try self.report(server.port)
        let finding = try self.only(report)
        #expect(finding.text("name") == "old-protocol" && finding.text("severity") == severity)
        #expect(finding.text("message").hasSuffix("accepts \(words)"), "\(finding.text("message"))")
        let chains = report.objects("servers").first?.objects("addresses").first?.objects("chains")
        #expect(chains?.map { $0.text("verdict") } == ["trusted"])
    }

    @Test func `a server that wants to know the client has shown its chain before`() throws {
        for version in ["-tls1_2", "-tls1_3"] {
            let server = try OpenSSLServer([self.leaf()], arguments: [version, "-Verify", "1"])
            let report = try self.report(server.port)
            #expect(report.found == ["unused-pin "])
        }
    }

    @Test func `a wrong name hides nothing else`() throws {
        let expired = try self.stage.pki.leaf(
            dns: ["other.test"], signedBy: self.stage.intermediate, validity: .expired)
        let server = try OpenSSLServer([expired])
        let found = try self.report(server.port).found.map { $0.split(separator: " ").first }
        #expect(found == ["expired", "name-mismatch"])
    }

    @Test func `certificates are judged as of the time given`() throws {
        let server = try OpenSSLServer([self.leaf()])
        let days = { (count: Int64) in self.stage.pki.now.advanced(by: .seconds(count * 86_400)).description }
        let later = try self.report(server.port, ["--at", days(80)])
        #expect(later.found.first { $0.hasPrefix("certificate-expiring") } != nil)
        #expect(later.text("judged_at") == days(80))
        let tooLate = try self.stage.report(["--at", String(days(200).prefix(10))])
        #expect(try self.only(tooLate).text("name") == "expired")
    }

    // MARK: Further demands of the policy

    @Test func `pins that expire soon, have expired, or have expired and do nothing`() throws {
        let server = try OpenSSLServer([self.leaf()])
        func finding(_ days: Int64, _ options: String = "") throws -> JSONObject {
            let date = self.stage.pki.now.advanced(by: .seconds(days * 86_400)).description.prefix(10)
            try self.stage.configure(
                hosts: ["127.0.0.1:\(server.port)"], options: ", expires: \(date)\(options)")
            return try self.only(try self.stage.report())
        }
        let soon = try finding(10)
        #expect(soon.text("name") == "pin-set-expiring" && soon.text("severity") == "warn")
        #expect(try finding(50, ", warn_before_expiry: 60d").text("name") == "pin-set-expiring")
        let over = try finding(-1)
        #expect(over.text("name") == "pin-set-expired" && over.text("severity") == "error")
        #expect(over.text("host") == "127.0.0.1:\(server.port)")
        let system = try finding(-1, ", on_expiry: report")
        #expect(system.text("name") == "pin-set-expired" && system.text("severity") == "warn")
    }

    @Test func `a server that is older than the policy takes`() throws {
        let server = try OpenSSLServer([self.leaf()], arguments: ["-tls1_2"])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"], options: ", min_tls: \"1.3\"")
        let finding = try self.only(try self.stage.report())
        #expect(finding.text("name") == "old-protocol" && finding.text("severity") == "error")
        #expect(finding.text("message").hasSuffix("TLS 1.2 and nothing newer, and trust.fleet demands TLS 1.3"))
    }

    @Test func `a status that must be stapled and is not`() throws {
        let server = try OpenSSLServer([self.leaf()])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"], options: ", ocsp_stapling: require")
        let finding = try self.only(try self.stage.report())
        #expect(finding.text("name") == "certificate-invalid" && finding.text("severity") == "error")
    }

    // MARK: Servers that are none

    @Test func `plain text, silence, and handshakes that break off`() throws {
        let scripts: [(RawOrigin.Script, String, String)] = [
            (
                { connection in
                    try connection.send("220 mail.test ESMTP\r\n")
                    _ = try connection.waitForEnd()
                }, "handshake-failed", "it does not speak TLS: it answered \"220 mail.test ESMTP..\""
            ),
            (
                { connection in _ = try connection.waitForEnd() }, "handshake-failed",
                "no answer to the TLS handshake within the time limit"
            ),
            (
                { connection in
                    // The hello is read, so that closing does not reset the connection.
                    _ = try connection.stream.readSome()
                    try connection.send("\u{16}\u{03}\u{03}\u{00}\u{5A}\u{02}")
                }, "handshake-failed", "it closed the connection during the TLS handshake, after 6 bytes"
            ),
            (
                { connection in
                    _ = try connection.stream.readSome()
                    try connection.send("\u{15}\u{03}\u{03}\u{00}\u{02}\u{02}\u{70}")
                }, "handshake-failed",
                "it ended the TLS handshake with the alert unrecognized_name; no name was sent (SNI), as the host is an "
                    + "address: if the server needs one, name it by that"
            ),
        ]
        for (script, name, words) in scripts {
            let server = try RawOrigin(script)
            let process = try self.stage.audit([
                "-c", self.stage.configure(hosts: ["127.0.0.1:\(server.port)"]), "--format", "json", "--timeout", "1s",
            ])
            #expect(process.exitCode == 4)
            #expect(process.errors.last == "pintle audit: no host could be judged; the report says why")
            let finding = try self.only(try jsonObject(process.output.joined(separator: "\n")))
            #expect(finding.text("name") == name)
            #expect(finding.text("message") == "127.0.0.1:\(server.port): \(words)")
        }
    }

    @Test func `one server that can be judged makes an audit of it`() throws {
        let server = try OpenSSLServer([self.leaf()])
        let closed = try FreePort.find()
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)", "127.0.0.1:\(closed)"])
        let process = try self.stage.audit()
        #expect(process.exitCode == 1)
        #expect(process.output.contains { $0.hasPrefix("error PINTLE0112 unreachable: 127.0.0.1:\(closed)") })
    }
}
