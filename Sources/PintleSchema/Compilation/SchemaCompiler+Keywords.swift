// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

extension SchemaCompiler {
    /// Reads one schema.
    mutating func node(from source: SchemaSource) throws(SchemaError) -> SchemaNode {
        let document = self.documents[source.place.document]
        var node = SchemaNode(
            location: document.location(source.place.pointer.string), resource: source.resource)
        switch source.value {
        case .bool(true): break
        case .bool(false): node.keywords = [.assertion(.never)]
        case .dictionary(let entries):
            let reader = KeywordReader(source, entries, in: document)
            for entry in entries { try Self.check(entry.key, reader) }
            if document.dialect == .openAPI30, reader["$ref"] != nil {
                // OpenAPI 3.0 ignores keywords beside a reference.
                node.keywords = try self.references(reader).map { .applicator($0) }
            } else {
                let assertions = try self.valueAssertions(reader) + Self.containerAssertions(reader)
                node.keywords = assertions.map { .assertion($0) }
                let applicators =
                    try self.references(reader) + self.combinations(reader) + self.objectRules(reader)
                    + self.arrayRules(reader) + self.unevaluated(reader)
                node.keywords += applicators.map { .applicator($0) }
            }
        default:
            throw SchemaError(
                node.location,
                "must be a schema, is \(Wording.value(source.value)); write an object, true or false")
        }
        return node
    }

    private static func check(_ keyword: String, _ reader: KeywordReader) throws(SchemaError) {
        if let reason = SchemaKeywords.refused[keyword] { throw reader.refusal(keyword, "\(keyword) \(reason)") }
        if reader.document.dialect == .openAPI30, SchemaKeywords.unknownToOpenAPI30.contains(keyword) {
            throw reader.refusal(
                keyword, "OpenAPI 3.0 does not have \(keyword) and would ignore it; write openapi: 3.1.0 or remove it")
        }
        if keyword == "definitions" || keyword == "$defs" { _ = try reader.placesByName(keyword) }
    }

    // MARK: Assertions

    private func valueAssertions(_ reader: KeywordReader) throws(SchemaError) -> [Assertion] {
        var assertions: [Assertion] = []
        if var types = try reader.types() {
            if reader.document.dialect == .openAPI30, try reader.flag("nullable") { types.insert(.null) }
            assertions.append(.type(types))
        }
        if let values = try reader.values("enum") {
            assertions.append(.enumeration(Set(values.map { JSONIdentity($0) }), shown: values))
        }
        if let value = reader["const"] { assertions.append(.constant(JSONIdentity(value))) }
        if let divisor = try reader.bound("multipleOf") {
            guard !divisor.decimal.isNegative, let digits = divisor.decimal.significand, digits > 0 else {
                throw reader.refusal(
                    "multipleOf",
                    "must be above 0 and have at most 18 digits, is \(Wording.value(divisor.value)); correct it")
            }
            assertions.append(.multipleOf(divisor))
        }
        assertions += try Self.bounds(reader)
        if let count = try reader.count("maxLength") { assertions.append(.maxLength(count)) }
        if let count = try reader.count("minLength") { assertions.append(.minLength(count)) }
        if let text = try reader.text("pattern") {
            assertions.append(.pattern(try Self.pattern(text, at: reader.pointer("pattern"), reader)))
        }
        if let name = try reader.text("format"), self.options.assertsFormats, let format = Format(rawValue: name) {
            assertions.append(.format(format))
        }
        return assertions
    }

    private static func bounds(_ reader: KeywordReader) throws(SchemaError) -> [Assertion] {
        var assertions: [Assertion] = []
        let hasFlags = reader.document.dialect == .openAPI30
        if let bound = try reader.bound("maximum") {
            let isExclusive = hasFlags ? try reader.flag("exclusiveMaximum") : false
            assertions.append(.maximum(bound, isExclusive: isExclusive))
        }
        if let bound = try reader.bound("minimum") {
            let isExclusive = hasFlags ? try reader.flag("exclusiveMinimum") : false
            assertions.append(.minimum(bound, isExclusive: isExclusive))
        }
        if !hasFlags {
            if let bound = try reader.bound("exclusiveMaximum") {
                assertions.append(.maximum(bound, isExclusive: true))
            }
            if let bound = try reader.bound("exclusiveMinimum") {
                assertions.append(.minimum(bound, isExclusive: true))
            }
        }
        return assertions
    }

    private static func pattern(
        _ text: String, at pointer: String, _ reader: KeywordReader
    ) throws(SchemaError) -> Pattern {
        do throws(PatternError) {
            return try Pattern(text)
        } catch {
            throw SchemaError(
                reader.document.location(pointer), "the pattern \(Wording.quoted(text)) \(error); correct it")
        }
    }

