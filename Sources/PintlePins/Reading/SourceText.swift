// SPDX-License-Identifier: Apache-2.0

/// The tokens of Kotlin or Java that calls with literal arguments need: strings, comments, names and marks.
struct SourceText {
    struct Comment {
        let line: Int
        let text: String
    }

    /// An argument of a call.
    struct Argument {
        let line: Int
        /// The literal's text; nil unless the argument is exactly one literal.
        let text: String?
    }

    struct Call {
        let line: Int
        let arguments: [Argument]
        /// True if the text ends before the call does.
        let isCutOff: Bool
    }

    private enum Token: Equatable {
        case string(String)
        case name(Substring)
        case mark(Character)
    }

    private(set) var comments: [Comment] = []
    private var tokens: [(token: Token, line: Int)] = []

    init(_ text: String) {
        var rest = text[...]
        var line = 1
        while let character = rest.first {
            let before = rest
            let start = line
            if rest.hasPrefix("//") {
                rest = rest[(rest.firstIndex(where: \.isNewline) ?? rest.endIndex)...]
                self.comments.append(Comment(line: start, text: String(before[..<rest.startIndex].dropFirst(2))))
            } else if rest.hasPrefix("/*") {
                rest = rest[(rest.dropFirst(2).firstRange(of: "*/")?.upperBound ?? rest.endIndex)...]
            } else if character == "\"" {
                self.tokens.append((.string(Self.literal(&rest)), start))
            } else if character.isLetter || character == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest[name.endIndex...]
                self.tokens.append((.name(name), start))
            } else {
                rest.removeFirst()
                if !character.isWhitespace { self.tokens.append((.mark(character), start)) }
            }
            line += before[..<rest.startIndex].count(where: \.isNewline)
        }
    }

    /// Reads a literal; `"""` begins one without escapes.
    private static func literal(_ rest: inout Substring) -> String {
        if rest.hasPrefix("\"\"\"") {
            let inside = rest.dropFirst(3)
            let end = inside.firstRange(of: "\"\"\"")
            rest = end.map { rest[$0.upperBound...] } ?? rest[rest.endIndex...]
            return String(end.map { inside[..<$0.lowerBound] } ?? inside)
        }
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"", !character.isNewline {
            if character == "\\", let escaped = rest.popFirst() {
                text.append(escaped)
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// Returns the calls `.name(…)`, in the order of the text.
    func calls(of name: String) -> [Call] {
        var calls: [Call] = []
        for index in self.tokens.indices.dropLast(2)
        where self.tokens[index].token == .mark(".") && self.tokens[index + 1].token == .name(name[...])
            && self.tokens[index + 2].token == .mark("(")
        {
            let (arguments, isCutOff) = self.arguments(from: index + 3)
            calls.append(Call(line: self.tokens[index].line, arguments: arguments, isCutOff: isCutOff))
            // All the rest belongs to this call.
            if isCutOff { break }
        }
        return calls
    }

    /// The deepest nesting of brackets in an argument that is read. Pins need none; a call with more is another kind of
    /// call, and is not read again for each call within it.
    private static let depthLimit = 32

    private func arguments(from start: Int) -> ([Argument], isCutOff: Bool) {
        var arguments: [Argument] = []
        var current: [(token: Token, line: Int)] = []
        var depth = 0
        func take() {
            guard let first = current.first else { return }
            if case .string(let text) = first.token, current.count == 1 {
                arguments.append(Argument(line: first.line, text: text))
            } else {
                arguments.append(Argument(line: first.line, text: nil))
            }
            current = []
        }
        for (token, line) in self.tokens[min(start, self.tokens.count)...] {
            switch token {
            case .mark(")") where depth == 0:
                take()
                return (arguments, false)
            case .mark(",") where depth == 0: take()
            case .mark("("), .mark("["), .mark("{"):
                depth += 1
                guard depth <= Self.depthLimit else { return ([], false) }
                current.append((token, line))
            case .mark(")"), .mark("]"), .mark("}"):
                depth -= 1
                current.append((token, line))
            default: current.append((token, line))
            }
        }
        take()
        return (arguments, true)
    }
}
