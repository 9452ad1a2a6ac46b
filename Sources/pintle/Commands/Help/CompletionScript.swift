// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The completions of a shell, with ``Help`` in the place of the parser's own help.
///
/// The parser adds its command `help`, which takes no topics, behind all others, whatever these are. While it writes a script,
/// ``Help`` is one of these; what the parser has written about its own is then taken out. `scripts/manual` tries the result in
/// the shells.
struct CompletionScript {
    let text: String

    /// The parser's words about its own help, which stand in the lists of zsh and fish.
    private static let abstract = "Show subcommand help information."

    /// True while the parser writes a script.
    static var isBeingWritten: Bool { CompletionShell.requesting != nil }

    /// - Parameter script: as the parser has written it.
    init(_ script: String) {
        let name = Help._commandName
        var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // In bash and zsh it is a function, and the second one of a name would take the place of the first.
        let head = "_\(Pintle._commandName)_\(name)() {"
        if let first = lines.firstIndex(of: head), let second = lines.lastIndex(of: head), first != second,
            let end = lines[second...].firstIndex(of: "}")
        {
            // A blank line is behind it.
            lines.removeSubrange(second...min(end + 1, lines.count - 1))
        }
        lines.removeAll { $0.contains(Self.abstract) }
        self.text = lines.joined(separator: "\n")
            .replacing("\(name)|\(name))", with: "\(name))").replacing(" \(name) \(name)'", with: " \(name)'")
    }
}
