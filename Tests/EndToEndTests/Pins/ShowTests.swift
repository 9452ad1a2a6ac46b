// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// `pintle pins show`, `lint` and `forecast` as they are used.
@Suite struct PinsShowTests {
    private static let certificates = try? OpenSSLCertificates()

    private let certificates: OpenSSLCertificates

    init() throws { self.certificates = try #require(Self.certificates) }

    private func object(_ process: ChildProcess) throws -> [String: any Sendable] {
        let data = Data(process.output.joined(separator: "\n").utf8)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: any Sendable])
    }

    @Test(arguments: ["rsa", "ec", "ec384", "ed"])
    func `a file is shown with the pin that openssl computes`(kind: String) throws {
        let pin = try #require(self.certificates.pins[kind])
        let path = "\(self.certificates.folder.path)/\(kind).pem"
        for format in ["yaml", "json", "text"] {
            let process = try pins("show", "--file", path, "--format", format)
            #expect(process.exitCode == 0 && process.errors.isEmpty, "\(process.errors)")
            #expect(process.output.contains { $0.contains(pin) }, "\(process.output)")
        }
        let folder = try TemporaryFolder()
        let entry = try folder.write(try pins("show", "--file", path).output.joined(separator: "\n"), to: "p.yaml")
        let check = try PintleProcess.run(["check", "-c", entry])
        #expect(check.exitCode == 0, "\(check.lines)")
        let lint = try pins("lint", "-c", entry)
        #expect(lint.exitCode == 1)
        #expect(
            lint.output.count == 1
                && lint.output[0].wholeMatch(
                    of: /.*\/p\.yaml:\d+:3: PINTLE0201 no-backup: trust\.\S+: has a single key.*/)
                    != nil,
            "\(lint.output)")
    }

    @Test func `the chain of a server is shown, with a warning where it is not valid`() throws {
        let pki = TestPKI()
        let root = try pki.root()
        let leaf = try pki.leaf(
            "site", dns: ["localhost"], ip: ["127.0.0.1"], signedBy: try pki.intermediate(signedBy: root))
        let server = try OpenSSLServer([leaf])
        let place = "127.0.0.1:\(server.port)"
        let shown = try pins("show", place)
        #expect(shown.exitCode == 0)
        #expect(
            shown.errors.count >= 1
                && shown.errors[0].hasPrefix("pintle pins show: \(place): this chain is not valid here: "))
        #expect(shown.output[0] == "# The chain that \(place) showed, leaf first.")
        #expect(
            shown.output.contains("    hosts: [\"\(place)\"]") && shown.output.contains { $0.contains("\(leaf.pin)") })

        let folder = try TemporaryFolder()
        let roots = try folder.write(root.certificatePEM, to: "root.pem")
        let trusted = try PintleProcess.run(
            ["pins", "show", "localhost:\(server.port)", "--format", "json"], environment: ["SSL_CERT_FILE": roots])
        #expect(trusted.exitCode == 0 && trusted.errors.isEmpty, "\(trusted.errors)")
        let byURL = try pins("show", "https://localhost:\(server.port)/path?a=b", "--roots", roots, "--format", "json")
        #expect(byURL.exitCode == 0 && byURL.errors.isEmpty && byURL.output == trusted.output, "\(byURL.lines)")
        let report = try self.object(trusted)
        #expect(report["trusted"] as? Bool == true && report["host"] as? String == "localhost:\(server.port)")
        let chain = try #require(report["chain"] as? [[String: any Sendable]])
        #expect(chain.compactMap { $0["role"] as? String } == ["leaf", "intermediate"])
        #expect(chain.compactMap { $0["pin"] as? String } == leaf.chain.map { "\($0.spkiPin)" })
    }

    @Test func `a host that shows no chain ends with 4 and the reason`() throws {
        let port = try FreePort.find()
        let refused = try pins("show", "127.0.0.1:\(port)")
        #expect(refused.exitCode == 4 && refused.output.isEmpty)
        #expect(
            refused.errors == [
                "pintle pins show: 127.0.0.1:\(port): 127.0.0.1: the connection was refused: nothing listens there"
            ])
        let origin = try RawOrigin { try $0.send("220 mail.example ready\r\n") }
        let plain = try pins("show", "127.0.0.1:\(origin.port)")
        #expect(plain.exitCode == 4 && plain.errors.count == 1, "\(plain.errors)")
        #expect(plain.errors[0].contains("127.0.0.1: it does not speak TLS: it answered \"220 mail.example"))
    }

    @Test(arguments: [
        ([], Int32(2), "Give a host, or --file and a file."), (["a", "--file", "b"], 2, "Give a host, or --file"),
        (["http://a.example/x"], 2, "http shows no certificate; give an https URL, or a.example:443"),
        (["https://a b/"], 2, "\"https://a b/\": "), (["a b"], 2, "\"a b\" is not host or host:port"),
        (["--file", "/nonexistent"], 4, "cannot be read"),
        (["--file", "/dev/null"], 3, "/dev/null: not a regular file"),
    ])
    func `what cannot be shown ends with its code and its reason`(arguments: [String], code: Int32, words: String)
        throws
    {
        let process = try PintleProcess.run(["pins", "show"] + arguments)
        #expect(process.exitCode == code && process.output.isEmpty, "\(process.lines)")
        #expect(process.errors.contains { $0.contains(words) }, "\(process.errors)")
    }

    @Test func `damaged files and keys are refused by name`() throws {
        let folder = try TemporaryFolder()
        let path = self.certificates.folder.path
        let whole = try String(contentsOfFile: "\(path)/ec.pem", encoding: .utf8)
        let cut = try folder.write(String(whole.prefix(200)), to: "cut.pem")
        let der = try folder.write(
            try Array(Data(contentsOf: URL(fileURLWithPath: "\(path)/certs/ec.cer"))) + [0], to: "d.cer")
        for (file, words) in [
            (cut, "damaged or cut short"), (der, "1 bytes follow the certificate"),
            ("\(path)/ec.key", "holds a private key where a certificate belongs"),
        ] {
            for process in [
                try pins("show", "--file", file), try pins("convert", "--from", "cer", "--to", "sha256", file),
            ] {
                #expect(process.exitCode == 3 && process.output.isEmpty)
                #expect(
                    process.errors.count >= 1 && process.errors[0].contains("\(file): ")
                        && process.errors[0].contains(words))
            }
        }
    }

    @Test func `lint judges the configuration first`() throws {
        let folder = try TemporaryFolder()
        let invalid = try pins("lint", "-c", try folder.write("version: 2\n", to: "invalid.yaml"))
        #expect(invalid.exitCode == 3 && invalid.output.isEmpty)
        let missing = try pins("lint", "-c", "\(folder.path)/missing.yaml")
        #expect(missing.exitCode == 4)
        let sound = try pins("lint", "-c", try folder.write("version: 1\n", to: "sound.yaml"))
        #expect(sound.exitCode == 0 && sound.output.isEmpty)
    }

    @Test func `a forecast is a table, or JSON, the soonest date first`() throws {
        let pki = TestPKI()
        let folder = try TemporaryFolder()
        for (name, days) in [("late", 300), ("early", 20)] {
            let leaf = try pki.selfSigned(name, validity: .window(.seconds(0), .seconds(days * 86_400)))
            try folder.write(leaf.certificatePEM, to: "\(name).pem")
        }
        let file = try folder.write(
            """
            version: 1
            trust:
              bare: {hosts: [c.example], pinning: public_key, pins: ["\(self.certificates.list[0])"]}
              late: {hosts: [b.example], pinning: public_key, certificates: [late.pem]}
              early: {hosts: [a.example], pinning: public_key, certificates: [early.pem]}
            """, to: "pintle.yaml")
        let table = try pins("forecast", "-c", file)
        #expect(table.exitCode == 0)
        let rows = table.output.map { $0.split(separator: " ").prefix(3).map(String.init) }
        #expect(
            rows.map { $0.dropFirst() } == [
                ["POLICY", "HOST"], ["early", "a.example"], ["late", "b.example"], ["bare", "c.example"],
            ])
        #expect(rows[3][0] == "unknown" && rows[1][0] < rows[2][0])

        let json = try pins("forecast", "-c", file, "--format", "json").output.joined(separator: "\n")
        let entries = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: any Sendable]])
        #expect(entries.compactMap { $0["policy"] as? String } == ["early", "late", "bare"])
        #expect(entries[2]["date"] is NSNull && (entries[0]["date"] as? String)?.hasPrefix(rows[1][0]) == true)
        #expect(entries[0]["line"] as? Int == 5)
    }
}
