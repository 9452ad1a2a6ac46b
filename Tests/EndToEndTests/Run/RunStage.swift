// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting

/// A folder with a configuration, and commands that run under it.
struct RunStage {
    let folder: TemporaryFolder

    /// - Parameter configuration: YAML without `version`.
    init(_ configuration: String = "") throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("version: 1\n\(configuration)\n", to: "pintle.yaml")
    }

    static let environment = ["PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]

    /// Starts `pintle run OPTIONS -- COMMAND`.
    func start(
        _ options: [String] = [], environment: [String: String] = [:], _ command: [String]
    ) throws -> ChildProcess {
        try ChildProcess(
            PintleProcess.binary, ["run"] + options + ["--"] + command,
            environment: Self.environment.merging(environment) { $1 }, folder: self.folder.path)
    }

    /// Runs a command to its end.
    func run(
        _ options: [String] = [], environment: [String: String] = [:], _ command: [String]
    ) throws -> ChildProcess {
        let process = try self.start(options, environment: environment, command)
        try process.waitForExit()
        return process
    }

    func start(_ command: [String]) throws -> ChildProcess { try self.start([], command) }

    func run(_ command: [String]) throws -> ChildProcess { try self.run([], command) }

    /// Starts `pintle run` from a shell, in whose text `$pintle` is the program.
    func shell(_ text: String) throws -> ChildProcess {
        let process = try ChildProcess(
            "/bin/bash", ["-c", text],
            environment: Self.environment.merging(["pintle": PintleProcess.binary]) { $1 }, folder: self.folder.path)
        try process.waitForExit()
        return process
    }

    /// A file of the folder.
    func text(_ name: String) -> String {
        String(decoding: fileBytes("\(self.folder.path)/\(name)") ?? [], as: UTF8.self)
    }

    /// A report in JSON that a run has written.
    func report(_ name: String = "report.json") throws -> JSONObject { try jsonObject(self.text(name)) }
}

extension JSONObject {
    func object(_ key: String) -> JSONObject { self[key] as? JSONObject ?? [:] }
}
