// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Changes a valid value so that it breaks its schema in one place.
///
/// The keywords of all schemas that may apply to a place propose changes, and the validator tells which of them break the
/// schema as a whole.
struct Breaker {
    /// The most places that are looked at, and that are changed in vain.
    private static let placeLimit = 256
    private static let placeTries = 24
    private static let triesPerPlace = 8

    /// A part of the value, and the schemas that may apply to it.
    private struct Place {
        let path: [PointerToken]
        let value: Parameter
        let schemas: [Int]
    }

    private let schema: JSONSchema
    private var choices: SeededChoices
    private let budget: WorkBudget

    init(_ schema: JSONSchema, choices: SeededChoices, within budget: WorkBudget) {
        (self.schema, self.choices, self.budget) = (schema, choices, budget)
    }

    /// Makes a value that the schema forbids.
    ///
    /// - Parameter valid: a valid value; nil if there is none.
    /// - Returns: the value and its first violations; nil if none was found.
    mutating func broken(_ valid: Parameter?) -> (value: Parameter, violations: [SchemaViolation])? {
        if let valid {
            for place in self.choices.shuffled(self.places(in: valid)).prefix(Self.placeTries) {
                let changes = self.changes(of: place)
                for change in self.choices.shuffled(changes).prefix(Self.triesPerPlace) {
                    let value = Self.replacing(place.path[...], in: valid, by: change)
                    if let violations = self.violations(of: value) { return (value, violations) }
                    guard self.budget.interruption == nil else { return nil }
                }
            }
        }
        for _ in 0..<Self.triesPerPlace where self.budget.interruption == nil {
            var sampler = Sampler(
                self.schema, choices: SeededChoices(seed: self.choices.next()), style: .small,
                leavesOutWriteOnly: false, within: self.budget)
            let value = sampler.value(for: [], avoiding: [self.schema.root], depth: 0)
            if let value, let violations = self.violations(of: value) { return (value, violations) }
        }
        let others: [Parameter] = [.null, .dictionary([]), "text", .array([]), 0, true, "", .array([.null]), -1, 0.5]
        for value in self.choices.rotated(others) {
            if let violations = self.violations(of: value) { return (value, violations) }
        }
        return nil
    }

    private func violations(of value: Parameter) -> [SchemaViolation]? {
        let violations = self.schema.validate(value, within: self.budget)
        return violations.isEmpty || self.budget.interruption != nil ? nil : Array(violations.prefix(3))
    }

    // MARK: Places

    private mutating func places(in value: Parameter) -> [Place] {
        var places = [Place(path: [], value: value, schemas: self.schemasInPlace(of: [self.schema.root]))]
        var next = 0
        while next < places.count, places.count < Self.placeLimit {
            let place = places[next]
            next += 1
            switch place.value {
            case .dictionary(let entries):
                let rules = self.keywords(of: place.schemas).compactMap { keyword in
                    if case .applicator(.members(let rules)) = keyword { rules } else { nil }
                }
                for entry in entries.prefix(Self.placeLimit) where self.budget.spend(1 + rules.count) {
                    let schemas = self.schemas(ofMember: entry.key, by: rules)
                    places.append(Place(path: place.path + [.key(entry.key)], value: entry.value, schemas: schemas))
                }
            case .array(let items):
                for (index, item) in items.prefix(32).enumerated() where self.budget.spend(place.schemas.count) {
                    let schemas = self.schemas(ofItem: index, in: place.schemas)
                    places.append(Place(path: place.path + [.index(index)], value: item, schemas: schemas))
                }
            default: break
            }
        }
        return places.filter { !$0.schemas.isEmpty }
    }

    /// The schemas and all that they apply to the same value, in any branch.
    private func schemasInPlace(of schemas: [Int]) -> [Int] {
        var found: [Int] = []
        var seen: Set<Int> = []
        var open = Array(schemas.reversed())
        while let schema = open.popLast(), found.count < Self.placeLimit, self.budget.spend(2) {
            guard seen.insert(schema).inserted else { continue }
            found.append(schema)
            for keyword in self.schema.graph.nodes[schema].keywords {
                if case .applicator(let applicator) = keyword { open += applicator.schemasInPlace.reversed() }
            }
        }
        return found
    }

