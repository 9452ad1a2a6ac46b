// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import PintleSystem

/// The arguments and the environment of this process, as texts of the system. The lists of Swift and Foundation repair
/// bytes that are not UTF-8.
enum Inherited {
    /// The command line, with the program's name first.
    static var arguments: [String] {
        (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0].map { String(systemText: $0) } }
    }

    /// The environment. If a name occurs twice, the first value counts, as for getenv(3).
    static var environment: [String: String] {
        let pairs = self.variables.compactMap { entry in
            entry.firstIndex(of: "=").map { (String(entry[..<$0]), String(entry[entry.index(after: $0)...])) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The variables, each as `NAME=value`.
    static var variables: [String] {
        var entries: [String] = []
        var next = pintle_environment()
        while let place = next, let entry = place.pointee {
            entries.append(String(systemText: entry))
            next = place + 1
        }
        return entries
    }
}
