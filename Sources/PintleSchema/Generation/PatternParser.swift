// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads a regular expression that ``PatternTranslator`` has accepted, for ``PatternSampler``.
struct PatternParser {
    private typealias Part = PatternSampler.Part

    private static let depthLimit = 24
    private static let everything: [ClosedRange<UInt32>] = [0x20...0x7E, 0xA1...0xD7FF, 0xE000...0xFFFD]
    private static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    private static let word: [ClosedRange<UInt32>] = [0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x5F...0x5F]
    private static let spaces: [ClosedRange<UInt32>] = [0x20...0x20, 0x09...0x0D, 0xA0...0xA0]

    private var scanner: ArraySlice<UnicodeScalar>
    private var groupCount = 0
    private var names: [String: Int] = [:]
    private var depth = 0

    /// - Returns: the expression, and if it begins with `^` and ends with `$`; nil if a part is not known.
    static func parse(_ source: String) -> (PatternSampler.Part, Bool, Bool)? {
        var parser = PatternParser(scanner: Array(source.unicodeScalars)[...])
        guard let part = parser.alternatives(), parser.scanner.isEmpty else { return nil }
        let hasEnd = source.hasSuffix("$") && !source.hasSuffix("\\$")
        return (part, source.hasPrefix("^"), hasEnd)
    }

    private init(scanner: ArraySlice<UnicodeScalar>) { self.scanner = scanner }

    // MARK: Structure

    private mutating func alternatives() -> Part? {
        self.depth += 1
        defer { self.depth -= 1 }
        guard self.depth <= Self.depthLimit else { return nil }
        var choices: [Part] = []
        repeat {
            guard let sequence = self.sequence() else { return nil }
            choices.append(sequence)
        } while self.take("|")
        return choices.count == 1 ? choices[0] : .choice(choices)
    }

    private mutating func sequence() -> Part? {
        var parts: [Part] = []
        while let scalar = self.scanner.first, scalar != "|", scalar != ")" {
            guard let part = self.term() else { return nil }
            parts.append(self.repeated(part))
        }
        return .sequence(parts)
    }

    private mutating func take(_ scalar: UnicodeScalar) -> Bool {
        guard self.scanner.first == scalar else { return false }
        self.scanner.removeFirst()
        return true
    }

