// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Help for commands, and the pages of the reference.
struct HelpTests {
    @Test func `a page is plain text where no terminal reads it`() throws {
        let process = try PintleProcess.run(["help", "exit-codes"])
        #expect(process.exitCode == 0 && process.errors.isEmpty)
        #expect(process.output.first == "EXIT CODES" && process.output.contains("125"), "\(process.lines)")
        #expect(process.output.allSatisfy { !$0.contains("\u{1B}") })
    }

    @Test(arguments: [
        ["help", "run"], ["help", "pins"], ["help", "pins", "show"], ["help", "config", "schema"],
    ])
    func `help of a command is that of its option`(arguments: [String]) throws {
        let help = try PintleProcess.run(arguments)
        let option = try PintleProcess.run(arguments.dropFirst() + ["--help"])
        #expect(help.exitCode == 0 && help.output == option.output && !help.output.isEmpty, "\(help.lines)")
    }

    @Test(arguments: [["help"], ["--help"]])
    func `help alone lists commands and topics`(arguments: [String]) throws {
        let process = try PintleProcess.run(arguments)
        let text = process.output.joined(separator: " ")
        #expect(process.exitCode == 0 && text.contains("exit-codes") && text.contains("verify-run"), "\(process.lines)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions have the topics and the commands that help takes`(shell: String) throws {
        let process = try PintleProcess.run(["--generate-completion-script", shell])
        let lines = process.output
        #expect(process.exitCode == 0 && process.errors.isEmpty, "\(process.errors)")
        // Only help takes topics.
        let topics = lines.filter { $0.contains("exit-codes") }
        #expect(topics.count == 1 && topics.allSatisfy { $0.contains("signals") && $0.contains("verify-run") })
        // The parser's own help is not there beside it.
        #expect(lines.count { $0 == "_pintle_help() {" } == (shell == "fish" ? 0 : 1))
        #expect(!lines.contains { $0.contains("help|help)") || $0.contains("Show subcommand help information.") })
    }

    @Test func `help of help lists the topics with their subjects`() throws {
        for arguments in [["help", "--help"], ["help", "help"]] {
            let process = try PintleProcess.run(arguments)
            #expect(
                process.exitCode == 0
                    && process.output.contains("USAGE: pintle help [<command-or-topic> ...] [--format <format>]"))
            #expect(process.output.contains { $0.hasPrefix("  signals ") }, "\(process.lines)")
        }
    }

    @Test(arguments: [
        (
            ["help", "fileds"],
            "pintle help: there is no command and no topic \"fileds\"; did you mean: pintle help fields"
        ),
        (
            ["help", "pins", "sho"],
            "pintle help: there is no command below pins \"sho\"; did you mean: pintle help pins show"
        ),
        (["help", "something-else"], "pintle help: there is no command and no topic \"something-else\""),
    ])
    func `an unknown subject is an error of usage, with the nearest name`(arguments: [String], answer: String) throws {
        let process = try PintleProcess.run(arguments)
        #expect(process.exitCode == 2 && process.output.isEmpty, "\(process.lines)")
        #expect(process.errors.contains(answer), "\(process.lines)")
        let topics = process.errors.filter { $0.hasPrefix("The topics are configuration, fields,") }
        #expect(topics.count == (arguments.count == 2 ? 1 : 0))
    }

    @Test func `programs get a page as JSON`() throws {
        let process = try PintleProcess.run(["help", "problems", "--format", "json"])
        let data = Data(process.output.joined(separator: "\n").utf8)
        let page = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(page["topic"] as? String == "problems")
    }

    // MARK: On a terminal

    private func terminal(_ environment: [String: String]) throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(
            ["help", "signals"], environment: RunStage.environment.merging(environment) { $1 }, columns: 80)
        try terminal.waitForExit()
        return terminal
    }

    @Test func `a terminal shows a page through PAGER`() throws {
        let text = try self.terminal(["TERM": "xterm", "PAGER": "sed s/^/paged:/"]).text
        #expect(text.contains("paged:SIGNALS") && !text.contains("\u{1B}[1m"), "\(text)")
    }

    @Test func `a pager that ends early ends the command well`() throws {
        let terminal = try self.terminal(["TERM": "xterm", "PAGER": "head -n 1"])
        #expect(try terminal.waitForExit() == 0)
    }

    @Test func `a page is shown without a pager that does not exist`() throws {
        let text = try self.terminal(["TERM": "xterm", "PAGER": "no-such-pager"]).text
        #expect(text.contains("SIGUSR1"), "\(text)")
    }

    @Test func `names are bold on a terminal, but not with NO_COLOR or on a dumb one`() throws {
        #expect(try self.terminal(["TERM": "xterm", "PAGER": ""]).text.contains("\u{1B}[1mSIGUSR1\u{1B}[m"))
        #expect(try !self.terminal(["TERM": "xterm", "PAGER": "", "NO_COLOR": "1"]).text.contains("\u{1B}"))
        #expect(try !self.terminal(["TERM": "dumb", "PAGER": ""]).text.contains("\u{1B}"))
    }

    @Test func `less shows a page with bold names, until it is quit`() throws {
        let terminal = try PseudoTerminal(
            ["help", "configuration"], environment: RunStage.environment.merging(["TERM": "xterm"]) { $1 }, columns: 80)
        try terminal.waitForText("\u{1B}[1mCONFIGURATION KEYS\u{1B}[m")
        terminal.signal(SIGHUP)
        try terminal.waitForExit()
    }
}
