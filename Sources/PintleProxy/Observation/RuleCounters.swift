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

    /// Counts the decision of a rule of the same configuration. Most know their place.
    func count(_ rule: DecidingRule) {
        if let place = rule.place { self.count(at: place) } else { self.count(rule.description) }
    }

    /// Counts a decision. Does nothing for a text that names no such rule.
    ///
    /// - Parameter rule: the rule as the log has it, maybe with a reason behind a key.
    func count(_ rule: String) {
        guard let place = self.places[rule] ?? self.places[Self.key(of: rule)] else { return }
        self.count(at: place)
    }

    /// Counts a decision of the rule at a place.
    func count(at place: Int) { self.counters[place].count.wrappingAdd(1, ordering: .relaxed) }

    /// The key at the beginning of `destinations.private_addresses deny: 10.0.0.0/8 is private use`.
    private static func key(of rule: String) -> String { String(rule.prefix { !" ,:".contains($0) }) }
}

extension ExchangeReport {
    /// Counts the rules that have decided about the exchange.
    func countRules(in active: ActiveConfiguration) {
        if case .address(let address) = self.client {
            active.ruleCounters.count(at: self.worker.clientRule(for: address, by: active.ruleCounters))
        }
        if let rule { active.ruleCounters.count(rule) }
    }
}
