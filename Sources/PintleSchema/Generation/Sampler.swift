// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Makes one value for a schema, by choices.
///
/// Each value is made for the keywords that ``Demands`` collects. If the keywords cannot say how, a value is tried, and another
/// one if the validator refuses it. The budget pays for every step, so schemas whose branches branch again end, too.
struct Sampler {
    /// The kind of choices.
    struct Style {
        /// One in this number of places gets an unusual value; nil if none does.
        let unusualRate: Int?
        /// The number of values after which optional parts are left out.
        let plenty: Int

        static let ordinary = Style(unusualRate: nil, plenty: 250)
        static let small = Style(unusualRate: nil, plenty: 50)
        /// Only what is required.
        static let least = Style(unusualRate: nil, plenty: 0)
    }

    /// The most levels of arrays and objects.
    private static let depthLimit = 24
    /// The level from which on optional parts are left out.
    private static let usualDepth = 5
    /// The fewest and the most tries for one value.
    private static let tries = 4...24
    /// The steps that one try takes besides those for its schemas.
    private static let stepsPerTry = 64

    let graph: SchemaGraph
    let root: Int
    let options: SchemaOptions
    let leavesOutWriteOnly: Bool
    let budget: WorkBudget
    let style: Style
    var choices: SeededChoices

    /// The steps to the value that is being made.
    private var path: [PointerToken] = []
    /// The unusual choices so far, and their places.
    private(set) var notes: [(place: [PointerToken], text: String)] = []
    /// The number of values, and an estimate of their bytes.
    private var count = 0
    private(set) var byteCount = 0
    private var isTooLong = false

    init(
        _ schema: JSONSchema, choices: SeededChoices, style: Style, leavesOutWriteOnly: Bool,
        within budget: WorkBudget
    ) {
        self.graph = schema.graph
        self.root = schema.root
        self.options = SchemaOptions(violationLimit: 1, showsValues: false)
        self.choices = choices
        self.style = style
        self.leavesOutWriteOnly = leavesOutWriteOnly && schema.graph.hasWriteOnly
        self.budget = budget
    }

    /// Makes a value for the schema itself.
    ///
    /// - Returns: nil if no try succeeds. The value is not yet judged as a whole.
    mutating func value() -> Parameter? { self.value(for: [self.root], depth: 0) }

    // MARK: One value

    /// Makes a value to which the schemas `nodes` apply, and none of `avoided`.
    mutating func value(for nodes: [Int], avoiding avoided: [Int] = [], depth: Int) -> Parameter? {
        // A value that is too long is not made shorter by other tries for its parts.
        self.isTooLong = self.isTooLong || self.byteCount > SchemaSample.sizeLimit
        guard depth <= Self.depthLimit, !self.isTooLong else { return nil }
        var limit = Self.tries.lowerBound
        var tries = 0
        let state = (self.notes.count, self.count, self.byteCount)
        while tries < limit, !self.isTooLong, self.budget.spend(Self.stepsPerTry) {
            if let demands = self.demands(of: nodes, avoiding: avoided, depth: depth) {
                limit = min(Self.tries.upperBound, max(limit, Self.tries.lowerBound + 3 * demands.branchCount))
                if demands.isHard { limit = max(limit, 3 * Self.tries.lowerBound) }
                if let value = self.candidate(for: demands, nodes, depth: depth, attempt: tries) { return value }
            }
            self.forgetNotes(after: state.0)
            (self.count, self.byteCount) = (state.1, state.2)
            tries += 1
        }
        guard !self.isTooLong else { return nil }
        // Simple values satisfy many a schema that does not tell how.
        return Self.simple.first { self.budget.spend(1) && self.isValid($0, for: nodes, avoiding: avoided) }
    }

    private static let simple: [Parameter] = [
        .dictionary([]), .array([]), "text", 1, true, .null, "", 0, false, 0.5, -1, .array([.null]), .array([0]),
        .array(["text"]), .array([.dictionary([])]), .array([.array([])]), 100, "a",
    ]

    private mutating func candidate(
        for demands: Demands, _ nodes: [Int], depth: Int, attempt: Int
    ) -> Parameter? {
        self.count += 1
        if let first = demands.literals.first { return self.literal(among: first, demands, nodes) }
        let isUnusual = self.isUnusual()
        if !isUnusual, attempt == 0, let example = self.example(for: demands, nodes) { return example }
        guard let type = self.type(for: demands, isUnusual, depth: depth, attempt: attempt) else { return nil }
        let value: Parameter?
        switch type {
        case .null: value = .null
        case .boolean: value = .bool(self.choices.isOne(in: 2))
        case .integer, .number: value = self.number(for: demands, isWhole: type == .integer, isUnusual)
        case .string: value = self.text(for: demands, isUnusual).map { .string($0) }
        case .array: value = self.array(for: demands, isUnusual, depth: depth)
        default: value = self.object(for: demands, isUnusual, depth: depth)
        }
        guard let value else { return nil }
        self.byteCount += Self.size(of: value)
        // The parts of a container were made for their schemas.
        let isContainer = type == .array || type == .object
        guard !isContainer || demands.isHard else { return value }
        return self.isValid(value, for: nodes, avoiding: demands.avoided) ? value : nil
    }

    /// The bytes of a value without its parts, which have been counted.
    private static func size(of value: Parameter) -> Int {
        switch value {
        case .string(let text), .decimal(let text): text.utf8.count + 3
        case .dictionary(let entries): entries.reduce(2) { $0 + $1.key.utf8.count + 4 }
        default: 8
        }
    }

