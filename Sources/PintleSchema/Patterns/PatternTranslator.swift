// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Translates a regular expression of ECMA-262 (with the `u` flag) into the syntax of PCRE2.
///
/// Both accept nearly the same text, but not always with the same meaning. `.`, `\s`, `\v`, `[]` and `\uD83D\uDE00` mean
/// different things and are rewritten. Features that only PCRE2 has, such as `(?i)`, `\A`, `a++` or `(*LIMIT…)`, would
/// silently take effect and are refused.
struct PatternTranslator {
    private let scalars: [UnicodeScalar]
    private var index = 0
    private var output = ""
    /// True if a quantifier may follow the text written last.
    private var mayRepeat = false

    static func translate(_ source: String) throws(PatternError) -> String {
        var translator = PatternTranslator(scalars: Array(source.unicodeScalars))
        while translator.index < translator.scalars.count { try translator.term() }
        return translator.output
    }

    private init(scalars: [UnicodeScalar]) { self.scalars = scalars }

    // MARK: Outside of classes

    private mutating func term() throws(PatternError) {
        let scalar = self.scalars[self.index]
        switch scalar {
        case "\\": try self.escape()
        case "[": try self.characterClass()
        case "(": try self.group()
        case ".": self.write(#"[^\n\r\x{2028}\x{2029}]"#, taking: 1, mayRepeat: true)
        case "*", "+", "?": try self.quantifier(taking: 1)
        case "{":
            if let length = self.braceLength() {
                try self.quantifier(taking: length)
            } else {
                self.write(#"\{"#, taking: 1, mayRepeat: true)
            }
        case "}", "]": self.write("\\\(scalar)", taking: 1, mayRepeat: true)
        case "^", "$", "|": self.write(String(scalar), taking: 1, mayRepeat: false)
        default: self.write(String(scalar), taking: 1, mayRepeat: true)
        }
    }

    private mutating func write(_ text: String, taking count: Int, mayRepeat: Bool) {
        self.output += text
        self.index += count
        self.mayRepeat = mayRepeat
    }

    private func peek(_ distance: Int = 0) -> UnicodeScalar? {
        self.index + distance < self.scalars.count ? self.scalars[self.index + distance] : nil
    }

    private func refusal(_ sentence: String) -> PatternError {
        PatternError("\(sentence), at character \(self.index + 1)")
    }

    private mutating func quantifier(taking length: Int) throws(PatternError) {
        guard self.mayRepeat else { throw self.refusal("has a quantifier with nothing to repeat before it") }
        self.write(String(self.scalars[self.index..<self.index + length]), taking: length, mayRepeat: false)
        if self.peek() == "?" { self.write("?", taking: 1, mayRepeat: false) }
    }

    /// The length of `{n}`, `{n,}` or `{n,m}` here; nil if the brace stands for itself.
    private func braceLength() -> Int? {
        var length = 1
        var digits = 0
        var hasComma = false
        while let scalar = self.peek(length) {
            length += 1
            switch scalar {
            case "0"..."9": digits += 1
            case "," where !hasComma && digits > 0: hasComma = true
            case "}": return digits > 0 ? length : nil
            default: return nil
            }
        }
        return nil
    }

    private mutating func group() throws(PatternError) {
        let opening: String
        switch (self.peek(1), self.peek(2), self.peek(3)) {
        case ("?", ":", _), ("?", "=", _), ("?", "!", _): opening = String(self.scalars[self.index..<self.index + 3])
        case ("?", "<", "="), ("?", "<", "!"): opening = String(self.scalars[self.index..<self.index + 4])
        case ("?", "<", _): opening = "(?<"
        case ("?", _, _): throw self.refusal("has a group that ECMA-262 does not know; remove what follows “(?”")
        default: opening = "("
        }
        self.write(opening, taking: opening.unicodeScalars.count, mayRepeat: false)
    }

    private mutating func escape() throws(PatternError) {
        guard let letter = self.peek(1) else { throw self.refusal(#"ends with a backslash; write \\ for one"#) }
        switch letter {
        case "d", "D", "w", "W": self.write("\\\(letter)", taking: 2, mayRepeat: true)
        case "b", "B": self.write("\\\(letter)", taking: 2, mayRepeat: false)
        case "s": self.write("[\(Self.spaces)]", taking: 2, mayRepeat: true)
        case "S": self.write("[^\(Self.spaces)]", taking: 2, mayRepeat: true)
        case "1"..."9":
            var count = 2
            while let digit = self.peek(count), ("0"..."9").contains(digit) { count += 1 }
            let number = String(self.scalars[self.index + 1..<self.index + count])
            self.write("\\g{\(number)}", taking: count, mayRepeat: true)
        case "k": self.write("\\k", taking: 2, mayRepeat: true)
        default: try self.characterEscape(letter)
        }
    }

    // MARK: Classes

    private mutating func characterClass() throws(PatternError) {
        let start = self.index
        let isNegated = self.peek(1) == "^"
        self.index += isNegated ? 2 : 1
        if self.peek() == "]" { return self.write(isNegated ? #"[\s\S]"# : "(?!)", taking: 1, mayRepeat: true) }
        self.output += isNegated ? "[^" : "["
        while let scalar = self.peek() {
            switch scalar {
            case "]": return self.write("]", taking: 1, mayRepeat: true)
            case "[": self.write(#"\["#, taking: 1, mayRepeat: true)
            case "\\": try self.escapeInClass()
            default: self.write(String(scalar), taking: 1, mayRepeat: true)
            }
        }
        self.index = start
        throw self.refusal("has a “[” without its “]”")
    }

    private mutating func escapeInClass() throws(PatternError) {
        guard let letter = self.peek(1) else { throw self.refusal(#"ends with a backslash; write \\ for one"#) }
        switch letter {
        case "d", "D", "w", "W": self.write("\\\(letter)", taking: 2, mayRepeat: true)
        case "s": self.write(Self.spaces, taking: 2, mayRepeat: true)
        // Inside a class, \S wrongly accepts U+FEFF: a class has no way to exclude it.
        case "S": self.write(#"\P{Xsp}"#, taking: 2, mayRepeat: true)
        case "b": self.write(#"\x{8}"#, taking: 2, mayRepeat: true)
        default: try self.characterEscape(letter)
        }
    }

    // MARK: Both

    /// The meaning of `\s` in ECMA-262: space separators, line ends, tab, vertical tab, form feed and U+FEFF.
    private static let spaces = #"\p{Xsp}\x{FEFF}"#

    /// Writes an escape that has the same meaning inside and outside of classes.
    private mutating func characterEscape(_ letter: UnicodeScalar) throws(PatternError) {
        switch letter {
        case "t", "n", "r", "f": self.write("\\\(letter)", taking: 2, mayRepeat: true)
        case "v": self.write(#"\x{B}"#, taking: 2, mayRepeat: true)
        case "0":
            if let digit = self.peek(2), ("0"..."9").contains(digit) {
                throw self.refusal("has an octal escape; write \\x and two hexadecimal digits")
            }
            self.write(#"\x{0}"#, taking: 2, mayRepeat: true)
        case "c":
            guard let control = self.peek(2), control.isASCII, control.properties.isAlphabetic else {
                throw self.refusal("has \\c without a letter behind it")
            }
            self.write("\\x{\(String(control.value & 0x1F, radix: 16))}", taking: 3, mayRepeat: true)
        case "x":
            guard let value = self.hexadecimal(at: 2, count: 2) else {
                throw self.refusal("has \\x without two hexadecimal digits behind it")
            }
            self.write("\\x{\(String(value, radix: 16))}", taking: 4, mayRepeat: true)
        case "u": try self.unicodeEscape()
        case "p", "P": try self.property(letter)
        default:
            guard letter.isASCII, !letter.properties.isAlphabetic, letter.properties.numericType == nil else {
                throw self.refusal(
                    "has the escape \\\(letter), which ECMA-262 does not know; write the character without backslash")
            }
            self.write("\\\(letter)", taking: 2, mayRepeat: true)
        }
    }

    private func hexadecimal(at distance: Int, count: Int) -> UInt32? {
        var value: UInt32 = 0
        for offset in distance..<distance + count {
            guard let scalar = self.peek(offset), scalar.isASCII, let digit = ASCII.hexValue(UInt8(scalar.value)) else {
                return nil
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func unicodeEscape() throws(PatternError) {
        var length = 2
        var value: UInt32?
        if self.peek(2) == "{" {
            let digits = self.scalars[(self.index + 3)...].prefix { $0 != "}" }
            value = digits.count <= 8 ? UInt32(String(String.UnicodeScalarView(digits)), radix: 16) : nil
            length = digits.count + 4
        } else {
            value = self.hexadecimal(at: 2, count: 4)
            length = 6
            if let high = value, high & 0xFC00 == 0xD800, self.peek(6) == "\\", self.peek(7) == "u",
                let low = self.hexadecimal(at: 8, count: 4), low & 0xFC00 == 0xDC00
            {
                value = 0x10000 + (high & 0x3FF) << 10 + low & 0x3FF
                length = 12
            }
        }
        guard let value, UnicodeScalar(value) != nil else {
            throw self.refusal("has \\u without the number of a character behind it")
        }
        self.write("\\x{\(String(value, radix: 16))}", taking: length, mayRepeat: true)
    }

    private mutating func property(_ letter: UnicodeScalar) throws(PatternError) {
        let rest = self.scalars[(self.index + 2)...]
        guard rest.first == "{", let end = rest.firstIndex(of: "}") else {
            throw self.refusal("has \\\(letter) without a property in braces behind it")
        }
        let name = String(self.scalars[self.index + 3..<end])
        let value = name.split(separator: "=", maxSplits: 1).last.map(String.init) ?? name
        let isCategory = name == value || name.hasPrefix("General_Category=") || name.hasPrefix("gc=")
        let short = isCategory ? GeneralCategory.shortName(of: value) : name
        self.write("\\\(letter){\(short)}", taking: end + 1 - self.index, mayRepeat: true)
    }
}

extension String {
    fileprivate init(_ scalars: ArraySlice<UnicodeScalar>) {
        self.init(String.UnicodeScalarView(scalars))
    }
}
