// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import Testing

/// ``TextFinder``: several texts in a stream that comes in pieces.
struct TextFinderTests {
    private func finder(_ texts: [String], ignoresCase: Bool = false) -> TextFinder {
        TextFinder(texts.map { Array($0.utf8) }, ignoresCase: ignoresCase)
    }

    /// All matches in pieces, each as the text's number and the place behind it in the whole.
    private func matches(_ finder: TextFinder, _ pieces: [[UInt8]]) -> [[Int]] {
        var place = TextFinder.Place()
        var found: [[Int]] = []
        var before = 0
        for piece in pieces {
            piece.withUnsafeBytes { bytes in
                var next = 0
                while let match = finder.next(in: bytes, from: next, at: &place) {
                    next = match.end
                    found.append([match.text, before + match.end])
                }
            }
            before += piece.count
        }
        return found
    }

    @Test func `texts are found wherever the pieces are cut`() {
        let finder = self.finder(["abcab", "bcd", "cabx"])
        let text = Array("zabcabcdabcabxq".utf8)
        let whole = self.matches(finder, [text])
        #expect(whole == [[0, 6], [1, 8], [0, 13], [2, 14]])
        for first in 0...text.count {
            for second in first...text.count {
                let pieces = [text[..<first], text[first..<second], text[second...]].map(Array.init)
                #expect(self.matches(finder, pieces) == whole, "\(first) \(second)")
            }
        }
    }

    @Test func `skipping misses no text, whatever the lengths and the cuts`() {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<2000 {
            // Few letters, so that texts overlap and nearly match everywhere.
            let letters = Array("abcd".utf8.prefix(Int.random(in: 1...4, using: &random)))
            func text(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
            }
            let shortest = Int.random(in: 1...9, using: &random)
            let texts = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                text(shortest + Int.random(in: 0...4, using: &random))
            }
            let whole = text(Int.random(in: 0...80, using: &random))
            let finder = TextFinder(texts)
            let expected = (1...max(1, whole.count)).compactMap { end -> [Int]? in
                let ending = texts.filter {
                    whole.prefix(end).count == end && whole.prefix(end).suffix($0.count) == $0[...]
                }
                guard let longest = ending.map(\.count).max() else { return nil }
                return texts.firstIndex { $0.count == longest && ending.contains($0) }.map { [$0, end] }
            }
            #expect(whole.withUnsafeBytes(finder.isFound) != expected.isEmpty)
            let cut = Int.random(in: 0...whole.count, using: &random)
            #expect(
                self.matches(finder, [Array(whole[..<cut]), Array(whole[cut...])]) == expected,
                "\(texts.map { String(decoding: $0, as: UTF8.self) }) in \(String(decoding: whole, as: UTF8.self)) at \(cut)"
            )
        }
    }

    @Test func `a text in whole bytes is found as in a stream, behind any place`() {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<2000 {
            let letters = Array("abc".utf8)
            func text(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }
            }
            // Half of the rounds have texts of one length. Some have more than are compared one by one.
            let (shortest, spread) = (Int.random(in: 1...6, using: &random), Int.random(in: 0...1, using: &random))
            let texts = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                text(shortest + Int.random(in: 0...3 * spread, using: &random))
            }
            let (finder, whole) = (TextFinder(texts), text(Int.random(in: 0...60, using: &random)))
            let start = Int.random(in: 0...whole.count, using: &random)
            whole.withUnsafeBytes { bytes in
                var place = TextFinder.Place()
                let expected = finder.next(in: bytes, from: start, at: &place)
                let found = finder.match(in: bytes, from: start)
                #expect(
                    found == expected,
                    "\(texts.map { String(decoding: $0, as: UTF8.self) }) in \(String(decoding: whole, as: UTF8.self))")
            }
        }
    }

    @Test func `the longest text that ends in a place is told`() {
        #expect(self.matches(self.finder(["bc", "abc"]), [Array("abc xbc".utf8)]) == [[1, 3], [0, 7]])
    }

    @Test func `case matters unless it is ignored`() {
        let text = Array("SECRET Secret secret".utf8)
        #expect(self.matches(self.finder(["secret"]), [text]).count == 1)
        #expect(self.matches(self.finder(["seCret"], ignoresCase: true), [text]).count == 3)
    }

    @Test(arguments: [("x", 0), ("xab", 2), ("xabc", 3), ("xabcd", 0), ("xabcda", 1), ("xbcdab", 2)])
    func `bytes wait only if a text may continue`(text: String, waiting: Int) {
        let finder = self.finder(["abcd", "bcde"])
        var place = TextFinder.Place()
        Array(text.utf8).withUnsafeBytes { bytes in
            var next = 0
            while let match = finder.next(in: bytes, from: next, at: &place) { next = match.end }
        }
        // Behind `abcd` the other text may go on with `e`.
        #expect(finder.open(at: place) == (text == "xabcd" ? 3 : waiting))
    }
}
