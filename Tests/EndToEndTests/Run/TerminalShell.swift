// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// An interactive shell at a terminal, driven by a script in Python: its standard library has pseudo-terminals.
enum TerminalShell {
    /// Seconds. One script has many waits, each with its own limit.
    private static let limit = 15.0 * 60

    /// An interactive shell at a separate terminal, and the output that has appeared there.
    static let python = """
        import fcntl, os, pty, select, signal, struct, termios, time

        patience = float(os.environ["patience"])

        class Shell:
            def __init__(self):
                self.pid, self.fd = pty.fork()
                if self.pid == 0:
                    os.environ.update(PS1="<prompt>", TERM="xterm")
                    os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])
                self.seen = b""
                self.expect("<prompt>")

            def expect(self, text):
                end = time.monotonic() + patience
                while text.encode() not in self.seen:
                    if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                        raise SystemExit("waited %s s for %r: %r" % (patience, text, self.seen))
                    try: piece = os.read(self.fd, 4096)
                    except OSError: piece = b""
                    if not piece: raise SystemExit("the terminal ended before %r: %r" % (text, self.seen))
                    self.seen += piece
                before, self.seen = self.seen.split(text.encode(), 1)
                return before.decode(errors="replace")

            def type(self, text): os.write(self.fd, text.encode())

            def resize(self, lines, columns):
                fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

            def modes(self): return termios.tcgetattr(self.fd)[:4]

            # Waits until a job has the foreground; the number of its first process.
            def job(self):
                until("a job", lambda: os.tcgetpgrp(self.fd) != self.pid)
                return os.tcgetpgrp(self.fd)

        def until(what, holds):
            end = time.monotonic() + patience
            while not holds():
                if time.monotonic() > end: raise SystemExit("asked %s s for %s" % (patience, what))

        # A file in /proc; empty once the process is gone.
        def text(process, name):
            try:
                with open("/proc/%s/%s" % (process, name)) as file: return file.read()
            except OSError: return ""

        def catches(process, number):
            lines = text(process, "status").splitlines()
            return any(line.startswith("SigCgt") and int(line.split()[1], 16) >> (number - 1) & 1 for line in lines)

        def children(process):
            try: threads = os.listdir("/proc/%d/task" % process)
            except OSError: threads = []
            return [int(child) for thread in threads for child in text(process, "task/%s/children" % thread).split()]

        run = os.environ["pintle"] + " run -- /usr/bin/python3 command.py\\n"

        """

    /// Performs a script that uses `shell.py`, which the folder has.
    static func perform(_ script: String, in folder: TemporaryFolder) async throws {
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", "from shell import *\n\(script)\nprint('passed')"],
            environment: RunStage.environment.merging([
                "pintle": PintleProcess.binary, "patience": "\(Patience.seconds)",
            ]) { $1 },
            folder: folder.path)
        let code = try await process.exit(within: Self.limit)
        #expect(code == 0 && process.output.last == "passed", "\(process.lines)")
    }
}
