// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import PintleWatch

/// The differences in meaning between two configurations, found by requests that stand for all requests.
package struct TableComparison: Sendable {
    /// A configuration and its file; nil for the embedded default.
    package typealias Loaded = (policy: Policy, file: String?)

    /// The number of requests after which only pairs of conditions are tried.
    package static let usualLimit = 400_000

    package let differences: [PolicyDifference]
    /// The number of requests that were tried.
    package let requests: Int
    /// True if every request that a table can tell from the others was tried, or if the rules are the same word for word.
    package let isExhaustive: Bool
    /// True if both configurations mean the same.
    package var isSame: Bool { self.differences.isEmpty && self.isExhaustive }

    /// Compares two configurations.
    ///
    /// - Parameters:
    ///   - surroundings: access to the files that they name.
    ///   - limit: the number of requests after which only pairs of conditions are tried.
    package init(
        from old: Loaded, to new: Loaded, surroundings: LoaderEnvironment, limit: Int = Self.usualLimit
    ) {
        let comparison = PlanComparison(from: old.policy, to: new.policy, surroundings: surroundings)
        let places = (
            RulePlaces(old.policy, file: old.file, surroundings: surroundings),
            RulePlaces(new.policy, file: new.file, surroundings: surroundings)
        )
        var classes = DifferenceClasses()
        let settings = SettingsComparison(
            from: (old.policy.configuration, old.file), to: (new.policy.configuration, new.file),
            surroundings: surroundings)
        for key in settings.keys { classes.add(Self.setting(key, places)) }
        let command = CommandComparison(from: old.policy, to: new.policy, places)
        for difference in command.differences { classes.add(difference) }
        guard !comparison.areIdentical else {
            (self.differences, self.requests, self.isExhaustive) = (classes.all, 0, true)
            return
        }
        for difference in Self.clients(comparison, places) { classes.add(difference) }
        let parents = comparison.trustOfParents
        if !parents.areAlike { classes.add(Self.parents(parents.old, parents.new, places)) }
        var space = RequestSpace([old.policy, new.policy], limit: limit)
        var (requests, resolved, addresses) = (0, Set<[String]>(), AddressComparison(comparison))
        space.forEach { request in
            requests += 1
            for difference in Self.differences(comparison, request, places, &resolved, &addresses) {
                classes.add(difference)
            }
        }
        self.differences = classes.all
        self.requests = requests
        self.isExhaustive = space.isExhausted
    }

    private static func setting(_ key: String, _ places: (RulePlaces, RulePlaces)) -> PolicyDifference {
        func side(_ places: RulePlaces) -> PolicyDifference.Side {
            let place = places.place(of: key)
            return PolicyDifference.Side(decision: place == nil ? "default" : "as written", rule: key, place: place)
        }
        return PolicyDifference(
            kind: .setting, before: side(places.0), after: side(places.1), witness: key)
    }

    private static func parents(
        _ old: [TrustChoice], _ new: [TrustChoice], _ places: (RulePlaces, RulePlaces)
    ) -> PolicyDifference {
        func side(_ choices: [TrustChoice], _ places: RulePlaces) -> PolicyDifference.Side {
            let rule = choices.first?.reason
            return PolicyDifference.Side(
                decision: choices.isEmpty ? "nothing is verified" : choices.map(\.name).joined(separator: ", "),
                rule: rule, place: rule.flatMap(places.place))
        }
        return PolicyDifference(
            kind: .plan(.trust), before: side(old, places.0), after: side(new, places.1), witness: "upstream_proxy")
    }

    private static func clients(
        _ comparison: PlanComparison, _ places: (RulePlaces, RulePlaces)
    ) -> [PolicyDifference] {
        let policies = [comparison.old, comparison.new]
        let networks = policies.flatMap(\.configuration.clients.allow)
        return IPAddress.witnesses(of: networks, isSpecial: false).compactMap { address in
            let sides = zip(policies, [places.0, places.1]).map { policy, places in
                switch policy.clients.judge(address) {
                case .allowed(let rule):
                    PolicyDifference.Side(decision: "allow", rule: rule, place: places.place(of: rule))
                case .denied(let rule):
                    PolicyDifference.Side(decision: "deny", rule: rule, place: places.place(of: rule))
                }
            }
            guard sides[0].decision != sides[1].decision else { return nil }
            return PolicyDifference(kind: .client, before: sides[0], after: sides[1], witness: "\(address)")
        }
    }

    private static func differences(
        _ comparison: PlanComparison, _ request: PlanComparison.Request, _ places: (RulePlaces, RulePlaces),
        _ resolved: inout Set<[String]>, _ addresses: inout AddressComparison
    ) -> [PolicyDifference] {
        let found = comparison.compare(request)
        // The rules for the request have another content.
        var all = found.kinds.map { Self.row($0 == .unknown ? .request : $0, found, request, places) }
        if !request.isCaptured, let reason = Self.reason(found, request, places) { all.append(reason) }
        all += ReleaseComparison(found, Self.witness(request), places).differences
        let sides = [found.before, found.after]
        // Requests to one destination depend on its address alike.
        let key =
            sides.flatMap { [$0.unresolved?.description ?? "", $0.decision] }
            + ["\(request.client)", "\(request.isCaptured)"]
        guard sides.contains(where: { $0.unresolved != nil }), resolved.insert(key).inserted else { return all }
        for byAddress in addresses.differences(found) {
            var request = request
            request.address = byAddress.address
            all += byAddress.difference.kinds.map { kind in
                var row = Self.row(kind, byAddress.difference, request, places)
                row.count = byAddress.count
                return row
            }
        }
        return all
    }

    private static func row(
        _ kind: PlanComparison.Kind, _ found: PlanComparison.Difference, _ request: PlanComparison.Request,
        _ places: (RulePlaces, RulePlaces)
    ) -> PolicyDifference {
        PolicyDifference(
            kind: .plan(kind), before: .init(found.before, kind, places.0), after: .init(found.after, kind, places.1),
            witness: Self.witness(request),
            isCaptured: request.isCaptured && (kind == .denied || kind == .allowed),
            fields: request.head.fields.pairs.map { "\($0.name): \($0.value)" })
    }

    /// The words that a denied client gets, if they are others; nil if they are the same, or if it is not denied twice.
    private static func reason(
        _ found: PlanComparison.Difference, _ request: PlanComparison.Request, _ places: (RulePlaces, RulePlaces)
    ) -> PolicyDifference? {
        let (before, after) = (found.before, found.after)
        guard before.decision == "deny", after.decision == "deny", before.advice != after.advice else { return nil }
        func side(_ side: PlanComparison.Side, _ places: RulePlaces) -> PolicyDifference.Side {
            PolicyDifference.Side(
                decision: side.advice ?? "no reason", rule: side.rule, place: side.rule.flatMap(places.place))
        }
        return PolicyDifference(
            kind: .reason, before: side(before, places.0), after: side(after, places.1),
            witness: Self.witness(request))
    }

    private static func witness(_ request: PlanComparison.Request) -> String {
        let target = request.head.target.url ?? "*"
        let address = request.address.map { " at \($0)" } ?? ""
        let client = request.client == ProxyIdentity() ? "" : " by \(request.client)"
        let what = request.isCaptured ? "tcp://\(target)" : "\(request.head.method) \(target)"
        return what + address + client
    }
}
