// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// Shows long text on a terminal a screen at a time.
enum Pager {
    /// A program that pages, with its arguments.
    struct Program: Equatable {
        let words: [String]
        /// True if it passes the escapes of bold text on to the terminal.
        let takesEscapes: Bool
    }

    /// Writes a page: through a pager if standard output is a terminal, else as it is.
    static func show(_ page: ReferencePage) throws(CommandFailure) {
        let environment = Inherited.environment
        let terminal = Terminal(environment: environment)
        guard terminal.showsOutput else { return try Output.data(ReferenceText(page).text) }
        let program = Self.program(environment) { try? ProgramPath.find($0, search: environment["PATH"]) }
        let hasBold = terminal.hasColour && environment["TERM", default: "dumb"] != "dumb"
        let text = ReferenceText(page, isEmphasized: hasBold && program?.takesEscapes != false).text
        let bytes = Array("\(Output.wrapped(text, for: STDOUT_FILENO))\n".utf8)
        if let program, Self.run(program, bytes) { return }
        try Output.bytes(bytes)
    }

    /// Returns the pager that an environment asks for: `PAGER`, run by the shell, else `less`; nil if there is none, or if
    /// `PAGER` is empty.
    ///
    /// - Parameter find: returns the path of a program.
    static func program(_ environment: [String: String], find: (String) -> String?) -> Program? {
        if let pager = environment["PAGER"] {
            // Its options are not known, and less without -R shows escapes as characters.
            return pager.isEmpty ? nil : Program(words: ["/bin/sh", "-c", pager], takesEscapes: false)
        }
        guard environment["TERM", default: "dumb"] != "dumb" else { return nil }
        return find("less").map { Program(words: [$0, "-FRX"], takesEscapes: true) }
    }

    /// Passes text to a pager and waits for its end.
    ///
    /// - Returns: false if there is no such program, so that nothing was shown.
    private static func run(_ program: Program, _ bytes: [UInt8]) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        let (readingEnd, writingEnd) = (ends[0], ends[1])
        // The pager would wait for its own copy of the writing end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Ctrl-C is the pager's key. This process would leave it behind without its terminal.
        for number in [SIGINT, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
        let process = Self.spawn(program.words, reading: readingEnd)
        close(readingEnd)
        // A reader that quits early wants no more.
        if process != nil {
            bytes.withUnsafeBytes { bytes in
                do throws(SystemError) { try FileWriting.writeAll(bytes, to: writingEnd) } catch {}
            }
        }
        close(writingEnd)
        guard let process else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        switch ChildEnd(status: status) {
        // By convention of shells there is no such program, or it cannot be run.
        case .exited(126), .exited(127): return false
        default: return true
        }
    }

    /// - Returns: nil if the program cannot be started.
    private static func spawn(_ arguments: [String], reading descriptor: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, STDIN_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        return posix_spawn(&process, arguments[0], &actions, &attributes, &words, pintle_environment()) == 0
            ? process : nil
    }
}
