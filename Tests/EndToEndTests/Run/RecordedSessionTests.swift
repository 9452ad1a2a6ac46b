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
    }

    /// The session with `pintle run` in a page: commands after "$ ", and below each its output.
    private static func steps(in page: String) throws -> [Step] {
        var file = URL(fileURLWithPath: #filePath)
        while file.lastPathComponent != "Tests" { file.deleteLastPathComponent() }
        let text = try String(
            contentsOf: file.deletingLastPathComponent().appendingPathComponent(page), encoding: .utf8)
        let blocks = text.components(separatedBy: "```console\n").dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }
        let block = try #require(blocks.first { $0.contains("pintle run ") }, "\(page) has a session")
        var steps: [Step] = []
        for line in block.components(separatedBy: "\n") {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else {
                steps[steps.count - 1].output.append(line)
            }
        }
        return steps
    }

    /// Lines without the effects of a port's number on the table.
    private static func plain(_ lines: [String], port: String) -> [String] {
        lines.map { line in
            line.replacingOccurrences(of: ":\(port)", with: ":8000").split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `the session in docs/run.md is as it is told`() throws {
        let folder = try TemporaryFolder()
        try folder.write("{\"ok\":true}\n", to: "good.json")
        try folder.write("{\"ok\":\n", to: "broken.json")
        let steps = try Self.steps(in: "docs/run.md")
        try folder.write(steps[0].output.joined(separator: "\n") + "\n", to: "pintle.yaml")
        let server = try ChildProcess(
            "/usr/bin/python3", ["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"], folder: folder.path)
        let ready = try server.waitForLine("the server's port") { $0.hasPrefix("Serving HTTP on") }
        let port = try #require(ready.split(separator: " ").first { Int($0) != nil }.map(String.init))
        #expect(steps.count > 6)
        for step in steps { try self.expect(step, port: port, folder: folder.path) }
        server.signal(SIGTERM)
        try server.waitForExit()
    }

    @Test func `the command in the README is denied as it is told`() throws {
        let folder = try TemporaryFolder()
        let steps = try Self.steps(in: "README.md").map { step in
            Step(
                command: step.command.replacingOccurrences(of: "/tmp/", with: ""),
                output: step.output.map { $0.replacingOccurrences(of: "/tmp/", with: "") })
        }
        #expect(steps.count > 1)
        for step in steps { try self.expect(step, port: "8000", folder: folder.path) }
    }

    private func expect(_ step: Step, port: String, folder: String) throws {
        let command = step.command.replacingOccurrences(of: ":8000", with: ":\(port)")
            .replacingOccurrences(of: ".build/release/pintle", with: "pintle")
        let process = try ChildProcess(
            "/bin/bash", ["-c", "pintle() { '\(PintleProcess.binary)' \"$@\"; }; { \(command); } 2>&1"],
            environment: RunStage.environment.merging(["HOME": folder]) { $1 }, folder: folder)
        try process.waitForExit()
        #expect(
            Self.plain(process.output, port: port) == Self.plain(step.output.filter { !$0.isEmpty }, port: port),
            "\(step.command)")
    }
}
