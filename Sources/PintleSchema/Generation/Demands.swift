// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// All that a value must satisfy at once: the keywords of the schemas that apply to it, collected, with a branch chosen if
/// there are several.
struct Demands {
    /// A limit of a number.
    struct Limit {
        let bound: NumberBound
        let isExclusive: Bool
    }

    /// The types that are allowed; `number` always comes with `integer`.
    var types = TypeSet.every
    /// The types that the keywords are about, if no type is named.
    var implied: TypeSet = []
    /// The lists of values of `enum` and `const`.
    var literals: [[Parameter]] = []

    var lower: Limit?
    var upper: Limit?
    var divisors: [NumberBound] = []

    var minLength = 0
    var maxLength = Int.max
    var patterns: [Pattern] = []
    var format: String?

    var minItems = 0
    var maxItems = Int.max
    var isUnique = false
    var elements: [(prefix: [Int], rest: Int?)] = []
    var contains: [(schema: Int, minimum: Int, maximum: Int?)] = []
    var unevaluatedItems: [Int] = []

    var minProperties = 0
    var maxProperties = Int.max
    var required: [ExactName] = []
    var dependentRequired: [(key: ExactName, needs: [ExactName])] = []
    var dependentSchemas: [(key: ExactName, schema: Int)] = []
    var members: [Applicator.MemberRules] = []
    var propertyNames: [Int] = []
    var unevaluatedProperties: [Int] = []
    /// Names that must not be there.
    var forbiddenNames: [ExactName] = []
    /// The members that tell which branches were chosen, each with the values that do.
    private(set) var selectors: [(name: ExactName, values: [String])] = []
    /// Members and items that must be there and must not keep to a schema.
    var avoidedMembers: [(name: ExactName, schema: Int)] = []
    var avoidedItems: [(index: Int, schema: Int)] = []
    /// True if the first two items shall be equal.
    var repeatsItems = false

    var examples: [Parameter] = []
    /// The values of `default`, which count if there are no examples.
    var fallbacks: [Parameter] = []
    /// The schemas that must not hold.
    var avoided: [Int] = []
    /// True if a value may break a schema although each of its parts was made for it.
    var isHard = false
    /// The number of branches that there were to choose from.
    var branchCount = 0

    /// Removes the types whose own keywords contradict each other.
    mutating func removeImpossibleTypes() {
        if self.minLength > self.maxLength { self.types.remove(.string) }
        if self.minItems > self.maxItems { self.types.remove(.array) }
        if max(self.minProperties, self.required.isEmpty ? 0 : 1) > self.maxProperties { self.types.remove(.object) }
    }

    /// Demands the member that selects a branch, if the value is an object.
    mutating func select(_ branch: Int, by discriminator: Discriminator?) {
        guard let discriminator, let values = discriminator.values[branch] else { return }
        self.selectors.append((discriminator.property, values))
        self.required.append(discriminator.property)
    }

    mutating func add(_ assertion: Assertion) {
        switch assertion {
        case .never: self.types = []
        case .type(let types): self.types.formIntersection(types.widened)
        case .enumeration(_, let shown): self.literals.append(shown)
        case .constant(let constant): self.literals.append([constant.value])
        case .multipleOf(let divisor):
            self.divisors.append(divisor)
            self.implied.formUnion([.number, .integer])
        case .maximum(let bound, let isExclusive): self.tighten(upper: Limit(bound: bound, isExclusive: isExclusive))
        case .minimum(let bound, let isExclusive): self.tighten(lower: Limit(bound: bound, isExclusive: isExclusive))
        case .maxLength(let limit):
            self.maxLength = min(self.maxLength, limit)
            self.implied.formUnion(.string)
        case .minLength(let limit):
            self.minLength = max(self.minLength, limit)
            self.implied.formUnion(.string)
        case .pattern(let pattern):
            self.patterns.append(pattern)
            self.implied.formUnion(.string)
        case .format: self.implied.formUnion(.string)
        default: self.add(container: assertion)
        }
    }

    private mutating func add(container assertion: Assertion) {
        switch assertion {
        case .maxItems(let limit): self.maxItems = min(self.maxItems, limit)
        case .minItems(let limit): self.minItems = max(self.minItems, limit)
        case .uniqueItems: self.isUnique = true
        case .maxProperties(let limit): self.maxProperties = min(self.maxProperties, limit)
        case .minProperties(let limit): self.minProperties = max(self.minProperties, limit)
        case .required(let names): self.required += names
        case .dependentRequired(let rules): self.dependentRequired += rules
        default: break
        }
        switch assertion {
        case .maxItems, .minItems, .uniqueItems: self.implied.formUnion(.array)
        default: self.implied.formUnion(.object)
        }
    }

    mutating func tighten(lower limit: Limit) {
        self.implied.formUnion([.number, .integer])
        if let lower, lower.bound.decimal > limit.bound.decimal { return }
        if let lower, lower.bound.decimal == limit.bound.decimal, lower.isExclusive { return }
        self.lower = limit
    }

    mutating func tighten(upper limit: Limit) {
        self.implied.formUnion([.number, .integer])
        if let upper, upper.bound.decimal < limit.bound.decimal { return }
        if let upper, upper.bound.decimal == limit.bound.decimal, upper.isExclusive { return }
        self.upper = limit
    }

    mutating func add(annotations: SchemaAnnotations) {
        self.examples += annotations.examples
        if let fallback = annotations.fallback { self.fallbacks.append(fallback) }
        self.format = self.format ?? annotations.format
    }

    /// True if a number keeps to the limits and divisors.
    func accepts(number: Parameter) -> Bool {
        guard let value = DecimalValue(number), self.types.contains(value.isInteger ? .integer : .number) else {
            return false
        }
        if let lower, let side = lower.bound.side(of: number), lower.isExclusive ? side <= 0 : side < 0 { return false }
        if let upper, let side = upper.bound.side(of: number), upper.isExclusive ? side >= 0 : side > 0 { return false }
        return self.divisors.allSatisfy { divisor in
            guard value.isMultiple(of: divisor.decimal) else { return false }
            // Many validators divide binary fractions, to which 0.07 is no multiple of 0.01.
            guard !divisor.decimal.isInteger, let dividend = value.double, let step = divisor.decimal.double else {
                return true
            }
            return (dividend / step).rounded() == dividend / step
        }
    }
}

extension TypeSet {
    /// All types.
    static let every: TypeSet = [.null, .boolean, .object, .array, .number, .string, .integer]
    /// The types of values without parts.
    static let scalars: TypeSet = [.null, .boolean, .number, .string, .integer]

    /// The set in which `number` includes `integer`, so that sets can be intersected.
    var widened: TypeSet { self.contains(.number) ? self.union(.integer) : self }

    /// The types, in an order of their own.
    var single: [TypeSet] { Self.names.map(\.type).filter { self.contains($0) } }
}
