// SPDX-License-Identifier: Apache-2.0

/// The directives of a squid.conf.
struct SquidFile {
    /// A word of a directive.
    struct Word: Equatable {
        let text: String
        /// True if it was in quotes: in an ACL, the name of a file with a value on each line.
        let isQuoted: Bool
    }

    struct Directive: Equatable {
        let name: String
        let words: [Word]
        /// The line of its name, from 1.
        let line: Int
    }

    let file: String
    private(set) var directives: [Directive] = []

    /// - Throws: for text that is not UTF-8, quotes without an end, and conditions, as only one of their branches counts.
    init(_ bytes: [UInt8], file: String) throws(ConversionError) {
        self.file = file
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConversionError(.malformed, file: file, line: nil, "the file is not UTF-8 text")
        }
        var pending = ""
        var first = 0
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            if pending.isEmpty { first = index + 1 }
            // A line that ends in a backslash continues.
            if line.hasSuffix("\\"), index < lines.count - 1 {
                pending += "\(line.dropLast()) "
                continue
            }
            let whole = pending + line
            pending = ""
            try self.add(whole, first)
        }
    }

    private mutating func add(_ line: String, _ number: Int) throws(ConversionError) {
        let words = try self.words(of: line, number)
        guard let name = words.first else { return }
        if ["if", "else", "endif"].contains(name.text) {
            throw ConversionError(
                .incomplete, file: self.file, line: number,
                "the condition \(name.text) cannot be carried; keep the lines of the branch that holds here, and leave the others out"
            )
        }
        self.directives.append(Directive(name: name.text, words: Array(words.dropFirst()), line: number))
    }

    /// Splits a line at white space. A comment begins with a number sign at the start of a word.
    private func words(of line: String, _ number: Int) throws(ConversionError) -> [Word] {
        var words: [Word] = []
        var rest = line[...]
        while let character = rest.first {
            if character.isWhitespace {
                rest.removeFirst()
            } else if character == "#" {
                break
            } else if character == "\"" {
                guard let end = rest.dropFirst().firstIndex(of: "\"") else {
                    throw ConversionError(
                        .malformed, file: self.file, line: number, "a quotation mark has no other one")
                }
                words.append(Word(text: String(rest[..<end].dropFirst()), isQuoted: true))
                rest = rest[rest.index(after: end)...]
            } else {
                let word = rest.prefix { !$0.isWhitespace }
                words.append(Word(text: String(word), isQuoted: false))
                rest = rest[word.endIndex...]
            }
        }
        return words
    }
}
