// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

/// Help for commands, and the pages of the reference.
///
/// The parser has a command `help` of its own, which it adds to every program and which knows no topics. This one takes its
/// place on the command line, and is not among the subcommands, where there would be two.
struct Help: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help", _superCommandName: "pintle",
        abstract: "Print the help of a command, or a page of the reference.",
        discussion:
            "The topics of the reference:\n\(Self.topics)\n\nOn a terminal pages are shown by $PAGER, else less.",
        version: Version.line)

    // The completions of zsh have a variable with the name of the value.
    @Argument(
        help: ArgumentHelp("A command, with the ones below it, or a topic.", valueName: "command-or-topic"),
        completion: .list(HelpTopic.subjects.map(\.rawValue) + Pintle.commands.map { $0._commandName }))
    var subject: [String] = []

    @Option(help: "The form of a page: text, markdown or json.")
    var format = ReferenceFormat.text

    /// A list of two columns.
    private static var topics: String {
        HelpTopic.subjects.map { topic in
            "  \(topic.rawValue.padded(to: HelpTopic.longestName))  \(topic.abstract)"
        }.joined(separator: "\n")
    }

    func run() throws {
        if self.subject.count == 1, let topic = HelpTopic(rawValue: self.subject[0]) {
            let page = topic.page
            return try self.format == .text ? Pager.show(page) : Output.data(self.format.text(of: page))
        }
        if self.subject == [Self._commandName] { return try Output.prose(Self.helpMessage()) }
        throw CleanExit.helpRequest(try Self.command(at: self.subject))
    }

    /// Returns the command with a path, such as `pins show`; the program itself for an empty one.
    private static func command(at path: [String]) throws -> any ParsableCommand.Type {
        var command: any ParsableCommand.Type = Pintle.self
        for (depth, name) in path.enumerated() {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == name }) else {
                throw Self.unknown(name, below: command, topics: depth == 0 ? HelpTopic.subjects.map(\.rawValue) : [])
            }
            command = next
        }
        return command
    }

    private static func unknown(
        _ name: String, below command: any ParsableCommand.Type, topics: [String]
    ) -> CommandFailure {
        let commands = command.configuration.subcommands.map { $0._commandName }
        let above = command == Pintle.self ? "" : "\(command._commandName) "
        let guess = name.nearest(of: commands + topics).map { "; did you mean: pintle help \(above)\($0)" } ?? ""
        let kind = topics.isEmpty ? "command below \(command._commandName)" : "command and no topic"
        var lines = ["pintle help: there is no \(kind) \"\(name)\"\(guess)"]
        if !topics.isEmpty {
            lines.append("The topics are \(topics.joined(separator: ", ")); pintle --help lists commands.")
        }
        return CommandFailure(.usage, lines: lines)
    }
}

extension String {
    /// The text with blanks behind it, up to a number of characters.
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }
}
