// SPDX-License-Identifier: Apache-2.0

internal import PintleSchema

/// Reads a filter by this grammar, in which blanks may stand between any two parts:
///
/// ```
/// filter = [ any ]
/// any    = all *( "|" all )
/// all    = not *( [ "&" ] not )
/// not    = "!" not / "(" any ")" / term
/// term   = "~" name [ argument ] / argument
/// argument = word / quoted / "/" expression "/" [ "i" ]
/// ```
///
/// A term that is only an argument asks for `~u`. A word ends at a blank or at one of `&|()`; between quotation marks, single or
/// double, everything stands for itself but the mark and `\` behind a `\`.
struct FilterParser {
    /// The deepest nesting, which bounds the stack.
    private static let deepest = 64

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ source: String) throws(FilterError) {
        self.scalars = Array(source.unicodeScalars)
        guard self.scalars.count <= ExchangeFilter.longest else {
            throw FilterError("a filter has at most \(ExchangeFilter.longest) characters", at: ExchangeFilter.longest)
        }
    }

    mutating func parse() throws(FilterError) -> FilterExpression {
        guard self.peek() != nil else { return .always }
        let expression = try self.any()
        // Everything else ends an expression only by its own end.
        guard self.peek() == nil else { throw FilterError("there is no ( for this )", at: self.index) }
        return expression
    }

    // MARK: Expressions

    private mutating func any() throws(FilterError) -> FilterExpression {
        var parts = [try self.all()]
        while self.peek() == "|" {
            self.index += 1
            parts.append(try self.all())
        }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func all() throws(FilterError) -> FilterExpression {
        var parts = [try self.not()]
        while let next = self.peek(), next != "|", next != ")" {
            if next == "&" { self.index += 1 }
            parts.append(try self.not())
        }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func not() throws(FilterError) -> FilterExpression {
        let start = self.index
        self.depth += 1
        defer { self.depth -= 1 }
        guard self.depth <= Self.deepest else {
            throw FilterError("more than \(Self.deepest) levels of ! and ( are too many", at: start)
        }
        switch self.peek() {
        case "!":
            self.index += 1
            return .not(try self.not())
        case "(":
            let opening = self.index
            self.index += 1
            let inner = try self.any()
            guard self.peek() == ")" else { throw FilterError("this ( has no )", at: opening) }
            self.index += 1
            return inner
        case "~": return .term(try self.named())
        case nil: throw FilterError("there is something missing", at: self.index)
        case "&", "|", ")": throw FilterError("there is something missing before this", at: self.index)
        default: return .term(.text(.url, try self.text(isPart: true)))
        }
    }

    // MARK: Terms

    private mutating func named() throws(FilterError) -> FilterTerm {
        let start = self.index
        self.index += 1
        let name = self.word()
        guard let known = FilterOperator(rawValue: name) else { throw Self.unknown(name, at: start) }
        switch known.argument {
        case .none: return .flag(known)
        case .part: return .text(known, try self.text(isPart: true, of: known))
        case .whole: return .text(known, try self.text(isPart: false, of: known))
        case .word(let words): return .text(known, try self.text(among: words, of: known))
        case .statuses:
            return .statuses(try self.value(of: known) { text throws(Malformed) in try Spelling.statuses(text) })
        case .duration:
            return .slow(
                try self.value(of: known) { text throws(Malformed) in
                    try Spelling.duration(text, .zero ... .seconds(86_400 * 365))
                })
        case .size:
            return .big(
                try self.value(of: known) { text throws(Malformed) in try Spelling.byteCount(text, 0...(1 << 50)) })
        }
    }

    private static func unknown(_ name: String, at position: Int) -> FilterError {
        let nearest = name.nearest(of: FilterOperator.allCases.map(\.rawValue))
        // Any letter is near to every name of one letter.
        let hint = name.unicodeScalars.count > 1 ? nearest.map { "; did you mean ~\($0)?" } ?? "" : ""
        return FilterError(name.isEmpty ? "~ has no name behind it" : "there is no ~\(name)\(hint)", at: position)
    }

    private mutating func text(isPart: Bool, of name: FilterOperator? = nil) throws(FilterError) -> TextTest {
        _ = try self.argumentStart(of: name)
        if self.peek() == "/" { return .matches(try self.expression()) }
        let text = try self.plainText(of: name).lowercased()
        return isPart ? .contains(lowercase: text) : .equals(lowercase: text)
    }

    private mutating func text(among words: [String], of name: FilterOperator) throws(FilterError) -> TextTest {
        let start = try self.argumentStart(of: name)
        let text = try self.plainText(of: name).lowercased()
        guard words.contains(text) else {
            throw FilterError("~\(name.rawValue) asks for one of \(words.joined(separator: ", "))", at: start)
        }
        return .equals(lowercase: text)
    }

    private mutating func value<Value>(
        of name: FilterOperator, _ read: (String) throws(Malformed) -> Value
    ) throws(FilterError) -> Value {
        let start = try self.argumentStart(of: name)
        let text = try self.plainText(of: name)
        do throws(Malformed) { return try read(text) } catch {
            throw FilterError("the argument of ~\(name.rawValue) \(error)", at: start)
        }
    }

    // MARK: Arguments

    /// Goes to the beginning of the argument.
    private mutating func argumentStart(of name: FilterOperator?) throws(FilterError) -> Int {
        guard let next = self.peek(), !"&|()!~".unicodeScalars.contains(next) else {
            throw FilterError(
                "~\(name?.rawValue ?? "") has no argument; write one with such a character in quotation marks",
                at: self.index)
        }
        return self.index
    }

    private mutating func plainText(of name: FilterOperator?) throws(FilterError) -> String {
        guard let mark = self.peek(), mark == "\"" || mark == "'" else { return self.word() }
        let start = self.index
        self.index += 1
        var text = String.UnicodeScalarView()
        while self.index < self.scalars.count {
            var scalar = self.scalars[self.index]
            self.index += 1
            if scalar == mark { return String(text) }
            if scalar == "\\", self.index < self.scalars.count, [mark, "\\"].contains(self.scalars[self.index]) {
                scalar = self.scalars[self.index]
                self.index += 1
            }
            text.append(scalar)
        }
        throw FilterError("this quotation mark has no second one", at: start)
    }

    private mutating func expression() throws(FilterError) -> Pattern {
        let start = self.index
        self.index += 1
        var text = String.UnicodeScalarView()
        while self.index < self.scalars.count {
            let scalar = self.scalars[self.index]
            self.index += 1
            if scalar == "/" {
                let ignoresCase = self.index < self.scalars.count && self.scalars[self.index] == "i"
                if ignoresCase { self.index += 1 }
                guard self.isAtEndOfWord else {
                    throw FilterError("only i may stand behind a regular expression", at: self.index)
                }
                do throws(PatternError) {
                    return try Pattern(String(text), ignoringCase: ignoresCase)
                } catch {
                    throw FilterError("the regular expression \(error)", at: start)
                }
            }
            text.append(scalar)
            if scalar == "\\", self.index < self.scalars.count {
                text.append(self.scalars[self.index])
                self.index += 1
            }
        }
        throw FilterError(
            "this regular expression has no / at its end; text that begins with / is in quotation marks", at: start)
    }

    private var isAtEndOfWord: Bool {
        guard self.index < self.scalars.count else { return true }
        let scalar = self.scalars[self.index]
        return scalar.properties.isWhitespace || "&|()".unicodeScalars.contains(scalar)
    }

    /// Takes everything up to a blank or a sign.
    private mutating func word() -> String {
        let start = self.index
        while !self.isAtEndOfWord { self.index += 1 }
        return String(String.UnicodeScalarView(self.scalars[start..<self.index]))
    }

    /// Passes over blanks; the scalar behind them, nil at the end.
    private mutating func peek() -> Unicode.Scalar? {
        while self.index < self.scalars.count, self.scalars[self.index].properties.isWhitespace { self.index += 1 }
        return self.index < self.scalars.count ? self.scalars[self.index] : nil
    }
}
