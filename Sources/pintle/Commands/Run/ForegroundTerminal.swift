// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The terminal that Pintle runs at, where it is an interactive shell's foreground job by itself.
///
/// The child then gets a process group of its own and the foreground: what is typed reaches it alone, and what it does to its
/// group does not reach Pintle. Anywhere else it stays in Pintle's group, where keys and shells reach both: in a pipeline,
/// whose other programs share the terminal; in a script, which must end by Ctrl-C as well; in the background; and where no
/// shell would continue what Ctrl-Z has stopped.
struct ForegroundTerminal {
    let descriptor: Int32 = STDIN_FILENO
    private let group: pid_t

    /// - Returns: nil where the child is to stay in this process's group.
    init?() {
        let (own, parent) = (getpid(), getppid())
        guard Self.isOneTerminal, getpgrp() == own, tcgetpgrp(STDIN_FILENO) == own else { return nil }
        // A shell that looks after jobs is another group of the same session.
        guard getsid(parent) == getsid(0), getpgid(parent) != own else { return nil }
        self.group = own
    }

    /// True where the three standard descriptors are the same terminal: with one that is not, there is a pipeline.
    private static var isOneTerminal: Bool {
        var devices: Set<UInt> = []
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            var status = stat()
            guard isatty(descriptor) == 1, fstat(descriptor, &status) == 0 else { return false }
            devices.insert(UInt(status.st_rdev))
        }
        return devices.count == 1
    }

    /// True if a shell has put this process's group into the foreground, and the child's does not have it yet.
    var isToBeLent: Bool { tcgetpgrp(self.descriptor) == self.group }

    /// Gives the foreground to the child's group where this process's group has it.
    func lend(to child: pid_t) { self.move(from: self.group, to: child) }

    /// Takes the foreground back where the child's group has it.
    func takeBack(from child: pid_t) { self.move(from: child, to: self.group) }

    /// SIGTTOU would stop a group in the background that does this.
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

/// The modes of the terminal on standard input, as they were before the child.
struct TerminalModes {
    private var modes = termios()

    /// - Returns: nil where standard input is no terminal.
    init?() {
        guard tcgetattr(STDIN_FILENO, &self.modes) == 0 else { return nil }
    }

    /// Undoes what a child has left that was killed before it could. What one leaves that ends by itself is meant.
    func restore() {
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
        var modes = self.modes
        ForegroundTerminal.withoutStopping { tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) }
    }
}
