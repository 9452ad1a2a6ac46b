// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Reports of `pintle` on bad input: exit codes, and messages that name the place.
struct BadInputTests {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> (code: Int32?, text: String)
    {
        let process = try PintleProcess.run(arguments, environment: environment, folder: self.folder.path)
        #expect(process.output.isEmpty, "everything that is not data goes to standard error: \(process.output)")
        return (process.exitCode, process.errors.joined(separator: "\n"))
    }

    @Test(arguments: ["serve", "check"])
    func `a configuration that is not there cannot be completed`(command: String) throws {
        let result = try self.run(command, "-c", "missing.yaml")
        #expect(result.code == 4 && result.text.contains("missing.yaml"), "\(result)")
        let inherited = try self.run(command, environment: ["PINTLE_CONFIG": "/nowhere/at/all.yaml"])
        #expect(inherited.code == 4 && inherited.text.contains("/nowhere/at/all.yaml"), "\(inherited)")
    }

    @Test(arguments: [
        ("version: 1\nlisten: [\n", ":"), ("version: 1\nlimts: {}\n", ":2:1"),
        ("version: 1\nlimits: {body_buffer: ten}\n", ":2:"),
        ("version: 2\n", ":1:"), ("listen: [\"127.0.0.1:0\"]\n", "version"), ("version: 1\nengine: 3\n", ":2:"),
        ("\u{0}\u{1}\u{2}", ":"),
    ])
    func `a malformed configuration is invalid, and the message has its place`(text: String, place: String) throws {
        let file = try self.folder.write(text, to: "bad.yaml")
        for command in ["serve", "check"] {
            let result = try self.run(command, "-c", file)
            #expect(result.code == 3 && result.text.contains("bad.yaml") && result.text.contains(place), "\(result)")
        }
    }

    @Test func `an unknown key is answered with the nearest valid one`() throws {
        let file = try self.folder.write("version: 1\nlimits:\n  body_bufer: 1KiB\n", to: "near.yaml")
        let result = try self.run("check", "-c", file)
        #expect(
            result.code == 3 && result.text.contains("near.yaml:3:3") && result.text.contains("body_buffer"),
            "\(result)")
    }

    @Test(arguments: [
        "certificates: [gone.pem], pinning: certificate", "roots: [gone.pem]", "extra_roots: [gone.pem]",
    ])
    func `a certificate that cannot be read is named`(policy: String) throws {
        let file = try self.folder.write("version: 1\ntrust: {a: {hosts: [a.test], \(policy)}}\n", to: "trust.yaml")
        for command in ["serve", "check"] {
            let result = try self.run(command, "-c", file)
            #expect([3, 4].contains(result.code) && result.text.contains("gone.pem"), "\(result)")
        }
    }

    @Test func `a certificate file without a certificate is named`() throws {
        try self.folder.write("not a certificate", to: "rubbish.pem")
        let file = try self.folder.write(
            "version: 1\ntrust: {a: {hosts: [a.test], roots: [rubbish.pem]}}\n", to: "trust.yaml")
        let result = try self.run("check", "-c", file)
        #expect(result.code == 3 && result.text.contains("rubbish.pem"), "\(result)")
    }

    @Test func `a port in use cannot be completed`() throws {
        let taken = try PintleProcess()
        let file = try self.folder.write("version: 1\nlisten: [\"127.0.0.1:\(taken.port)\"]\n", to: "port.yaml")
        let result = try self.run("serve", "-c", file)
        #expect(result.code == 4 && result.text.contains("127.0.0.1:\(taken.port)"), "\(result)")
        // The process that has the port is not disturbed.
        let origin = try RawOrigin(answering: response("done"))
        #expect(try taken.serves("http://127.0.0.1:\(origin.port)/"))
    }

    @Test func `an address of another machine cannot be completed`() throws {
        let result = try self.run(
            "serve", "-c", try self.folder.write("version: 1\n", to: "a.yaml"), "--listen", "192.0.2.1:0")
        #expect(result.code == 4 && result.text.contains("192.0.2.1"), "\(result)")
    }

    @Test(arguments: [
        ["serve", "--no-such-flag"], ["no-such-command"], ["serve", "--listen", "nonsense"],
        ["serve", "--log-level", "loud"], ["serve", "--log-format", "xml"], ["serve", "--admin", "nonsense"],
        ["serve", "--admin", "https://127.0.0.1:0"], ["check", "-c"], ["serve", "extra"],
    ])
    func `a wrong command line is usage`(arguments: [String]) throws {
        try self.folder.write("version: 1\n", to: "pintle.yaml")
        let process = try PintleProcess.run(arguments, folder: self.folder.path)
        #expect(process.exitCode == 2, "\(arguments): \(process.exitCode ?? -1) \(process.errors)")
        #expect(process.output.isEmpty && !process.errors.isEmpty)
    }

    @Test func `a log file that cannot be opened cannot be completed`() throws {
        let file = try self.folder.write("version: 1\nlog: {exchanges: /nowhere/x.log}\n", to: "log.yaml")
        let result = try self.run("serve", "-c", file, "--listen", "127.0.0.1:0")
        #expect(result.code == 4 && result.text.contains("/nowhere/x.log"), "\(result)")
    }

    @Test func `a port file that cannot be written cannot be completed`() throws {
        let file = try self.folder.write("version: 1\n", to: "a.yaml")
        let result = try self.run("serve", "-c", file, "--listen", "127.0.0.1:0", "--port-file", "/nowhere/port")
        #expect(result.code == 4 && result.text.contains("/nowhere/port"), "\(result)")
    }
}
