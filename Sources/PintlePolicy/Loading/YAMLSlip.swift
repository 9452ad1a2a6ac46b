// SPDX-License-Identifier: Apache-2.0

/// A complaint of the YAML parser, interpreted with the line that it is about.
///
/// The parser names what it expected, which is seldom the mistake: for a line that is indented too far, it says that a value
/// may not stand there.
struct YAMLSlip {
    let words: String
    /// The place of the slip, which may be before the one where the parser noticed it.
    let position: SourcePosition

    /// - Parameters:
    ///   - problem: libyaml's sentence.
    ///   - position: the place where the parser noticed it.
    init(_ problem: String, at position: SourcePosition, in text: String) {
        let line = Self.line(position.line, of: text)
        let before = line.prefix(position.column - 1)
        let indent = line.prefix { $0 == " " }
        let start = SourcePosition(line: position.line, column: indent.count + 1)
        let next = line.dropFirst(before.count).first
        switch problem {
        case "found character that cannot start any token" where next == "\t":
            (self.words, self.position) = (Self.tab, position)
        case "did not find expected alphabetic or numeric character" where before.last == "*":
            (self.words, self.position) = (
                Self.star, SourcePosition(line: position.line, column: position.column - 1)
            )
        case "found undefined alias": (self.words, self.position) = (Self.unknownAlias, position)
        case "mapping values are not allowed in this context" where Self.isFirstColon(before):
            (self.words, self.position) = (Self.tooDeep, start)
        case "did not find expected '-' indicator" where before.count == indent.count && next != "-",
            "did not find expected key" where before.count == indent.count:
            (self.words, self.position) = (Self.besideNothing, position)
        default: (self.words, self.position) = (YAMLWords.text(for: problem), position)
        }
    }

    private static let tab = "a tab stands where lines are indented; write spaces"
    private static let star = "what begins with * is an alias; put a name with * in quotes, as in \"*.example.com\""
    private static let unknownAlias = "nothing has the name of this alias; put a text that begins with * in quotes"
    private static let tooDeep =
        "the line is indented further than the one above it allows; begin it in the column of the key that it belongs beside"
    private static let besideNothing =
        "the line begins in a column that no line above it has; begin it in the column of the one that it belongs beside"

    /// True if a colon after `before` would be the first one in its line that ends a key.
    private static func isFirstColon(_ before: Substring.UnicodeScalarView) -> Bool {
        !before.contains(":") && !before.contains("{") && !before.contains("[")
    }

    private static func line(_ number: Int, of text: String) -> Substring.UnicodeScalarView {
        let lines = text.unicodeScalars.split(separator: "\n", maxSplits: number, omittingEmptySubsequences: false)
        return lines.indices.contains(number - 1) ? lines[number - 1] : Substring.UnicodeScalarView()
    }

    // MARK: Repeated keys

    /// The most places that are reported.
    private static let toldPlaces = 4

    /// The further places of a key in its map, as far as its spelling shows them.
    ///
    /// - Parameter first: the key's first place.
    static func otherPlaces(of key: String, at first: SourcePosition, in text: String) -> [SourcePosition] {
        // An empty key without quotes cannot be told from a colon behind another one.
        let spellings = [key, "\"\(key)\"", "'\(key)'"].filter { !$0.isEmpty }.map { Array($0.unicodeScalars) }
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(first.line - 1) else { return [] }
        func isKey(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
            // Otherwise a key that is a blank would look for its colon from each of many blanks.
            guard rest.first != " " else { return false }
            return spellings.contains { spelling in
                rest.starts(with: spelling) && rest.dropFirst(spelling.count).first { $0 != " " } == ":"
            }
        }
        var places: [SourcePosition] = []
        // On the same line, in a map in braces. The line may be the whole file, so its characters are found by index.
        let line = Array(lines[first.line - 1])
        for index in line.indices.dropFirst(first.column) where places.count < Self.toldPlaces {
            if " ,{".unicodeScalars.contains(line[index - 1]), isKey(line[index...]) {
                places.append(SourcePosition(line: first.line, column: index + 1))
            }
        }
        // On later lines, in the same column, until a line begins further to the left.
        for (offset, line) in lines[first.line...].enumerated() where places.count < Self.toldPlaces {
            let indent = line.prefix { $0 == " " }.count + 1
            if indent > line.count || line.dropFirst(indent - 1).first == "#" { continue }
            guard indent >= first.column else { break }
            if indent == first.column, isKey(Array(line.dropFirst(indent - 1))[...]) {
                places.append(SourcePosition(line: first.line + 1 + offset, column: indent))
            }
        }
        return places
    }
}
