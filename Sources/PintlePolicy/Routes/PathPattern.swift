// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// The paths that a route applies to: `*` stands for any bytes except a slash, `**` for any bytes, both also for none.
///
/// Queries are ignored. Percent-encoded characters match their plain form, as in ``UnreservedBytes``: `/%76%31` is `/v1`, but
/// `%2F` is no slash. Matching takes time proportional to path times pattern, whatever they are.
package struct PathPattern: Sendable, Hashable, CustomStringConvertible {
    enum Token: Sendable, Hashable {
        case byte(UInt8)
        case star
        case doubleStar

        /// True if it may stand for nothing.
        var isStar: Bool { self == .star || self == .doubleStar }
    }

    /// The pattern as the configuration spells it.
    package let description: String
    /// The bytes before the first star.
    let prefix: [UInt8]
    /// The rest, from the first star on; at most 127 tokens, since a set of positions is kept in one 128-bit word.
    let tokens: [Token]
    /// True if only `**` follows `prefix`: the usual pattern, which needs no walk.
    let isSubtree: Bool

    /// The whole pattern.
    var allTokens: [Token] { self.prefix.map { .byte($0) } + self.tokens }

    /// Reads a pattern.
    ///
    /// - Throws: the reason if it does not begin with a slash or a star, has a query, or is too long.
    package init(_ text: String) throws(Malformed) {
        guard text.hasPrefix("/") || text.hasPrefix("*") else { throw Malformed("a path pattern begins with /") }
        guard !text.contains("?"), !text.contains("#") else {
            throw Malformed("a path pattern has no query or fragment: only the path is compared")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Malformed("a path pattern is printable ASCII without spaces: percent-encode the rest")
        }
        guard !text.contains("***") else { throw Malformed("a star is single, *, or double, **") }
        var bytes = UnreservedBytes(Array(text.utf8))
        var prefix: [UInt8] = []
        var tokens: [Token] = []
        while let byte = bytes.next() {
            if byte != UInt8(ascii: "*") {
                if tokens.isEmpty { prefix.append(byte) } else { tokens.append(.byte(byte)) }
            } else if tokens.last == .star {
                tokens[tokens.count - 1] = .doubleStar
            } else {
                tokens.append(.star)
            }
        }
        guard prefix.count <= 4096, tokens.count < 128 else {
            throw Malformed("a path pattern has at most 127 characters from its first star on")
        }
        self.description = text
        self.prefix = prefix
        self.tokens = tokens
        self.isSubtree = tokens == [.doubleStar]
    }

    /// True if the path in `path`, up to its query, matches.
    package func matches(_ path: some StringProtocol) -> Bool {
        path.utf8.withContiguousStorageIfAvailable { self.matches(bytes: $0) } ?? self.matches(bytes: Array(path.utf8))
    }

    /// True if every path that `other` matches is matched, too, as far as that is obvious: equal patterns, `/**` after a
    /// shared beginning, or a pattern over a path without stars.
    package func covers(_ other: PathPattern) -> Bool {
        if self == other || (self.prefix == other.prefix && self.tokens == other.tokens) { return true }
        if self.isSubtree { return other.prefix.starts(with: self.prefix) }
        // The prefix is already decoded, and must not be decoded again.
        var path = other.prefix.makeIterator()
        return other.tokens.isEmpty && self.matches(&path)
    }

    func matches<Bytes: RandomAccessCollection<UInt8>>(bytes: Bytes) -> Bool where Bytes.Index == Int {
        var input = UnreservedBytes(bytes)
        return self.matches(&input)
    }

    private func matches(_ input: inout some IteratorProtocol<UInt8>) -> Bool {
        for expected in self.prefix where input.next() != expected { return false }
        if self.tokens.isEmpty { return input.next() == nil }
        if self.isSubtree { return true }
        return self.runTokens(&input)
    }

    /// Walks through all positions in the pattern that the path so far may have reached, so nothing is tried twice.
    private func runTokens(_ input: inout some IteratorProtocol<UInt8>) -> Bool {
        var positions = self.withEmptyStars(1)
        while let byte = input.next() {
            var next: UInt128 = 0
            var rest = positions
            while rest != 0 {
                let index = rest.trailingZeroBitCount
                rest &= rest - 1
                guard index < self.tokens.count else { continue }
                switch self.tokens[index] {
                case .byte(let expected): if expected == byte { next |= UInt128(2) << UInt128(index) }
                case .star: if byte != UInt8(ascii: "/") { next |= UInt128(1) << UInt128(index) }
                case .doubleStar: next |= UInt128(1) << UInt128(index)
                }
            }
            if next == 0 { return false }
            positions = self.withEmptyStars(next)
        }
        return positions >> UInt128(self.tokens.count) & 1 == 1
    }

    /// `positions`, and the positions after their stars, since a star may stand for nothing.
    private func withEmptyStars(_ positions: UInt128) -> UInt128 {
        var positions = positions
        for (index, token) in self.tokens.enumerated() where positions >> UInt128(index) & 1 == 1 {
            if token.isStar { positions |= UInt128(2) << UInt128(index) }
        }
        return positions
    }
}
