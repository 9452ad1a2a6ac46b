// SPDX-License-Identifier: Apache-2.0

/// Breaks lines between words if a terminal would break them within a word.
struct TerminalText {
    /// The number of characters in a line of the terminal.
    let width: Int

    /// The minimum room for words after an indent.
    private static let leastRoom = 20

    /// Returns the text with every long line split into several. Continuation lines are aligned with the text after the
    /// line's label, or indented a little. A single word that is too long is left to the terminal.
    func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { self.wrapped(line: $0) }
            .joined(separator: "\n")
    }

    private func wrapped(line: Substring) -> String {
        let pieces = Self.pieces(of: line)
        guard pieces.reduce(0, { $0 + $1.width }) > self.width else { return String(line) }
        let indent = String(repeating: " ", count: self.indent(of: pieces))
        var result = ""
        var column = 0
        var isFirst = true
        // Blanks are kept between words of a line, and dropped at a line break.
        var blanks: Piece?
        for piece in pieces {
            if piece.isBlank {
                blanks = piece
                continue
            }
            let gap = blanks?.width ?? 0
            if !isFirst, gap > 0, column + gap + piece.width > self.width {
                result += "\n" + indent + piece.text
                column = indent.count + piece.width
            } else {
                result += String(blanks?.text ?? "") + piece.text
                column += gap + piece.width
            }
            (blanks, isFirst) = (nil, false)
        }
        return result
    }

    /// Returns the column of the text after a label, as in `route        none matches`; otherwise two more than the line's
    /// own indent.
    private func indent(of pieces: [Piece]) -> Int {
        let own = pieces.first.map { $0.isBlank ? $0.width : 0 } ?? 0
        var column = own
        for piece in pieces.dropFirst(own > 0 ? 1 : 0) {
            column += piece.width
            if column > self.width / 2 { break }
            if piece.isBlank, piece.width > 1, self.width - column >= Self.leastRoom { return column }
        }
        return self.width - own - 2 >= Self.leastRoom ? own + 2 : 0
    }

    /// A word, or the blanks between two words.
    private struct Piece {
        let text: Substring
        /// The number of visible characters.
        let width: Int
        let isBlank: Bool
    }

    private static func pieces(of line: Substring) -> [Piece] {
        var pieces: [Piece] = []
        var rest = line
        while let first = rest.first {
            let isBlank = first == " "
            let text = rest.prefix { ($0 == " ") == isBlank }
            pieces.append(Piece(text: text, width: isBlank ? text.count : Self.width(of: text), isBlank: isBlank))
            rest = rest[text.endIndex...]
        }
        return pieces
    }

    /// Returns the number of visible characters; colours (`ESC [ … m`) take no room.
    private static func width(of word: Substring) -> Int {
        var count = 0
        var isInColour = false
        for character in word {
            if isInColour {
                isInColour = character != "m"
            } else if character == "\u{1B}" {
                isInColour = true
            } else {
                count += 1
            }
        }
        return count
    }
}
