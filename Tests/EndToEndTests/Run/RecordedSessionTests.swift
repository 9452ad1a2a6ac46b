// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Sessions in the documentation are run again, command by command, and must have the documented output.
struct RecordedSessionTests {
    /// A command, and its output.
    private struct Step {
        let command: String
        var output: [String] = []

        /// The name of a file that the command shows, and does nothing else.
        var shownFile: String? { self.command.wholeMatch(of: #/cat ([\w./-]+)/#).map { String($0.output.1) } }
    }

    private static let root: URL = {
        var file = URL(fileURLWithPath: #filePath)
        while file.lastPathComponent != "Tests" { file.deleteLastPathComponent() }
        return file.deletingLastPathComponent()
    }()

    /// The pages for jobs, which have their sessions in one folder each.
    private static let jobs: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(Self.root.path)/docs/jobs")) ?? []
        return names.sorted().map { "docs/jobs/\($0)" }
    }()

    /// The blocks of a page that are sessions.
    private static func blocks(in page: String) throws -> [[String]] {
        let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
        return text.components(separatedBy: "```console\n").dropFirst()
            .map { $0.components(separatedBy: "\n```")[0].components(separatedBy: "\n") }
    }

    /// The sessions of a page: commands after "$ ", and below each its output.
    private static func sessions(in page: String) throws -> [[Step]] {
        try Self.blocks(in: page).map { lines in
            var steps: [Step] = []
            for line in lines {
                if line.hasPrefix("$ ") {
                    steps.append(Step(command: String(line.dropFirst(2))))
                } else {
                    steps[steps.count - 1].output.append(line)
                }
            }
            return steps
        }
    }

    /// The first session with `pintle run` in a page.
    private static func run(in page: String) throws -> [Step] {
        let session = try Self.sessions(in: page).first { $0.contains { $0.command.hasPrefix("pintle run ") } }
        return try #require(session, "\(page) has a session")
    }

    /// Lines that are not empty, without the effects of a port's number on the table, and without what differs from run
    /// to run.
    private static func plain(_ lines: [String], port: String) -> [String] {
        lines.map { line in
            line.filter { $0 != "\r" }.replacingOccurrences(of: ":\(port)", with: ":8000")
                .replacing(#/^(Date|Last-Modified|Server|Content-Length): .*/#) { "\($0.output.1): …" }
                .replacing(#/"instance":"[0-9a-f]+-\d+"/#, with: "\"instance\":\"…\"")
                .split(separator: " ").joined(separator: " ")
        }.filter { !$0.isEmpty }
    }

    /// Starts a server of a folder's files, and returns it with its port.
    private static func serve(_ folder: TemporaryFolder) throws -> (ChildProcess, port: String) {
        let server = try ChildProcess(
            "/usr/bin/python3", ["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"], folder: folder.path)
        let ready = try server.waitForLine("the server's port") { $0.hasPrefix("Serving HTTP on") }
        return (server, try #require(ready.split(separator: " ").first { Int($0) != nil }.map(String.init)))
    }

    @Test func `the session in docs/run.md is as it is told`() throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"ok\":true}\n", to: "good.json")
        try folder.write("{\"ok\":\n", to: "broken.json")
        let steps = try Self.run(in: "docs/run.md")
        let (server, port) = try Self.serve(folder)
        #expect(steps.count > 6)
        for step in steps { try self.expect(step, port: port, folder: folder) }
        server.signal(SIGTERM)
        try server.waitForExit()
    }

    @Test func `the command in the README is denied as it is told`() throws {
        let folder = try TemporaryFolder()
        let steps = try Self.run(in: "README.md").map { step in
            Step(
                command: step.command.replacingOccurrences(of: "/tmp/", with: ""),
                output: step.output.map { $0.replacingOccurrences(of: "/tmp/", with: "") })
        }
        #expect(steps.count > 1)
        for step in steps { try self.expect(step, port: "8000", folder: folder) }
    }

    @Test(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"), arguments: jobs)
    func `the sessions of a job are as they are told`(page: String) throws {
        let folder = try TemporaryFolder()
        let (server, port) = try Self.serve(folder)
        for step in try Self.sessions(in: page).joined() { try self.expect(step, port: port, folder: folder) }
        server.signal(SIGTERM)
        try server.waitForExit()
    }

    @Test func `there are pages for jobs`() { #expect(Self.jobs.count > 5) }

    @Test func `the sessions with curl and fetch in docs first-minutes.md are as they are told`() throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"hello\":\"world\"}\n", to: "hello.json")
        let (server, port) = try Self.serve(folder)
        let proxy = try PintleProcess()
        let sessions = try Self.sessions(in: "docs/first-minutes.md").filter { session in
            session.contains { $0.command.contains("127.0.0.1:8000") }
        }
        #expect(sessions.count > 3)
        func play(_ session: [Step]) throws {
            for step in session { try self.expect(step, port: port, proxy: "\(proxy.port)", folder: folder) }
        }
        // The one that fails is told with the origin stopped.
        let isRefused = { (session: [Step]) in session.contains { $0.output.joined().contains("connection_refused") } }
        for session in sessions where !isRefused(session) { try play(session) }
        server.signal(SIGTERM)
        try server.waitForExit()
        for session in sessions where isRefused(session) { try play(session) }
    }

    @Test func `the pinned gateway of docs first-minutes.md is as it is told`() throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/first-minutes.md"), encoding: .utf8)
        let shell = page.components(separatedBy: "```sh\n").map { $0.components(separatedBy: "\n```")[0] }
        let preparation = try #require(shell.first { $0.contains("openssl req") })
        let servers = shell.filter { $0.hasPrefix("openssl s_server") }
        let sessions = try Self.sessions(in: "docs/first-minutes.md").filter { session in
            session.contains { $0.command.contains("localhost:8080") }
        }
        #expect(servers.count == 2 && sessions.count == 2)
        let folder = try TemporaryFolder()
        func start(_ command: String) throws -> ChildProcess {
            try ChildProcess(
                "/bin/bash", ["-c", "pintle() { '\(PintleProcess.binary)' \"$@\"; }; \(command)"],
                environment: RunStage.environment.merging(["HOME": folder.path]) { $1 }, folder: folder.path)
        }
        let prepared = try start(preparation.replacingOccurrences(of: "/tmp/pintle-pinned", with: folder.path))
        #expect(try prepared.waitForExit() == 0, "\(prepared.lines)")
        // The first server takes a free port, and the second one the same.
        var server = try start("exec \(servers[0].replacingOccurrences(of: ":8443", with: ":0"))")
        let ready = try server.waitForLine("its port") { $0.hasPrefix("ACCEPT ") }
        let origin = try #require(ready.split(separator: ":").last.map(String.init))
        let settings = "\(folder.path)/pintle.yaml"
        let text = try String(contentsOfFile: settings, encoding: .utf8)
        try text.replacingOccurrences(of: ":8443", with: ":\(origin)").write(
            toFile: settings, atomically: true, encoding: .utf8)
        let proxy = try start("exec '\(PintleProcess.binary)' serve --listen 127.0.0.1:0 --port-file port")
        _ = try proxy.waitForLine("ready") { $0.contains(" ready ") }
        let port = try String(contentsOfFile: "\(folder.path)/port", encoding: .utf8).trimmingCharacters(in: .newlines)
        func play(_ session: [Step]) throws {
            for step in session {
                let told = try start(step.command.replacingOccurrences(of: ":8080", with: ":\(port)"))
                try told.waitForExit()
                #expect(Self.unpinned(told.output) == Self.unpinned(step.output), "\(step.command)")
            }
        }
        try play(sessions[0])
        server.signal(SIGTERM)
        try server.waitForExit()
        server = try start("exec \(servers[1].replacingOccurrences(of: ":8443", with: ":\(origin)"))")
        try server.waitForLine("its start") { $0.hasPrefix("ACCEPT") }
        try play(sessions[1])
        server.signal(SIGTERM)
        proxy.signal(SIGTERM)
        #expect(try proxy.waitForExit() == 0)
    }

    /// Output without pins and identifiers, which differ from run to run.
    private static func unpinned(_ lines: [String]) -> [String] {
        lines.map {
            $0.replacing(#/sha256\/[\w+\/]{43}=/#, with: "PIN").replacing(#/[0-9a-f]{8}-[0-9a-f]+/#, with: "ID")
        }.filter { !$0.isEmpty }
    }

    @Test func `the demo shows what docs first-minutes.md tells`() throws {
        let block = try Self.blocks(in: "docs/first-minutes.md").first { $0[0] == "$ scripts/demo" }
        let told = try #require(block).dropFirst()
        let demo = try ChildProcess(
            "\(Self.root.path)/scripts/demo", [],
            environment: RunStage.environment.merging(["PINTLE": PintleProcess.binary]) { $1 })
        #expect(try demo.waitForExit() == 0, "\(demo.errors)")
        // Ports, pins, the ends of identifiers, and times.
        func plain(_ lines: some Sequence<String>) -> [String] {
            lines.map { line in
                line.filter { $0 != "\r" }.replacing(#/:\d{4,5}\b/#, with: ":PORT")
                    .replacing(#/sha256\/[\w+\/]{43}=/#, with: "PIN").replacing(#/[0-9a-f]{8}-[0-9a-f]+/#, with: "ID")
                    .replacing(#/^\d{4}-\d\d-\d\dT[\d:.]+Z/#, with: "TIME")
            }.filter { !$0.isEmpty }
        }
        #expect(plain(demo.output) == plain(told))
    }

    /// Runs a command, unless it shows a file that is not there yet: that file is written.
    private func expect(_ step: Step, port: String, proxy: String = "3128", folder: TemporaryFolder) throws {
        func here(_ text: String) -> String {
            text.replacingOccurrences(of: ":8000", with: ":\(port)")
                .replacingOccurrences(of: ":3128", with: ":\(proxy)")
        }
        if let name = step.shownFile, access("\(folder.path)/\(name)", F_OK) != 0 {
            try folder.write(here(step.output.joined(separator: "\n")) + "\n", to: name)
            return
        }
        let process = try ChildProcess(
            "/bin/bash", ["-c", "pintle() { '\(PintleProcess.binary)' \"$@\"; }; { \(here(step.command)); } 2>&1"],
            environment: RunStage.environment.merging(["HOME": folder.path]) { $1 }, folder: folder.path)
        try process.waitForExit()
        #expect(
            Self.plain(process.output, port: port) == Self.plain(step.output, port: port), "\(step.command)")
    }
}