    private func schemas(ofMember name: String, by members: [Applicator.MemberRules]) -> [Int] {
        var parts: [Int] = []
        for rules in members {
            let count = parts.count
            if let schema = rules.properties[ExactName(name)] { parts.append(schema) }
            for (pattern, schema) in rules.patterns where self.budget.spend(4) {
                let steps = Pattern.usualSteps(forLength: name.utf8.count)
                if pattern.search(name, steps: steps) == .matches { parts.append(schema) }
            }
            if parts.count == count, let additional = rules.additional { parts.append(additional) }
        }
        return self.schemasInPlace(of: parts)
    }

    private func schemas(ofItem index: Int, in schemas: [Int]) -> [Int] {
        var parts: [Int] = []
        for keyword in self.keywords(of: schemas) {
            switch keyword {
            case .applicator(.elements(let prefix, let rest)):
                if let schema = prefix.element(at: index) ?? rest { parts.append(schema) }
            case .applicator(.contains(let schema, _, _)): parts.append(schema)
            default: break
            }
        }
        return self.schemasInPlace(of: parts)
    }

    private func keywords(of schemas: [Int]) -> [Keyword] { schemas.flatMap { self.schema.graph.nodes[$0].keywords } }

    // MARK: Changes

    /// The values that may break the schemas of a place.
    private mutating func changes(of place: Place) -> [Parameter] {
        var changes: [Parameter] = []
        for keyword in self.keywords(of: place.schemas) where self.budget.spend(4) {
            switch keyword {
            case .assertion(let assertion): changes += self.changes(of: place.value, against: assertion)
            case .applicator(let applicator): changes += self.changes(of: place.value, against: applicator)
            }
        }
        return changes
    }

