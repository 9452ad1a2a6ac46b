// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials

/// A command as the parser describes it to tools: its name, subcommands and options.
struct KnownCommand: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            /// The name as it is written on a command line.
            var spelling: String { self.kind == "long" ? "--\(self.name)" : "-\(self.name)" }
        }

        let names: [Name]?
        /// The values that are allowed; nil if there is no list of them.
        let allValues: [String]?
    }

    let commandName: String
    let subcommands: [KnownCommand]?
    let arguments: [Argument]?

    /// The names of the subcommands.
    var names: [String] { (self.subcommands ?? []).map(\.commandName) }

    func subcommand(_ name: String) -> KnownCommand? { self.subcommands?.first { $0.commandName == name } }

    /// The values that an option allows; nil if the command has no such option, or there is no list of values.
    func values(of option: String) -> [String]? {
        self.arguments?.first { $0.names?.contains { $0.spelling == option } == true }?.allValues
    }

    private struct Tool: Decodable { let command: KnownCommand }

    /// Reads the description of a program.
    ///
    /// - Returns: nil if this version of the parser describes it in another way.
    static func reading(_ command: (some ParsableCommand).Type) -> KnownCommand? {
        (try? JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8)))?.command
    }
}
