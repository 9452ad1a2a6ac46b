// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// A header field as a command line gives it.
enum GivenField {
    /// Fields that carry credentials. Their values must not stand on a command line, which every user of the machine can
    /// read.
    private static let secrets: Set<String> = ["authorization", "proxy-authorization", "cookie"]

    /// Reads `Name: value`, `Name:env:NAME` or `Name:file:PATH`; in a field with credentials a word such as `Bearer` may
    /// stand before the last two.
    static func read(_ text: String, _ surroundings: Surroundings) throws(CommandFailure) -> (String, String) {
        guard let colon = text.firstIndex(of: ":") else {
            throw .usage("--header: needs a colon between name and value, as in 'Accept: text/html'")
        }
        let name = String(text[..<colon])
        guard FieldSyntax.isName(name) else { throw .usage("--header: \(name.debugDescription) is not a field name") }
        let given = String(decoding: ASCII.trimmed(Array(text[text.index(after: colon)...].utf8)[...]), as: UTF8.self)
        let value = try Self.value(given, of: name, surroundings)
        guard FieldSyntax.isValue(value) else {
            throw .usage("--header \(name): the value has control characters, or white space at its ends")
        }
        return (name, value)
    }

    private static func value(
        _ given: String, of name: String, _ surroundings: Surroundings
    ) throws(CommandFailure) -> String {
        let isSecret = Self.secrets.contains(name.lowercased())
        var scheme = ""
        var rest = Substring(given)
        if isSecret, let space = given.firstIndex(of: " "), Self.isReference(given[given.index(after: space)...]) {
            scheme = String(given[...space])
            rest = given[given.index(after: space)...]
        }
        guard !isSecret || Self.isReference(rest) else {
            throw .usage(
                "--header \(name): everybody on this machine can read a command line; give the value as env:NAME or "
                    + "file:PATH")
        }
        do throws(Malformed) {
            return scheme + (try surroundings.value(of: String(rest)))
        } catch {
            throw CommandFailure(.incomplete, "pintle fetch: --header \(name): \(error)")
        }
    }

    private static func isReference(_ text: Substring) -> Bool { text.hasPrefix("env:") || text.hasPrefix("file:") }
}
