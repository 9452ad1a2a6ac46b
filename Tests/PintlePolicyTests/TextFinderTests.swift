// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
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
