// SPDX-License-Identifier: Apache-2.0

/// Programs of the system that make bytes of bytes.
package enum ShellFilter {
    /// Runs a command of the shell.
    ///
    /// - Parameter input: what it reads on standard input.
    /// - Returns: what it writes to standard output.
    /// - Throws: ``TestFailure`` with what it says, when it fails.
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
