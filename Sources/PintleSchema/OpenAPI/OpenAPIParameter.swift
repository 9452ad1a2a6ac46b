// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// A parameter of a query, a header section or a path.
package struct OpenAPIParameter: Sendable {
    package enum Location: String, Sendable {
        case path, query, header
    }

    /// The form of an array in text. Other styles, objects and parameters with `content` are not parsed.
    enum Style: Sendable, Equatable {
        /// One name for each item.
        case repeated
        /// Items with commas between them, in one value.
        case commas
    }

    let name: String
    let location: Location
    let isRequired: Bool
    /// Nil if the value is not judged.
    let style: Style?
    let schema: Int?

    /// The steps of a ``PintleSerialization/WorkBudget`` for parsing one pair of a query, or one item of a list.
    static let pairSteps = 8

    /// The names and values of a query, decoded; a plus sign is a space. A broken escape stays.
    static func pairs(ofQuery query: String) -> [(name: String, value: String)] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let texts = parts.map { part in
                let text = String(decoding: part.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }, as: UTF8.self)
                return PercentEscaping.unescape(text) ?? text
            }
            return (texts[0], texts.count > 1 ? texts[1] : "")
        }
    }

    /// The faults of the values in a request; secret values are not quoted.
    func violations(
        of texts: [String], areSecret: Bool, for operation: String, in graph: SchemaGraph, within budget: WorkBudget,
        schema: (Int) -> JSONSchema
    ) -> [String] {
        let title = "the \(self.location.rawValue) parameter \(Wording.line(self.name, limit: 80))"
        guard let first = texts.first else {
            return self.isRequired ? ["\(title) is missing; \(operation) requires it"] : []
        }
        guard let style = self.style, let number = self.schema else { return [] }
        let shape = graph.shape(of: number)
        if shape.types.contains(.object) { return [] }
        let value: Parameter
        if shape.types.contains(.array) {
            let parts =
                style == .repeated
                ? texts
                : texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed) }
            guard budget.spend(Self.pairSteps * parts.count) else { return [] }
            let types = shape.items.map { graph.shape(of: $0).types } ?? []
            value = .array(parts.map { Self.value($0, types) })
        } else {
            guard texts.count == 1 else { return ["\(title) is there \(texts.count) times; send it once"] }
            value = Self.value(first, shape.types)
        }
        let schema = areSecret ? schema(number).hidingValues : schema(number)
        return schema.validate(value, within: budget).map { violation in
            let place = violation.instanceLocation.isEmpty ? "" : " at \(violation.instanceLocation)"
            return "\(title)\(place): \(violation.sentence)"
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(decoding: ASCII.trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// The value that a text stands for: a number, a boolean or null if the schema names such a type, else the text itself.
    private static func value(_ text: String, _ types: TypeSet) -> Parameter {
        guard !types.isDisjoint(with: [.integer, .number, .boolean, .null]),
            let value = try? JSONScanner(fragmentsAllowed: true).parse(Array(text.utf8))
        else { return .string(text) }
        switch value {
        case .integer, .number, .decimal:
            return types.isDisjoint(with: [.integer, .number]) ? .string(text) : value
        case .bool: return types.contains(.boolean) ? value : .string(text)
        case .null: return types.contains(.null) ? value : .string(text)
        default: return .string(text)
        }
    }
}

extension SchemaGraph {
    /// The types that a schema names, itself or through references, and the schema of its items.
    ///
    /// They tell how text is to be parsed, not what is valid, so the first `type` found is enough.
    func shape(of root: Int) -> (types: TypeSet, items: Int?) {
        var types: TypeSet = []
        var items: Int?
        var open = [root]
        var seen: Set<Int> = []
        while let number = open.popLast() {
            guard seen.insert(number).inserted else { continue }
            for keyword in self.nodes[number].keywords {
                switch keyword {
                case .assertion(.type(let found)): types.formUnion(found)
                case .applicator(.elements(_, let rest)): items = items ?? rest
                case .applicator(.reference(let schema)): open.append(schema)
                case .applicator(.allOf(let schemas)), .applicator(.anyOf(let schemas)),
                    .applicator(.oneOf(let schemas)):
                    open += schemas
                default: break
                }
            }
        }
        return (types, items)
    }
}
