// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What standard error, and standard output, are connected with.
struct Terminal: Sendable {
    /// Whether standard error is a terminal on which lines can be written over.
    let showsBars: Bool
    /// Whether standard output is a terminal.
    let showsOutput: Bool
    /// Whether bars are coloured: not with `NO_COLOR` (no-color.org).
    let hasColour: Bool

    init(environment: [String: String]) {
        self.showsBars = isatty(STDERR_FILENO) == 1 && environment["TERM", default: "dumb"] != "dumb"
        self.showsOutput = isatty(STDOUT_FILENO) == 1
        self.hasColour = environment["NO_COLOR", default: ""].isEmpty
    }

    /// How many characters a line of standard error has now.
    var width: Int { Self.width(of: STDERR_FILENO) ?? 80 }

    /// How many characters a line of the terminal has that a descriptor leads to; nil where it is none, or does not know.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
