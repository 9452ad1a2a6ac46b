// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity

/// The properties of standard error and standard output as terminals.
struct Terminal: Sendable {
    /// True if standard error is a terminal on which lines can be overwritten.
    let showsBars: Bool
    /// True if standard output is a terminal.
    let showsOutput: Bool
    /// True if bars are coloured, which `NO_COLOR` (no-color.org) turns off.
    let hasColour: Bool

    init(environment: [String: String]) {
        self.showsBars = isatty(STDERR_FILENO) == 1 && environment["TERM", default: "dumb"] != "dumb"
        self.showsOutput = isatty(STDOUT_FILENO) == 1
        self.hasColour = environment["NO_COLOR", default: ""].isEmpty
    }

    /// Returns the look of log lines on a descriptor; nil if that is no terminal.
    static func style(of descriptor: Int32, environment: [String: String]) -> TerminalStyle? {
        isatty(descriptor) == 1 ? self.style(environment: environment) : nil
    }

    /// Returns the look of log lines on any terminal.
    static func style(environment: [String: String]) -> TerminalStyle {
        let knowsColours = environment["TERM", default: "dumb"] != "dumb"
        return knowsColours && environment["NO_COLOR", default: ""].isEmpty ? .coloured : .plain
    }

    /// The current number of characters in a line of standard error.
    var width: Int { Self.width(of: STDERR_FILENO) ?? 80 }

    /// Returns the number of characters in a line of a descriptor's terminal; nil if it is no terminal, or does not know.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
