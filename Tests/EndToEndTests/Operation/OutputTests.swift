// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// The outputs that data are written to, and the treatment of foreign text in them.
struct OutputTests {
    private let pki = TestPKI()
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        let root = try self.pki.root("Root")
        let leaf = try self.pki.leaf("Leaf\u{9B}2J\u{202E}\u{2028}x", dns: ["a.test"], signedBy: root)
        try self.folder.write(leaf.chainPEM, to: "chain.pem")
        try self.folder.write(root.certificatePEM, to: "root.pem")
        try self.folder.write(
            "version: 1\nroutes:\n  - {name: all}\n  - {name: never, match: {hosts: [a.test]}}\n", to: "pintle.yaml")
        try self.folder.write("\(leaf.pin)\n", to: "pins")
        try self.folder.write("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", to: "sample")
        try self.folder.write(
            "version: 1\ntrust: {a: {hosts: [\"127.0.0.1:1\"], pinning: public_key, pins: [\"\(leaf.pin)\"]}}\n",
            to: "pinned.yaml")
    }

    @Test(arguments: [
        "check", "check --sample sample", "explain GET http://a.test/", "version", "--help", "--version",
        "verify --chain chain.pem --roots root.pem", "verify --batch - < chain.pem", "pins show --file chain.pem",
        "pins show --file chain.pem --format json", "pins show --file chain.pem --format text",
        "pins lint -c pinned.yaml --history off", "pins forecast -c pinned.yaml --history off",
        "pins forecast -c pinned.yaml --history off --format json", "pins convert --from sha256 --to curl pins",
        "audit -c pinned.yaml --history off", "audit -c pinned.yaml --history off --format json",
    ])
    func `LOOK-49 what cannot be written is said, and never looks like success`(command: String) throws {
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec \(PintleProcess.binary) \(command) > /dev/full"], folder: self.folder.path)
        #expect(try process.waitForExit() == 4, "\(process.lines)")
        #expect(
            process.errors.last == "pintle: standard output cannot be written: no space left on the device",
            "\(process.lines)")
    }

    @Test func `LOOK-49 a difference that cannot be looked for is no success`() throws {
        let process = try ChildProcess(
            "/usr/bin/env", ["-i", PintleProcess.binary, "audit", "diff"], folder: self.folder.path)
        #expect(try process.waitForExit() == 4, "\(process.lines)")
        #expect(
            process.errors == ["pintle audit diff: neither $XDG_STATE_HOME nor $HOME is set; give --history"],
            "\(process.lines)")
    }

    @Test(arguments: [
        "verify --chain chain.pem --roots root.pem", "verify --chain chain.pem --host b.test",
        "pins show --file chain.pem", "pins show --file chain.pem --format json",
        "pins show --file chain.pem --format text", "pins convert --from cer --to pintle chain.pem",
        "explain GET http://a.test/\u{9B}\u{202E}", "check -c \u{202E}\u{9B}.yaml",
    ])
    func `LOOK-53 what others have named steers no terminal`(command: String) throws {
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec \(PintleProcess.binary) \(command)"], folder: self.folder.path)
        try process.waitForExit()
        let text = process.lines.map(\.text).joined(separator: "\n")
        #expect(!text.isEmpty)
        for scalar in ["\u{9B}", "\u{202E}", "\u{2028}"] as [Unicode.Scalar] {
            #expect(
                !text.unicodeScalars.contains(scalar), "\(scalar.escaped(asASCII: true)) in \(text.debugDescription)")
        }
    }

    @Test func `LOOK-50 a file that cannot be written is told in words of our own`() throws {
        for (option, reason) in [("/", "it is a folder"), ("/nowhere/at/all", "no such file or folder")] {
            let audit = try PintleProcess.run(
                ["audit", "-c", "pinned.yaml", "--history", "off", "--out", option], folder: self.folder.path)
            #expect(audit.exitCode == 4, "\(audit.lines)")
            #expect(
                audit.errors.last == "pintle audit: --out \(option) cannot be written: \(reason)", "\(audit.lines)")
            let serve = try PintleProcess.run(
                ["serve", "-c", "pintle.yaml", "--listen", "127.0.0.1:0", "--port-file", option],
                folder: self.folder.path)
            #expect(serve.exitCode == 4, "\(serve.lines)")
            #expect(serve.errors.last == "--port-file \(option) cannot be written: \(reason)", "\(serve.lines)")
        }
    }

    @Test(
        arguments: [
            ("log: {format: json}\nlimts: {}\n", [], 3, ":3:1: unknown key \"limts\"; did you mean \"limits\"?"),
            ("lim ts: [\n", ["--log-format", "json"], 3, ":3:1: not valid YAML: a value is due here"),
            ("log: {format: json, exchanges: /nowhere/x}\n", [], 4, "the exchange log /nowhere/x: no such file"),
            ("log: {format: json}\n", ["--listen", "192.0.2.1:0"], 4, "listen on 192.0.2.1:0: not an address"),
        ] as [(String, [String], Int32, String)])
    func `LOOK-50 why there is no proxy is told in the format of the log`(
        configuration: String, arguments: [String], code: Int32, message: String
    ) throws {
        try self.folder.write("version: 1\n\(configuration)", to: "pintle.yaml")
        let process = try PintleProcess.run(["serve", "-c", "pintle.yaml"] + arguments, folder: self.folder.path)
        #expect(process.exitCode == code && process.output.isEmpty, "\(process.lines)")
        let lines = try process.errors.map(jsonObject)
        #expect(lines.count == 1 && lines[0].text("level") == "error", "\(process.lines)")
        #expect(lines.first?.text("message").contains(message) == true, "\(process.lines)")
    }
}
