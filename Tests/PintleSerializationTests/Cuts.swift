// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Ways to cut a document, for results that must not depend on the cuts.
enum Cuts {
    /// Every cut in two, then one byte at a time.
    static func systematic(_ document: [UInt8]) -> [[ArraySlice<UInt8>]] {
        (0...document.count).map { [document[..<$0], document[$0...]] } + [document.indices.map { document[$0...$0] }]
    }

    /// Pieces of random lengths, some of them empty.
    static func random(_ document: [UInt8], _ random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        let longest = [1, 3, 20, 200].randomElement(using: &random) ?? 1
        while start < document.count {
            let end = min(document.count, start + Int.random(in: 0...longest, using: &random))
            pieces.append(document[start..<end])
            start = end
        }
        return pieces
    }
}
