// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Guesses the intention of a command line that cannot be parsed.
struct UsageHint {
    /// Commands that take a configuration file only with `-c`.
    private static let configured: Set = [
        "serve", "run", "env", "doctor", "explain", "audit", "verify", "pins lint", "pins forecast",
    ]
    /// Commands that send a request to a running proxy.
    private static let asking: Set = ["status", "reload", "purge"]

    /// The whole program, with its commands.
    let program: KnownCommand

    /// - Parameter arguments: the arguments without the program's name.
    /// - Returns: a sentence; nil if there is no good guess.
    func sentence(for arguments: [String]) -> String? {
        guard let first = arguments.first else { return nil }
        let rest = arguments.dropFirst()
        guard let command = self.program.subcommand(first) else {
            if first.hasPrefix("-") {
                let command = rest.first(where: self.program.names.contains)
                return command.map { "Options follow the command, as in: pintle \($0) \(first) …" }
            }
            return first.nearest(of: self.program.names).map { "Did you mean: pintle \($0)" }
        }
        if first == "run", !rest.contains("--") {
            return
                "Write the command and its options after --, as in: pintle run --isolate -- curl -s https://example.com/"
        }
        let namesConfiguration = rest.contains { $0 == "-c" || $0 == "--config" || $0.hasPrefix("--config=") }
        if Self.asking.contains(first), namesConfiguration {
            return "A proxy that runs is asked, whatever its configuration; if several run, --pid says which."
        }
        if first == "explain", rest.first?.contains("://") == true {
            return "The method comes first, as in: pintle explain GET \(rest.first ?? "")"
        }
        let name = self.name(of: arguments)
        if Self.configured.contains(name), !namesConfiguration,
            let file = rest.first(where: { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") })
        {
            return "A configuration is named by -c, as in: pintle \(name) -c \(file)"
        }
        return Self.slip(in: rest, of: [command])
    }

    /// The name of the command that arguments begin with, after those above it.
    private func name(of arguments: [String]) -> String {
        var command = self.program
        var names: [String] = []
        for word in arguments {
            guard let next = command.subcommand(word) else { break }
            names.append(word)
            command = next
        }
        return names.joined(separator: " ")
    }

    /// Looks for a subcommand, or for the value of an option, that is nearly one of those that there are.
    ///
    /// - Parameter path: a command with the subcommands that led here; options of all of them count.
    private static func slip(in arguments: ArraySlice<String>, of path: [KnownCommand]) -> String? {
        if let command = path.last, let word = arguments.first, !word.hasPrefix("-"), !command.names.isEmpty {
            guard let subcommand = command.subcommand(word) else {
                let names = path.map(\.commandName).joined(separator: " ")
                return word.nearest(of: command.names).map { "Did you mean: pintle \(names) \($0)" }
            }
            return Self.slip(in: arguments.dropFirst(), of: path + [subcommand])
        }
        // Another command has the arguments after it.
        let own = arguments.prefix { $0 != "--" }
        for (index, argument) in zip(own.indices, own) where argument.hasPrefix("-") {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let next = index + 1 < own.endIndex ? own[index + 1] : nil
            guard let values = path.lazy.compactMap({ $0.values(of: parts[0]) }).first,
                let value = parts.count > 1 ? parts[1] : next, !values.contains(value),
                let nearest = value.nearest(of: values)
            else { continue }
            return "Did you mean: \(parts[0]) \(nearest)"
        }
        return nil
    }
}
