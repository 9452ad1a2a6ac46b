// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// Makes demands of which one breaks a schema that must not hold.
    ///
    /// A schema does not hold if one of its keywords does not, so one is chosen and turned around. The validator tells if that
    /// was enough.
    ///
    /// - Returns: false if every value keeps to the schema, or the budget is used up.
    mutating func avoid(_ schema: Int, in demands: inout Demands, _ seen: inout Set<Int>, depth: Int) -> Bool {
        switch self.choices.pick(self.graph.nodes[schema].keywords) {
        case nil: return false
        case .assertion(let assertion):
            self.avoid(assertion, in: &demands)
            return true
        case .applicator(let applicator): return self.avoid(applicator, in: &demands, &seen, depth: depth)
        }
    }

    private mutating func avoid(_ assertion: Assertion, in demands: inout Demands) {
        switch assertion {
        case .required(let names):
            if let name = self.choices.pick(names) { demands.forbiddenNames.append(name) }
            demands.narrow(to: .object)
        case .dependentRequired(let rules):
            demands.narrow(to: .object)
            guard let rule = self.choices.pick(rules), let need = self.choices.pick(rule.needs) else { return }
            demands.required.append(rule.key)
            demands.forbiddenNames.append(need)
        default: demands.avoid(assertion)
        }
    }

    private mutating func avoid(
        _ applicator: Applicator, in demands: inout Demands, _ seen: inout Set<Int>, depth: Int
    ) -> Bool {
        switch applicator {
        case .reference(let target): demands.avoided.append(target)
        case .dynamicReference(let reference): demands.avoided.append(reference.initial)
        case .not(let inner): return self.collect([inner], into: &demands, seen: &seen, depth: depth)
        case .anyOf(let schemas), .oneOf(let schemas): demands.avoided += schemas.prefix(64)
        case .allOf(let schemas): if let one = self.choices.pick(schemas) { demands.avoided.append(one) }
        case .condition(let condition, let then, let otherwise):
            if let then, otherwise == nil || self.choices.isOne(in: 2) {
                demands.avoided.append(then)
                return self.collect([condition], into: &demands, seen: &seen, depth: depth)
            }
            demands.avoided += [condition] + [otherwise].compactMap(\.self)
        case .dependentSchemas(let dependents):
            demands.narrow(to: .object)
            guard let dependent = self.choices.pick(dependents) else { return true }
            demands.required.append(dependent.key)
            demands.avoided.append(dependent.schema)
        case .members(let rules): self.avoid(rules, in: &demands)
        case .propertyNames:
            demands.narrow(to: .object)
            demands.minProperties = max(demands.minProperties, 1)
        case .unevaluatedProperties(let schema):
            demands.narrow(to: .object)
            demands.avoidedMembers.append((ExactName("unexpected"), schema))
        case .elements(let prefix, let rest):
            demands.narrow(to: .array)
            let index = self.choices.number(below: prefix.count + (rest == nil ? 0 : 1))
            guard let schema = prefix.element(at: index) ?? rest else { return true }
            demands.avoidedItems.append((index, schema))
        case .unevaluatedItems(let schema):
            demands.narrow(to: .array)
            demands.avoidedItems.append((0, schema))
        case .contains(let schema, let minimum, let maximum):
            demands.narrow(to: .array)
            if let maximum, maximum < .max, minimum == 0 || self.choices.isOne(in: 2) {
                demands.contains.append((schema, minimum: maximum + 1, maximum: nil))
            } else {
                demands.maxItems = min(demands.maxItems, minimum - 1)
            }
        }
        return true
    }

    private mutating func avoid(_ rules: Applicator.MemberRules, in demands: inout Demands) {
        demands.narrow(to: .object)
        var ways: [(name: String, schema: Int)] = []
        // In the order of the declarations: a dictionary has another one in each run.
        for name in demands.members.flatMap(\.names) {
            if let schema = rules.properties[name] { ways.append((name.string, schema)) }
        }
        for name in rules.names {
            if let schema = rules.properties[name] { ways.append((name.string, schema)) }
        }
        for (pattern, schema) in rules.patterns.prefix(8) {
            if let name = self.name(matching: pattern) { ways.append((name, schema)) }
        }
        if let schema = rules.additional { ways.append(("unexpected", schema)) }
        if let way = self.choices.pick(ways) { demands.avoidedMembers.append((ExactName(way.name), way.schema)) }
    }
}

extension Demands {
    /// Allows one type only.
    mutating func narrow(to type: TypeSet) {
        self.types.formIntersection(type)
        self.implied.formUnion(type)
    }

    /// Turns a keyword around.
    fileprivate mutating func avoid(_ assertion: Assertion) {
        switch assertion {
        case .type(let types): self.types.subtract(types.widened)
        case .minimum(let bound, let isExclusive):
            self.narrow(to: [.number, .integer])
            self.tighten(upper: Limit(bound: bound, isExclusive: !isExclusive))
        case .maximum(let bound, let isExclusive):
            self.narrow(to: [.number, .integer])
            self.tighten(lower: Limit(bound: bound, isExclusive: !isExclusive))
        case .multipleOf: self.narrow(to: [.number, .integer])
        case .minLength(let limit):
            self.narrow(to: .string)
            self.maxLength = min(self.maxLength, limit - 1)
        case .maxLength(let limit):
            self.narrow(to: .string)
            self.minLength = max(self.minLength, limit.addingReportingOverflow(1).partialValue)
        case .pattern, .format: self.narrow(to: .string)
        case .minItems(let limit):
            self.narrow(to: .array)
            self.maxItems = min(self.maxItems, limit - 1)
        case .maxItems(let limit):
            self.narrow(to: .array)
            self.minItems = max(self.minItems, limit.addingReportingOverflow(1).partialValue)
        case .uniqueItems:
            self.narrow(to: .array)
            self.minItems = max(self.minItems, 2)
            self.repeatsItems = true
        case .minProperties(let limit):
            self.narrow(to: .object)
            self.maxProperties = min(self.maxProperties, limit - 1)
        case .maxProperties(let limit):
            self.narrow(to: .object)
            self.minProperties = max(self.minProperties, limit.addingReportingOverflow(1).partialValue)
        case .never, .enumeration, .constant, .required, .dependentRequired: break
        }
    }
}
