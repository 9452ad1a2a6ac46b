// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Makes texts that match a regular expression of ECMA-262, if it has no conditions that need a search.
///
/// Assertions other than `^` and `$` are ignored; callers try the text against the pattern.
struct PatternSampler {
    /// The number of repetitions.
    enum Size {
        case least, usual, most
    }

    /// A part of the expression.
    indirect enum Part {
        /// One of these characters.
        case characters([ClosedRange<UInt32>])
        case sequence([Part])
        case choice([Part])
        case repetition(Part, least: Int, most: Int?)
        /// A group with a number and perhaps a name.
        case group(Int, Part)
        case backreference(Int)
    }

    /// The most characters of a text.
    private static let longest = 32 * 1024

    private let part: Part
    private let isAnchoredAtStart: Bool
    private let isAnchoredAtEnd: Bool

    /// - Returns: nil if the expression has something that this type does not know, or is too long or too deep.
    init?(_ source: String) {
        guard source.utf8.count <= 4096, let (part, hasStart, hasEnd) = PatternParser.parse(source),
            part.leastLength <= Self.longest
        else { return nil }
        (self.part, self.isAnchoredAtStart, self.isAnchoredAtEnd) = (part, hasStart, hasEnd)
    }

    /// Makes a text.
    ///
    /// - Parameters:
    ///   - length: the characters that it shall have. Not always reached, and never exceeded.
    ///   - isLong: true if repetitions without a limit alone shall reach the least length.
    /// - Returns: nil if the text becomes longer than it may.
    func text(
        _ size: Size, length: ClosedRange<Int>, isLong: Bool, _ choices: inout SeededChoices, within budget: WorkBudget
    ) -> String? {
        var writing = Writing(
            size: size, spread: isLong ? max(length.lowerBound, 4) : 4, isLong: isLong && length.lowerBound > 4,
            limit: min(length.upperBound, Self.longest), budget: budget)
        guard writing.write(self.part, &choices) else { return nil }
        let missing = length.lowerBound - writing.scalars.count
        if missing > 0 {
            // A text around the match is allowed if no anchor forbids it.
            let filler = [UnicodeScalar](repeating: "a", count: missing)
            if !self.isAnchoredAtEnd {
                writing.scalars += filler
            } else if !self.isAnchoredAtStart {
                writing.scalars = filler + writing.scalars
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: writing.scalars)
        return String(text)
    }

    private struct Writing {
        let size: Size
        let spread: Int
        let isLong: Bool
        let limit: Int
        var scalars: [UnicodeScalar] = []
        private var groups: [Int: [UnicodeScalar]] = [:]
        private let budget: WorkBudget

        init(size: Size, spread: Int, isLong: Bool, limit: Int, budget: WorkBudget) {
            (self.size, self.spread, self.isLong, self.limit) = (size, spread, isLong, limit)
            self.budget = budget
        }

        /// - Returns: false if the text becomes too long, or takes too much work.
        mutating func write(_ part: Part, _ choices: inout SeededChoices) -> Bool {
            guard self.scalars.count <= self.limit, self.budget.spend(4) else { return false }
            switch part {
            case .characters(let ranges):
                guard let scalar = Self.character(in: ranges, &choices) else { return false }
                self.scalars.append(scalar)
                return self.scalars.count <= self.limit
            case .sequence(let parts): return parts.allSatisfy { self.write($0, &choices) }
            case .choice(let parts):
                guard let part = choices.pick(parts) else { return false }
                return self.write(part, &choices)
            case .repetition(let part, let least, let most):
                let count = self.count(least, most, &choices)
                guard count <= self.limit else { return false }
                return (0..<count).allSatisfy { _ in self.write(part, &choices) }
            case .group(let number, let part):
                let start = self.scalars.count
                guard self.write(part, &choices) else { return false }
                self.groups[number] = Array(self.scalars[start...])
                return true
            case .backreference(let number):
                self.scalars += self.groups[number] ?? []
                return self.scalars.count <= self.limit
            }
        }

        private func count(_ least: Int, _ most: Int?, _ choices: inout SeededChoices) -> Int {
            let spread = min((most ?? .max) - least, self.spread)
            guard spread > 0 else { return least }
            return switch self.size {
            case .least: least
            case .usual: self.isLong && most == nil ? max(least, spread) : least + choices.number(below: spread + 1)
            case .most: most.map { min($0, least + 256) } ?? least + spread
            }
        }

        /// A letter or digit if the class has one, else any printable character of ASCII, else its first.
        private static func character(
            in ranges: [ClosedRange<UInt32>], _ choices: inout SeededChoices
        ) -> UnicodeScalar? {
            let common = [[0x61...0x7A, 0x30...0x39], [0x41...0x5A], [0x20...0x7E]] as [[ClosedRange<UInt32>]]
            for group in common {
                let shared = group.flatMap { preferred in
                    ranges.compactMap { range -> ClosedRange<UInt32>? in
                        let (low, high) = (
                            max(range.lowerBound, preferred.lowerBound), min(range.upperBound, preferred.upperBound)
                        )
                        return low <= high ? low...high : nil
                    }
                }
                if let range = choices.pick(shared) {
                    return UnicodeScalar(
                        range.lowerBound + UInt32(choices.number(below: Int(range.upperBound - range.lowerBound) + 1)))
                }
            }
            return ranges.lazy.compactMap { UnicodeScalar($0.lowerBound) }.first
        }
    }
}

extension PatternSampler.Part {
    /// The fewest characters, at most about 2^31.
    fileprivate var leastLength: Int {
        switch self {
        case .characters: 1
        case .sequence(let parts): parts.reduce(0) { min(1 << 31, $0 + $1.leastLength) }
        case .choice(let parts): parts.map(\.leastLength).min() ?? 0
        case .repetition(let part, let least, _): min(1 << 31, part.leastLength * min(least, 1 << 31))
        case .group(_, let part): part.leastLength
        case .backreference: 0
        }
    }
}
