// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Validation {
    enum Verdict {
        case holds, broken, unknown

        init(_ holds: Bool) { self = holds ? .holds : .broken }
    }

    /// Applies a keyword that needs only the value. A keyword for another type holds.
    mutating func judge(_ assertion: Assertion, _ value: Parameter) -> Verdict {
        switch assertion {
        case .never: return .broken
        case .type(let types): return Verdict(types.allows(value))
        case .enumeration(let values, _):
            self.charge(for: value)
            return Verdict(values.contains(JSONIdentity(value)))
        case .constant(let constant):
            self.charge(for: value)
            return Verdict(constant == JSONIdentity(value))
        default: break
        }
        switch value {
        case .integer, .number, .decimal: return Verdict(Self.holds(assertion, number: value))
        case .string(let text): return self.judge(assertion, text: text)
        case .array(let elements): return Verdict(self.holds(assertion, elements: elements))
        case .dictionary(let entries): return Verdict(self.holds(assertion, entries: entries))
        default: return .holds
        }
    }

    private static func holds(_ assertion: Assertion, number: Parameter) -> Bool {
        switch assertion {
        case .maximum(let bound, let isExclusive): bound.side(of: number).map { isExclusive ? $0 < 0 : $0 <= 0 } ?? true
        case .minimum(let bound, let isExclusive): bound.side(of: number).map { isExclusive ? $0 > 0 : $0 >= 0 } ?? true
        case .multipleOf(let divisor):
            if case .integer(let whole) = number, case .integer(let divisor) = divisor.value {
                whole % divisor == 0
            } else {
                DecimalValue(number).map { $0.isMultiple(of: divisor.decimal) } ?? true
            }
        default: true
        }
    }

    private mutating func judge(_ assertion: Assertion, text: String) -> Verdict {
        self.stepsLeft -= text.utf8.count / 64
        switch assertion {
        case .maxLength(let limit): return Verdict(text.utf8.count <= limit || text.unicodeScalars.count <= limit)
        case .minLength(let limit): return Verdict(text.utf8.count >= limit && text.unicodeScalars.count >= limit)
        case .format(let format): return Verdict(format.accepts(text))
        case .pattern(let pattern):
            switch self.search(pattern, text) {
            case .matches: return .holds
            case .differs: return .broken
            case .exhausted: return .unknown
            }
        default: return .holds
        }
    }

    private mutating func holds(_ assertion: Assertion, elements: [Parameter]) -> Bool {
        switch assertion {
        case .maxItems(let limit): return elements.count <= limit
        case .minItems(let limit): return elements.count >= limit
        case .uniqueItems:
            self.charge(for: .array(elements))
            var seen = Set<JSONIdentity>(minimumCapacity: elements.count)
            return elements.allSatisfy { seen.insert(JSONIdentity($0)).inserted }
        default: return true
        }
    }

    private mutating func holds(_ assertion: Assertion, entries: [Parameter.Entry]) -> Bool {
        switch assertion {
        case .maxProperties(let limit): return entries.count <= limit
        case .minProperties(let limit): return entries.count >= limit
        case .required(let names):
            self.stepsLeft -= (entries.count + names.count) / 16
            return Self.missing(names, in: entries).isEmpty
        case .dependentRequired(let rules):
            self.stepsLeft -= (entries.count + rules.count) / 16
            return Self.missing(rules, in: entries).isEmpty
        default: return true
        }
    }

    // MARK: Names

    /// The names that no entry has.
    static func missing(_ names: [ExactName], in entries: [Parameter.Entry]) -> [ExactName] {
        // A set costs more than a few comparisons.
        if names.count * entries.count <= 64 {
            return names.filter { name in !entries.contains { ExactName.areEqual($0.key, name.string) } }
        }
        let keys = Set(entries.map { ExactName($0.key) })
        return names.filter { !keys.contains($0) }
    }

    /// The names that entries require and no entry has, with the name of the entry that requires them.
    static func missing(
        _ rules: [(key: ExactName, needs: [ExactName])], in entries: [Parameter.Entry]
    ) -> [(key: ExactName, needs: [ExactName])] {
        let keys = Set(entries.map { ExactName($0.key) })
        return rules.compactMap { rule in
            guard keys.contains(rule.key) else { return nil }
            let missing = rule.needs.filter { !keys.contains($0) }
            return missing.isEmpty ? nil : (rule.key, missing)
        }
    }

    // MARK: Work

    /// Searches a string, at first with the steps that are enough for nearly every search. PCRE2 does not tell how many steps
    /// it took, so a search that needs more is charged for its whole limit. Thousands of strings cannot each take that long.
    mutating func search(_ pattern: Pattern, _ text: String) -> Pattern.Outcome {
        let length = text.utf8.count
        self.stepsLeft -= 8 + length / 16
        let outcome = pattern.search(text, steps: Pattern.usualSteps(forLength: length))
        guard case .exhausted = outcome else { return outcome }
        let limit = Pattern.stepLimit(forLength: length)
        self.stepsLeft -= Int(limit) / 32
        return pattern.search(text, steps: limit)
    }

    /// Counts the work of comparing a value: one step for each of its parts.
    private mutating func charge(for value: Parameter) {
        var open = [value]
        var steps = 0
        while let value = open.popLast(), self.canTake(steps) {
            steps += 1
            switch value {
            case .array(let elements): open += elements
            case .dictionary(let entries): open += entries.map(\.value)
            case .string(let text): steps += text.utf8.count / 64
            default: break
            }
        }
        self.stepsLeft -= steps
    }
}
