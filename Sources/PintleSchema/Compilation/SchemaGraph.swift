// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Schemas that refer to each other by number. Immutable once compiled.
struct SchemaGraph: Sendable {
    /// A dynamic anchor's name, and the resource that has it.
    struct DynamicAnchor: Hashable, Sendable {
        let resource: Int
        let name: String
    }

    /// The documents that the schemas were read from.
    var documents: [SchemaDocument] = []
    var nodes: [SchemaNode] = []
    var dynamicAnchors: [DynamicAnchor: Int] = [:]
    /// By the numbers of schemas. Apart from the nodes, as only the making of values needs them.
    var annotations: [Int: SchemaAnnotations] = [:]
    /// By the numbers of the schemas that have the branches; for the making of values, too.
    var discriminators: [Int: Discriminator] = [:]
    /// True if a schema is `writeOnly`.
    var hasWriteOnly = false
}

/// One schema, with its keywords read.
struct SchemaNode: Sendable {
    /// The document's name and a pointer, for messages.
    let location: String
    /// The schema resource that it belongs to: the document, or the nearest schema around it with an `$id`.
    let resource: Int
    /// Assertions first, then applicators; `unevaluated…` comes last, because it needs the findings of the others.
    var keywords: [Keyword] = []
    /// True if the schema must know which members and items its keywords have evaluated.
    var needsEvaluated: Bool {
        self.keywords.contains {
            switch $0 {
            case .applicator(.unevaluatedItems), .applicator(.unevaluatedProperties): true
            default: false
            }
        }
    }
}

enum Keyword: Sendable {
    case assertion(Assertion)
    case applicator(Applicator)

    /// The name as it is written in schemas.
    var name: String {
        switch self {
        case .assertion(let assertion): assertion.name
        case .applicator(let applicator): applicator.name
        }
    }
}

/// A keyword that judges the instance by itself.
enum Assertion: Sendable {
    /// The schema `false`.
    case never
    case type(TypeSet)
    case enumeration(Set<JSONIdentity>, shown: [Parameter])
    case constant(JSONIdentity)
    case multipleOf(NumberBound)
    case maximum(NumberBound, isExclusive: Bool)
    case minimum(NumberBound, isExclusive: Bool)
    case maxLength(Int)
    case minLength(Int)
    case pattern(Pattern)
    case format(Format)
    case maxItems(Int)
    case minItems(Int)
    case uniqueItems
    case maxProperties(Int)
    case minProperties(Int)
    case required([ExactName])
    case dependentRequired([(key: ExactName, needs: [ExactName])])

    var name: String {
        switch self {
        case .never: "false"
        case .type: "type"
        case .enumeration: "enum"
        case .constant: "const"
        case .multipleOf: "multipleOf"
        case .maximum(_, let isExclusive): isExclusive ? "exclusiveMaximum" : "maximum"
        case .minimum(_, let isExclusive): isExclusive ? "exclusiveMinimum" : "minimum"
        case .maxLength: "maxLength"
        case .minLength: "minLength"
        case .pattern: "pattern"
        case .format: "format"
        case .maxItems: "maxItems"
        case .minItems: "minItems"
        case .uniqueItems: "uniqueItems"
        case .maxProperties: "maxProperties"
        case .minProperties: "minProperties"
        case .required: "required"
        case .dependentRequired: "dependentRequired"
        }
    }
}

/// A keyword that applies other schemas to the same instance or to its members or items.
enum Applicator: Sendable {
    case reference(Int)
    case dynamicReference(SchemaReference)
    case allOf([Int])
    case anyOf([Int])
    case oneOf([Int])
    case not(Int)
    case condition(Int, then: Int?, otherwise: Int?)
    case dependentSchemas([(key: ExactName, schema: Int)])
    case members(MemberRules)
    case propertyNames(Int)
    case elements(prefix: [Int], rest: Int?)
    case contains(Int, minimum: Int, maximum: Int?)
    case unevaluatedItems(Int)
    case unevaluatedProperties(Int)

    /// A reference with a target that depends on the schemas on the way to it.
    struct SchemaReference: Sendable {
        let name: String
        /// The target if none of those schemas has the anchor.
        let initial: Int
    }

    /// `properties`, `patternProperties` and `additionalProperties`, together, as the last needs the others.
    struct MemberRules: Sendable {
        var properties: [ExactName: Int] = [:]
        /// The names of `properties` in the order of the document, for the making of values.
        var names: [ExactName] = []
        var patterns: [(pattern: Pattern, schema: Int)] = []
        var additional: Int?
    }

    var name: String {
        switch self {
        case .reference: "$ref"
        case .dynamicReference: "$dynamicRef"
        case .allOf: "allOf"
        case .anyOf: "anyOf"
        case .oneOf: "oneOf"
        case .not: "not"
        case .condition: "if"
        case .dependentSchemas: "dependentSchemas"
        case .members: "properties"
        case .propertyNames: "propertyNames"
        case .elements: "items"
        case .contains: "contains"
        case .unevaluatedItems: "unevaluatedItems"
        case .unevaluatedProperties: "unevaluatedProperties"
        }
    }

    /// The schemas that are applied to the instance itself, not to its members or items.
    var schemasInPlace: [Int] {
        switch self {
        case .reference(let schema), .not(let schema): [schema]
        case .dynamicReference(let reference): [reference.initial]
        case .allOf(let schemas), .anyOf(let schemas), .oneOf(let schemas): schemas
        case .condition(let condition, let then, let otherwise): [condition] + [then, otherwise].compactMap(\.self)
        case .dependentSchemas(let dependents): dependents.map(\.schema)
        case .members, .propertyNames, .elements, .contains, .unevaluatedItems, .unevaluatedProperties: []
        }
    }
}

/// The types that `type` allows.
struct TypeSet: OptionSet, Sendable {
    let rawValue: UInt8

    static let null = TypeSet(rawValue: 1)
    static let boolean = TypeSet(rawValue: 2)
    static let object = TypeSet(rawValue: 4)
    static let array = TypeSet(rawValue: 8)
    static let number = TypeSet(rawValue: 16)
    static let string = TypeSet(rawValue: 32)
    static let integer = TypeSet(rawValue: 64)

    static let names: [(name: String, type: TypeSet)] = [
        ("null", .null), ("boolean", .boolean), ("object", .object), ("array", .array), ("number", .number),
        ("string", .string), ("integer", .integer),
    ]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Returns: nil if `name` is no type's name.
    init?(name: String) {
        guard let type = Self.names.first(where: { $0.name == name })?.type else { return nil }
        self = type
    }

    /// True if one of the types is that of `value`.
    func allows(_ value: Parameter) -> Bool {
        switch value {
        case .null: self.contains(.null)
        case .bool: self.contains(.boolean)
        case .string: self.contains(.string)
        case .array: self.contains(.array)
        case .dictionary: self.contains(.object)
        case .integer: !self.isDisjoint(with: [.integer, .number])
        case .number, .decimal:
            self.contains(.number) || self.contains(.integer) && DecimalValue(value)?.isInteger ?? false
        default: false
        }
    }

    /// The types in words: `a string or null`.
    var words: String {
        let articles = ["array": "an array", "object": "an object", "integer": "an integer", "null": "null"]
        return Wording.list(
            Self.names.filter { self.contains($0.type) }.map { articles[$0.name] ?? "a \($0.name)" }, "or")
    }
}