    /// True if all of `nodes` accept the value, and none of `avoided` does.
    func isValid(_ value: Parameter, for nodes: [Int], avoiding avoided: [Int] = []) -> Bool {
        self.budget.spend(16)
            && nodes.allSatisfy { self.schema($0).validate(value, within: self.budget).isEmpty }
            && avoided.allSatisfy { !self.schema($0).validate(value, within: self.budget).isEmpty }
            && self.budget.interruption == nil
    }

    private func schema(_ number: Int) -> JSONSchema {
        JSONSchema(graph: self.graph, root: number, options: self.options)
    }

    // MARK: Given values

    private mutating func literal(among values: [Parameter], _ demands: Demands, _ nodes: [Int]) -> Parameter? {
        guard self.budget.spend(values.count / 16) else { return nil }
        let isUnusual = self.isUnusual()
        let usual = values.filter { $0 != .null }
        let rotated = self.choices.rotated(isUnusual || usual.isEmpty ? values : usual)
        for value in rotated + (isUnusual ? [] : values) {
            guard self.budget.spend(1) else { return nil }
            guard demands.types.allows(value), self.isValid(value, for: nodes, avoiding: demands.avoided) else {
                continue
            }
            if isUnusual, values.count > 1 { self.note("the value \(Wording.value(value)) of enum") }
            self.byteCount += self.weight(of: value)
            return value
        }
        return nil
    }

    /// An example or default of the schemas, if one of them is valid. If the unusual is asked for, only scalars are taken.
    private mutating func example(for demands: Demands, _ nodes: [Int]) -> Parameter? {
        for value in self.choices.rotated(demands.examples) + demands.fallbacks {
            guard self.budget.spend(1) else { return nil }
            switch value {
            case .array, .dictionary: if self.style.unusualRate != nil { continue }
            default: break
            }
            let value = self.leavesOutWriteOnly ? self.withoutWriteOnly(value, demands, levels: 8) : value
            guard self.isValid(value, for: nodes, avoiding: demands.avoided) else { continue }
            self.byteCount += self.weight(of: value)
            return value
        }
        return nil
    }

    /// The value without the members that belong in requests only and are not required.
    ///
    /// - Parameter levels: the most levels of arrays and objects that are looked into.
    private mutating func withoutWriteOnly(_ value: Parameter, _ demands: Demands, levels: Int) -> Parameter {
        func part(_ value: Parameter, _ schemas: [Int]) -> Parameter {
            guard levels > 0, !schemas.isEmpty, let inner = self.demands(of: schemas, avoiding: [], depth: 0) else {
                return value
            }
            return self.withoutWriteOnly(value, inner, levels: levels - 1)
        }
        switch value {
        case .dictionary(let entries):
            let isNeeded = Set(demands.required)
            return .dictionary(
                entries.compactMap { entry in
                    let name = ExactName(entry.key)
                    guard isNeeded.contains(name) || !self.isLeftOut(name, demands) else { return nil }
                    return Parameter.Entry(entry.key, part(entry.value, self.schemas(of: name, demands)))
                })
        case .array(let items):
            return .array(
                items.enumerated().map { index, item in
                    part(item, self.schemas(ofItem: index, demands, isContained: false))
                })
        default: return value
        }
    }

    private func weight(of value: Parameter) -> Int {
        (try? JSONWriter.write(value, options: .fragmentsAllowed).count) ?? 0
    }

    // MARK: Types

    private mutating func type(for demands: Demands, _ isUnusual: Bool, depth: Int, attempt: Int) -> TypeSet? {
        let types = demands.types
        if isUnusual, types.contains(.null), types != .null, self.choices.isOne(in: 2) {
            self.note("null")
            return .null
        }
        // If that type leads nowhere, another one may.
        var usual = attempt % 4 == 3 ? types : types.intersection(demands.implied)
        // If the keywords do not tell, text is as good as anything.
        if usual.isEmpty { usual = types == .every ? .string : types.subtracting(.null) }
        if usual.isEmpty { usual = types }
        if depth >= Self.usualDepth, !types.isDisjoint(with: .scalars) { usual = types.intersection(.scalars) }
        if isUnusual, usual != types, self.choices.isOne(in: 4), let type = self.choices.pick(types.single) {
            if !usual.contains(type) { self.note("another type than the keywords are about") }
            return type
        }
        // Few schemas that allow numbers are about whole ones.
        if usual.contains(.number), usual.contains(.integer) { usual.remove(.integer) }
        return self.choices.pick(usual.single)
    }

    // MARK: State

    /// True if this place gets an unusual value.
    mutating func isUnusual() -> Bool { self.style.unusualRate.map { self.choices.isOne(in: $0) } ?? false }

    /// True if optional parts are left out.
    func isFrugal(at depth: Int) -> Bool { depth >= Self.usualDepth || self.count >= self.style.plenty }

    /// Notes an unusual choice for the current value.
    mutating func note(_ text: String) { self.notes.append((self.path, text)) }

    /// The number of notes, for ``forgetNotes(after:)``.
    var noteCount: Int { self.notes.count }

    /// Forgets the choices for a value that is not used.
    mutating func forgetNotes(after count: Int) { self.notes.removeLast(max(0, self.notes.count - count)) }

    /// Makes a part of the current value.
    mutating func part<Value>(_ token: PointerToken, _ make: (inout Sampler) -> Value) -> Value {
        self.path.append(token)
        defer { self.path.removeLast() }
        return make(&self)
    }
}

extension TypeSet {
    /// The type of a value; a number that is whole is an integer.
    init(of value: Parameter) {
        switch value {
        case .null: self = .null
        case .bool: self = .boolean
        case .string: self = .string
        case .array: self = .array
        case .dictionary: self = .object
        case .integer: self = .integer
        default: self = DecimalValue(value)?.isInteger == true ? .integer : .number
        }
    }
}
