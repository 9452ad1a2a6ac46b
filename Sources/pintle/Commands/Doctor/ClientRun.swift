// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// One run of a program with a time limit, without input, and with its output in a file.
struct ClientRun {
    /// A signal arrived that ends this process. The program was killed.
    struct Interruption: Error {
        let signal: Int32
    }

    /// The end of a program, with its output.
    struct Ended: Sendable, Equatable {
        /// The program's exit; nil if it took too long and was killed.
        let end: ChildEnd?
        let output: String

        var isSuccess: Bool { self.end == .exited(0) }
    }

    /// The signals that a ``SignalPipe`` must catch.
    static let signals = [SIGCHLD, SIGINT, SIGTERM, SIGHUP]
    static let patience = Duration.seconds(30)
    /// The maximum output in bytes; longer output is ignored as a whole.
    private static let mostOutput = 1 << 20

    /// The path of the program.
    let program: String
    let arguments: [String]
    let variables: [ProxyEnvironment.Variable]
    /// The working directory; it must exist.
    let folder: String

    /// Runs the program.
    ///
    /// - Throws: ``Interruption``.
    func run(_ signals: SignalPipe) throws(Interruption) -> Ended {
        let output = self.folder + "/output"
        guard let process = self.spawn(writingTo: output) else {
            return Ended(end: .exited(126), output: "it cannot be started: \(SystemError.last)")
        }
        let deadline = ContinuousClock.now + Self.patience
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, WNOHANG)
            if found == process { break }
            let isLate = ContinuousClock.now >= deadline
            let ending = isLate ? nil : signals.wait(until: deadline).first { $0.number != SIGCHLD }?.number
            guard isLate || ending != nil else { continue }
            // Kills the program together with all processes that it has started.
            kill(-process, SIGKILL)
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            if let ending { throw Interruption(signal: ending) }
            return Ended(end: nil, output: Self.read(output))
        }
        return Ended(end: ChildEnd(status: status), output: Self.read(output))
    }

    /// Starts the program.
    ///
    /// - Returns: nil with `errno` if that fails.
    private func spawn(writingTo output: String) -> pid_t? {
        // Changes the doctor's own working directory, which it does not use otherwise.
        guard chdir(self.folder) == 0 else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A process group of its own, which can be killed as a whole, and signals as a shell would leave them.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = ([self.program] + self.arguments).map { strdup($0) } + [nil]
        var environment =
            ChildCommand.environment(with: self.variables).map { bytes in
                bytes.withUnsafeBytes { text in text.baseAddress.flatMap { strndup($0, text.count) } }
            } + [nil]
        defer { for text in words + environment { free(text) } }
        var process: pid_t = 0
        errno = posix_spawn(&process, self.program, &actions, &attributes, &words, &environment)
        return errno == 0 ? process : nil
    }

    private static func read(_ file: String) -> String {
        String(decoding: (FileBytes.read(file, upTo: self.mostOutput) ?? []), as: UTF8.self)
    }
}
