// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Guesses the intention of a command line that cannot be parsed.
enum UsageHint {
    /// Commands that take a configuration file only with `-c`.
    private static let configured: Set = ["serve", "run", "env", "doctor", "explain", "audit"]
    /// Commands that send a request to a running proxy.
    private static let asking: Set = ["status", "reload", "purge"]

    /// - Parameters:
    ///   - arguments: the arguments without the program's name.
    ///   - commands: the names of all commands.
    /// - Returns: a sentence; nil if there is no good guess.
    static func sentence(for arguments: [String], commands: [String]) -> String? {
        guard let first = arguments.first else { return nil }
        let rest = arguments.dropFirst()
        guard commands.contains(first) else {
            if first.hasPrefix("-") {
                let command = rest.first(where: commands.contains)
                return command.map { "Options follow the command, as in: pintle \($0) \(first) …" }
            }
            return first.nearest(of: commands).map { "Did you mean: pintle \($0)" }
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
        if Self.configured.contains(first), !namesConfiguration,
            let file = rest.first(where: { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") })
        {
            return "A configuration is named by -c, as in: pintle \(first) -c \(file)"
        }
        return nil
    }
}
