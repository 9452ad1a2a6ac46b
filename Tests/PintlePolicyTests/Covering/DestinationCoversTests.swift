// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintlePolicy

/// Rules about destinations that an earlier one makes useless are found as if each were compared with each.
struct DestinationCoversTests {
    private static let hosts = [
        "a.example", "b.example", "c.a.example", "*.example", "*.a.example", "*.c.a.example", "*", "10.0.0.0/8",
        "10.1.0.0/16", "10.1.2.3", "a.example:80", "*.example:80", "*:80", "2001:db8::/32", "2001:db8:1::/48",
    ]
    private static let lists = [
        "one": "b.example\n.a.example\n10.1.0.0/16\n", "two": "*.example\nb.example:80\n2001:db8:1::/48\n",
    ]

    private static func entry(_ random: inout SeededGenerator) -> String {
        var keys: [String] = []
        if Int.random(in: 0..<5, using: &random) == 0 {
            keys.append("list: \(Bool.random(using: &random) ? "one" : "two")")
        } else {
            keys.append("host: \"\(Self.hosts[Int.random(in: 0..<Self.hosts.count, using: &random)])\"")
        }
        for kind in ["users", "tags"] where Int.random(in: 0..<4, using: &random) == 0 {
            let names = ["alice", "al*", "\"*\"", "bob", "\"*e\""].shuffled(using: &random)
            keys.append("\(kind): [\(names.prefix(Int.random(in: 1...2, using: &random)).joined(separator: ", "))]")
        }
        if keys.count == 1, keys[0].hasPrefix("host: ") { return String(keys[0].dropFirst("host: ".count)) }
        return "{\(keys.joined(separator: ", "))}"
    }

    /// The first rule that covers a pattern, in words; each is tried.
    private static func plain(
        _ rules: [DestinationEntry], covering pattern: HostPattern, _ lists: [String: HostList]
    ) -> String? {
        for rule in rules {
            switch rule.subject {
            case .pattern(let earlier): if earlier.covers(pattern) { return rule.quoted }
            case .list(let name):
                guard let hosts = lists[name], let entry = hosts.first(covering: pattern) else { continue }
                return "\(rule.quoted) with \"\(hosts.text(of: entry))\" in line \(hosts.line(of: entry))"
            }
        }
        return nil
    }

    private static func plain(_ rules: [DestinationEntry]) -> [Int?] {
        rules.indices.map { later in
            rules[..<later].firstIndex { earlier in
                let covers =
                    switch (earlier.subject, rules[later].subject) {
                    case (.pattern(let pattern), .pattern(let other)): pattern.covers(other)
                    case (.list(let name), .list(let other)): name == other
                    case (.pattern, .list), (.list, .pattern): false
                    }
                return covers && earlier.clients.covers(rules[later].clients)
            }
        }
    }

    private static func policy(_ deny: [String], _ allow: [String], _ ask: [String] = []) throws -> Policy {
        let yaml = """
            version: 1
            \(NamedClientsTests.users)
            lists: {one: {file: one.txt}, two: {file: two.txt}}
            destinations:
              deny: [\(deny.joined(separator: ", "))]
              allow: [\(allow.joined(separator: ", "))]
            \(ask.isEmpty ? "" : "  ask: [\(ask.joined(separator: ", "))]")
            """
        var files = Dictionary(uniqueKeysWithValues: Self.lists.map { ("\($0.key).txt", $0.value) })
        files["users"] = "alice:\(NamedClientsTests.hash)\n"
        return try PolicyLoader.policy(
            yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: surroundings(files: files))
    }

    @Test func `the same rules are useless for the same reasons as if each were compared with each`() throws {
        var findings = 0
        for number in 0..<150 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            let rules = (0..<2).map { _ in (0..<12).map { _ in Self.entry(&random) } }
            let ask = Self.hosts.filter { $0.contains("example") }.shuffled(using: &random).map { "\"\($0)\"" }
            let policy = try Self.policy(rules[0], rules[1], ask)
            let configuration = policy.configuration
            let (deny, allow) = (configuration.destinations.deny, configuration.destinations.allow)
            let lists = configuration.hostLists
            var expected: [String] = []
            for (index, entry) in allow.enumerated() {
                let denials = deny.filter { $0.clients.covers(entry.clients) }
                guard let pattern = entry.pattern, let rule = Self.plain(denials, covering: pattern, lists) else {
                    continue
                }
                expected.append(
                    "destinations.allow[\(index)]: \(entry.quoted) is never allowed: destinations.deny has \(rule), and "
                        + "denials come first")
            }
            for (index, place) in Self.plain(deny).enumerated() where deny[index].clients != nil {
                guard let place else { continue }
                expected.append(
                    "destinations.deny[\(index)]: \(deny[index].quoted) is never used: \(deny[place].quoted) comes first, and "
                        + "denies it to the same clients")
            }
            let forAll = [("deny", deny, "denials"), ("allow", allow, "permissions")].map { name, rules, words in
                (name, rules.filter { $0.clients == nil }, words)
            }
            for (index, pattern) in configuration.destinations.ask.enumerated() {
                let found = forAll.lazy.compactMap { name, rules, words in
                    Self.plain(rules, covering: pattern, lists).map { (name, $0, words) }
                }.first
                guard let (name, rule, words) = found else { continue }
                expected.append(
                    "destinations.ask[\(index)]: \"\(pattern)\" is never asked about: destinations.\(name) has \(rule), and "
                        + "\(words) come first")
            }
            let found = Lint(policy).findings.filter { $0.message.contains(" is never ") }
                .map { "\($0.path): \($0.message)" }.filter { !$0.hasPrefix("lists.") }
            #expect(found == expected, "seed \(seed): \(rules)")
            findings += found.count
        }
        #expect(findings > 1000)
    }

    @Test(arguments: [
        "h#.example", "\"*.h#.example\"", "\"h#.example:80\"", "{host: shared.example, users: [u#]}",
        "{host: \"*\", tags: [ci], users: [u#]}", "{host: \"*\", users: [all], tags: [\"t#.*\"]}",
        "{host: h#.example, users: [alice]}",
    ])
    func `thousands of rules are compared with few others`(form: String) throws {
        func entries(_ numbers: Range<Int>) -> [String] { numbers.map { form.replacing("#", with: "\($0)") } }
        let destinations = try Self.policy(entries(0..<2000), entries(2000..<4000)).configuration.destinations
        var covers = DestinationCovers(destinations.deny, lists: [:])
        #expect(covers.earlier.allSatisfy { $0 == nil })
        for entry in destinations.allow {
            let pattern = try #require(entry.pattern)
            #expect(covers.rule(covering: pattern, for: entry.clients) == nil)
        }
        #expect(covers.compared <= 4000, "\(covers.compared)")
    }
}
