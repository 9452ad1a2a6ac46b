// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// `capture` (contract §4: bodies where kept).
struct CaptureRuleTests {
    @Test(arguments: ["off", "false", "no"])
    func `no bodies are kept unless a length is given`(word: String) throws {
        #expect(try load("version: 1\ncapture: \(word)").capture == nil)
        #expect(Configuration().capture == nil)
    }

    @Test func `a filter chooses, and without one all are kept`() throws {
        let all = try #require(try load("version: 1\ncapture: {bodies: 64KiB}").capture)
        #expect(all.bodies == 65_536 && all.filter.isEverything)
        let some = try #require(try load("version: 1\ncapture: {bodies: 1, when: \"~c 5xx | ~bs error\"}").capture)
        #expect(some.filter.source == "~c 5xx | ~bs error" && !some.filter.isEverything)
    }

    @Test(
        arguments: [
            (
                "{when: ~e}",
                ":10: capture: the key \"bodies\" is missing: the most bytes to keep of a body, as in 64KiB"
            ),
            ("{bodies: 0}", ":19: capture.bodies: \"0\": must be from 1 to 16MiB"),
            ("{bodies: 17MiB}", ":19: capture.bodies: \"17MiB\": must be from 1 to 16MiB"),
            (
                "{bodies: 1KiB, when: \"~c 5xx ~rout a\"}",
                ":31: capture.when: \"~c 5xx ~rout a\": is not a filter: there is no ~rout; did you mean ~route?, at character 8"
            ),
            ("on", ":10: capture: must be a map, not \"on\""),
        ])
    func `faults are told with their places`(map: String, expected: String) {
        #expect(problems("version: 1\ncapture: \(map)") == ["pintle.yaml:2\(expected)"])
    }
}
