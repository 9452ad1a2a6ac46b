// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
package import PintleWatch

/// The recorded exchanges that another configuration would decide otherwise.
///
/// A record may lack parts of a request. If every choice for them leads to the same differences, these count; otherwise the
/// exchange cannot be told.
package struct TrafficComparison {
    /// An exchange that would be decided otherwise, or that cannot be told.
    package struct Row: Sendable {
        package let exchange: RecordedExchange
        package let kinds: [PlanComparison.Kind]
    }

    /// The numbers of exchanges: all, those without a difference, and those with each kind.
    package private(set) var exchanges = 0
    package private(set) var same = 0
    package private(set) var counts: [PlanComparison.Kind: Int] = [:]
    /// The differences, one for each kind and pair of rules.
    package var differences: [PolicyDifference] { self.classes.all }
    /// The number of exchanges that would be decided otherwise.
    package var otherwise: Int { self.exchanges - self.same - (self.counts[.unknown] ?? 0) }

    private let comparison: PlanComparison
    private let places: (RulePlaces, RulePlaces)
    private var completions: FieldCompletions
    private var classes = DifferenceClasses()
    private var addresses: AddressComparison

    /// - Parameter surroundings: access to the files that the configurations name.
    package init(from old: TableComparison.Loaded, to new: TableComparison.Loaded, surroundings: LoaderEnvironment) {
        self.comparison = PlanComparison(from: old.policy, to: new.policy, surroundings: surroundings)
        self.addresses = AddressComparison(self.comparison)
        self.places = (
            RulePlaces(old.policy, file: old.file, surroundings: surroundings),
            RulePlaces(new.policy, file: new.file, surroundings: surroundings)
        )
        self.completions = FieldCompletions([old.policy, new.policy])
    }

    /// Adds an exchange.
    ///
    /// - Returns: nil if both configurations decide alike about it.
    package mutating func add(_ exchange: RecordedExchange) -> Row? {
        self.exchanges += 1
        let found = self.compare(exchange)
        guard !found.kinds.isEmpty else {
            self.same += 1
            return nil
        }
        // One part that cannot be told makes the whole doubtful only if nothing else is different.
        let kinds = found.kinds.count > 1 ? found.kinds.filter { $0 != .unknown } : found.kinds
        for kind in kinds {
            self.counts[kind, default: 0] += 1
            self.classes.add(self.row(kind, found, exchange))
        }
        return Row(exchange: exchange, kinds: kinds)
    }

    private func row(
        _ kind: PlanComparison.Kind, _ found: PlanComparison.Difference, _ exchange: RecordedExchange
    ) -> PolicyDifference {
        PolicyDifference(
            kind: .plan(kind), before: .init(found.before, kind, self.places.0),
            after: .init(found.after, kind, self.places.1), witness: "\(exchange.head.method) \(exchange.url)",
            id: exchange.id, line: exchange.line)
    }

    // MARK: One exchange

    private mutating func compare(_ exchange: RecordedExchange) -> PlanComparison.Difference {
        var request = PlanComparison.Request(
            exchange.head, of: ProxyIdentity(user: exchange.access.user, tag: exchange.access.tag))
        request.body = exchange.body
        request.address = exchange.address
        request.hiddenFields = self.completions.changedFields(of: exchange)
        let unknown = exchange.unknown
        request.isPartial = unknown.hasQuery || unknown.hasFields || !unknown.fields.isEmpty
        let choices = self.completions.choices(for: exchange)
        var first: PlanComparison.Difference?
        for fields in choices ?? [Fields()] {
            var request = request
            for (name, value) in fields.pairs { request.head.fields.append(name, value) }
            for hasBody in unknown.hasBodyPresence ? [false, true] : [false] {
                var request = request
                if hasBody { request.head.fields.append("Content-Length", "1") }
                var found = self.compare(request)
                guard let earlier = first else {
                    first = found
                    continue
                }
                if Set(earlier.kinds) == Set(found.kinds) { continue }
                found.kinds = [.unknown]
                return found
            }
        }
        guard var first else { preconditionFailure("BUG: a request has no choice of fields") }
        if choices == nil { first.kinds = [.unknown] }
        return first
    }

    private mutating func compare(_ request: PlanComparison.Request) -> PlanComparison.Difference {
        var found = self.comparison.compare(request)
        // The recorded address is that of an upstream proxy, or is missing.
        if request.address != nil, found.before.way != nil || found.after.way != nil {
            var request = request
            request.address = nil
            found = self.comparison.compare(request)
        }
        let sides = [found.before, found.after]
        guard sides.contains(where: { $0.unresolved != nil }), !found.kinds.contains(.unknown) else { return found }
        if !self.addresses.differences(found).isEmpty { found.kinds.append(.unknown) }
        return found
    }
}
