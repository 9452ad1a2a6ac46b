// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// `pintle verify`: one chain, and many.
struct VerifyTests {
    private let pki = TestPKI()
    private let folder: TemporaryFolder
    private let root: TestIdentity
    private let leaf: TestIdentity

    init() throws {
        self.folder = try TemporaryFolder()
        self.root = try self.pki.root("Root")
        let middle = try self.pki.intermediate("Middle", signedBy: self.root)
        self.leaf = try self.pki.leaf("Leaf", dns: ["a.test"], ip: ["192.0.2.7"], signedBy: middle)
        try self.folder.write(self.leaf.chainPEM, to: "chain.pem")
        try self.folder.write(self.root.certificatePEM, to: "root.pem")
    }

    private func verify(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(["verify"] + arguments, folder: self.folder.path)
    }

    @Test func `a chain that holds is reported with everything that pins and dates need`() throws {
        let process = try self.verify(
            "--chain", "chain.pem", "--roots", "root.pem", "--host", "a.test", "--pin", "\(self.root.pin)")
        #expect(process.exitCode == 0 && process.errors.isEmpty, "\(process.lines)")
        #expect(process.output.first == "trusted: a.test")
        #expect(process.output.contains("  0 leaf: CN=Leaf") && process.output.contains("  2 root: CN=Root"))
        #expect(process.output.contains("    serial: \(self.leaf.certificate.serial)"))
        #expect(process.output.contains("    key: EC P-256"))
        #expect(process.output.contains("    pin: \(self.leaf.pin)"))
        #expect(process.output.contains("    pin: \(self.root.pin) (pinned)"))
        let dates = "\(self.leaf.certificate.notBefore) to \(self.leaf.certificate.notAfter)"
        #expect(process.output.contains("    valid: \(dates)"))
    }

    @Test func `hosts may be addresses and end with a dot`() throws {
        for host in ["a.test.", "A.TEST", "192.0.2.7"] {
            #expect(try self.verify("--chain", "chain.pem", "--roots", "root.pem", "--host", host).exitCode == 0)
        }
        #expect(try self.verify("--chain", "chain.pem", "--roots", "root.pem").exitCode == 0)
    }

    @Test(arguments: ["bücher.test", "BÜCHER.test.", "xn--bcher-kva.test"])
    func `a name in letters of other scripts is that of its A-labels`(host: String) throws {
        let leaf = try self.pki.leaf("IDN", dns: ["xn--bcher-kva.test"], signedBy: self.root)
        try self.folder.write(leaf.chainPEM, to: "idn.pem")
        let process = try self.verify("--chain", "idn.pem", "--roots", "root.pem", "--host", host)
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(try self.verify("--chain", "chain.pem", "--roots", "root.pem", "--host", host).exitCode == 1)
    }

    @Test func `a chain that does not hold is reported with the rule, and exits with 1`() throws {
        let late = self.leaf.certificate.notAfter.advanced(by: .seconds(1))
        let cases: [([String], String)] = [
            (["--host", "b.test"], "host-name"), (["--at", "\(late)"], "expired"),
            (["--at", "2001-01-01"], "not-yet-valid"),
        ]
        for (arguments, rule) in cases {
            let process = try PintleProcess.run(
                ["verify", "--chain", "chain.pem", "--roots", "root.pem"] + arguments, folder: self.folder.path)
            #expect(process.exitCode == 1, "\(process.lines)")
            #expect(process.output.first?.hasPrefix("rejected: ") == true)
            #expect(process.output.contains("rule: \(rule)"), "\(process.lines)")
        }
        let strange = try self.verify("--chain", "chain.pem")
        #expect(strange.exitCode == 1 && strange.output.contains("rule: unknown-issuer"))
        let pin = try self.pki.root("Other").pin
        let pinned = try self.verify("--chain", "chain.pem", "--roots", "root.pem", "--pin", "\(pin)")
        #expect(pinned.exitCode == 1 && pinned.output.contains { $0.contains("\(pin)") }, "\(pinned.lines)")
    }

