// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import PintleSystem

/// Words that this process was started with, as text of the system: Swift's and Foundation's own lists of them repair what is
/// not UTF-8.
enum Inherited {
    /// The command line, with the program's name first.
    static var arguments: [String] {
        (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0].map { String(systemText: $0) } }
    }

    /// The environment; of two variables with one name the first, as getenv(3) has it.
    static var environment: [String: String] {
        let pairs = self.variables.compactMap { entry in
            entry.firstIndex(of: "=").map { (String(entry[..<$0]), String(entry[entry.index(after: $0)...])) }
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// `NAME=value` each.
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
