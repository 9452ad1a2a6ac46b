// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleWatch

/// The credentials that a request may have under one configuration, and not, or otherwise, under another.
struct ReleaseComparison {
    private(set) var differences: [PolicyDifference] = []

    init(_ found: PlanComparison.Difference, _ witness: String, _ places: (RulePlaces, RulePlaces)) {
        let names = Set((found.before.releases + found.after.releases).map(\.credential))
        for name in names.sorted() {
            let before = found.before.releases.first { $0.credential == name }
            let after = found.after.releases.first { $0.credential == name }
            guard before != after else { continue }
            // A release that needs the trust of another policy is a new one.
            let isWider = after.map { after in
                before.map { $0.trust != after.trust || !Set(after.parts).isSubset(of: $0.parts) } ?? true
            }
            self.differences.append(
                PolicyDifference(
                    kind: .plan(isWider == true ? .allowed : .denied),
                    before: Self.side(found.before, before, of: name, places.0),
                    after: Self.side(found.after, after, of: name, places.1), witness: witness))
        }
    }

    private static func side(
        _ side: PlanComparison.Side, _ release: PlanComparison.Release?, of name: String, _ places: RulePlaces
    ) -> PolicyDifference.Side {
        // A request that is refused takes no credential with it.
        let rule = side.decision == "deny" ? side.rule : "credentials.\(name)"
        let decision = release.map { release in
            let parts = release.parts.map(\.rawValue).joined(separator: ", ")
            return "credential \(name) in \(parts), by the trust policy \(release.trust)"
        }
        return PolicyDifference.Side(
            decision: decision ?? "no credential \(name)", rule: rule, place: rule.flatMap(places.place))
    }
}
