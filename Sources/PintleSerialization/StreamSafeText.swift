// SPDX-License-Identifier: Apache-2.0

/// Texts that `String` can compare and hash in linear time.
///
/// `String` sorts each run of combining marks in quadratic time, for canonical equivalence: a key of 64 KiB of them takes a
/// quarter of a second. UAX #15 §13 calls a text with at most 30 of them in a row stream-safe; no writing system needs
/// more.
enum StreamSafeText {
    private static let runLimit = 30

    /// The error for a property list with another key: its keys are compared by canonical equivalence.
    static let keyError = PropertyListError("the document has a key with over 30 combining marks in a row")

    /// True if no run of combining marks is longer than UAX #15 allows.
    static func contains(_ text: String) -> Bool {
        var run = 0
        for scalar in text.unicodeScalars {
            // No character below U+0300 is a combining mark; most text needs only this comparison.
            guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered else {
                run = 0
                continue
            }
            run += 1
            if run > Self.runLimit { return false }
        }
        return true
    }
}
