// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc

/// The command line. One file per command; this one only chooses among them and turns what they throw into an exit code.
@main
struct Pintle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pintle",
        abstract: "A local HTTP forward proxy that matches, rewrites, pins, checks and counts every request.",
        version: Version.line,
        subcommands: [
            Serve.self, Reload.self, Check.self, Explain.self, Audit.self, Fetch.self, Pins.self, Verify.self,
            VersionCommand.self,
        ])

    static func main() async {
        if let name = CommandLine.arguments.dropFirst().first, Self.plannedCommands.contains(name) {
            Output.error("pintle \(name): not built yet in this version")
            Glibc.exit(ProcessExit.usage.rawValue)
        }
        do {
            var command = try Self.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            for line in failure.lines { Output.error(line) }
            Glibc.exit(failure.code.rawValue)
        } catch {
            Self.leave(with: error)
        }
    }

    /// Commands that later versions have; to call them unknown would send people looking for a spelling mistake.
    private static let plannedCommands: Set<String> = [
        "run", "ca", "env", "doctor", "top", "status", "wait",
        "config",
    ]

    /// Help and version are data; every other word of the parser is about usage.
    private static func leave(with error: any Error) -> Never {
        let message = Self.fullMessage(for: error)
        if Self.exitCode(for: error).isSuccess {
            Output.data(message)
            Glibc.exit(ProcessExit.success.rawValue)
        }
        Output.error(message)
        Glibc.exit(ProcessExit.usage.rawValue)
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
}

/// Why a command ends early: its last words, and its exit code.
struct CommandFailure: Error {
    let code: ProcessExit
    let lines: [String]

    init(_ code: ProcessExit, _ lines: String...) { self.init(code, lines: lines) }

    init(_ code: ProcessExit, lines: [String]) {
        self.code = code
        self.lines = lines
    }
}

/// Data goes to standard output, everything else to standard error.
enum Output {
    static func data(_ text: String) { Self.write("\(text)\n", to: STDOUT_FILENO) }
    /// As they are.
    static func bytes(_ bytes: [UInt8]) { Self.write(bytes[...], to: STDOUT_FILENO) }
    /// What steers terminals is escaped: messages quote what peers have sent.
    static func error(_ text: String) { Self.write("\(text.showable)\n", to: STDERR_FILENO) }
    /// What is written over later: text without a line end of its own.
    static func status(_ text: String) { Self.write(text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        Self.write(Array(text.utf8)[...], to: descriptor)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

extension String {
    /// The text with controls and invisible marks as JSON escapes them, so that JSON stays what it is; line ends stay.
    fileprivate var showable: String {
        var text = ""
        for scalar in self.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where scalar != "\n", .format, .lineSeparator, .paragraphSeparator:
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    text += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
