// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// The most items of an array.
    private static let itemLimit = 2_048

    /// Makes an array.
    mutating func array(for demands: Demands, _ isUnusual: Bool, depth: Int) -> Parameter? {
        guard let count = self.itemCount(for: demands, isUnusual, depth: depth) else { return nil }
        var items: [Parameter] = []
        var seen: Set<JSONIdentity> = []
        let matching = self.places(of: demands.contains, count)
        for index in 0..<count {
            guard self.budget.spend(1), self.byteCount <= SchemaSample.sizeLimit else { return nil }
            let isContained = matching.contains { $0.contains(index) }
            var schemas = self.schemas(ofItem: index, demands, isContained: isContained)
            var avoided = demands.avoidedItems.filter { $0.index == index }.map(\.schema)
            for (rule, places) in zip(demands.contains, matching) {
                if places.contains(index) {
                    schemas.append(rule.schema)
                } else if rule.maximum != nil {
                    avoided.append(rule.schema)
                }
            }
            if index == 1, demands.repeatsItems {
                items.append(items[0])
                continue
            }
            let item = self.item(schemas, avoided, at: index, depth: depth) { item in
                !demands.isUnique || seen.insert(JSONIdentity(item)).inserted
            }
            guard let item else {
                // Fewer items are enough if no rule needs more.
                if items.count >= demands.minItems, demands.contains.isEmpty, demands.avoidedItems.isEmpty { break }
                return nil
            }
            items.append(item)
        }
        return .array(items)
    }

    /// Makes an item that is accepted, in a few tries.
    private mutating func item(
        _ schemas: [Int], _ avoided: [Int], at index: Int, depth: Int, isAccepted: (Parameter) -> Bool
    ) -> Parameter? {
        for _ in 0..<8 {
            let notes = self.noteCount
            guard let item = self.part(.index(index), { $0.value(for: schemas, avoiding: avoided, depth: depth + 1) })
            else { return nil }
            if isAccepted(item) { return item }
            self.forgetNotes(after: notes)
        }
        return nil
    }

    private mutating func itemCount(for demands: Demands, _ isUnusual: Bool, depth: Int) -> Int? {
        var needed = demands.contains.reduce(demands.minItems) { max($0, $1.minimum) }
        needed = demands.avoidedItems.reduce(needed) { max($0, $1.index + 1) }
        guard needed <= demands.maxItems, needed <= Self.itemLimit else { return nil }
        let prefix = demands.elements.map(\.prefix.count).max() ?? 0
        // After the prefix there may be no items at all.
        let isClosed = demands.elements.contains { $0.rest.map { self.types(of: $0).isEmpty } ?? false }
        let most = isClosed ? min(demands.maxItems, demands.elements.map(\.prefix.count).min() ?? 0) : demands.maxItems
        guard needed <= most else { return nil }
        if isUnusual {
            if needed == 0, self.choices.isOne(in: 2) {
                self.note("an empty array")
                return 0
            }
            if most <= 64, self.choices.isOne(in: 2) {
                self.note("as many items as are allowed, \(most)")
                return most
            }
            if needed > 0 {
                self.note("as few items as are allowed, \(needed)")
                return needed
            }
        }
        // The items for `contains` may contradict the prefix, so there is room for them behind it.
        let room = prefix + (demands.contains.isEmpty ? 0 : needed)
        if self.isFrugal(at: depth) { return demands.contains.isEmpty ? needed : min(max(needed, room), most) }
        if prefix > 0 { return min(max(needed, room), most) }
        return min(max(needed, 1 + self.choices.number(below: 3)), most)
    }

    /// The schemas that apply to an item, besides those of `contains`.
    func schemas(ofItem index: Int, _ demands: Demands, isContained: Bool) -> [Int] {
        var schemas: [Int] = []
        var isKnown = false
        for (prefix, rest) in demands.elements {
            guard let schema = prefix.element(at: index) ?? rest else { continue }
            schemas.append(schema)
            isKnown = true
        }
        return isKnown || isContained ? schemas : schemas + demands.unevaluatedItems
    }

    /// The places of the items that are made for each `contains`: after each other if there is room, else at the beginning.
    private mutating func places(
        of rules: [(schema: Int, minimum: Int, maximum: Int?)], _ count: Int
    ) -> [Range<Int>] {
        let isApart = rules.reduce(0) { $0.addingReportingOverflow($1.minimum).partialValue } <= count
        var start = isApart ? self.choices.number(below: 2) * (count - rules.reduce(0) { $0 + $1.minimum }) : 0
        return rules.map { rule in
            let places = start..<min(count, start + rule.minimum)
            if isApart { start = places.upperBound }
            return places
        }
    }
}
