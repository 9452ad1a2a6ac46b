// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting

/// A program on a terminal. The terminal's output is recorded in pieces, each followed by a NUL and a line end.
final class PseudoTerminal: Sendable {
    private let process: ChildProcess
    /// The program's process id.
    let pid: Int32

    private static let script = """
        import fcntl, os, pty, struct, sys, termios
        pid, terminal = pty.fork()
        if pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[2]), 0, 0))
            if sys.argv[1]:
                os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600), 1)
            os.execv(sys.argv[3], sys.argv[3:])
        os.write(1, b"pid %d\\n" % pid)
        try:
            while piece := os.read(terminal, 65536):
                os.write(1, piece + b"\\0\\n")
        except OSError:
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        sys.exit(code if code >= 0 else 128 - code)
        """

    /// - Parameters:
    ///   - output: a file for standard output, in place of the terminal.
    ///   - columns: the characters of a line; 0 for a terminal that does not say.
    init(
        _ arguments: [String], environment: [String: String] = ["TERM": "xterm"], output: String = "", columns: Int = 0,
        folder: String? = nil
    ) throws {
        self.process = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.script, output, "\(columns)", PintleProcess.binary] + arguments,
            environment: environment, folder: folder)
        let line = try self.process.waitForLine("its number") { $0.hasPrefix("pid ") }
        guard let pid = Int32(line.dropFirst(4)) else { throw TestFailure("no process number: \(line)") }
        self.pid = pid
    }

    /// Everything that was written to the terminal.
    var text: String {
        self.process.output.dropFirst().map { $0.last == "\0" ? String($0.dropLast()) : $0 + "\n" }.joined()
    }

    func waitForText(_ text: String) throws {
        try self.process.waitForLine(text) { $0.contains(text) }
    }

    func signal(_ number: Int32) { kill(self.pid, number) }

    @discardableResult
    func waitForExit() throws -> Int32 { try self.process.waitForExit() }
}
