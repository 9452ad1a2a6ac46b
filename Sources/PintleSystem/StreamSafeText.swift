// SPDX-License-Identifier: Apache-2.0

// Texts that `String` can compare, hash and divide into characters in linear time.
//
// `String` sorts each run of combining marks in quadratic time, for canonical equivalence: a field value of 16 KiB with two marks in turn
// takes some 30 ms for each comparison, and as long for a search for a character. UAX #15 §13 calls a text with at most 30 of them in a row
// stream-safe; no writing system needs more. So a text that a peer chose is made stream-safe where bytes become text, or stays bytes.
extension String {
    private static let mostMarks = 30

    /// True if no run of combining marks is longer than UAX #15 allows.
    package var isStreamSafe: Bool {
        // Most texts are short or have no byte of a combining mark: these begin with U+0300.
        if self.utf8.count <= 2 * Self.mostMarks || self.utf8.allSatisfy({ $0 < 0xCC }) { return true }
        var run = 0
        for scalar in self.unicodeScalars {
            run = scalar.isMark ? run + 1 : 0
            if run > Self.mostMarks { return false }
        }
        return true
    }

    /// The text with a replacement character in the place of each combining mark behind 30 in a row.
    package var streamSafe: String {
        if self.isStreamSafe { return self }
        var (safe, run) = (String.UnicodeScalarView(), 0)
        for scalar in self.unicodeScalars {
            run = scalar.isMark ? run + 1 : 0
            safe.append(run > Self.mostMarks ? "\u{FFFD}" : scalar)
        }
        return String(safe)
    }
}

extension Unicode.Scalar {
    /// True for a combining mark that `String` sorts among others.
    fileprivate var isMark: Bool {
        // No character below U+0300 is one; most texts need only this comparison.
        self.value >= 0x300 && self.properties.canonicalCombiningClass != .notReordered
    }
}
