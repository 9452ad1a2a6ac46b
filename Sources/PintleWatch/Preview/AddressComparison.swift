// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintlePolicy

/// The differences that addresses make to which the names of destinations lead.
///
/// Addresses are judged once for all destinations under the same terms: otherwise each of thousands of names would be judged at each
/// of thousands of addresses.
package struct AddressComparison: Sendable {
    /// The addresses at which the same rules decide.
    package struct Found: Sendable {
        /// The first of them.
        package let address: IPAddress
        package let difference: PlanComparison.Difference
        /// The number of them.
        package let count: Int
    }

    /// The side of a destination as far as it decides about addresses.
    private struct Side: Hashable {
        let decision: String
        /// Nil if the address does not matter on this side.
        let terms: AddressTerms?
    }

    private struct Key: Hashable {
        let before: Side
        let after: Side
    }

    /// The decisions on an address; nil where the decision on the name holds.
    private struct Verdicts: Hashable {
        let before: DestinationDecision?
        let after: DestinationDecision?
    }

    /// The most destinations under different terms that are remembered.
    private static let mostTerms = 10_000

    /// The number of addresses that were judged.
    package private(set) var judged = 0
    private let comparison: PlanComparison
    /// The addresses that make a difference, with the number of those that are judged by the same rules.
    private var known: [Key: [(verdicts: Verdicts, address: IPAddress, count: Int)]] = [:]

    package init(_ comparison: PlanComparison) { self.comparison = comparison }

    /// The differences for one destination, in the order of the addresses. Empty if the request does not depend on an address.
    package mutating func differences(_ found: PlanComparison.Difference) -> [Found] {
        guard self.comparison.dependsOnAddress(found) else { return [] }
        let policies = (self.comparison.old, self.comparison.new)
        let key = Key(before: Self.side(found.before, policies.0), after: Self.side(found.after, policies.1))
        // The decisions on the names hold for addresses that no rule decides about.
        let names = (Self.nameDecision(found.before, policies.0), Self.nameDecision(found.after, policies.1))
        func difference(_ verdicts: Verdicts) -> PlanComparison.Difference? {
            let before = (verdicts.before ?? names.0).map { found.before.resolved(by: $0) } ?? found.before
            let after = (verdicts.after ?? names.1).map { found.after.resolved(by: $0) } ?? found.after
            return PlannedSide.kind(of: before.decision, after.decision)
                .map { PlanComparison.Difference(kinds: [$0], before: before, after: after) }
        }
        let groups: [(verdicts: Verdicts, address: IPAddress, count: Int)]
        if let known = self.known[key] {
            groups = known
        } else {
            groups = self.groups(key) { difference($0) != nil }
            if self.known.count < Self.mostTerms { self.known[key] = groups }
        }
        return groups.compactMap { group in
            difference(group.verdicts).map { Found(address: group.address, difference: $0, count: group.count) }
        }
    }

    private static func side(_ side: PlanComparison.Side, _ policy: Policy) -> Side {
        Side(
            decision: side.decision,
            terms: side.unresolved.map { policy.destinations.addressTerms(of: $0, for: side.rights) })
    }

    private static func nameDecision(_ side: PlanComparison.Side, _ policy: Policy) -> DestinationDecision? {
        side.unresolved.map { policy.destinations.judge($0, for: side.rights) }
    }

    private mutating func groups(
        _ key: Key, where differ: (Verdicts) -> Bool
    ) -> [(verdicts: Verdicts, address: IPAddress, count: Int)] {
        let (old, new) = (self.comparison.old.destinations, self.comparison.new.destinations)
        var groups: [(verdicts: Verdicts, address: IPAddress, count: Int)] = []
        var places: [Verdicts: Int] = [:]
        for address in self.comparison.addresses {
            self.judged += 1
            let verdicts = Verdicts(
                before: key.before.terms.flatMap { old.judge(address: address, under: $0) },
                after: key.after.terms.flatMap { new.judge(address: address, under: $0) })
            if let place = places[verdicts] {
                groups[place].count += 1
            } else {
                places[verdicts] = groups.count
                groups.append((verdicts, address, 1))
            }
        }
        return groups.filter { differ($0.verdicts) }
    }
}
