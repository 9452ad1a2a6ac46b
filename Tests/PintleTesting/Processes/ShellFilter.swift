// SPDX-License-Identifier: Apache-2.0

/// Runs programs of the system that turn bytes into bytes.
package enum ShellFilter {
    /// Runs a shell command.
    ///
    /// - Parameter input: its standard input.
    /// - Returns: its standard output.
    /// - Throws: ``TestFailure`` with its output, if it fails.
    package static func run(_ command: String, _ input: [UInt8] = []) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try folder.write(input, to: "input")
        let process = try ChildProcess("/bin/sh", ["-c", "{ \(command); } <input >output"], folder: folder.path)
        let code = try process.waitForExit()
        guard code == 0 else {
            throw TestFailure("\(command) exited with \(code): \(process.errors.joined(separator: "\n"))")
        }
        guard let output = fileBytes("\(folder.path)/output") else { throw TestFailure("\(command) left no output") }
        return output
    }
}