    private mutating func take(_ text: String) -> Bool {
        guard self.scanner.starts(with: text.unicodeScalars) else { return false }
        self.scanner = self.scanner.dropFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func repeated(_ part: Part) -> Part {
        let result: Part
        if self.take("*") {
            result = .repetition(part, least: 0, most: nil)
        } else if self.take("+") {
            result = .repetition(part, least: 1, most: nil)
        } else if self.take("?") {
            result = .repetition(part, least: 0, most: 1)
        } else if let (least, most) = self.braces() {
            result = .repetition(part, least: least, most: most)
        } else {
            return part
        }
        _ = self.take("?")
        return result
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; nil if the brace stands for itself.
    private mutating func braces() -> (Int, Int?)? {
        guard self.scanner.first == "{", let end = self.scanner.firstIndex(of: "}") else { return nil }
        let text = String(String.UnicodeScalarView(self.scanner[(self.scanner.startIndex + 1)..<end]))
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 2, let least = Int(parts[0]), least >= 0 else { return nil }
        var most: Int? = least
        if parts.count == 2 {
            most = Int(parts[1])
            guard parts[1].isEmpty || (most ?? -1) >= least else { return nil }
        }
        self.scanner = self.scanner[(end + 1)...]
        return (least, most)
    }

    private mutating func term() -> Part? {
        guard let scalar = self.scanner.popFirst() else { return nil }
        switch scalar {
        case "^", "$": return .sequence([])
        case ".": return .characters([0x20...0x7E, 0xA1...0x2027, 0x202A...0xD7FF])
        case "(": return self.group()
        case "[": return self.characterClass()
        case "\\": return self.escape()
        default: return Self.one(scalar)
        }
    }

    private static func one(_ scalar: UnicodeScalar) -> Part { .characters([scalar.value...scalar.value]) }

    private mutating func group() -> Part? {
        for opening in ["?=", "?!", "?<=", "?<!"] where self.take(opening) {
            guard self.alternatives() != nil, self.take(")") else { return nil }
            return .sequence([])
        }
        if self.take("?:") {
            guard let part = self.alternatives(), self.take(")") else { return nil }
            return part
        }
        self.groupCount += 1
        let number = self.groupCount
        if self.take("?<") {
            let name = self.scanner.prefix { $0 != ">" }
            self.names[String(String.UnicodeScalarView(name))] = number
            self.scanner = self.scanner[name.endIndex...].dropFirst()
        }
        guard let part = self.alternatives(), self.take(")") else { return nil }
        return .group(number, part)
    }

    // MARK: Characters

    private mutating func escape() -> Part? {
        guard let letter = self.scanner.first else { return nil }
        switch letter {
        case "b", "B":
            self.scanner.removeFirst()
            return .sequence([])
        case "1"..."9":
            let digits = self.scanner.prefix { $0.isASCII && ASCII.isDigit(UInt8($0.value)) }
            self.scanner = self.scanner[digits.endIndex...]
            return Int(String(String.UnicodeScalarView(digits))).map { .backreference($0) }
        case "k":
            guard self.take("k<"), let end = self.scanner.firstIndex(of: ">") else { return nil }
            let name = String(String.UnicodeScalarView(self.scanner[..<end]))
            self.scanner = self.scanner[(end + 1)...]
            return self.names[name].map { .backreference($0) }
        default: return self.escapedCharacters().map { .characters($0) }
        }
    }

    /// Reads an escape after its backslash that means the same inside and outside of classes.
    private mutating func escapedCharacters() -> [ClosedRange<UInt32>]? {
        guard let letter = self.scanner.popFirst() else { return nil }
        switch letter {
        case "d": return Self.digits
        case "D": return Self.complement(of: Self.digits)
        case "w": return Self.word
        case "W": return Self.complement(of: Self.word)
        case "s": return Self.spaces
        case "S": return Self.complement(of: Self.spaces)
        case "t": return [0x09...0x09]
        case "n": return [0x0A...0x0A]
        case "v": return [0x0B...0x0B]
        case "f": return [0x0C...0x0C]
        case "r": return [0x0D...0x0D]
        case "0": return [0...0]
        case "c": return self.scanner.popFirst().map { [($0.value & 0x1F)...($0.value & 0x1F)] }
        case "x": return self.hexadecimal(2).map { [$0...$0] }
        case "u": return self.unicodeEscape()
        case "p", "P": return self.property(isNegated: letter == "P")
        default: return [letter.value...letter.value]
        }
    }

    private mutating func hexadecimal(_ count: Int) -> UInt32? {
        let digits = self.scanner.prefix(count)
        guard digits.count == count, let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16) else {
            return nil
        }
        self.scanner = self.scanner.dropFirst(count)
        return value
    }

    private mutating func unicodeEscape() -> [ClosedRange<UInt32>]? {
        if self.take("{") {
            let digits = self.scanner.prefix { $0 != "}" }
            self.scanner = self.scanner[digits.endIndex...].dropFirst()
            return UInt32(String(String.UnicodeScalarView(digits)), radix: 16).map { [$0...$0] }
        }
        guard let high = self.hexadecimal(4) else { return nil }
        guard high & 0xFC00 == 0xD800 else { return [high...high] }
        guard self.take("\\u"), let low = self.hexadecimal(4), low & 0xFC00 == 0xDC00 else { return nil }
        let value = 0x10000 + (high & 0x3FF) << 10 + low & 0x3FF
        return [value...value]
    }

    /// A few characters of the properties that patterns name most; nil for others.
    private mutating func property(isNegated: Bool) -> [ClosedRange<UInt32>]? {
        guard self.take("{"), let end = self.scanner.firstIndex(of: "}") else { return nil }
        let name = String(String.UnicodeScalarView(self.scanner[..<end]))
        self.scanner = self.scanner[(end + 1)...]
        let value = name.split(separator: "=").last.map(String.init) ?? name
        let known: [String: [ClosedRange<UInt32>]] = [
            "L": [0x61...0x7A, 0x41...0x5A], "Ll": [0x61...0x7A], "Lu": [0x41...0x5A], "Alphabetic": [0x61...0x7A],
            "N": Self.digits, "Nd": Self.digits, "P": [0x21...0x23, 0x2C...0x2F], "S": [0x2B...0x2B],
            "Z": [0x20...0x20], "Zs": [0x20...0x20], "Latin": [0x61...0x7A], "Greek": [0x3B1...0x3C9],
            "Cyrillic": [0x430...0x44F], "Han": [0x4E00...0x4E10], "Uppercase": [0x41...0x5A],
            "Lowercase": [0x61...0x7A],
        ]
        guard let ranges = known[GeneralCategory.shortName(of: value)] else { return nil }
        return isNegated ? Self.complement(of: ranges) : ranges
    }

    private mutating func characterClass() -> Part? {
        let isNegated = self.take("^")
        var ranges: [ClosedRange<UInt32>] = []
        while let scalar = self.scanner.popFirst() {
            if scalar == "]" {
                if ranges.isEmpty { return isNegated ? .characters(Self.everything) : nil }
                return .characters(isNegated ? Self.complement(of: ranges) : ranges)
            }
            guard let first = self.classMember(scalar) else { return nil }
            // A hyphen between two single characters makes a range.
            guard self.scanner.first == "-", let low = first.single, let next = self.scanner.dropFirst().first,
                next != "]"
            else {
                ranges += first
                continue
            }
            self.scanner = self.scanner.dropFirst(2)
            guard let last = self.classMember(next), let high = last.single, low <= high else { return nil }
            ranges.append(low...high)
        }
        return nil
    }

    private mutating func classMember(_ scalar: UnicodeScalar) -> [ClosedRange<UInt32>]? {
        guard scalar == "\\" else { return [scalar.value...scalar.value] }
        return self.take("b") ? [0x08...0x08] : self.escapedCharacters()
    }

    /// The other characters among those that can be shown.
    private static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for whole in Self.everything {
            var start = whole.lowerBound
            for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound >= start {
                guard range.lowerBound <= whole.upperBound else { break }
                if range.lowerBound > start { result.append(start...range.lowerBound - 1) }
                start = range.upperBound + 1
            }
            if start <= whole.upperBound { result.append(start...whole.upperBound) }
        }
        return result
    }
}

extension [ClosedRange<UInt32>] {
    /// The only character; nil if there are others.
    fileprivate var single: UInt32? {
        self.count == 1 && self[0].lowerBound == self[0].upperBound ? self[0].lowerBound : nil
    }
}
