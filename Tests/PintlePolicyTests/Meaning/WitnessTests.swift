// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@testable import PintlePolicy

/// Values that stand for all values as far as some patterns can tell.
@Suite struct WitnessTests {
    private static func pick<Element>(_ elements: [Element], _ random: inout SeededGenerator) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    @Test func `for each path there is a witness that the same patterns match`() throws {
        let words = ["/", "/a", "a", "b", "*", "**", ".", "/b/", "%41", "-", "/.x"]
        for number in 0..<300 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            var patterns: [PathPattern] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let text =
                    "/" + (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.pick(words, &random) }.joined()
                if let pattern = try? PathPattern(text) { patterns.append(pattern) }
            }
            let witnesses = PatternWitnesses(paths: patterns)
            guard witnesses.isComplete else { continue }
            let known = Set(witnesses.texts.map { text in patterns.map { $0.matches(text) } })
            for _ in 0..<40 {
                let segments = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        Self.pick(["a", "b", "A", ".", "-", "q"], &random)
                    }.joined()
                }
                let path = "/" + segments.joined(separator: "/")
                guard PathReadings.isPlain(path), !RequestPath.hasDotSegments(path) else { continue }
                #expect(
                    known.contains(patterns.map { $0.matches(path) }),
                    "seed \(seed): \(path), \(patterns.map(\.description)), \(witnesses.texts)")
            }
        }
    }

    @Test func `for each value of a field there is a witness that the same patterns match`() throws {
        for number in 0..<300 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            func text(_ letters: [String], _ most: Int) -> String {
                (0..<Int.random(in: 1...most, using: &random)).map { _ in Self.pick(letters, &random) }.joined()
            }
            let patterns = try (0..<3).map { _ in
                let text = text(["a", "b", "*", "/"], 4)
                return try HeaderPattern("X-A", text, spelled: text)
            }
            let witnesses = PatternWitnesses(values: patterns)
            #expect(witnesses.isComplete)
            func vector(_ value: String) -> [Bool] { patterns.map { $0.matches(["X-A": value]) } }
            let known = Set(witnesses.texts.map(vector))
            for _ in 0..<40 {
                let value = text(["a", "b", "/", "c"], 5)
                #expect(known.contains(vector(value)), "seed \(seed): \(value), \(patterns.map(\.description))")
            }
        }
    }

    @Test func `witnesses differ in the patterns that match them`() throws {
        let patterns = try ["/a/**", "/a/b", "/**/c"].map { try PathPattern($0) }
        let witnesses = PatternWitnesses(paths: patterns)
        #expect(witnesses.isComplete && witnesses.texts == ["/", "/a/", "/x/c", "/a/b", "/a/c"], "\(witnesses.texts)")
        #expect(PatternWitnesses(paths: []).texts == ["/"])
        #expect(!PatternWitnesses(paths: [try PathPattern("/a;b")]).isComplete)
        let many = try (0..<40).map { try PathPattern("/**/\($0)/**") }
        #expect(!PatternWitnesses(paths: many).isComplete)
    }

    @Test(arguments: [false, true]) func `for each address there is a witness in the same networks`(isSpecial: Bool)
        throws
    {
        let texts = [
            "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "0.0.0.0/0", "128.0.0.0/1", "255.255.255.255", "2001:db8::/32",
            "::/0",
            "64:ff9b::/96", "ffff::/16", "::1",
        ]
        for number in 0..<200 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            let networks = try (0..<4).map { _ in try CIDR(Self.pick(texts, &random)) }
            let witnesses = IPAddress.witnesses(of: networks, isSpecial: isSpecial)
            func vector(_ address: IPAddress) -> [Bool] {
                networks.map { $0.contains(address) }
                    + (isSpecial
                        ? [SpecialAddresses.reason(for: address) == nil] : [address.family == .v4])
            }
            let known = Set(witnesses.map(vector))
            for _ in 0..<30 {
                let address =
                    Bool.random(using: &random)
                    ? IPAddress(
                        v4: Self.pick(
                            [UInt32.random(in: 0 ... .max, using: &random), 0x0A01_0203, 0x0A01_0204, 0x0B00_0000],
                            &random))
                    : IPAddress(
                        v6High: Self.pick(
                            [0x2001_0DB8 << 32, 0x2600 << 48, 0x0064_FF9B << 32, UInt64.max, 0], &random),
                        low: Self.pick([1, 0x0A01_0203, .max], &random))
                #expect(known.contains(vector(address)), "seed \(seed): \(address) in \(networks)")
            }
        }
    }
}
