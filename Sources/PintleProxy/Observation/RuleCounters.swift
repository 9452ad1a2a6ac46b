// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import Synchronization

/// Counts how often each rule about clients and destinations has decided under one configuration, from any thread.
///
/// Rules that only report count as well.
package final class RuleCounters: Sendable {
    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }

    private let rules: [PolicyRule]
    private let counters: [Counter]
    private let clients: ClientRules
    /// The places of the rules by their names.
    private let places: [String: Int]

    init(_ policy: Policy) {
        self.rules = policy.rules
        self.clients = policy.clients
        self.counters = self.rules.map { _ in Counter() }
        // A name that is listed twice counts where it decides: at its first place.
        self.places = Dictionary(self.rules.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// The number of decisions of each rule so far, in the order of ``PintlePolicy/Policy/rules``.
    package var counts: [(rule: PolicyRule, count: Int)] {
        zip(self.rules, self.counters).map { ($0, $1.count.load(ordering: .relaxed)) }
    }

    /// The place of the rule that decides about a client with this address.
    func place(client address: IPAddress) -> Int { self.clients.deciding(address) }

    /// The place of a rule of the same configuration. Most know theirs; others are found by their text, maybe with a reason behind a
    /// key. Nil for a text that names no such rule.
    func place(of rule: DecidingRule) -> Int? {
        rule.place ?? self.places[rule.description] ?? self.places[Self.key(of: rule.description)]
    }

    /// Counts the decision of a rule of the same configuration; does nothing if there is no such rule.
    func count(_ rule: DecidingRule) { if let place = self.place(of: rule) { self.count(at: place) } }

    /// Counts a decision of the rule at a place.
    func count(at place: Int) { self.counters[place].count.wrappingAdd(1, ordering: .relaxed) }

    /// The key at the beginning of `destinations.private_addresses deny: 10.0.0.0/8 is private use`.
    private static func key(of rule: String) -> String { String(rule.prefix { !" ,:".contains($0) }) }
}
