// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Reads the values of one schema's keywords and checks that each has the right type.
struct KeywordReader {
    let source: SchemaSource
    let document: SchemaDocument
    private let members: [String: Parameter]

    init(_ source: SchemaSource, _ entries: [Parameter.Entry], in document: SchemaDocument) {
        self.source = source
        self.document = document
        self.members = Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(_ keyword: String) -> Parameter? { self.members[keyword] }

    func pointer(_ keyword: String) -> String { JSONPointer.child(of: self.source.place.pointer.string, keyword) }

    func place(_ pointer: String) -> SchemaPlace { SchemaPlace(self.source.place.document, pointer) }

    func refusal(_ keyword: String, _ sentence: String) -> SchemaError {
        SchemaError(self.document.location(self.pointer(keyword)), sentence)
    }

    private func refusal(_ keyword: String, mustBe what: String, _ remedy: String) -> SchemaError {
        let value = self.members[keyword].map(Wording.value) ?? "missing"
        return self.refusal(keyword, "must be \(what), is \(value); \(remedy)")
    }

    /// A whole number from 0, as `minLength` has.
    func count(_ keyword: String) throws(SchemaError) -> Int? {
        guard let value = self.members[keyword] else { return nil }
        guard let number = DecimalValue(value), number.isInteger, !number.isNegative else {
            throw self.refusal(keyword, mustBe: "a whole number from 0", "write one, without quotes")
        }
        return number.integer.map { Int($0) } ?? Int.max
    }

    func bound(_ keyword: String) throws(SchemaError) -> NumberBound? {
        guard let value = self.members[keyword] else { return nil }
        guard let bound = NumberBound(value) else {
            throw self.refusal(keyword, mustBe: "a number", "write one, without quotes")
        }
        return bound
    }

    func flag(_ keyword: String) throws(SchemaError) -> Bool {
        switch self.members[keyword] {
        case nil: return false
        case .bool(let flag): return flag
        default: throw self.refusal(keyword, mustBe: "true or false", "write one of them, without quotes")
        }
    }

    func text(_ keyword: String) throws(SchemaError) -> String? {
        switch self.members[keyword] {
        case nil: return nil
        case .string(let text): return text
        default: throw self.refusal(keyword, mustBe: "a string", "put it in quotes")
        }
    }

    func values(_ keyword: String) throws(SchemaError) -> [Parameter]? {
        guard let value = self.members[keyword] else { return nil }
        guard case .array(let values) = value else {
            throw self.refusal(keyword, mustBe: "an array", "put the values in brackets")
        }
        return values
    }

    /// Names of properties; may be empty.
    func names(_ keyword: String) throws(SchemaError) -> [ExactName]? {
        try self.members[keyword].map { value throws(SchemaError) in try self.names(value, of: keyword) }
    }

    /// For each name of a property, the names of the properties that it requires.
    func namesByName(_ keyword: String) throws(SchemaError) -> [(key: ExactName, needs: [ExactName])]? {
        guard let value = self.members[keyword] else { return nil }
        guard case .dictionary(let entries) = value else {
            throw self.refusal(keyword, mustBe: "an object", "write arrays of names under names")
        }
        var result: [(key: ExactName, needs: [ExactName])] = []
        for entry in entries { result.append((ExactName(entry.key), try self.names(entry.value, of: keyword))) }
        return result
    }

    private func names(_ value: Parameter, of keyword: String) throws(SchemaError) -> [ExactName] {
        var names: [ExactName] = []
        guard case .array(let values) = value else {
            throw self.refusal(keyword, "must hold arrays of names, holds \(Wording.value(value)); use brackets")
        }
        for value in values {
            guard case .string(let name) = value else {
                throw self.refusal(keyword, "must hold names only, holds \(Wording.value(value)); put it in quotes")
            }
            names.append(ExactName(name))
        }
        return names
    }

    /// The types that `type` names.
    func types() throws(SchemaError) -> TypeSet? {
        let names: [Parameter]
        switch self.members["type"] {
        case nil: return nil
        case .array(let values) where !values.isEmpty && self.document.dialect == .draft202012: names = values
        case let value?: names = [value]
        }
        var types: TypeSet = []
        for name in names {
            guard case .string(let text) = name, let type = TypeSet(name: text) else {
                let known = TypeSet.names.map(\.name)
                throw self.refusal("type", "\(Wording.value(name)) is no type; write \(Wording.list(known, "or"))")
            }
            types.formUnion(type)
        }
        return types
    }

    // MARK: Places of schemas

    /// The places of the schemas in an array.
    func places(_ keyword: String) throws(SchemaError) -> [SchemaPlace]? {
        guard let value = self.members[keyword] else { return nil }
        guard case .array(let schemas) = value, !schemas.isEmpty else {
            throw self.refusal(keyword, mustBe: "an array with a schema at least", "put the schemas in brackets")
        }
        return schemas.indices.map { self.place(JSONPointer.child(of: self.pointer(keyword), $0)) }
    }

    /// The places of the schemas in an object, by their names.
    func placesByName(_ keyword: String) throws(SchemaError) -> [(key: ExactName, place: SchemaPlace)]? {
        guard let value = self.members[keyword] else { return nil }
        guard case .dictionary(let entries) = value else {
            throw self.refusal(keyword, mustBe: "an object", "write schemas under names")
        }
        return entries.map { entry in
            (ExactName(entry.key), self.place(JSONPointer.child(of: self.pointer(keyword), entry.key)))
        }
    }
}