    private static func containerAssertions(_ reader: KeywordReader) throws(SchemaError) -> [Assertion] {
        var assertions: [Assertion] = []
        if let count = try reader.count("maxItems") { assertions.append(.maxItems(count)) }
        if let count = try reader.count("minItems") { assertions.append(.minItems(count)) }
        if try reader.flag("uniqueItems") { assertions.append(.uniqueItems) }
        if let count = try reader.count("maxProperties") { assertions.append(.maxProperties(count)) }
        if let count = try reader.count("minProperties") { assertions.append(.minProperties(count)) }
        if let names = try reader.names("required") { assertions.append(.required(names)) }
        if let names = try reader.namesByName("dependentRequired") { assertions.append(.dependentRequired(names)) }
        return assertions
    }

    // MARK: Applicators

    private mutating func references(_ reader: KeywordReader) throws(SchemaError) -> [Applicator] {
        var applicators: [Applicator] = []
        for keyword in ["$ref", "$dynamicRef"] {
            guard let text = try reader.text(keyword) else { continue }
            let location = reader.document.location(reader.pointer(keyword))
            let (place, value) = try self.target(
                of: text, in: reader.source.place.document, base: reader.source.base, at: location)
            let number = try self.number(of: value, at: place)
            let name = SchemaURI(text).fragment ?? ""
            if keyword == "$dynamicRef", case .string(name)? = value["$dynamicAnchor"] {
                self.dynamicNames.insert(name)
                applicators.append(.dynamicReference(.init(name: name, initial: number)))
            } else {
                applicators.append(.reference(number))
            }
        }
        return applicators
    }

    private mutating func combinations(_ reader: KeywordReader) throws(SchemaError) -> [Applicator] {
        var applicators: [Applicator] = []
        if let places = try reader.places("allOf") { applicators.append(.allOf(self.numbers(of: places))) }
        if let places = try reader.places("anyOf") { applicators.append(.anyOf(self.numbers(of: places))) }
        if let places = try reader.places("oneOf") { applicators.append(.oneOf(self.numbers(of: places))) }
        if let schema = self.number(of: "not", reader) { applicators.append(.not(schema)) }
        if let condition = self.number(of: "if", reader) {
            let (then, otherwise) = (self.number(of: "then", reader), self.number(of: "else", reader))
            applicators.append(.condition(condition, then: then, otherwise: otherwise))
        }
        if let places = try reader.placesByName("dependentSchemas") {
            var dependents: [(key: ExactName, schema: Int)] = []
            for (key, place) in places { dependents.append((key, self.number(at: place))) }
            applicators.append(.dependentSchemas(dependents))
        }
        return applicators
    }

    private mutating func objectRules(_ reader: KeywordReader) throws(SchemaError) -> [Applicator] {
        var applicators: [Applicator] = []
        var rules = Applicator.MemberRules()
        for (key, place) in try reader.placesByName("properties") ?? [] {
            rules.properties[key] = self.number(at: place)
            rules.names.append(key)
        }
        for (key, place) in try reader.placesByName("patternProperties") ?? [] {
            let pattern = try Self.pattern(key.string, at: place.pointer.string, reader)
            rules.patterns.append((pattern, self.number(at: place)))
        }
        rules.additional = self.number(of: "additionalProperties", reader)
        if !rules.properties.isEmpty || !rules.patterns.isEmpty || rules.additional != nil {
            applicators.append(.members(rules))
        }
        if let schema = self.number(of: "propertyNames", reader) { applicators.append(.propertyNames(schema)) }
        return applicators
    }

    private mutating func arrayRules(_ reader: KeywordReader) throws(SchemaError) -> [Applicator] {
        var applicators: [Applicator] = []
        if case .array? = reader["items"] {
            throw reader.refusal("items", "must be a schema, is an array; write prefixItems for a schema per item")
        }
        let prefix = self.numbers(of: try reader.places("prefixItems") ?? [])
        let rest = self.number(of: "items", reader)
        if !prefix.isEmpty || rest != nil { applicators.append(.elements(prefix: prefix, rest: rest)) }
        let (minimum, maximum) = (try reader.count("minContains"), try reader.count("maxContains"))
        if let schema = self.number(of: "contains", reader) {
            applicators.append(.contains(schema, minimum: minimum ?? 1, maximum: maximum))
        }
        return applicators
    }

    private mutating func unevaluated(_ reader: KeywordReader) -> [Applicator] {
        var applicators: [Applicator] = []
        if let schema = self.number(of: "unevaluatedItems", reader) { applicators.append(.unevaluatedItems(schema)) }
        if let schema = self.number(of: "unevaluatedProperties", reader) {
            applicators.append(.unevaluatedProperties(schema))
        }
        return applicators
    }

    // MARK: Numbers

    private mutating func number(of keyword: String, _ reader: KeywordReader) -> Int? {
        reader[keyword] == nil ? nil : self.number(at: reader.place(reader.pointer(keyword)))
    }

    private mutating func numbers(of places: [SchemaPlace]) -> [Int] {
        var numbers: [Int] = []
        for place in places { numbers.append(self.number(at: place)) }
        return numbers
    }

    /// The number of a schema inside one that is indexed, so it is indexed, too.
    private mutating func number(at place: SchemaPlace) -> Int {
        guard let source = self.source(at: place) else { preconditionFailure("BUG: a schema that was not indexed") }
        return self.number(of: source)
    }
}
