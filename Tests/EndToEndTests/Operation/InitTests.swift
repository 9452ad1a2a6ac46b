// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `pintle init`: files to begin with.
struct InitTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func run(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(arguments, folder: self.folder.path)
    }

    private func text(_ name: String) -> String {
        String(decoding: fileBytes("\(self.folder.path)/\(name)") ?? [], as: UTF8.self)
    }

    @Test(arguments: ["build", "gateway", "audit", "team"])
    func `the files for each purpose are clean, and their tests pass`(purpose: String) throws {
        let made = try self.run("init", "--for", purpose)
        #expect(made.exitCode == 0, "\(made.lines)")
        #expect(made.output == ["pintle.yaml", "pintle.pintle-test.yaml"])
        let check = try self.run("check")
        #expect(check.exitCode == 0, "\(check.lines)")
        #expect(!check.output.contains { $0.contains("warning") }, "\(check.lines)")
        // The configuration names its tests.
        let test = try self.run("test")
        #expect(test.exitCode == 0 && test.output.last?.contains("0 failed") == true, "\(test.lines)")
        let lines = self.text("pintle.yaml").split(separator: "\n")
        #expect(lines.count { $0.contains("#") } >= 5 && lines.allSatisfy { $0.count <= 132 }, "\(lines)")
    }

    @Test func `nothing is replaced, unless that is meant`() throws {
        try self.folder.write("mine", to: "pintle.pintle-test.yaml")
        let refused = try self.run("init", "--for", "team")
        #expect(refused.exitCode == 4 && refused.output.isEmpty)
        #expect(
            refused.errors == [
                "pintle init: pintle.pintle-test.yaml is there already; name another file, or replace it with --force"
            ])
        #expect(self.text("pintle.pintle-test.yaml") == "mine" && self.text("pintle.yaml").isEmpty)
        #expect(try self.run("init", "--for", "team", "--force").exitCode == 0)
        #expect(try self.run("test").exitCode == 0)
    }

    @Test func `another file has its tests beside it`() throws {
        try self.folder.write("", to: "conf/.keep")
        let made = try self.run("init", "--for", "audit", "conf/hosts.yml")
        #expect(made.output == ["conf/hosts.yml", "conf/hosts.pintle-test.yaml"], "\(made.lines)")
        #expect(try self.run("test", "-c", "conf/hosts.yml").exitCode == 0)
        let nameless = try self.run("init", "--for", "audit", "conf/hosts")
        #expect(nameless.exitCode == 2 && nameless.errors.first?.hasSuffix("ends with .yaml") == true)
    }

    @Test func `without a terminal it wants to be told the purpose`() throws {
        let process = try self.run("init")
        #expect(process.exitCode == 2 && self.text("pintle.yaml").isEmpty)
        #expect(
            process.errors == [
                "pintle init: there is no terminal to ask at; say what it is for with --for: build, gateway, audit, team"
            ])
    }

    @Test func `at a terminal it asks three questions, and an empty answer takes what is in brackets`() throws {
        let wrong = try self.askGateway("nowhere")
        #expect(wrong.exitCode == 2 && self.text("pintle.yaml").isEmpty, "\(wrong.lines)")
        #expect(wrong.output.contains { $0.contains("an answer is not right") }, "\(wrong.lines)")
        let right = try self.askGateway("http://app.example:8000/base/")
        #expect(right.exitCode == 0, "\(right.lines)")
        #expect(self.text("pintle.yaml").contains("upstream: \"http://app.example:8000/base/\""))
        #expect(try self.run("check").exitCode == 0)
        #expect(try self.run("test").exitCode == 0)
    }

    @Test(
        arguments: [
            ("127.0.0.1:8080", ["127.0.0.1:8080", "localhost:8080"], ["machine.example:8080"]),
            ("0.0.0.0:8080", ["machine.example:8080", "192.0.2.7:8080", "localhost:8080"], []),
            ("[::]:80", ["machine.example"], []), ("127.0.0.1:0", ["127.0.0.1:4711", "localhost:4711"], []),
            ("unix:gateway.sock", ["localhost"], []),
        ] as [(String, [String], [String])])
    func `a gateway is reached by each name of its address`(listen: String, names: [String], others: [String]) throws {
        let made = try self.askGateway("http://app.example:8000/", listen)
        #expect(made.exitCode == 0, "\(made.lines)")
        let test = try self.run("test")
        #expect(test.exitCode == 0, "\(test.lines)")
        for name in names + others {
            let explained = try self.run("explain", "GET", "/", "--header", "Host: \(name)")
            #expect(
                explained.output.contains { $0.contains("http://app.example:8000/") } == names.contains(name),
                "\(name): \(explained.lines)")
        }
        // Clients of other machines are let in by the operator.
        let isExposed = ["0.0.0.0:8080", "[::]:80"].contains(listen)
        #expect(self.text("pintle.yaml").contains("# clients: {allow: ") == isExposed)
    }

    @Test func `a wrong address is the one fault that is told`() throws {
        let wrong = try self.askGateway("http://app.example:8000/", "nowhere")
        #expect(wrong.exitCode == 2 && wrong.output.contains { $0.contains("listen: ") }, "\(wrong.lines)")
        #expect(!wrong.output.contains { $0.contains("match.hosts") }, "\(wrong.lines)")
    }

    @Test func `a build that may reach every host has no test for other hosts`() throws {
        let made = try self.ask(["[build] ", "build", "preset:npm] ", "*", "[127.0.0.1:3128] ", ""])
        #expect(made.exitCode == 0, "\(made.lines)")
        let test = try self.run("test")
        #expect(test.exitCode == 0, "\(test.lines)")
    }

    private func askGateway(_ url: String, _ listen: String = "") throws -> ChildProcess {
        try self.ask([
            "for: build, gateway, audit, team? [build] ", "gateway", "behind the gateway? [http://127.0.0.1:9000/] ",
            url, "reach Pintle? [127.0.0.1:8080] ", listen,
        ])
    }

    /// Answers the questions at a terminal.
    ///
    /// - Parameter dialogue: the ends of the questions, each with its answer behind it.
    private func ask(_ dialogue: [String]) throws -> ChildProcess {
        let shell = """
            import os, pty, sys
            pid, terminal = pty.fork()
            if pid == 0: os.execv(sys.argv[1], ["pintle", "init"])
            seen = b""
            for question, answer in zip(sys.argv[2::2], sys.argv[3::2]):
                while question.encode() not in seen: seen += os.read(terminal, 4096)
                os.write(terminal, answer.encode() + b"\\n")
            try:
                while piece := os.read(terminal, 4096): seen += piece
            except OSError: pass
            os.write(1, seen)
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", shell, PintleProcess.binary] + dialogue, environment: ["TERM": "xterm"],
            folder: self.folder.path)
        try process.waitForExit()
        return process
    }
}
