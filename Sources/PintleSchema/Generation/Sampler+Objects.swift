// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// The most members of an object.
    private static let memberLimit = 2_048

    /// Makes an object.
    mutating func object(for demands: Demands, _ isUnusual: Bool, depth: Int) -> Parameter? {
        var demands = demands
        demands.required += demands.avoidedMembers.map(\.name)
        guard let names = self.names(for: &demands, isUnusual, depth: depth) else { return nil }
        var entries: [Parameter.Entry] = []
        var made: Set<ExactName> = []
        for name in names.all where made.insert(name).inserted {
            guard self.budget.spend(16) else { return nil }
            let schemas = self.schemas(of: name, demands)
            let avoided = demands.avoidedMembers.filter { $0.name == name }.map(\.schema)
            let value =
                self.selector(name, schemas, demands)
                ?? self.part(.key(name.string)) { $0.value(for: schemas, avoiding: avoided, depth: depth + 1) }
            guard let value else {
                // An optional member is left out if there is no value for it.
                if names.needed.contains(name) { return nil }
                made.remove(name)
                continue
            }
            entries.append(Parameter.Entry(name.string, value))
        }
        guard entries.count <= demands.maxProperties else { return nil }
        guard self.addMembers(to: &entries, &made, demands, depth: depth) else { return nil }
        if self.isUnusual(), entries.count < demands.maxProperties, depth < 12 {
            self.addUnknownMember(to: &entries, &made, demands, depth: depth)
        }
        if entries.count > 1, self.style.unusualRate != nil, self.choices.isOne(in: 8) {
            entries = self.choices.isOne(in: 2) ? entries.reversed() : self.choices.shuffled(entries)
            self.note("members in another order")
        }
        return .dictionary(entries)
    }

    /// The value by which a discriminator selects the branches that were chosen.
    ///
    /// - Returns: nil if the member is no discriminator, or if the schemas of the document allow none of its values.
    private func selector(_ name: ExactName, _ schemas: [Int], _ demands: Demands) -> Parameter? {
        let selectors = demands.selectors.filter { $0.name == name }
        return selectors.first?.values.lazy.filter { value in selectors.allSatisfy { $0.values.contains(value) } }
            .map { .string($0) }.first { self.isValid($0, for: schemas) }
    }

    // MARK: Names

    /// The names that the object gets, and those among them that it needs. Takes in the schemas that depend on names.
    private mutating func names(
        for demands: inout Demands, _ isUnusual: Bool, depth: Int
    ) -> (all: [ExactName], needed: Set<ExactName>)? {
        var needed: [ExactName] = []
        var names: [ExactName] = []
        var taken: Set<Int> = []
        // Schemas that depend on names may declare and require further ones.
        for _ in 0..<8 {
            guard self.budget.spend(8 + demands.required.count + demands.dependentRequired.count) else { return nil }
            let needs = Self.needs(demands.dependentRequired)
            needed = Self.closure(of: demands.required, needs)
            guard needed.count <= min(Self.memberLimit, demands.maxProperties) else { return nil }
            let forbidden = Set(demands.forbiddenNames)
            guard !needed.contains(where: forbidden.contains) else { return nil }
            if names.isEmpty { names = self.optionalNames(demands, Set(needed), isUnusual, depth: depth) }
            var all = needed + names.filter { !forbidden.contains($0) }
            all = Self.closure(of: all, needs)
            let present = Set(all)
            let dependents = demands.dependentSchemas.enumerated().filter {
                present.contains($0.element.key) && !taken.contains($0.offset)
            }
            if dependents.isEmpty { break }
            demands.isHard = true
            var seen: Set<Int> = []
            for (index, dependent) in dependents {
                taken.insert(index)
                guard self.collect([dependent.schema], into: &demands, seen: &seen, depth: depth) else { return nil }
            }
        }
        let isNeeded = Set(needed)
        let forbidden = Set(demands.forbiddenNames)
        let space = demands.maxProperties - needed.count
        var optional = names.filter { !isNeeded.contains($0) && !forbidden.contains($0) }
        if optional.count > space { optional = Array(optional.prefix(space)) }
        // A name is of no use without those that it needs.
        let needs = Self.needs(demands.dependentRequired)
        while !optional.isEmpty, self.budget.spend(1 + (needed.count + optional.count) / 16) {
            let all = Self.closure(of: needed + optional, needs)
            if all.count <= demands.maxProperties, !all.contains(where: forbidden.contains) {
                let isOptional = Set(optional)
                return (Self.ordered(all, demands), isNeeded.union(all.filter { !isOptional.contains($0) }))
            }
            optional.removeLast()
        }
        return (Self.ordered(needed, demands), isNeeded)
    }

    /// The declared names that are not required, without those that cannot or shall not be there.
    private mutating func optionalNames(
        _ demands: Demands, _ needed: Set<ExactName>, _ isUnusual: Bool, depth: Int
    ) -> [ExactName] {
        var names: [ExactName] = []
        let isFrugal = self.isFrugal(at: depth)
        let isBare = isUnusual && self.choices.isOne(in: 4)
        var absent: [ExactName] = []
        for name in demands.members.flatMap(\.names) where !needed.contains(name) && self.budget.spend(1) {
            guard !isFrugal || demands.minProperties > needed.count + names.count, names.count < Self.memberLimit,
                !(self.leavesOutWriteOnly && self.isLeftOut(name, demands)),
                demands.propertyNames.isEmpty || self.isValid(.string(name.string), for: demands.propertyNames)
            else { continue }
            if self.style.unusualRate != nil, isBare || self.choices.isOne(in: 3) {
                absent.append(name)
            } else {
                names.append(name)
            }
        }
        // Enough have to remain.
        while needed.count + names.count < demands.minProperties, let name = absent.popLast() { names.append(name) }
        if isBare, names.isEmpty, !absent.isEmpty {
            self.note(needed.isEmpty ? "an empty object" : "the required members only")
        } else {
            for name in absent { self.part(.key(name.string)) { $0.note("absent") } }
        }
        return names
    }

    private static func needs(_ rules: [(key: ExactName, needs: [ExactName])]) -> [ExactName: [ExactName]] {
        Dictionary(rules.map { ($0.key, $0.needs) }, uniquingKeysWith: +)
    }

    /// The names, and all that they require.
    private static func closure(of names: [ExactName], _ needs: [ExactName: [ExactName]]) -> [ExactName] {
        var all: [ExactName] = []
        var seen: Set<ExactName> = []
        var open = Array(names.reversed())
        while let name = open.popLast() {
            guard seen.insert(name).inserted else { continue }
            all.append(name)
            open += (needs[name] ?? []).reversed()
        }
        return all
    }

    /// The names in the order of their declarations, and then the others.
    private static func ordered(_ names: [ExactName], _ demands: Demands) -> [ExactName] {
        let present = Set(names)
        var seen: Set<ExactName> = []
        return (demands.members.flatMap(\.names) + names).filter { present.contains($0) && seen.insert($0).inserted }
    }

    // MARK: Schemas

    /// The schemas that apply to the member `name`.
    func schemas(of name: ExactName, _ demands: Demands) -> [Int] {
        var schemas: [Int] = []
        var isKnown = false
        for rules in demands.members {
            var isMatched = false
            if let schema = rules.properties[name] {
                schemas.append(schema)
                isMatched = true
            }
            for (pattern, schema) in rules.patterns where self.budget.spend(4) {
                let steps = Pattern.usualSteps(forLength: name.string.utf8.count)
                guard pattern.search(name.string, steps: steps) == .matches else { continue }
                schemas.append(schema)
                isMatched = true
            }
            if !isMatched, let schema = rules.additional {
                schemas.append(schema)
                isMatched = true
            }
            isKnown = isKnown || isMatched
        }
        return isKnown ? schemas : schemas + demands.unevaluatedProperties
    }

    /// True if the member belongs in requests only.
    func isLeftOut(_ name: ExactName, _ demands: Demands) -> Bool {
        demands.members.contains { members in
            members.properties[name].map { self.isWriteOnly($0) } ?? false
        }
    }

    private func isWriteOnly(_ schema: Int) -> Bool {
        var number = schema
        for _ in 0..<8 {
            if self.graph.annotations[number]?.isWriteOnly == true { return true }
            guard
                case .applicator(.reference(let target))? = self.graph.nodes[number].keywords.first(where: {
                    if case .applicator(.reference) = $0 { true } else { false }
                })
            else { return false }
            number = target
        }
        return false
    }

    // MARK: Other members

    /// Adds members until there are enough.
    ///
    /// - Returns: false if there is no way to.
    private mutating func addMembers(
        to entries: inout [Parameter.Entry], _ made: inout Set<ExactName>, _ demands: Demands, depth: Int
    ) -> Bool {
        guard demands.minProperties <= Self.memberLimit else { return false }
        let declared = demands.members.flatMap(\.names)
        var tries = 0
        while entries.count < demands.minProperties {
            tries += 1
            guard tries <= declared.count + 4 * demands.minProperties + 8, self.budget.spend(4),
                self.byteCount <= SchemaSample.sizeLimit
            else { return false }
            guard let name = self.otherName(demands, declared, number: tries), !made.contains(ExactName(name)),
                !demands.forbiddenNames.contains(ExactName(name)),
                let value = self.part(
                    .key(name), { $0.value(for: $0.schemas(of: ExactName(name), demands), depth: depth + 1) })
            else { continue }
            made.insert(ExactName(name))
            entries.append(Parameter.Entry(name, value))
        }
        return true
    }

    /// A name that is not declared: by a pattern, by the schema for names, or any.
    private mutating func otherName(_ demands: Demands, _ declared: [ExactName], number: Int) -> String? {
        if number <= declared.count { return declared[number - 1].string }
        if !demands.propertyNames.isEmpty {
            // Names are texts, so schemas for other types hold for no name.
            if let name = self.propertyName(demands) { return name }
        }
        if let pattern = self.choices.pick(demands.members.flatMap(\.patterns))?.pattern,
            let name = self.name(matching: pattern)
        {
            return name
        }
        return "member\(number)"
    }

    private mutating func propertyName(_ demands: Demands) -> String? {
        let notes = self.noteCount
        defer { self.forgetNotes(after: notes) }
        guard var names = self.demands(of: demands.propertyNames, avoiding: [], depth: 0) else { return nil }
        names.types.formIntersection(.string)
        if let literals = names.literals.first {
            let texts = literals.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return self.choices.pick(texts)
        }
        guard names.types == .string, let text = self.text(for: names, false),
            self.isValid(.string(text), for: demands.propertyNames)
        else { return nil }
        return text
    }

    private mutating func addUnknownMember(
        to entries: inout [Parameter.Entry], _ made: inout Set<ExactName>, _ demands: Demands, depth: Int
    ) {
        let names = ["unknown", "x-new-member", "überraschung", "", "__proto__", "constructor", "$type", "a b.c/d"]
        guard let name = self.choices.pick(names), !made.contains(ExactName(name)),
            !demands.forbiddenNames.contains(ExactName(name)),
            self.isValid(.string(name), for: demands.propertyNames)
        else { return }
        let schemas = self.schemas(of: ExactName(name), demands)
        let notes = self.noteCount
        let value = self.part(.key(name)) { $0.value(for: schemas, depth: depth + 1) }
        guard let value else { return self.forgetNotes(after: notes) }
        self.part(.key(name)) { $0.note("an unknown member") }
        made.insert(ExactName(name))
        entries.append(Parameter.Entry(name, value))
    }
}
