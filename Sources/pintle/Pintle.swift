// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CPintleProcess
internal import Glibc
internal import PintlePolicy
internal import PintleSystem

/// The command line. One file per command; this one only chooses among them and turns what they throw into an exit code.
@main
struct Pintle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pintle",
        abstract: "A local HTTP forward proxy that matches, rewrites, pins, checks and counts every request.",
        version: Version.line,
        subcommands: [
            Serve.self, Run.self, Env.self, Doctor.self, Reload.self, Status.self, Purge.self, Check.self, Explain.self,
            Audit.self, Fetch.self,
            Pins.self,
            Verify.self, CA.self, VersionCommand.self,
        ])

    static func main() async {
        pintle_tell_of_fatal_signals()
        guard CommandLine.argc > 1 else {
            // A script whose arguments were lost must not go on as if something had been done.
            Output.error(Self.helpMessage())
            Glibc.exit(ProcessExit.usage.rawValue)
        }
        if let planned = Self.planned(CommandLine.arguments.dropFirst()) {
            Output.error("pintle \(planned): not built yet in this version")
            Glibc.exit(ProcessExit.usage.rawValue)
        }
        do {
            var command = try Self.parseAsRoot(Array(Inherited.arguments.dropFirst()))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Self.leave(with: failure)
        } catch {
            Self.leave(with: error)
        }
    }

    /// Commands that later versions have; to call them unknown would send people looking for a spelling mistake.
    private static let plannedCommands: Set<String> = [
        "top", "wait", "config", "tail", "fleet", "replay", "test", "tapes", "verify-run",
    ]
    /// Topics that `help` will have beside the commands.
    private static let plannedTopics: Set<String> = [
        "configuration", "fields", "problems", "counters", "filters", "exit-codes", "environment", "signals",
    ]

    private static func planned(_ arguments: ArraySlice<String>) -> String? {
        guard let name = arguments.first else { return nil }
        if Self.plannedCommands.contains(name) { return name }
        guard name == "help", let topic = arguments.dropFirst().first, Self.plannedTopics.contains(topic) else {
            return nil
        }
        return "help \(topic)"
    }

    private static func leave(with failure: CommandFailure) -> Never {
        for line in failure.lines { Output.error(line) }
        Glibc.exit(failure.code.rawValue)
    }

    /// Help and version are data; every other word of the parser is about usage.
    private static func leave(with error: any Error) -> Never {
        let message = Self.fullMessage(for: error)
        if Self.exitCode(for: error).isSuccess {
            do throws(CommandFailure) {
                try Output.prose(message)
            } catch {
                Self.leave(with: error)
            }
            Glibc.exit(ProcessExit.success.rawValue)
        }
        Output.error(message)
        // A code of 2 would be the command's own.
        let isRun = CommandLine.arguments.dropFirst().first == "run"
        let commands = Self.configuration.subcommands.map { $0._commandName }
        if let hint = UsageHint.sentence(for: Array(CommandLine.arguments.dropFirst()), commands: commands) {
            Output.error(hint)
        }
        Glibc.exit((isRun ? ProcessExit.runFailed : .usage).rawValue)
    }
}

/// The exit codes of the contract.
enum ProcessExit: Int32 {
    /// It worked.
    case success = 0
    /// The job ran and found something.
    case found = 1
    /// The command line is wrong.
    case usage = 2
    /// The configuration is invalid.
    case configuration = 3
    /// It could not be completed: an address in use, an unreadable file.
    case incomplete = 4
    /// `run`: Pintle failed, and the command was not run or its end is not known.
    case runFailed = 125
    /// `run`: the command is there, but cannot be executed.
    case cannotExecute = 126
    /// `run`: there is no such command.
    case notFound = 127
}

/// Why a command ends early: its last words, and its exit code.
struct CommandFailure: Error {
    let code: ProcessExit
    let lines: [String]
    /// How a proxy would have logged, where that is known.
    var logFormat: LogConfiguration.Format?

    init(_ code: ProcessExit, _ lines: String...) { self.init(code, lines: lines) }

    init(_ code: ProcessExit, lines: [String]) {
        self.code = code
        self.lines = lines
    }
}

/// Data goes to standard output, everything else to standard error.
enum Output {
    /// What steers terminals is escaped as in JSON: data quote certificates, files and what peers have sent.
    ///
    /// - Throws: where it cannot be written. A report that is not whole must not look like success.
    static func data(_ text: String) throws(CommandFailure) {
        try Self.bytes(Array("\(text.showable(keepingLines: true))\n".utf8))
    }

    /// Data for people, such as help and findings: a terminal gets no line that it would break within a word. Elsewhere they are
    /// ``data(_:)``.
    static func prose(_ text: String) throws(CommandFailure) {
        try Self.bytes(Array("\(Self.wrapped(text.showable(keepingLines: true), for: STDOUT_FILENO))\n".utf8))
    }

    /// Breaks lines that are too long for the terminal that `descriptor` leads to; changes nothing where it is none.
    static func wrapped(_ text: String, for descriptor: Int32) -> String {
        Terminal.width(of: descriptor).map { TerminalText(width: $0).wrapped(text) } ?? text
    }

    /// As they are.
    static func bytes(_ bytes: [UInt8]) throws(CommandFailure) {
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try FileWriting.writeAll(bytes, to: STDOUT_FILENO) }
        }
        if case .failure(let error) = written {
            throw CommandFailure(.incomplete, "pintle: standard output cannot be written: \(error)")
        }
    }

    /// What steers terminals is escaped: messages quote what peers have sent.
    static func error(_ text: String) {
        let shown = text.showingSystemBytes.showable(keepingLines: true)
        Self.note("\(Self.wrapped(shown, for: STDERR_FILENO))\n")
    }

    /// What is written over later: text without a line end of its own.
    static func status(_ text: String) { Self.note(text) }

    /// Where this fails nobody is left to tell.
    private static func note(_ text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(SystemError) { try FileWriting.writeAll(bytes, to: STDERR_FILENO) } catch {}
        }
    }
}
