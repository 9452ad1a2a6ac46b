// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Findings of an audit about demands that are coming: key exchange, versions, lifetimes, and records for authorities.
@Suite struct AuditComingTests {
    private let stage: AuditStage

    init() throws { self.stage = try AuditStage() }

    private func leaf() throws -> TestIdentity {
        try self.stage.pki.leaf(ip: ["127.0.0.1"], signedBy: self.stage.intermediate)
    }

    private func report(_ port: Int, _ arguments: [String] = []) throws -> JSONObject {
        try self.stage.configure(hosts: ["127.0.0.1:\(port)"])
        return try self.stage.report(arguments)
    }

    private func finding(_ name: String, in report: JSONObject) throws -> JSONObject {
        try #require(
            report.objects("findings").first { $0.text("name") == name },
            "\(report.objects("findings").map { $0.text("name") })")
    }

    private func address(_ report: JSONObject) throws -> JSONObject {
        try #require(report.objects("servers").first?.objects("addresses").first)
    }

    // MARK: Key exchange

    @Test func `every post-quantum group that a server supports is found`() throws {
        let server = try PostQuantumServer(self.leaf(), groups: [.secp384r1MLKEM1024, .x25519MLKEM768])
        let report = try self.report(server.port)
        let exchange = try #require(try self.address(report)["post_quantum"] as? JSONObject)
        #expect(exchange["groups"] as? [String] == ["SecP384r1MLKEM1024", "X25519MLKEM768"])
        #expect(exchange["conclusive"] as? Bool == true)
        #expect(exchange.text("failure") == "it ended the TLS handshake with the alert handshake_failure")
        #expect(report.objects("findings").map { $0.text("name") } == ["unused-pin"])
        #expect(
            try self.stage.audit().output.contains {
                $0.contains(" 1.2 1.3  SecP384r1MLKEM1024 X25519MLKEM768  ECDSA ")
            })
    }

    @Test func `a server without one is a note, and says by which alert it refuses`() throws {
        let server = try OpenSSLServer([self.leaf()])
        let report = try self.report(server.port)
        let finding = try self.finding("no-post-quantum", in: report)
        #expect(finding.text("severity") == "note" && finding["addresses"] as? [String] == ["127.0.0.1"])
        #expect(
            finding.text("message")
                == "127.0.0.1:\(server.port): the server supports no post-quantum group for the key exchange: offered these "
                + "alone, it ended the TLS handshake with the alert handshake_failure")
        let exchange = try #require(try self.address(report)["post_quantum"] as? JSONObject)
        #expect(exchange["groups"] as? [String] == [] && exchange["conclusive"] as? Bool == true)
    }

    @Test func `an answer that no server gives, and none at all, prove nothing`() throws {
        let side = try TLSServerSide(self.leaf())
        for answer: [UInt8] in [HelloBytes.record(HelloBytes.message([3, 3], type: 2)), []] {
            let server = try RawOrigin { connection in
                let stream = connection.stream
                while stream.unread.count < 5 { guard try stream.fill() else { return } }
                guard stream.unread.suffix(6).elementsEqual(HelloBytes.extension(51, [0, 0])) else {
                    try stream.secure(as: side)
                    _ = try connection.waitForEnd()
                    return
                }
                try stream.send(answer)
                _ = try connection.waitForEnd()
            }
            let report = try self.report(server.port, ["--timeout", "20s"])
            let exchange = try #require(try self.address(report)["post_quantum"] as? JSONObject)
            #expect(exchange["groups"] as? [String] == [] && exchange["conclusive"] as? Bool == false)
            #expect(
                exchange.text("failure")
                    == (answer.isEmpty
                        ? "no answer to the TLS handshake within the time limit"
                        : "the TLS handshake failed: its ServerHello cannot be read"))
            #expect(report.objects("findings").map { $0.text("name") } == ["unused-pin"])
        }
    }

    // MARK: Versions

    @Test func `a server of TLS 1.2 alone is a note, and not asked for groups`() throws {
        let server = try OpenSSLServer([self.leaf()], arguments: ["-tls1_2"])
        let report = try self.report(server.port)
        let finding = try self.finding("no-tls13", in: report)
        #expect(finding.text("severity") == "note")
        #expect(finding.text("message") == "127.0.0.1:\(server.port): the server accepts TLS 1.2 and nothing newer")
        #expect(!report.objects("findings").contains { $0.text("name") == "no-post-quantum" })
        #expect(try self.address(report)["post_quantum"] as? JSONObject == nil)
    }

    @Test func `a policy that demands TLS 1.3 makes it an error, and only that`() throws {
        let server = try OpenSSLServer([self.leaf()], arguments: ["-tls1_2"])
        try self.stage.configure(hosts: ["127.0.0.1:\(server.port)"], options: ", min_tls: \"1.3\"")
        let names = try self.stage.report().objects("findings").map { $0.text("name") }
        #expect(names == ["old-protocol", "unused-pin"])
    }

    // MARK: Certificates

    @Test func `a certificate of a public authority that is valid for too long is a warning`() throws {
        let leaf = try self.stage.pki.mint(
            .server("IP:127.0.0.1").with(policies: ["2.23.140.1.2.1"]).changed {
                $0.validity = .window(.seconds(-86_400), .seconds(500 * 86_400))
            }, signedBy: self.stage.intermediate)
        let server = try OpenSSLServer([leaf])
        let finding = try self.finding("lifetime-too-long", in: try self.report(server.port))
        #expect(finding.text("severity") == "warn" && finding["keys"] as? [String] == ["ecdsa"])
        #expect(finding.text("message").contains("is valid for 502 days"))
        #expect(try self.stage.audit().exitCode == 0 && self.stage.audit(["--fail-on", "warn"]).exitCode == 1)
    }

    @Test func `a certificate with SHA-1 that the server sends in vain is a warning`() throws {
        let old = try self.stage.pki.mint(.authority("Old").changed { $0.digest = "SHA1" })
        let stray = try self.stage.pki.mint(.authority("Stray").changed { $0.digest = "SHA1" }, signedBy: old)
        let server = try OpenSSLServer(
            [self.leaf().sending(stray.certificate)], arguments: ["-cipher", "DEFAULT:@SECLEVEL=0"])
        let finding = try self.finding("broken-digest", in: try self.report(server.port))
        #expect(finding.text("severity") == "warn")
        #expect(
            finding.text("message")
                == "127.0.0.1: the server sends the certificate \"CN=Stray\", which is signed with SHA-1")
    }

    // MARK: CAA records

    /// Audits a server of `localhost` with a name server.
    private func audit(
        _ leaf: TestIdentity, _ zone: [String: ScriptedNameServer.Answer], _ arguments: [String] = []
    ) throws -> JSONObject {
        let server = try OpenSSLServer([leaf])
        let names = try ScriptedNameServer(zone)
        try self.stage.configure(hosts: ["localhost:\(server.port)"])
        return try self.stage.report(["--caa", "--resolver", "127.0.0.1:\(names.port)"] + arguments)
    }

    private func named(_ policies: String...) throws -> TestIdentity {
        try self.stage.pki.mint(
            .server("DNS:localhost").with(policies: policies), signedBy: self.stage.intermediate)
    }

    @Test func `the records of a name are in the report, and no finding if they name an authority`() throws {
        let report = try self.audit(
            self.named(), ["localhost": .records([.init("issue", "ca.test"), .init("iodef", "x")])])
        let caa = try #require(report.objects("servers").first?.objects("caa").first)
        #expect(caa.text("name") == "localhost" && caa.text("place") == "localhost")
        #expect(caa.text("permission") == "some" && caa["issuers"] as? [String] == ["ca.test"])
        #expect(caa.objects("records").map { $0.text("tag") } == ["issue", "iodef"])
        #expect(!report.found.contains { $0.hasPrefix("caa-") }, "\(report.found)")
    }

    @Test func `no records, records that forbid and records that are not known are told`() throws {
        let missing = try self.finding("caa-missing", in: self.audit(self.named(), [:]))
        #expect(missing.text("severity") == "note")
        #expect(
            missing.text("message").hasSuffix(
                "neither localhost nor a name above it has CAA records: any authority may certify it"))
        let closed: [String: ScriptedNameServer.Answer] = ["localhost": .records([.init("issue", ";")])]
        let forbids = try self.finding("caa-forbids", in: self.audit(self.named("2.23.140.1.2.1"), closed))
        #expect(forbids.text("severity") == "warn")
        let own = try self.audit(self.named(), closed)
        #expect(!own.found.contains { $0.hasPrefix("caa-") }, "a private authority needs no record")
        let unknown = try self.finding("caa-unknown", in: self.audit(self.named(), ["localhost": .code(2)]))
        #expect(unknown.text("severity") == "note" && unknown.text("message").hasSuffix("answers with SERVFAIL"))
    }

    @Test func `nothing is looked up without the option, or for an address`() throws {
        let server = try OpenSSLServer([self.leaf()])
        let names = try ScriptedNameServer([:])
        let report = try self.report(server.port, ["--caa", "--resolver", "127.0.0.1:\(names.port)"])
        #expect(names.asked == [] && report.objects("servers").first?["caa"] == nil)
        let plain = try self.stage.audit(["--resolver", "127.0.0.1:\(names.port)"])
        #expect(plain.exitCode == 2 && plain.errors.contains { $0.contains("--resolver has no use without --caa") })
        let wrong = try self.stage.audit(["--caa", "--resolver", "ns.test"])
        #expect(wrong.exitCode == 2)
        #expect(wrong.errors.contains { $0.contains("--resolver \"ns.test\": must be an address, or ADDRESS:PORT") })
    }

    @Test func `records that are new are a change`() throws {
        let history = "\(self.stage.folder.path)/audit.sqlite"
        let (leaf, port) = (try self.named(), try FreePort.find())
        try self.stage.configure(hosts: ["localhost:\(port)"])
        func audit(_ zone: [String: ScriptedNameServer.Answer]) throws {
            let names = try ScriptedNameServer(zone)
            _ = try self.stage.audit(["--caa", "--resolver", "127.0.0.1:\(names.port)"], history: history)
        }
        let server = try OpenSSLServer([leaf], port: port)
        try withExtendedLifetime(server) {
            try audit([:])
            try audit(["localhost": .records([.init("issue", "ca.test")])])
        }
        let diff = try PintleProcess.run(["audit", "diff", "--history", history])
        #expect(diff.exitCode == 1)
        #expect(
            diff.output == [
                "localhost:\(port) (fleet) changed-caa: localhost: any authority → localhost: ca.test by 0 issue \"ca.test\" at "
                    + "localhost"
            ])
    }
}
