// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CPintleProcess
internal import Glibc
internal import PintlePolicy
internal import PintleSystem

/// The command line. Each command has its own file; this one selects a command, and turns errors into exit codes.
@main
struct Pintle: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let help: [any ParsableCommand.Type] = CompletionScript.isBeingWritten ? [Help.self] : []
        return CommandConfiguration(
            commandName: "pintle",
            abstract: "A local HTTP forward proxy that matches, rewrites, pins, checks and counts every request.",
            discussion: """
                pintle help COMMAND prints the help of a command, and pintle help TOPIC a page of the reference; the topics are \
                \(HelpTopic.subjects.map(\.rawValue).joined(separator: ", ")).
                """,
            version: Version.line,
            subcommands: Self.commands + help)
    }

    /// The commands below this one, without ``Help``.
    static var commands: [any ParsableCommand.Type] {
        [
            Init.self, Serve.self, Run.self, Env.self, Doctor.self, Reload.self, Status.self, Top.self, Tail.self,
            Wait.self, Purge.self, Check.self, TestCommand.self, Tapes.self, Explain.self, Convert.self,
            Audit.self, Fetch.self,
            Pins.self,
            Verify.self, VerifyRun.self, CA.self, Config.self, VersionCommand.self,
        ]
    }

    static func main() async {
        pintle_tell_of_fatal_signals()
        guard CommandLine.argc > 1 else {
            // A script that lost its arguments must not continue as if the command had succeeded.
            Output.error(Self.helpMessage())
            Glibc.exit(ProcessExit.usage.rawValue)
        }
        if let planned = Self.planned(CommandLine.arguments.dropFirst()) {
            Output.error("pintle \(planned): not built yet in this version")
            Glibc.exit(ProcessExit.usage.rawValue)
        }
        do {
            var command = try Self.parsed(Inherited.arguments.dropFirst())
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

    /// Commands of later versions. If they were called unknown, users would look for a spelling mistake.
    private static let plannedCommands: Set<String> = [
        "fleet", "replay",
    ]

    private static func planned(_ arguments: ArraySlice<String>) -> String? {
        arguments.first.flatMap { Self.plannedCommands.contains($0) ? $0 : nil }
    }

    /// Returns the command with its arguments.
    private static func parsed(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        guard arguments.first == Help._commandName else { return try Self.parseAsRoot(Array(arguments)) }
        return try Help.parseAsRoot(Array(arguments.dropFirst()))
    }

    private static func leave(with failure: CommandFailure) -> Never {
        for line in failure.lines { Output.error(line) }
        Glibc.exit(failure.code.rawValue)
    }

    /// Ends the process with the parser's message. Help and version are data; all other messages are errors of usage.
    private static func leave(with error: any Error) -> Never {
        let message = Self.fullMessage(for: error)
        if Self.exitCode(for: error).isSuccess {
            do throws(CommandFailure) {
                // The lines of a script stay as they are.
                if CompletionScript.isBeingWritten {
                    try Output.data(CompletionScript(message).text)
                } else {
                    try Output.prose(message)
                }
            } catch {
                Self.leave(with: error)
            }
            Glibc.exit(ProcessExit.success.rawValue)
        }
        Output.error(message)
        // For `run`, a code of 2 could be mistaken for the command's own.
        let isRun = CommandLine.arguments.dropFirst().first == "run"
        let hint = KnownCommand.reading(Self.self).map { UsageHint(program: $0) }
        if let sentence = hint?.sentence(for: Array(CommandLine.arguments.dropFirst())) { Output.error(sentence) }
        Glibc.exit((isRun ? ProcessExit.runFailed : .usage).rawValue)
    }
}

/// The exit codes, as documented.
enum ProcessExit: Int32, CaseIterable {
    /// The command succeeded.
    case success = 0
    /// The command ran and has findings.
    case found = 1
    /// The command line is wrong.
    case usage = 2
    /// The configuration is invalid.
    case configuration = 3
    /// The work could not be completed: an address is in use, a file cannot be read.
    case incomplete = 4
    /// `run`: Pintle failed, and the command was not run or its end is not known.
    case runFailed = 125
    /// `run`: the command exists, but cannot be executed.
    case cannotExecute = 126
    /// `run`: there is no such command.
    case notFound = 127
}

/// The early end of a command: its messages, and its exit code.
struct CommandFailure: Error {
    let code: ProcessExit
    let lines: [String]
    /// The log format of the proxy, if it is known.
    var logFormat: LogConfiguration.Format?

    init(_ code: ProcessExit, _ lines: String...) { self.init(code, lines: lines) }

    init(_ code: ProcessExit, lines: [String]) {
        self.code = code
        self.lines = lines
    }
}

/// Writes data to standard output, and everything else to standard error.
enum Output {
    /// Writes data. Characters that control terminals are escaped as in JSON, because data may quote certificates, files
    /// and peers.
    ///
    /// - Throws: an error if the text cannot be written. An incomplete report must not look like a success.
    static func data(_ text: String) throws(CommandFailure) {
        try Self.bytes(Array("\(text.showable(keepingLines: true))\n".utf8))
    }

    /// Writes text for people, such as help and findings. For a terminal, long lines are broken between words; otherwise
    /// this is like ``data(_:)``.
    static func prose(_ text: String) throws(CommandFailure) {
        try Self.bytes(Array("\(Self.wrapped(text.showable(keepingLines: true), for: STDOUT_FILENO))\n".utf8))
    }

    /// Returns the text with lines broken for the terminal of `descriptor`; unchanged if that is not a terminal.
    static func wrapped(_ text: String, for descriptor: Int32) -> String {
        Terminal.width(of: descriptor).map { TerminalText(width: $0).wrapped(text) } ?? text
    }

    /// Writes bytes unchanged.
    static func bytes(_ bytes: [UInt8]) throws(CommandFailure) {
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try FileWriting.writeAll(bytes, to: STDOUT_FILENO) }
        }
        if case .failure(let error) = written {
            throw CommandFailure(.incomplete, "pintle: standard output cannot be written: \(error)")
        }
    }

    /// Writes a message to standard error. Characters that control terminals are escaped, because messages quote peers.
    static func error(_ text: String) {
        let shown = text.showingSystemBytes.showable(keepingLines: true)
        Self.note("\(Self.wrapped(shown, for: STDERR_FILENO))\n")
    }

    /// Writes text that will be overwritten later, and so has no line end of its own.
    static func status(_ text: String) { Self.note(text) }

    /// Writes to standard error. Errors are ignored, because there is no other place to report them.
    private static func note(_ text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(SystemError) { try FileWriting.writeAll(bytes, to: STDERR_FILENO) } catch {}
        }
    }
}
