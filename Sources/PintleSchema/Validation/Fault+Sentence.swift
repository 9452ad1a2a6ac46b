// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Fault {
    /// The requirement, and the actual value that breaks it.
    ///
    /// - Parameter showsValues: true if values of the instance are quoted. A wrong type is named in any case.
    func sentence(in graph: SchemaGraph, showsValues: Bool) -> String {
        switch graph.nodes[self.node].keywords[self.keyword] {
        case .assertion(let assertion): self.sentence(assertion, in: graph, showsValues)
        case .applicator(let applicator): self.sentence(applicator, in: graph, showsValues)
        }
    }

    private func sentence(_ assertion: Assertion, in graph: SchemaGraph, _ showsValues: Bool) -> String {
        let found = showsValues ? ", is \(Wording.value(self.value))" : ""
        switch assertion {
        case .never: return "is not allowed"
        case .type(let types):
            return "must be \(types.words), is \(showsValues ? Wording.value(self.value) : Wording.type(self.value))"
        case .enumeration(_, let shown):
            return "must be \(Wording.list(shown.map(Wording.value), "or"))\(found)"
        case .constant(let constant): return "must be \(Wording.value(constant.value))\(found)"
        case .multipleOf(let divisor): return "must be a multiple of \(Wording.value(divisor.value))\(found)"
        case .maximum(let bound, let isExclusive):
            return "must be \(isExclusive ? "below" : "at most") \(Wording.value(bound.value))\(found)"
        case .minimum(let bound, let isExclusive):
            return "must be \(isExclusive ? "above" : "at least") \(Wording.value(bound.value))\(found)"
        case .pattern(let pattern): return "must match the pattern \(Wording.quoted(pattern.source))\(found)"
        case .format(let format): return "must have the format \(format.rawValue)\(found)"
        case .maxLength(let limit): return self.length("at most", limit, showsValues)
        case .minLength(let limit): return self.length("at least", limit, showsValues)
        case .maxItems(let limit): return self.size("at most", limit, "item")
        case .minItems(let limit): return self.size("at least", limit, "item")
        case .maxProperties(let limit): return self.size("at most", limit, "property", "properties")
        case .minProperties(let limit): return self.size("at least", limit, "property", "properties")
        case .uniqueItems: return self.repetition(showsValues)
        case .required(let names):
            return "must have \(Self.properties(Validation.missing(names, in: self.entries)))"
        case .dependentRequired(let rules):
            let missing = Validation.missing(rules, in: self.entries).map { rule in
                "must have \(Self.properties(rule.needs)), because it has \(Wording.quoted(rule.key.string))"
            }
            return Wording.list(missing, "and")
        }
    }

    private func sentence(_ applicator: Applicator, in graph: SchemaGraph, _ showsValues: Bool) -> String {
        switch applicator {
        case .anyOf(let schemas):
            return "must keep to at least one of the \(Wording.count(schemas.count, "schema")) of anyOf, keeps to none"
                + self.reasons(in: graph, showsValues)
        case .oneOf(let schemas):
            let what = "must keep to exactly one of the \(Wording.count(schemas.count, "schema")) of oneOf"
            return self.passed == 0
                ? "\(what), keeps to none" + self.reasons(in: graph, showsValues) : "\(what), keeps to more"
        case .not: return "must not keep to the schema of not"
        case .contains(_, let minimum, let maximum):
            if let maximum, self.passed > maximum {
                return "must have at most \(Wording.count(maximum, "item")) that keep to contains, has more"
            }
            return "must have at least \(Wording.count(minimum, "item")) that keep to contains, has \(self.passed)"
        case .reference, .dynamicReference, .allOf, .condition, .dependentSchemas, .members, .propertyNames, .elements,
            .unevaluatedItems, .unevaluatedProperties:
            preconditionFailure("BUG: it is the schemas of this keyword that are broken")
        }
    }

    // MARK: Parts

    private var entries: [Parameter.Entry] { if case .dictionary(let entries) = self.value { entries } else { [] } }

    /// Leaves out the actual length of a secret value, as it is part of the secret.
    private func length(_ relation: String, _ limit: Int, _ showsValues: Bool) -> String {
        let sentence = "must have \(relation) \(Wording.count(limit, "character"))"
        guard showsValues, case .string(let text) = self.value else { return sentence }
        return sentence + ", has \(text.unicodeScalars.count)"
    }

    private func size(_ relation: String, _ limit: Int, _ one: String, _ many: String? = nil) -> String {
        let count =
            switch self.value {
            case .array(let elements): elements.count
            case .dictionary(let entries): entries.count
            default: 0
            }
        return "must have \(relation) \(Wording.count(limit, one, many)), has \(count)"
    }

    private func repetition(_ showsValues: Bool) -> String {
        guard case .array(let elements) = self.value else { return "must have no item twice" }
        var first: [JSONIdentity: Int] = [:]
        for (index, element) in elements.enumerated() {
            if let other = first.updateValue(index, forKey: JSONIdentity(element)) {
                let item = showsValues ? Wording.value(element) : "the same"
                return "must have no item twice, has \(item) at \(other) and at \(index)"
            }
        }
        return "must have no item twice"
    }

    private static func properties(_ names: [ExactName]) -> String {
        (names.count == 1 ? "the property " : "the properties ")
            + Wording.list(names.map { Wording.quoted($0.string) }, "and")
    }

    /// The reasons why the first branches do not hold: ` (must be a string, is 3; at /id: …)`.
    private func reasons(in graph: SchemaGraph, _ showsValues: Bool) -> String {
        if self.branches.isEmpty { return "" }
        let reasons = self.branches.map { branch in
            var pointer = ""
            for token in branch.tokens.reversed() { JSONPointer.append(token, to: &pointer) }
            let place = pointer.isEmpty ? "" : "at \(Wording.line(pointer, limit: 80)): "
            // The branches of a branch are left out: they would make a paragraph.
            var branch = branch
            branch.branches = []
            return place + branch.sentence(in: graph, showsValues: showsValues)
        }
        return " (\(reasons.joined(separator: "; ")))"
    }
}
