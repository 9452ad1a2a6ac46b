// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// A header field as the user writes it on a command line.
struct GivenField {
    /// Fields with credentials. Their values must not be on a command line, because every user of the machine can read it.
    private static let secrets: Set<String> = ["authorization", "proxy-authorization", "cookie"]

    /// The command's name for messages: `pintle fetch`.
    private let command: String
    private let surroundings: LoaderEnvironment

    init(of command: String, _ surroundings: LoaderEnvironment) {
        self.command = command
        self.surroundings = surroundings
    }

    /// Reads `Name: value`, `Name:env:NAME` or `Name:file:PATH`; a word such as `Bearer` may stand before the last two.
    func read(_ text: String) throws(CommandFailure) -> (String, String) {
        guard let colon = text.firstIndex(of: ":") else {
            throw self.usage("--header: needs a colon between name and value, as in 'Accept: text/html'")
        }
        let name = String(text[..<colon])
        guard FieldSyntax.isName(name) else {
            throw self.usage("--header: \(name.debugDescription) is not a field name")
        }
        let given = String(decoding: ASCII.trimmed(Array(text[text.index(after: colon)...].utf8)[...]), as: UTF8.self)
        let value = try self.value(given, of: name)
        guard FieldSyntax.isValue(value) else {
            throw self.usage("--header \(name): the value has control characters, or white space at its ends")
        }
        return (name, value)
    }

    private func value(_ given: String, of name: String) throws(CommandFailure) -> String {
        guard ValueReference(given) != nil || !Self.secrets.contains(name.lowercased()) else {
            throw self.usage(
                "--header \(name): everybody on this machine can read a command line; give the value as env:NAME or "
                    + "file:PATH")
        }
        do throws(Malformed) {
            return try self.surroundings.value(of: given)
        } catch {
            throw CommandFailure(.incomplete, "\(self.command): --header \(name): \(error)")
        }
    }

    private func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, "\(self.command): \(message)") }
}
