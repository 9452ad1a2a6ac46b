// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The terminal of Pintle; exists only if Pintle alone is the foreground job of an interactive shell.
///
/// In this case the child gets its own process group and the foreground: keys reach only the child, and signals that it
/// sends to its group do not reach Pintle. Otherwise it stays in Pintle's group, where keys and shells reach both: in a
/// pipeline, because its other programs share the terminal; in a script, which Ctrl-C must end too; in the background; and
/// if no shell would continue the job after Ctrl-Z.
struct ForegroundTerminal {
    let descriptor: Int32 = STDIN_FILENO
    private let group: pid_t

    /// - Returns: nil if the child must stay in this process's group.
    init?() {
        let (own, parent) = (getpid(), getppid())
        guard Self.isOneTerminal, getpgrp() == own, tcgetpgrp(STDIN_FILENO) == own else { return nil }
        // A shell with job control is in another group of the same session.
        guard getsid(parent) == getsid(0), getpgid(parent) != own else { return nil }
        self.group = own
    }

    /// True if the three standard descriptors are the same terminal; otherwise there is a pipeline or a redirection.
    private static var isOneTerminal: Bool {
        var devices: Set<UInt> = []
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            var status = stat()
            guard isatty(descriptor) == 1, fstat(descriptor, &status) == 0 else { return false }
            devices.insert(UInt(status.st_rdev))
        }
        return devices.count == 1
    }

    /// True if a shell has put this process's group into the foreground, and the child's group has not got it yet.
    var isToBeLent: Bool { tcgetpgrp(self.descriptor) == self.group }

    /// Gives the foreground to the child's group if this process's group has it.
    func lend(to child: pid_t) { self.move(from: self.group, to: child) }

    /// Takes the foreground back if the child's group has it.
    func takeBack(from child: pid_t) { self.move(from: child, to: self.group) }

    /// Changes the foreground group. Without the block, SIGTTOU would stop a background group that does this.
    private func move(from: pid_t, to: pid_t) {
        Self.withoutStopping {
            if tcgetpgrp(self.descriptor) == from { tcsetpgrp(self.descriptor, to) }
        }
    }

    /// Runs `body` with SIGTTOU blocked.
    static func withoutStopping(_ body: () -> Void) {
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        sigaddset(&signals, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}

/// The modes of the terminal on standard input before the start of the child.
struct TerminalModes {
    private var modes = termios()

    /// - Returns: nil if standard input is not a terminal.
    init?() {
        guard tcgetattr(STDIN_FILENO, &self.modes) == 0 else { return nil }
    }

    /// Restores the modes after a child that was killed before it could. Modes that a child leaves when it ends by itself
    /// are kept.
    func restore() {
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        var modes = self.modes
        ForegroundTerminal.withoutStopping { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
    }
}
