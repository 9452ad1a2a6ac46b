// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// The work of finding texts that stand for others grows with the patterns, and not with their square.
struct WitnessStepTests {
    @Test(arguments: [1000, 4000])
    func `patterns that no longer match are not followed`(count: Int) throws {
        let patterns = try (1000..<1000 + count).map { try PathPattern("/v1/p\($0)/**") }
        let witnesses = PatternWitnesses(paths: patterns)
        #expect(!witnesses.isComplete && !witnesses.texts.isEmpty)
        #expect(witnesses.steps <= 100 * count, "\(witnesses.steps)")
    }
}
