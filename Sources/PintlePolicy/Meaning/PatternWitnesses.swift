// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Texts that stand for all texts as far as some patterns can tell: for every set of the patterns that one text can match at once,
/// there is a text that matches just these.
///
/// Walks through the product of the patterns' automata, breadth first, so that the texts are the shortest.
package struct PatternWitnesses: Sendable {
    package private(set) var texts: [String] = []
    /// False if there may be sets of patterns without a text here, because the search was too large, or because only paths that
    /// servers read differently match them.
    package private(set) var isComplete = true

    /// The most states of the product that are visited, the most steps in patterns, and the most texts.
    private static let (mostStates, mostSteps, mostTexts) = (20_000, 4_000_000, 256)

    /// The number of steps: patterns that were followed by a byte.
    private(set) var steps = 0

    /// Finds paths that all servers read alike.
    package init(paths patterns: [PathPattern]) {
        let tokens = Set(patterns.map(\.allTokens))
        // Servers read these differently, or the text of the pattern is no path by itself.
        let ambiguous: [UInt8] = [UInt8(ascii: ";"), UInt8(ascii: "\\"), UInt8(ascii: "%")]
        self.isComplete = !tokens.contains { tokens in
            tokens.contains { token in ambiguous.contains { token == .byte($0) } }
                || zip(tokens, tokens.dropFirst()).contains { $0 == .byte(0x2F) && $1 == .byte(0x2F) }
        }
        self.search(Array(tokens), isPath: true)
    }

    /// Finds field values.
    package init(values patterns: [HeaderPattern]) { self.search(Array(Set(patterns.map(\.allTokens))), isPath: false) }

    /// Finds names of clients; none if there are no patterns.
    package init(names patterns: [Glob]) {
        // A name that no pattern matches is like none.
        if !patterns.isEmpty { self.search(Array(Set(patterns.map(\.allTokens))), isPath: false, mayBeEmpty: false) }
    }

    // MARK: The search

    /// A state of the product: the positions in each pattern, and the part of the current segment so far.
    private struct State: Hashable {
        enum Segment { case empty, dot, dots, other }

        /// The patterns that may still match: most no longer do after a few bytes.
        var positions: [Positions]
        var segment = Segment.empty
    }

    private struct Positions: Hashable {
        let pattern: Int
        /// The places in the pattern, in rising order; never empty.
        let places: [Int]
    }

    private mutating func search(_ patterns: [[PathPattern.Token]], isPath: Bool, mayBeEmpty: Bool = true) {
        let generic = Self.genericByte(patterns)
        var start = State(
            positions: patterns.enumerated().map { Positions(pattern: $0, places: Self.withEmptyStars([0], $1)) })
        var queue: [(state: State, text: [UInt8])] = []
        if isPath {
            start = Self.next(start, 0x2F, patterns)
            queue.append((start, [0x2F]))
        } else {
            queue.append((start, []))
        }
        var visited: Set<State> = [start]
        var (found, missed) = (Set<[Int]>(), Set<[Int]>())
        var index = 0
        while index < queue.count {
            let (state, text) = queue[index]
            index += 1
            let accepted = state.positions.filter { $0.places.contains(patterns[$0.pattern].count) }.map(\.pattern)
            if !found.contains(accepted), mayBeEmpty || !text.isEmpty {
                if let text = Self.valid(text, isPath) {
                    found.insert(accepted)
                    self.texts.append(text)
                } else if !isPath || state.segment == .other {
                    missed.insert(accepted)
                }
            }
            for byte in Self.bytes(from: state, patterns, generic) where Self.allows(byte, state, text, isPath) {
                self.steps += state.positions.count
                let next = Self.next(state, byte, patterns)
                guard visited.insert(next).inserted else { continue }
                guard visited.count <= Self.mostStates, self.steps <= Self.mostSteps,
                    self.texts.count < Self.mostTexts
                else {
                    self.isComplete = false
                    return
                }
                queue.append((next, text + [byte]))
            }
        }
        if !missed.isSubset(of: found) { self.isComplete = false }
    }

    /// The text if a request can have it.
    private static func valid(_ bytes: [UInt8], _ isPath: Bool) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let isValid =
            isPath
            ? PathReadings.isPlain(text) && !RequestPath.hasDotSegments(text)
            // A value has no spaces at its ends.
            : FieldSyntax.isValue(text)
        return isValid ? text : nil
    }

    private static func allows(_ byte: UInt8, _ state: State, _ text: [UInt8], _ isPath: Bool) -> Bool {
        guard isPath else { return byte >= 0x20 && byte != 0x7F || byte == 0x09 }
        switch byte {
        // Servers read empty segments differently, and resolve dot segments.
        case 0x2F: return state.segment == .other
        case UInt8(ascii: ";"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): return false
        default: return byte > 0x20 && byte < 0x7F
        }
    }

    /// The bytes that lead to different states: those that a pattern expects now, a slash, and any other byte.
    private static func bytes(from state: State, _ patterns: [[PathPattern.Token]], _ generic: UInt8?) -> [UInt8] {
        var expected: Set<UInt8> = [0x2F]
        for positions in state.positions {
            let tokens = patterns[positions.pattern]
            for place in positions.places where place < tokens.count {
                if case .byte(let byte) = tokens[place] { expected.insert(byte) }
            }
        }
        return [generic].compactMap(\.self) + expected.sorted()
    }

    private static func next(_ state: State, _ byte: UInt8, _ patterns: [[PathPattern.Token]]) -> State {
        var next = State(positions: [])
        for positions in state.positions {
            let tokens = patterns[positions.pattern]
            var reached: [Int] = []
            for position in positions.places where position < tokens.count {
                switch tokens[position] {
                case .byte(let expected): if expected == byte { reached.append(position + 1) }
                case .star: if byte != 0x2F { reached.append(position) }
                case .doubleStar: reached.append(position)
                }
            }
            if reached.isEmpty { continue }
            next.positions.append(
                Positions(pattern: positions.pattern, places: Self.withEmptyStars(reached, tokens)))
        }
        switch (byte, state.segment) {
        case (0x2F, _): next.segment = .empty
        case (UInt8(ascii: "."), .empty): next.segment = .dot
        case (UInt8(ascii: "."), .dot): next.segment = .dots
        default: next.segment = .other
        }
        return next
    }

    /// `positions`, and the positions after their stars, since a star may stand for nothing.
    private static func withEmptyStars(_ positions: [Int], _ tokens: [PathPattern.Token]) -> [Int] {
        if positions.count == 1, positions[0] >= tokens.count || !tokens[positions[0]].isStar { return positions }
        var all = Set(positions)
        for position in positions {
            var position = position
            while position < tokens.count, tokens[position].isStar {
                position += 1
                all.insert(position)
            }
        }
        return all.sorted()
    }

    /// A byte that no pattern names; nil if they name all unreserved ones.
    private static func genericByte(_ patterns: [[PathPattern.Token]]) -> UInt8? {
        var named: Set<UInt8> = []
        for tokens in patterns { for case .byte(let byte) in tokens { named.insert(byte) } }
        return Array("xyzwvutsrqponmlkjihgfedcba0123456789_~XYZ-!$'()+,:@&=".utf8).first { !named.contains($0) }
    }
}
