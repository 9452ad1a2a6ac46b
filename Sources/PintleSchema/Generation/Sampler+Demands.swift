// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Sampler {
    /// The most schemas that are collected for one value.
    private static let schemaLimit = 512

    /// Collects the keywords of all schemas that apply to one value, and chooses branches.
    ///
    /// - Returns: nil if they cannot all hold, are too many, or the budget is used up.
    mutating func demands(of nodes: [Int], avoiding avoided: [Int], depth: Int) -> Demands? {
        var demands = Demands()
        demands.avoided = avoided
        var seen: Set<Int> = []
        guard self.collect(nodes, into: &demands, seen: &seen, depth: depth) else { return nil }
        var index = 0
        while index < demands.avoided.count {
            guard self.budget.spend(4), self.avoid(demands.avoided[index], in: &demands, &seen, depth: depth) else {
                return nil
            }
            index += 1
        }
        if !demands.avoided.isEmpty { demands.isHard = true }
        demands.removeImpossibleTypes()
        return demands.types.isEmpty ? nil : demands
    }

    /// Adds schemas to demands.
    ///
    /// - Returns: false if they are too many or the budget is used up.
    mutating func collect(_ nodes: [Int], into demands: inout Demands, seen: inout Set<Int>, depth: Int) -> Bool {
        var open = Array(nodes.reversed())
        while let number = open.popLast() {
            guard self.budget.spend(4 + 2 * self.graph.nodes[number].keywords.count) else { return false }
            guard seen.insert(number).inserted else { continue }
            guard seen.count <= Self.schemaLimit else { return false }
            if let annotations = self.graph.annotations[number] { demands.add(annotations: annotations) }
            for keyword in self.graph.nodes[number].keywords {
                switch keyword {
                case .assertion(let assertion): demands.add(assertion)
                case .applicator(let applicator):
                    Self.add(applicator, to: &demands)
                    let discriminator = self.graph.discriminators[number]
                    open += self.schemasInPlace(of: applicator, discriminator, in: &demands, depth: depth).reversed()
                }
            }
        }
        return true
    }

    private static func add(_ applicator: Applicator, to demands: inout Demands) {
        switch applicator {
        case .members(let rules):
            demands.members.append(rules)
            demands.implied.formUnion(.object)
        case .propertyNames(let schema):
            demands.propertyNames.append(schema)
            demands.isHard = true
            demands.implied.formUnion(.object)
        case .dependentSchemas(let dependents):
            demands.dependentSchemas += dependents
            demands.implied.formUnion(.object)
        case .unevaluatedProperties(let schema):
            demands.unevaluatedProperties.append(schema)
            demands.isHard = true
        case .elements(let prefix, let rest):
            demands.elements.append((prefix, rest))
            demands.implied.formUnion(.array)
        case .contains(let schema, let minimum, let maximum):
            demands.contains.append((schema, minimum, maximum))
            demands.implied.formUnion(.array)
            demands.isHard = true
        case .unevaluatedItems(let schema):
            demands.unevaluatedItems.append(schema)
            demands.isHard = true
        case .reference, .dynamicReference, .allOf, .anyOf, .oneOf, .not, .condition: break
        }
    }

    /// The schemas that shall hold for the value itself, by a choice among the branches.
    private mutating func schemasInPlace(
        of applicator: Applicator, _ discriminator: Discriminator?, in demands: inout Demands, depth: Int
    ) -> [Int] {
        switch applicator {
        case .reference(let schema): return [schema]
        case .dynamicReference(let reference):
            let resource = self.graph.nodes[self.root].resource
            let anchor = SchemaGraph.DynamicAnchor(resource: resource, name: reference.name)
            demands.isHard = true
            return [self.graph.dynamicAnchors[anchor] ?? reference.initial]
        case .allOf(let schemas): return schemas
        case .anyOf(let schemas):
            demands.branchCount += schemas.count
            let chosen = self.branch(among: schemas, discriminator, "anyOf", depth: depth)
            demands.select(chosen, by: discriminator)
            return [chosen]
        case .oneOf(let schemas):
            demands.branchCount += schemas.count
            demands.isHard = true
            let chosen = self.branch(among: schemas, discriminator, "oneOf", depth: depth)
            demands.select(chosen, by: discriminator)
            // Mostly the others do not hold anyway.
            if self.choices.isOne(in: 2) { demands.avoided += schemas.prefix(16).filter { $0 != chosen } }
            return [chosen]
        case .not(let schema):
            demands.avoided.append(schema)
            return []
        case .condition(let condition, let then, let otherwise):
            guard then != nil || otherwise != nil else { return [] }
            demands.branchCount += 2
            demands.isHard = true
            if self.choices.isOne(in: 2) { return [condition] + [then].compactMap(\.self) }
            demands.avoided.append(condition)
            return [otherwise].compactMap(\.self)
        case .dependentSchemas, .members, .propertyNames, .elements, .contains, .unevaluatedItems,
            .unevaluatedProperties:
            return []
        }
    }

    /// Chooses a branch: a common one, a small one in depth, or any if the unusual is asked for.
    private mutating func branch(
        among all: [Int], _ discriminator: Discriminator?, _ keyword: String, depth: Int
    ) -> Int {
        // Beside a discriminator, programs do not find branches without a name.
        let named = discriminator.map { discriminator in all.filter { discriminator.values[$0] != nil } } ?? []
        let schemas = named.isEmpty ? all : named
        var usual: [Int] = []
        var small: [Int] = []
        for schema in schemas where self.budget.spend(2) {
            let types = self.types(of: schema)
            if types.isEmpty { continue }
            if types != .null { usual.append(schema) }
            if !types.isDisjoint(with: .scalars) { small.append(schema) }
        }
        if self.isFrugal(at: depth), let schema = self.choices.pick(small) { return schema }
        if self.isUnusual(), let index = schemas.indices.last.map({ self.choices.number(below: $0 + 1) }), index > 0 {
            self.note("branch \((all.firstIndex(of: schemas[index]) ?? index) + 1) of \(keyword)")
            return schemas[index]
        }
        return self.choices.pick(usual.isEmpty ? schemas : usual) ?? schemas[0]
    }

    /// The types that a schema allows, as far as its own keywords and those of its references tell; without those of its
    /// branches. Empty if it allows nothing.
    func types(of schema: Int) -> TypeSet {
        var types = TypeSet.every
        var implied: TypeSet = []
        var open = [schema]
        // Few schemas are looked at: this is a hint.
        for _ in 0..<16 {
            guard let number = open.popLast() else { break }
            for keyword in self.graph.nodes[number].keywords {
                switch keyword {
                case .assertion(.never): return []
                case .assertion(.type(let found)): types.formIntersection(found.widened)
                case .assertion(.enumeration(_, let shown)) where shown.count <= 64:
                    types.formIntersection(shown.reduce(into: TypeSet()) { $0.formUnion(TypeSet(of: $1)) }.widened)
                case .assertion(.constant(let constant)): types.formIntersection(TypeSet(of: constant.value).widened)
                case .assertion(.required): implied.formUnion(.object)
                case .applicator(.members): implied.formUnion(.object)
                case .applicator(.elements): implied.formUnion(.array)
                case .applicator(.reference(let target)): open.append(target)
                case .applicator(.allOf(let schemas)): open += schemas.prefix(16)
                default: break
                }
            }
        }
        return types == .every && !implied.isEmpty ? implied : types
    }
}
