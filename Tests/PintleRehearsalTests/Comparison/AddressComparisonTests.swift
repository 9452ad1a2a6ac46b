// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleRehearsal
@testable import PintleWatch

/// Differences by address are those that judging each address for each destination finds.
@Suite struct AddressComparisonTests {
    private static let places = (Self.noPlaces, Self.noPlaces)
    private static let noPlaces: RulePlaces = {
        // The embedded default has no places.
        let surroundings = LoaderEnvironment.system(environment: [:])
        guard let policy = try? TablePropertyTests.policy("version: 1") else { preconditionFailure("BUG: no policy") }
        return RulePlaces(policy, file: nil, surroundings: surroundings)
    }()

    private static func row(_ difference: PlanComparison.Difference, _ address: IPAddress, count: Int)
        -> PolicyDifference
    {
        var row = PolicyDifference(
            kind: .plan(difference.kinds[0]), before: .init(difference.before, difference.kinds[0], Self.places.0),
            after: .init(difference.after, difference.kinds[0], Self.places.1), witness: "\(address)")
        row.count = count
        return row
    }

    /// The differences, each address judged for itself.
    private static func plain(_ comparison: PlanComparison, _ found: PlanComparison.Difference) -> [PolicyDifference] {
        guard comparison.dependsOnAddress(found) else { return [] }
        return comparison.addresses.compactMap { address in
            let before = found.before.resolved(to: address, by: comparison.old)
            let after = found.after.resolved(to: address, by: comparison.new)
            guard let kind = PlannedSide.kind(of: before.decision, after.decision) else { return nil }
            return Self.row(PlanComparison.Difference(kinds: [kind], before: before, after: after), address, count: 1)
        }
    }

    @Test func `the same differences are found as if each address were judged for each destination`() throws {
        var differences = 0
        for pair in 0..<150 {
            let seed = Seed.ofThisRun &+ UInt64(pair)
            var random = SeededGenerator(seed: seed)
            let old = RandomConfiguration(using: &random)
            var new = old
            for _ in 0..<Int.random(in: 1...3, using: &random) { new.mutate(using: &random) }
            // A random text may be no configuration: a route may need what it lacks.
            guard let left = try? TablePropertyTests.policy(old.yaml),
                let right = try? TablePropertyTests.policy(new.yaml)
            else { continue }
            let comparison = PlanComparison(from: left, to: right, surroundings: .system(environment: [:]))
            var addresses = AddressComparison(comparison)
            var (expected, grouped) = (DifferenceClasses(), DifferenceClasses())
            for _ in 0..<20 {
                let (head, client, _) = RandomConfiguration.request(using: &random)
                let found = comparison.compare(PlanComparison.Request(head, of: client))
                for row in Self.plain(comparison, found) { expected.add(row) }
                for group in addresses.differences(found) {
                    grouped.add(Self.row(group.difference, group.address, count: group.count))
                }
            }
            #expect(grouped.all == expected.all, "seed \(seed)\n--- old\n\(old.yaml)\n--- new\n\(new.yaml)")
            differences += expected.all.count
        }
        #expect(differences > 50)
    }

    @Test func `an address is judged once for all names under the same terms`() throws {
        func yaml(_ networks: Int) -> String {
            let names = (0..<300).map { "\"n\($0).example\"" }.joined(separator: ", ")
            let denied = (0..<networks).map { "\"10.\($0).0.0/16\"" }.joined(separator: ", ")
            return "version: 1\ndestinations: {default: deny, allow: [\(names)], deny: [\(denied)]}"
        }
        let (old, new) = (try TablePropertyTests.policy(yaml(100)), try TablePropertyTests.policy(yaml(50)))
        let comparison = PlanComparison(from: old, to: new, surroundings: .system(environment: [:]))
        var addresses = AddressComparison(comparison)
        func find(_ number: Int) throws -> Int {
            let authority = try #require(Authority("n\(number).example", defaultPort: 443))
            let head = RequestHead(method: "CONNECT", target: .authority(authority))
            return addresses.differences(comparison.compare(PlanComparison.Request(head))).count
        }
        #expect(try find(0) == 50)
        let judged = addresses.judged
        #expect(judged == comparison.addresses.count)
        for number in 1..<300 { #expect(try find(number) == 50) }
        #expect(addresses.judged == judged)
    }
}
