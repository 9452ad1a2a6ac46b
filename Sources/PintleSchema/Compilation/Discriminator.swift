// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The member by which the branches of `oneOf` or `anyOf` are told apart (OpenAPI 3.1 §4.8.25). It asserts nothing, but
/// helps to make values.
struct Discriminator: Sendable {
    let property: ExactName
    /// The values that select a branch, by the branch's number; those of `mapping` first. An inline branch has none.
    fileprivate(set) var values: [Int: [String]] = [:]
}

extension SchemaCompiler {
    /// Reads the discriminator of a schema.
    ///
    /// - Returns: nil if it has none, or its branches have no names. A mapping that leads nowhere is passed over.
    mutating func discriminator(of source: SchemaSource) -> Discriminator? {
        guard case .string(let property)? = source.value["discriminator"]?["propertyName"] else { return nil }
        var discriminator = Discriminator(property: ExactName(property))
        var mapped: [SchemaPlace: [String]] = [:]
        if case .dictionary(let mapping)? = source.value["discriminator"]?["mapping"] {
            for entry in mapping {
                guard case .string(let name) = entry.value, let place = self.place(named: name, from: source) else {
                    continue
                }
                mapped[place, default: []].append(entry.key)
            }
        }
        for keyword in ["oneOf", "anyOf"] {
            guard case .array(let branches)? = source.value[keyword] else { continue }
            for (index, branch) in branches.enumerated() {
                guard case .string(let reference)? = branch["$ref"],
                    let target = self.place(of: reference, from: source)
                else { continue }
                var values = mapped[target] ?? []
                // A schema has the name that `components` gives it.
                let pointer = target.pointer.string
                if pointer.hasPrefix(Self.components), let tokens = JSONPointer.tokens(of: pointer),
                    tokens.count == 3, !values.contains(tokens[2])
                {
                    values.append(tokens[2])
                }
                let place = SchemaPlace(
                    source.place.document,
                    JSONPointer.child(of: JSONPointer.child(of: source.place.pointer.string, keyword), index))
                if !values.isEmpty, let number = self.knownNumber(at: place) { discriminator.values[number] = values }
            }
        }
        return discriminator.values.isEmpty ? nil : discriminator
    }

    private static let components = "/components/schemas/"

    /// The place of a schema that a mapping names: by its name in `components`, or by a reference.
    private mutating func place(named name: String, from source: SchemaSource) -> SchemaPlace? {
        let root = self.documents[source.place.document].root
        if root["components"]?["schemas"]?[name] != nil {
            return SchemaPlace(source.place.document, JSONPointer.child(of: "/components/schemas", name))
        }
        return self.place(of: name, from: source)
    }

    private mutating func place(of reference: String, from source: SchemaSource) -> SchemaPlace? {
        let location = self.documents[source.place.document].location(source.place.pointer.string)
        return try? self.target(of: reference, in: source.place.document, base: source.base, at: location).place
    }
}
