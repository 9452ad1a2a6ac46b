// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// The commands of docs/ci.md.
struct CIPageTests {
    private static let page =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../docs/ci.md").standardizedFileURL.path

    /// The lines of the page's blocks of code, without the words of YAML and Groovy around the commands.
    private static func commands() throws -> [String] {
        let text = try String(contentsOfFile: self.page, encoding: .utf8)
        let blocks = text.split(separator: "```", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map(\.element)
        return blocks.flatMap { block in
            block.split(separator: "\n").compactMap { line -> String? in
                guard let start = line.firstRange(of: "pintle ")?.lowerBound else { return nil }
                let before = line[..<start].trimmingCharacters(in: .whitespaces)
                guard ["", "- run:", "-", "sh '", "steps { sh '"].contains(before) else { return nil }
                return String(line[start...].prefix { $0 != "'" })
            }
        }
    }

    @Test func `every command of the page runs, and ends with the code that it names`() throws {
        let stage = try AuditStage()
        let leaf = try stage.leaves("127.0.0.1")[1]
        let server = try OpenSSLServer([leaf])
        let folder = stage.folder
        // The page says that these two are written by `pintle init`.
        for arguments in [["init", "--for", "build"], ["init", "--for", "audit", "audit.yaml"]] {
            #expect(try PintleProcess.run(arguments, folder: folder.path).exitCode == 0)
        }
        try FileManager.default.copyItem(atPath: "\(folder.path)/pintle.yaml", toPath: "\(folder.path)/old.yaml")
        let written = try stage.configure(hosts: ["127.0.0.1:\(server.port)"])
        try FileManager.default.removeItem(atPath: "\(folder.path)/audit.yaml")
        try FileManager.default.moveItem(atPath: written, toPath: "\(folder.path)/audit.yaml")
        try FileManager.default.copyItem(atPath: "\(folder.path)/old.yaml", toPath: "\(folder.path)/pintle.yaml")
        try folder.write("#!/bin/sh\necho built\n", to: "build.sh")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(folder.path)/build.sh")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/pintle", withDestinationPath: PintleProcess.binary)

        let commands = try Self.commands()
        #expect(commands.count >= 14, "\(commands)")
        for command in commands {
            // Namespaces are not for every user of every machine; RunIsolationTests has them.
            let line = command.replacing(" --isolate", with: "")
            let shell = try ChildProcess(
                "/bin/sh", ["-c", "PATH=.:$PATH; \(line)"],
                environment: RunStage.environment.merging(["XDG_STATE_HOME": folder.path]) { $1 }, folder: folder.path)
            #expect(try shell.waitForExit() == 0, "\(line): \(shell.lines)")
        }
        for report in [
            "policy.xml", "policy.sarif", "traffic.xml", "traffic.sarif", "traffic.md", "audit.xml", "audit.md",
        ] {
            #expect(fileBytes("\(folder.path)/\(report)")?.isEmpty == false, "\(report)")
        }
        let changes = try jsonObject(String(decoding: fileBytes("\(folder.path)/changes.json") ?? [], as: UTF8.self))
        #expect((changes["changes"] as? [JSONObject])?.isEmpty == true)
    }
}
