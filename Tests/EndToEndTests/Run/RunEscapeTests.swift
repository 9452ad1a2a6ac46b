// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// Attempts to leave the namespaces of `pintle run --isolate` without Pintle (contract §7): those of Tests/Programs/Escape, by an
/// ordinary user, and by root those that do not need its power over files. Each must fail.
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct RunEscapeTests {
    private static let script = #filePath.replacing(
        "EndToEndTests/Run/RunEscapeTests.swift", with: "Programs/Escape/escape.py")
    private static let python = "/usr/bin/python3"

    @Test(arguments: geteuid() == 0 ? [false, true] : [false])
    func `no attempt reaches past Pintle`(asRoot: Bool) throws {
        let origin = try RawOrigin(answering: response("outside"))
        let name = "pintle-escape-\(getpid())-\(origin.port)"
        let abstract = try UnixListener(.abstract(name))
        defer { abstract.close() }
        let stage = try RunStage("destinations: {deny: [\"*.evil.example\"]}")
        chmod(stage.folder.path, 0o777)
        let services = try ServiceFolder.all(beside: stage.folder)
        defer { for service in services { service.remove() } }
        let program = try self.program(in: stage, asRoot: asRoot)
        let paths = services.map(\.socket).joined(separator: ",")
        // The shell adds Pintle's number, which is its own, and descriptors that are not meant for the command.
        let shell = "exec 7<>/dev/tcp/127.0.0.1/\(origin.port) 8<. && exec \"$@\" $$"
        let process = try ChildProcess(
            "/bin/bash",
            ["-c", shell, "bash"] + program + [
                "run", "--isolate", "--fail-on", "never", "--", Self.python, "escape.py",
                asRoot ? "--all-of-root" : "--all", "\(origin.port)", name, paths,
            ], environment: RunStage.environment.merging(["HOME": "/nonexistent"]) { $1 }, folder: stage.folder.path)
        #expect(try process.waitForExit() == 0 && process.output.count >= 40, "\(process.lines)")
        for line in process.output {
            // 1 is Python's for an exception.
            let isException = line.contains(" 1 ") && (line.contains("Error: ") || line.contains("socket.gaierror: "))
            #expect(isException, "\(line)")
        }
        #expect(origin.requests.isEmpty)
    }

    /// The command of a user for Pintle and the attempts, which are at a place that such a user may enter.
    private func program(in stage: RunStage, asRoot: Bool) throws -> [String] {
        try FileManager.default.copyItem(atPath: Self.script, toPath: "\(stage.folder.path)/escape.py")
        guard geteuid() == 0, !asRoot else { return [PintleProcess.binary] }
        let copy = "\(stage.folder.path)/pintle"
        try FileManager.default.copyItem(atPath: PintleProcess.binary, toPath: copy)
        let owner = "\(stage.folder.path)/owner"
        try FileManager.default.copyItem(atPath: "/usr/bin/id", toPath: owner)
        chmod(owner, 0o4755)
        for name in ["pintle.yaml", "escape.py"] { chmod("\(stage.folder.path)/\(name)", 0o644) }
        return ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy]
    }
}
