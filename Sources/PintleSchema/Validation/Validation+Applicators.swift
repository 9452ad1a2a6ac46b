// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension Validation {
    /// The most branches of `anyOf` and `oneOf` for which reasons are given.
    private static let branchFaultLimit = 3

    // MARK: The next schema to apply

    /// The next schema that the keyword applies; nil if there are no more, or none that could change its verdict.
    mutating func nextChild(of applicator: Applicator, _ top: Int) -> Frame? {
        let frame = self.frames[top]
        if !frame.isValid, !frame.reports { return nil }
        switch applicator {
        case .reference(let schema):
            return self.nextInPlace([schema], top, reports: frame.reports)
        case .dynamicReference(let reference):
            guard frame.cursor == 0 else { return nil }
            return self.nextInPlace([self.target(of: reference)], top, reports: frame.reports)
        case .allOf(let schemas):
            return self.nextInPlace(schemas, top, reports: frame.reports)
        case .anyOf(let schemas):
            return frame.passed > 0 && !frame.tracks ? nil : self.nextInPlace(schemas, top, reports: false)
        case .oneOf(let schemas):
            return frame.passed > 1 ? nil : self.nextInPlace(schemas, top, reports: false)
        case .not(let schema):
            return self.nextInPlace([schema], top, reports: false)
        case .condition(let condition, let then, let otherwise):
            if frame.cursor == 0 { return self.nextInPlace([condition], top, reports: false) }
            guard frame.cursor == 1, let schema = frame.passed > 0 ? then : otherwise else { return nil }
            return self.nextInPlace([condition, schema], top, reports: frame.reports)
        case .dependentSchemas(let dependents):
            return self.nextDependent(dependents, top)
        case .members(let rules):
            return self.nextMember(rules, top)
        case .propertyNames(let schema):
            guard case .dictionary(let entries) = frame.value, frame.cursor < entries.count else { return nil }
            self.frames[top].cursor += 1
            return self.child(schema, .string(entries[frame.cursor].key), nil, reports: frame.reports)
        case .elements(let prefix, let rest):
            guard let element = Self.element(frame), let schema = prefix.element(at: frame.cursor) ?? rest else {
                return nil
            }
            self.frames[top].cursor += 1
            return self.child(schema, element, .index(frame.cursor), reports: frame.reports)
        case .contains(let schema, let minimum, let maximum):
            let isEnough = frame.passed >= minimum && maximum == nil && !frame.tracks
            let isTooMuch = maximum.map { frame.passed > $0 } ?? false
            guard !isEnough, !isTooMuch, let element = Self.element(frame) else { return nil }
            self.frames[top].cursor += 1
            return self.child(schema, element, .index(frame.cursor), reports: false)
        case .unevaluatedItems(let schema), .unevaluatedProperties(let schema):
            return self.nextUnevaluated(applicator, schema, top)
        }
    }

    private func child(_ schema: Int, _ value: Parameter, _ token: PointerToken?, reports: Bool) -> Frame {
        Frame(
            node: schema, value: value, token: token, reports: reports,
            tracks: self.graph.nodes[schema].needsEvaluated)
    }

    private mutating func nextInPlace(_ schemas: [Int], _ top: Int, reports: Bool) -> Frame? {
        let frame = self.frames[top]
        guard let schema = schemas.element(at: frame.cursor) else { return nil }
        self.frames[top].cursor += 1
        return Frame(
            node: schema, value: frame.value, reports: reports,
            tracks: frame.tracks || self.graph.nodes[schema].needsEvaluated, isInPlace: true)
    }

    private static func element(_ frame: Frame) -> Parameter? {
        guard case .array(let elements) = frame.value else { return nil }
        return elements.element(at: frame.cursor)
    }

    private mutating func nextDependent(_ dependents: [(key: ExactName, schema: Int)], _ top: Int) -> Frame? {
        guard case .dictionary(let entries) = self.frames[top].value else { return nil }
        while let dependent = dependents.element(at: self.frames[top].cursor) {
            self.stepsLeft -= entries.count / 16
            if entries.contains(where: { ExactName($0.key) == dependent.key }) {
                return self.nextInPlace(dependents.map(\.schema), top, reports: self.frames[top].reports)
            }
            self.frames[top].cursor += 1
        }
        return nil
    }

    private mutating func nextMember(_ rules: Applicator.MemberRules, _ top: Int) -> Frame? {
        guard case .dictionary(let entries) = self.frames[top].value else { return nil }
        while let entry = entries.element(at: self.frames[top].cursor) {
            let rule = self.frames[top].rule
            self.frames[top].rule += 1
            self.stepsLeft -= 1
            var schema: Int?
            if rule == 0 {
                schema = rules.properties[ExactName(entry.key)]
            } else if let pattern = rules.patterns.element(at: rule - 1) {
                switch self.search(pattern.pattern, entry.key) {
                case .matches: schema = pattern.schema
                case .differs: break
                case .exhausted:
                    self.giveUp(
                        "has a name that needs more steps or memory to be matched than it may; simplify the pattern")
                    return nil
                }
            } else {
                schema = self.frames[top].isMatched ? nil : rules.additional
                self.frames[top].cursor += 1
                self.frames[top].rule = 0
                self.frames[top].isMatched = false
                guard let schema else { continue }
                return self.child(schema, entry.value, .key(entry.key), reports: self.frames[top].reports)
            }
            if let schema {
                self.frames[top].isMatched = true
                return self.child(schema, entry.value, .key(entry.key), reports: self.frames[top].reports)
            }
        }
        return nil
    }

    private mutating func nextUnevaluated(_ applicator: Applicator, _ schema: Int, _ top: Int) -> Frame? {
        while true {
            let frame = self.frames[top]
            let found: (Parameter, PointerToken)?
            switch (applicator, frame.value) {
            case (.unevaluatedItems, .array(let elements)):
                found = elements.element(at: frame.cursor).map { ($0, .index(frame.cursor)) }
            case (.unevaluatedProperties, .dictionary(let entries)):
                found = entries.element(at: frame.cursor).map { ($0.value, .key($0.key)) }
            default: found = nil
            }
            guard let (value, token) = found else { return nil }
            self.frames[top].cursor += 1
            self.stepsLeft -= 1
            if !frame.evaluated.contains(frame.cursor) {
                return self.child(schema, value, token, reports: frame.reports)
            }
        }
    }

    /// The outermost schema on the way here that has the anchor (core §8.2.3.2).
    private mutating func target(of reference: Applicator.SchemaReference) -> Int {
        self.stepsLeft -= self.frames.count
        for frame in self.frames {
            let resource = self.graph.nodes[frame.node].resource
            let anchor = SchemaGraph.DynamicAnchor(resource: resource, name: reference.name)
            if let schema = self.graph.dynamicAnchors[anchor] { return schema }
        }
        return reference.initial
    }

    // MARK: Verdicts

    /// Takes the verdict of a schema that the keyword has applied.
    mutating func receive(_ child: Frame, _ applicator: Applicator, _ top: Int) {
        switch applicator {
        case .reference, .dynamicReference, .allOf, .dependentSchemas, .propertyNames:
            self.adopt(child, top)
        case .condition:
            if self.frames[top].cursor == 1 {
                self.frames[top].passed += child.isValid ? 1 : 0
            } else {
                self.adopt(child, top)
            }
        case .anyOf, .oneOf:
            self.frames[top].passed += child.isValid ? 1 : 0
            if let fault = child.fault, self.frames[top].branchFaults.count < Self.branchFaultLimit {
                self.frames[top].branchFaults.append(fault)
            }
        case .not, .contains: self.frames[top].passed += child.isValid ? 1 : 0
        case .members, .elements, .unevaluatedItems, .unevaluatedProperties:
            self.adopt(child, top)
        }
        if self.frames[top].tracks { self.note(child, applicator, top) }
    }

    /// Notes the members and items that the schema has evaluated. A schema that does not hold has evaluated none; but if its
    /// fault was reported, the value is invalid anyway, and the member need not be reported again.
    private mutating func note(_ child: Frame, _ applicator: Applicator, _ top: Int) {
        guard child.isValid || child.reports else { return }
        switch applicator {
        case .not, .propertyNames: break
        case .members:
            // After the last rule the cursor is already at the next member.
            let isPast = self.frames[top].rule == 0
            self.frames[top].evaluated.insert(self.frames[top].cursor - (isPast ? 1 : 0))
        case .elements, .contains, .unevaluatedItems, .unevaluatedProperties:
            self.frames[top].evaluated.insert(self.frames[top].cursor - 1)
        case .reference, .dynamicReference, .allOf, .anyOf, .oneOf, .condition, .dependentSchemas:
            self.stepsLeft -= child.evaluated.weight / 16
            self.frames[top].evaluated.formUnion(child.evaluated)
        }
    }

    /// Judges the keyword by the verdicts of its schemas, and moves on to the next keyword.
    mutating func conclude(_ applicator: Applicator, _ top: Int) {
        let frame = self.frames[top]
        if frame.isValid || frame.reports {
            let holds: Bool
            switch applicator {
            case .anyOf: holds = frame.passed > 0
            case .oneOf: holds = frame.passed == 1
            case .not: holds = frame.passed == 0
            case .contains(_, let minimum, let maximum):
                let isArray = if case .array = frame.value { true } else { false }
                holds = !isArray || frame.passed >= minimum && maximum.map { frame.passed <= $0 } ?? true
            case .reference, .dynamicReference, .allOf, .condition, .dependentSchemas, .members, .propertyNames,
                .elements, .unevaluatedItems, .unevaluatedProperties:
                holds = true
            }
            if !holds { self.fail(top, passed: frame.passed, branches: frame.branchFaults) }
        }
        self.frames[top].keyword += 1
        self.frames[top].cursor = 0
        self.frames[top].passed = 0
        self.frames[top].branchFaults = []
    }
}

extension Array {
    /// The element; nil past the end.
    func element(at index: Int) -> Element? { index < self.count ? self[index] : nil }
}
