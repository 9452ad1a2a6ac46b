// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A terminal that is drawn as a whole: standard output on its alternate screen, with single keys from standard input.
final class TopScreen {
    /// Bytes that control the terminal (ECMA-48, and xterm's private modes).
    private enum Control {
        static let begin = "\u{1B}[?1049h\u{1B}[?25l"
        static let end = "\u{1B}[?25h\u{1B}[?1049l"
        static let home = "\u{1B}[H"
        static let clearToEndOfLine = "\u{1B}[K"
        static let clearBelow = "\u{1B}[J"
    }

    private var modes = termios()

    /// - Returns: nil if standard input or output is no terminal, or one that cannot be controlled (`TERM=dumb`).
    init?(environment: [String: String]) {
        guard environment["TERM", default: "dumb"] != "dumb", isatty(STDOUT_FILENO) == 1,
            tcgetattr(STDIN_FILENO, &self.modes) == 0
        else { return nil }
    }

    /// Takes the terminal, until ``giveBack()``. Keys are not shown, and come at once, Ctrl-C and Ctrl-Z too.
    func take() throws(CommandFailure) {
        var modes = self.modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &modes)
        try Output.bytes(Array(Control.begin.utf8))
    }

    func giveBack() {
        // The terminal may be gone.
        try? Output.bytes(Array(Control.end.utf8))
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &self.modes)
    }

    /// Shows lines, each cut at the border, as many as there is room for.
    func draw(_ lines: (_ rows: Int, _ columns: Int) -> [String]) throws(CommandFailure) {
        var size = winsize()
        _ = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size)
        let (rows, columns) = (size.ws_row > 0 ? Int(size.ws_row) : 24, size.ws_col > 0 ? Int(size.ws_col) : 80)
        let shown = lines(rows, columns).prefix(rows).map { line in
            line.showable(keepingLines: false).cut(toColumns: columns) + Control.clearToEndOfLine
        }
        // No line end behind the last line: it would scroll.
        try Output.bytes(Array((Control.home + shown.joined(separator: "\r\n") + Control.clearBelow).utf8))
    }
}

extension String {
    /// The beginning that takes at most so many columns. Wide characters of East Asia and emoji are counted as two, which no
    /// terminal exceeds.
    fileprivate func cut(toColumns columns: Int) -> String {
        var room = columns
        let end = self.firstIndex { character in
            room -= character.unicodeScalars.allSatisfy { $0.value < 0x1100 } ? 1 : 2
            return room < 0
        }
        return end.map { String(self[..<$0]) } ?? self
    }
}