    @Test func `a policy of the configuration judges as it would in a handshake`() throws {
        try self.folder.write(
            """
            version: 1
            trust:
              site: {hosts: [a.test], roots: [root.pem], pinning: public_key, pins: ["\(self.leaf.pin)"]}
              other: {hosts: [b.test], roots: [root.pem], pinning: public_key, pins: ["\(self.root.pin)"]}
            """, to: "pintle.yaml")
        let arguments = ["verify", "-c", "pintle.yaml", "--chain", "chain.pem", "--host", "a.test", "--policy"]
        for name in ["site", "other"] {
            let process = try PintleProcess.run(arguments + [name], folder: self.folder.path)
            #expect(process.exitCode == 0, "\(process.lines)")
        }
        let unknown = try PintleProcess.run(arguments + ["none"], folder: self.folder.path)
        #expect(
            unknown.exitCode == 2 && unknown.errors.contains { $0.contains("it has site, other") }, "\(unknown.lines)")
    }

    @Test func `LOOK-29 a root that is given is believed as it is, and form is asked of the rest`() throws {
        let root = try self.pki.mint(.authority("Zero").changed { $0.serial = "00" })
        let good = try self.pki.mint(.server("DNS:a.test"), signedBy: root)
        let odd = try self.pki.mint(.server("DNS:a.test").changed { $0.serial = "00" }, signedBy: root)
        try self.folder.write(root.certificatePEM, to: "zero.pem")
        try self.folder.write(good.chainPEM, to: "good.pem")
        try self.folder.write(odd.chainPEM, to: "odd.pem")
        let whole = try self.verify("--chain", "good.pem", "--roots", "zero.pem", "--host", "a.test")
        #expect(whole.exitCode == 0, "\(whole.lines)")
        let refused = try self.verify("--chain", "odd.pem", "--roots", "zero.pem", "--host", "a.test")
        #expect(refused.exitCode == 1 && refused.output.contains("rule: serial-number"), "\(refused.lines)")

        try self.folder.write(
            """
            version: 1
            trust: {lax: {roots: [zero.pem]}, strict: {roots: [zero.pem], form: strict}}
            """, to: "pintle.yaml")
        let arguments = ["verify", "-c", "pintle.yaml", "--chain", "odd.pem", "--host", "a.test", "--policy"]
        let lax = try PintleProcess.run(arguments + ["lax"], folder: self.folder.path)
        #expect(lax.exitCode == 0, "\(lax.lines)")
        #expect(
            lax.output.contains(
                "form: the certificate \"CN=server\" is not of the form that public authorities keep: its serial number is "
                    + "not positive, or longer than 20 bytes (serial-number)"), "\(lax.lines)")
        let strict = try PintleProcess.run(arguments + ["strict"], folder: self.folder.path)
        #expect(strict.exitCode == 1 && strict.output.contains("rule: serial-number"), "\(strict.lines)")
    }

    @Test func `what is no certificate is rejected with the name of the file`() throws {
        let der = self.leaf.certificate.der
        let files: [(String, [UInt8], String)] = [
            ("cut.pem", Array(self.leaf.certificatePEM.utf8.prefix(300)), "damaged or cut short"),
            ("long.der", der + [0, 0], "2 bytes follow the certificate"),
            ("key.pem", Array(self.leaf.keyPEM.utf8), "holds a private key where a certificate belongs"),
            ("junk", Array("junk".utf8), "not an X.509 certificate"),
            ("empty", [], "not an X.509 certificate"),
            ("huge.pem", [UInt8](repeating: 0x41, count: 10 << 20), "larger than 8 MiB"),
        ]
        for (name, bytes, reason) in files {
            try self.folder.write(bytes, to: name)
            for arguments in [["--chain", name, "--roots", "root.pem"], ["--chain", "chain.pem", "--roots", name]] {
                let process = try PintleProcess.run(["verify"] + arguments, folder: self.folder.path)
                #expect(process.exitCode == 1, "\(name): \(process.lines)")
                let line = process.output.first ?? ""
                #expect(line.hasPrefix("rejected: \(name)") && line.contains(reason), "\(name): \(process.lines)")
            }
        }
    }

    @Test func `a missing file could not be judged, and a wrong flag is about usage`() throws {
        #expect(try self.verify("--chain", "none.pem").exitCode == 4)
        #expect(try self.verify("--chain", "chain.pem", "--roots", "none.pem").exitCode == 4)
        #expect(try self.verify().exitCode == 2)
        #expect(try self.verify("--chain", "chain.pem", "--at", "soon").exitCode == 2)
        #expect(try self.verify("--chain", "chain.pem", "--pin", "sha256/x").exitCode == 2)
        #expect(try self.verify("--batch", "-", "--chain", "chain.pem").exitCode == 2)
        #expect(try self.verify("--batch", "file").exitCode == 2)
    }

    @Test func `a batch answers line by line, whatever the lines are`() throws {
        func object(_ fields: [String: Any]) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: fields, options: .sortedKeys), as: UTF8.self)
        }
        let chain = self.leaf.chain.map { PEMText.certificates([$0]) }
        let good: [String: Any] = ["chain": chain, "roots": [self.root.certificatePEM], "host": "a.test"]
        let lines = try [
            object(good.merging(["id": "one"]) { $1 }),
            object(good.merging(["id": 2, "host": "b.test"]) { $1 }),
            object(good.merging(["id": ["a": [1]], "at": "2001-01-01T00:00:00Z"]) { $1 }),
            object(good.merging(["id": NSNull(), "chain": [chain[0]]]) { $1 }),
            object(good.merging(["id": "pem", "chain": ["-----BEGIN CERTIFICATE-----\nAAAA\n"]]) { $1 }),
            object(["id": "bare"]),
            "{\"id\": 12345678901234567890123, \"chain\": 7}",
            "nonsense", "[1]", "",
            object(good.merging(["id": "ip", "host": "192.0.2.7", "at": "\(self.pki.now)"]) { $1 }),
        ]
        try self.folder.write(lines.joined(separator: "\n"), to: "lines.json")
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec \"$0\" verify --batch - < lines.json", PintleProcess.binary],
            folder: self.folder.path)
        #expect(try process.waitForExit() == 0)
        #expect(process.output.count == 10, "\(process.lines)")
        let starts = [
            "{\"id\":\"one\",\"trusted\":true,\"error\":null}",
            "{\"id\":2,\"trusted\":false,\"error\":\"host-name: b.test: ",
            "{\"id\":{\"a\":[1]},\"trusted\":false,\"error\":\"not-yet-valid: ",
            "{\"id\":null,\"trusted\":false,\"error\":\"unknown-issuer: ",
            "{\"id\":\"pem\",\"trusted\":false,\"error\":\"chain[0]: a PEM block is damaged",
            "{\"id\":\"bare\",\"trusted\":false,\"error\":\"\\\"chain\\\" is missing\"}",
            "{\"id\":12345678901234567890123,\"trusted\":false,\"error\":\"\\\"chain\\\" is not an array",
            "{\"id\":null,\"trusted\":false,\"error\":\"the line is not JSON: ",
            "{\"id\":null,\"trusted\":false,\"error\":\"the line is not a JSON object\"}",
            "{\"id\":\"ip\",\"trusted\":true,\"error\":null}",
        ]
        for (line, start) in zip(process.output, starts) { #expect(line.hasPrefix(start), "\(line)") }
    }

    @Test func `a batch answers each line before the next one comes`() throws {
        let line = "{\"id\":1,\"chain\":[]}"
        // The second line is only written once the answer to the first has been read.
        let script = """
            mkfifo in out; "$0" verify --batch - < in > out & exec 3> in 4< out
            echo '\(line)' >&3; read -r answer <&4; echo "$answer"; echo '\(line)' >&3; read -r answer <&4; echo "$answer"
            """
        let process = try ChildProcess("/bin/sh", ["-c", script, PintleProcess.binary], folder: self.folder.path)
        #expect(try process.waitForExit() == 0)
        #expect(process.output.count == 2 && process.output.allSatisfy { $0.contains("\"trusted\":false") })
    }
}
