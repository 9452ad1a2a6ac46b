// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// Forms of text.
struct GlobTests {
    @Test(arguments: [
        ("alice", "alice", true), ("alice", "alice2", false), ("ops-*", "ops-", true), ("*", "", true),
        ("a*b*c", "abbc", true), ("a*b*c", "acb", false), ("é", "e\u{301}", false),
    ])
    func `a star is any text, and all else bytes`(form: String, text: String, matches: Bool) {
        #expect(Glob(form).matches(text) == matches)
        #expect(Glob(form).description == form)
    }

    @Test(arguments: [
        ("*", "a*", true), ("a*", "ab", true), ("a*", "*", false), ("ab", "a*", false), ("a*", "a*", true),
    ])
    func `a form covers others`(form: String, other: String, covers: Bool) {
        #expect(Glob(form).covers(Glob(other)) == covers)
    }
}
