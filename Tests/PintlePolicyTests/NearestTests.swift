// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// The guess of the name that a user meant.
struct NearestTests {
    @Test(
        arguments: [
            ("respones", ["request", "response"], "response"),
            ("api", ["API", "other"], "API"),
            ("PAY", ["pay", "day"], "pay"),
            ("a-c", ["a-b"], "a-b"),
            ("verify_run", ["verify", "verify-run"], "verify-run"),
            ("strip-prefix", ["strip_prefix"], "strip_prefix"),
            ("x", ["routes"], nil),
            ("trust", ["routes"], nil),
        ] as [(String, [String], String?)])
    func `a slip is a few edits, whatever the letter case, hyphens and underscores`(
        written: String, names: [String], meant: String?
    ) {
        #expect(written.nearest(of: names) == meant)
    }
}
