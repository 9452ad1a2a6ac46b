// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

struct HostileInputTests {
    @Test func `a file over four mebibytes is refused unread`() {
        let yaml = "version: 1\n" + String(repeating: "#", count: 4 << 20)
        #expect(problems(yaml) == ["pintle.yaml: the file is over 4MiB"])
        let disk = surroundings(files: ["a.yaml": yaml])
        #expect(throws: ConfigurationError.self) { try PolicyLoader.configuration(path: "a.yaml", surroundings: disk) }
    }

    @Test func `a file that is not UTF-8 is refused`() {
        #expect(throws: ConfigurationError.self) {
            try PolicyLoader.configuration(yaml: [0x61, 0xFF], file: "a", surroundings: surroundings())
        }
    }

    @Test func `aliases stand for what they name`() throws {
        let yaml = """
            version: 1
            clients: {allow: &nets ["10.0.0.0/8", "127.0.0.1"]}
            listen: "[::1]:3128"
            destinations: {allow: *nets}
            """
        #expect(try load(yaml).destinations.allow.map(\.description) == ["10.0.0.0/8", "127.0.0.1"])
    }

    @Test func `a nest of aliases is refused before it unfolds`() {
        var yaml = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            yaml += "a\(level): &a\(level) [\(aliases)]\n"
        }
        let refusal =
            "pintle.yaml: too much structure: more than 500000 values, aliases expanded, or more than 64 levels"
        #expect(problems(yaml) == [refusal])
    }

    @Test(arguments: ["[*a15]: 1", "*a15 : 1", "? *a15\n: 1", "? - *a15\n: 1", "*a15 : 1\n*a15 : 2"])
    func `a nest of aliases cannot be a key`(entry: String) {
        // As a key it would take practically forever to be compared with others.
        let nest = (1...15).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]\n" }.joined()
        let found = problems("version: 1\na0: &a0 [x]\n\(nest)\(entry)\n")
        #expect(found.contains { $0.hasSuffix(": a key must be text") }, "\(found)")
    }

    @Test(arguments: [65, 100, 100_000]) func `too deep a nest is refused`(depth: Int) {
        let brackets = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let refusal =
            "pintle.yaml: too much structure: more than 500000 values, aliases expanded, or more than 64 levels"
        #expect(problems("a: \(brackets)") == [refusal])
        #expect(problems("a: &a \(brackets)") == [refusal])
    }

    @Test func `a chain of aliases is refused however deep it gets`() {
        var yaml = "version: 1\na0: &a0 x\n"
        for level in 1..<64 {
            let open = String(repeating: "[", count: 64)
            yaml += "a\(level): &a\(level) \(open)*a\(level - 1)\(String(repeating: "]", count: 64))\n"
        }
        let refusal =
            "pintle.yaml: too much structure: more than 500000 values, aliases expanded, or more than 64 levels"
        #expect(problems(yaml) == [refusal])
    }

    @Test func `no mutation of the default file is more than an error`() throws {
        let original = try Repository.bytes("conf/pintle.yaml")
        var random = SplitMix(state: 0x5049_4E54)
        let fragments = [
            "&a ", "*a", ": ", "- ", "[", "]", "{", "}", "\n", "\"", "'", "env:", "file:", "\u{1}", "~", "|",
        ]
        for _ in 0..<200 {
            var bytes = original
            for _ in 0...Int.random(in: 0...4, using: &random) {
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
                let fragment = fragments.randomElement(using: &random) ?? ""
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes.removeSubrange(start..<end)
                case 1: bytes.insert(contentsOf: Array(fragment.utf8), at: start)
                default: bytes[start] = UInt8.random(in: 0...255, using: &random)
                }
            }
            do throws(ConfigurationError) {
                let configuration = try PolicyLoader.configuration(
                    yaml: bytes, file: "mutant.yaml", surroundings: surroundings())
                _ = Lint(try Policy(configuration, file: "mutant.yaml")).findings
            } catch {
                #expect(!error.problems.isEmpty)
                #expect(error.problems.allSatisfy { $0.description.hasPrefix("mutant.yaml") })
            }
        }
    }
}

/// A generator with a seed, so that a failure can be repeated.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
