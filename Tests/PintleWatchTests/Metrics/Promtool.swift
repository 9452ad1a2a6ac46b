// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting

/// Prometheus' own tool, and its library for Python, which read what Pintle writes.
enum Promtool {
    static let path = "/usr/bin/promtool"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: Self.path)
    static let requirement = "promtool is not installed; Debian has it in the package prometheus"

    static let library = "/usr/lib/python3/dist-packages/prometheus_client"
    static let hasLibrary = FileManager.default.fileExists(atPath: Self.library)
    static let libraryRequirement = "prometheus_client is not installed; Debian has it in python3-prometheus-client"

    /// Runs the tool.
    ///
    /// - Returns: the lines of both outputs.
    /// - Throws: ``TestFailure`` with these lines if the exit code is not 0.
    @discardableResult static func run(_ arguments: [String], input: String = "", folder: String? = nil) throws
        -> [String]
    {
        let place = try TemporaryFolder()
        let file = try place.write(input, to: "input")
        // The shell gives it a standard input, which it reads metrics from.
        return try Self.finish(
            ChildProcess(
                "/bin/sh", ["-c", "exec \"$@\" < \"$0\"", file, Self.path] + arguments, folder: folder ?? place.path))
    }

    /// Runs a script of Python. Its arguments are paths of files with the texts.
    static func python(_ script: String, _ texts: [String]) throws -> [String] {
        let place = try TemporaryFolder()
        let files = try texts.indices.map { try place.write(texts[$0], to: "text\($0)") }
        return try Self.finish(ChildProcess("/usr/bin/python3", ["-X", "utf8", "-c", script] + files))
    }

    private static func finish(_ child: ChildProcess) throws -> [String] {
        let code = try child.waitForExit()
        let said = child.lines.map(\.text)
        guard code == 0 else { throw TestFailure("exit code \(code):\n\(said.joined(separator: "\n"))") }
        return said
    }
}
