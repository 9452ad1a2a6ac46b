// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// Keys that a map has several times: their places, and what large files cost.
struct RepeatedKeyTests {
    @Test(arguments: [
        ("engine: {'': 1, \"\" : 2}", "pintle.yaml:2:10: duplicate key \"\", at 2:17 too"),
        (
            "engine: {a: 1, a: 2, a: 3, a: 4, a: 5, a: 6}",
            "pintle.yaml:2:10: duplicate key \"a\", at 2:16 and 2:22 and 2:28 and 2:34 too"
        ),
        ("engine: {'a b': 1, 'a b'   : 2}", "pintle.yaml:2:10: duplicate key \"a b\", at 2:20 too"),
        (
            "engine: {" + (0..<20).map { "k\($0 % 10): 1" }.joined(separator: ", ") + "}",
            "pintle.yaml:2:10: duplicate key \"k0\", \"k1\", \"k2\", \"k3\", \"k4\", \"k5\", \"k6\", \"k7\" and 2 more, at 2:80 too"
        ),
    ])
    func `a repeated key is named with its places`(yaml: String, problem: String) {
        #expect(problems("version: 1\n" + yaml) == [problem])
    }

    /// With quadratic work each of these would take hours.
    @Test(
        .timeLimit(.minutes(15)),
        arguments: [
            "{version: 1, " + (0..<100_000).map { "a\($0): 1, " }.joined() + "version: 2}",
            "{version: 1, " + String(repeating: " ", count: 1_000_000) + "version: 2}",
            "{' ': 1, \" \": 2, " + String(repeating: " ", count: 1_000_000) + "a: b}",
        ]) func `a repeated key is found in a line as long as a file`(yaml: String)
    {
        let found = problems(yaml)
        #expect(found.count == 1 && found[0].hasPrefix("pintle.yaml:1:2: duplicate key "), "\(found)")
    }

    @Test(.timeLimit(.minutes(15))) func `a file of directives is refused`() {
        func yaml(_ count: Int, _ end: String) -> String {
            (0..<count).map { "%TAG !a\($0)! x\(end)" }.joined() + "---\(end)version: 1\(end)"
        }
        let refusal = "pintle.yaml: more than 1000 lines begin with %, as directives do; none is needed here"
        for end in ["\n", "\r\n", "\r"] {
            #expect(problems(yaml(1000, end)) == [])
            #expect(problems(yaml(1001, end)) == [refusal])
        }
        #expect(problems(yaml(200_000, "\n")) == [refusal])
    }
}
