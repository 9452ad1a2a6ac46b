// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintlePolicy
@testable import PintleProxy

/// The texts by which stored responses are found again after a restart.
struct StableTextTests {
    private static func destinations(_ yaml: String) throws -> DestinationsConfiguration {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: .system(environment: [:])
        ).configuration.destinations
    }

    @Test func `the order of sets and dictionaries is that of their texts`() {
        var (few, many) = (Set<String>(), Set<String>(minimumCapacity: 4000))
        for number in 0..<40 { few.insert("\(number)") }
        for number in (0..<40).reversed() { many.insert("\(number)") }
        #expect(few == many && Array(few) != Array(many))
        #expect(StableText(few).description == StableText(many).description)
        let (left, right) = (Dictionary(uniqueKeysWithValues: few.map { ($0, 1) }), many.map { ($0, 1) })
        #expect(
            StableText(left).description
                == StableText(Dictionary(right, uniquingKeysWith: { first, _ in first })).description)
        #expect(StableText(["b", "a"]).description != StableText(["a", "b"]).description)
    }

    @Test func `places in files are left out, and every other difference is told`() throws {
        let lines = "destinations: {deny: [a.example, {host: b.example, tags: [ci]}], allow: [c.example]}"
        let text = StableText(try Self.destinations(lines)).description
        let moved = "\n\n\(lines.replacing("deny: [", with: "deny: [\n    "))"
        #expect(StableText(try Self.destinations(moved)).description == text)
        for (part, other) in [
            ("a.example", "x.example"), ("[ci]", "[cj]"), ("tags: [ci]", "reason: ci"), ("c.example", "c.example:443"),
            ("deny: [a.example", "enforcement: report, deny: [a.example"),
        ] {
            let changed = StableText(try Self.destinations(lines.replacing(part, with: other))).description
            #expect(changed != text, "\(part)")
        }
    }

    @Test func `what differs in the rules for requests is told`() {
        var (left, right) = (RequestRules(), RequestRules())
        #expect(StableText(left).description == StableText(right).description)
        left.retries.occasions = [.staleConnection]
        right.retries.occasions = []
        #expect(StableText(left).description != StableText(right).description)
    }
}
