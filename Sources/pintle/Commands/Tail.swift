// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintleActivity
internal import PintlePolicy

struct Tail: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the exchanges of a running proxy as they end.",
        discussion: """
            Each line is as in the exchange log, and without the same secrets; on a terminal it is short, and --format text or json \
            shows all fields there. A filter chooses: `~d api.example ~c 5xx`, \
            `~deny | ~v pin-mismatch`; docs/filters.md has the language. Exchanges that come faster than they are read are \
            counted and left out, so that no exchange ever waits for a reader.
            """)

    @Argument(help: "Which exchanges to write; all without it. Several arguments are read as one filter.")
    var filter: [String] = []

    @Option(
        help: ArgumentHelp(
            "The form of the lines. Without it, short lines on a terminal, and elsewhere that of the proxy's log.",
            valueName: "format"))
    var format: ControlRequest.Tail.Format?

    @Option(help: ArgumentHelp("The proxy's process, where several run.", valueName: "number"))
    var pid: Int?

    func run() throws {
        let style =
            self.format == nil ? Terminal.style(of: STDOUT_FILENO, environment: Inherited.environment) : nil
        let tail = ControlRequest.Tail(
            filter: try FilterArguments.joined(self.filter), format: self.format, style: style)
        let proxy = try RunningProxy(process: self.pid).open(ControlRequest(command: .tail, tail: tail)).rest
        // With no events asked for, poll(2) tells only that the reader of a pipe has gone.
        while case .peer = proxy.wait(for: [pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)]) {
            guard let message = proxy.receive(TailMessage.self) else {
                return Output.error("pintle tail: the proxy has ended")
            }
            if message.lost > 0 {
                Output.error(
                    "pintle tail: \(message.lost) exchanges are not shown: they came faster than they were read")
            }
            if message.lines.isEmpty { continue }
            let lines = message.lines.joined(separator: "\n")
            // Colours are controls; the proxy has escaped all others.
            if style == .coloured { try Output.bytes(Array("\(lines)\n".utf8)) } else { try Output.data(lines) }
        }
    }
}

extension ControlRequest.Tail.Format: ExpressibleByArgument {}

/// The words of a filter on a command line.
enum FilterArguments {
    /// - Throws: an error of usage if they are no filter, before any proxy is asked.
    static func joined(_ words: [String]) throws(CommandFailure) -> String {
        let filter = words.joined(separator: " ")
        do throws(FilterError) { _ = try ExchangeFilter(filter) } catch {
            throw CommandFailure(.usage, lines: error.lines(in: filter))
        }
        return filter
    }
}