    private mutating func changes(of value: Parameter, against assertion: Assertion) -> [Parameter] {
        switch assertion {
        case .never: return []
        case .type(let types): return self.otherTypes(than: types, value)
        case .enumeration, .constant: return Self.unlike(value)
        case .multipleOf(let divisor):
            // Half of the divisor, or any fraction.
            return [divisor.decimal.double.map { .number($0 / 2) } ?? 0.5, 0.123, 1]
        case .maximum(let bound, let isExclusive): return Self.beyond(bound, isExclusive, by: 1)
        case .minimum(let bound, let isExclusive): return Self.beyond(bound, isExclusive, by: -1)
        case .maxLength(let limit):
            guard limit < 16 * 1024, case .string(let text) = value else { return [] }
            return [.string(text + String(repeating: "x", count: max(1, limit + 1 - text.unicodeScalars.count)))]
        case .minLength(let limit):
            guard limit > 0, case .string(let text) = value else { return [] }
            return [.string(String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - 1)))), ""]
        case .pattern, .format:
            guard case .string(let text) = value else { return [] }
            return ["", .string(text + " \u{2603}"), .string("?" + text), "not as it should be"]
        case .maxItems, .minItems, .uniqueItems, .maxProperties, .minProperties, .required, .dependentRequired:
            return self.changes(ofContainer: value, against: assertion)
        }
    }

    private mutating func otherTypes(than types: TypeSet, _ value: Parameter) -> [Parameter] {
        var others: [Parameter] = []
        switch value {
        case .integer(let whole): others = [.string(String(whole)), .null, .number(Double(whole % 1000) + 0.5)]
        case .number, .decimal: others = ["12.5", .null]
        case .string: others = [17, .null, .array([value]), false]
        case .bool(let flag): others = [.string(flag ? "true" : "false"), .integer(flag ? 1 : 0), .null]
        case .array(let items): others = [items.first ?? .dictionary([]), .null, .dictionary([])]
        case .dictionary: others = [.array([value]), .null, "[object Object]"]
        default: others = ["null", 0, .array([]), .dictionary([])]
        }
        return self.choices.shuffled(others.filter { !types.allows($0) }).prefix(2).map(\.self)
    }

    private static func unlike(_ value: Parameter) -> [Parameter] {
        switch value {
        case .string(let text): [.string(text + "_UNKNOWN"), .string(text.uppercased()), "unknown", .null]
        case .integer(let whole): [.integer(whole ^ 0x4000), .string(String(whole)), .null]
        default: ["unknown", .null, 17]
        }
    }

    private static func beyond(_ bound: NumberBound, _ isExclusive: Bool, by step: Int64) -> [Parameter] {
        var values: [Parameter] = isExclusive ? [bound.value] : []
        if let whole = bound.decimal.integer {
            let (next, isBeyond) = whole.addingReportingOverflow(step)
            if !isBeyond { values.append(.integer(next)) }
        } else if let double = bound.decimal.double {
            let next = double + Double(step) * max(1, double.magnitude / 8)
            if next.isFinite { values.append(.number(next)) }
        }
        return values + [step > 0 ? .number(1e300) : .number(-1e300)]
    }

    private mutating func changes(ofContainer value: Parameter, against assertion: Assertion) -> [Parameter] {
        switch (assertion, value) {
        case (.maxItems(let limit), .array(let items)) where limit < 1_024:
            let more = [Parameter](repeating: items.last ?? .null, count: max(0, limit + 1 - items.count))
            return [.array(items + more)]
        case (.minItems(let limit), .array(let items)) where limit > 0: return [.array(Array(items.prefix(limit - 1)))]
        case (.uniqueItems, .array(let items)):
            return [.array(items + [items.first ?? .null]), .array([.null, .null])]
        case (.maxProperties(let limit), .dictionary(let entries)) where limit < 1_024:
            let more = (0..<max(0, limit + 1 - entries.count)).map {
                Parameter.Entry("member\($0)", entries.last?.value ?? .null)
            }
            return [.dictionary(entries + more)]
        case (.minProperties(let limit), .dictionary(let entries)) where limit > 0:
            return [.dictionary(Array(entries.prefix(limit - 1)))]
        case (.required(let names), .dictionary(let entries)):
            guard let name = self.choices.pick(names) else { return [] }
            return [.dictionary(entries.filter { ExactName($0.key) != name })]
        case (.dependentRequired(let rules), .dictionary(let entries)):
            guard let rule = self.choices.pick(rules), let need = self.choices.pick(rule.needs) else { return [] }
            let others = entries.filter { ExactName($0.key) != need && ExactName($0.key) != rule.key }
            return [.dictionary(others + [Parameter.Entry(rule.key.string, .null)])]
        default: return []
        }
    }

    private mutating func changes(of value: Parameter, against applicator: Applicator) -> [Parameter] {
        switch (applicator, value) {
        case (.members(let rules), .dictionary(let entries)) where rules.additional != nil:
            return Self.withOther(entries)
        case (.unevaluatedProperties, .dictionary(let entries)): return Self.withOther(entries)
        case (.propertyNames, .dictionary(let entries)):
            return ["", "?! \u{2603}", "a name that is too long for nearly everything", "1"].map {
                .dictionary(entries + [Parameter.Entry($0, entries.last?.value ?? .null)])
            }
        case (.elements(let prefix, .some), .array(let items)) where items.count >= prefix.count:
            return [.null, 0, "", .dictionary([])].map { .array(items + [$0]) }
        case (.unevaluatedItems, .array(let items)): return [.null, "", .dictionary([])].map { .array(items + [$0]) }
        case (.contains, .array(let items)): return [.array([]), .array([.null]), .array(items + items + items)]
        case (.not(let schema), _):
            let forbidden = JSONSchema(graph: self.schema.graph, root: schema, options: self.schema.options)
            var sampler = Sampler(
                forbidden, choices: SeededChoices(seed: self.choices.next()), style: .small,
                leavesOutWriteOnly: false, within: self.budget)
            return sampler.value().map { [$0] } ?? []
        default: return []
        }
    }

    private static func withOther(_ entries: [Parameter.Entry]) -> [Parameter] {
        let values: [Parameter] = [.null, "unexpected", 17, .dictionary([])]
        return values.map { .dictionary(entries + [Parameter.Entry("unexpected", $0)]) }
    }

    /// Returns `value` with another value at the end of `path`.
    private static func replacing(_ path: ArraySlice<PointerToken>, in value: Parameter, by other: Parameter)
        -> Parameter
    {
        guard let step = path.first else { return other }
        switch (step, value) {
        case (.key(let key), .dictionary(var entries)):
            guard let index = entries.firstIndex(where: { ExactName.areEqual($0.key, key) }) else { return value }
            entries[index].value = Self.replacing(path.dropFirst(), in: entries[index].value, by: other)
            return .dictionary(entries)
        case (.index(let index), .array(var items)):
            items[index] = Self.replacing(path.dropFirst(), in: items[index], by: other)
            return .array(items)
        default: return value
        }
    }
}
