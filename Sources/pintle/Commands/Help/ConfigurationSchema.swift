// SPDX-License-Identifier: Apache-2.0

internal import CPintleSchemas
internal import PintleSerialization

/// The JSON Schema of configurations, read as a list of keys.
struct ConfigurationSchema {
    /// A key of the configuration.
    struct Key: Sendable, Equatable {
        /// The place of the key: `trust.NAME.pins`, `routes[].match.hosts`.
        let path: String
        /// The forms that a value may have, in words.
        let forms: [String]
        /// The least and the greatest value; nil for forms that have none.
        let range: String?
        /// The value that stands for a missing one, as a user would write it; nil if there is none.
        let standard: String?
        /// That value as the schema has it.
        let standardValue: Parameter?
        /// The first version with the key.
        let since: String
        let text: String
    }

    /// The version of keys without one of their own.
    static let firstVersion = "0.1.0"

    private let whole: Parameter

    init(_ whole: Parameter) { self.whole = whole }

    /// The schema of this version of Pintle.
    static let embedded: ConfigurationSchema = {
        let schema = pintle_schema_of_configurations()
        let bytes = Array(UnsafeBufferPointer(start: schema.bytes, count: schema.length))
        guard let whole = try? JSONScanner().parse(bytes) else { preconditionFailure("BUG: the schema is not JSON") }
        return ConfigurationSchema(whole)
    }()

    /// All keys, each below the one that it belongs to.
    var keys: [Key] { self.places(below: self.whole, at: "").map { self.key($0.path, $0.schema) } }

    // MARK: Structure

    private typealias Place = (path: String, schema: Parameter)

    /// The definition that a reference names, with what stands beside the reference.
    private func followed(_ schema: Parameter) -> Parameter {
        guard let name = Self.reference(of: schema), let definition = self.whole["$defs"]?[name],
            case .dictionary(let base) = definition, case .dictionary(let beside) = schema
        else { return schema }
        return .dictionary(beside.filter { $0.key != "$ref" } + base)
    }

    /// The name of the definition that stands for a schema.
    private static func reference(of schema: Parameter) -> String? {
        schema.text("$ref")?.split(separator: "/").last.map(String.init)
    }

    /// The schemas of which one must hold, without those that only demand keys.
    private static func alternatives(of schema: Parameter) -> [Parameter] {
        (schema.elements("anyOf") + schema.elements("oneOf")).filter { one in
            guard case .dictionary(let members) = one else { return false }
            return members.contains { $0.key != "required" }
        }
    }

    private func places(below schema: Parameter, at place: String) -> [Place] {
        let schema = self.followed(schema)
        var found: [Place] = []
        if case .dictionary(let properties)? = schema["properties"] {
            for property in properties {
                let path = place.isEmpty ? property.key : "\(place).\(property.key)"
                found.append((path, property.value))
                found += self.places(below: property.value, at: path)
            }
        }
        if let items = schema["items"] { found += self.places(below: items, at: "\(place)[]") }
        if let others = schema["additionalProperties"] { found += self.places(below: others, at: "\(place).NAME") }
        let alternatives = Self.alternatives(of: schema)
        // A list may be left out around its only entry. The keys of that entry are those of the list.
        for one in alternatives where one["items"].map({ !alternatives.contains($0) }) ?? true {
            found += self.places(below: one, at: place)
        }
        // Several forms of one value may have the same key.
        var known: Set<String> = []
        return found.filter { known.insert($0.path).inserted }
    }

    // MARK: Properties

    private func key(_ path: String, _ schema: Parameter) -> Key {
        let followed = self.followed(schema)
        let forms = self.forms(of: schema)
        let standard = schema["default"]
        return Key(
            path: path, forms: forms, range: self.range(of: schema),
            standard: standard.map { Self.spelled($0, isSwitch: forms.contains("on")) }, standardValue: standard,
            since: followed.text("x-since") ?? Self.firstVersion, text: followed.text("description") ?? "")
    }

    /// The forms that a value may have.
    private func forms(of schema: Parameter) -> [String] {
        switch Self.reference(of: schema) {
        // Any text may be env:NAME or file:PATH, which the page says once.
        case "indirect": return []
        case "duration": return ["duration"]
        case "size": return ["size"]
        case "switch": return ["on", "off"]
        case "off": return ["off"]
        case "port": return ["port"]
        case "hostPattern", "deniedDestination": return ["host pattern"]
        case "destinationPattern", "allowedDestination": return ["destination pattern"]
        default: break
        }
        let schema = self.followed(schema)
        if let constant = schema["const"] { return [Self.spelled(constant)] }
        if case .array(let values)? = schema["enum"] {
            return values.filter { $0 != .null }.map { Self.spelled($0) }
        }
        var found = Self.alternatives(of: schema).flatMap { self.forms(of: $0) }
        let types = schema.text("type").map { [Parameter.string($0)] } ?? schema.elements("type")
        for case .string(let type) in types where type != "null" { found.append(self.form(type, schema, found)) }
        return found.reduce(into: []) { forms, form in if !forms.contains(form) { forms.append(form) } }
    }

    private func form(_ type: String, _ schema: Parameter, _ others: [String]) -> String {
        switch type {
        case "array":
            let entries = schema["items"].map { self.forms(of: $0) } ?? []
            return entries.count == 1 && entries != ["map"] ? "list of \(entries[0])" : "list"
        case "object": return "map"
        case "string": return "text"
        case "boolean": return "boolean"
        case "integer": return "whole number"
        default: return "number"
        }
    }

    /// The bounds of a value, in whatever form it has some.
    private func range(of schema: Parameter) -> String? {
        let name = Self.reference(of: schema)
        let followed = self.followed(schema)
        // Bounds of a definition that all share are not those of the key.
        let own = name == "size" ? schema : followed
        let least = schema.text("x-minimum") ?? own["minimum"].map { Self.spelled($0) }
        let greatest = schema.text("x-maximum") ?? own["maximum"].map { Self.spelled($0) }
        switch (least, greatest) {
        case (let least?, let greatest?): return "\(least) to \(greatest)"
        case (let least?, nil): return "from \(least)"
        case (nil, let greatest?): return "up to \(greatest)"
        case (nil, nil):
            return name == "size" ? nil : Self.alternatives(of: followed).lazy.compactMap { self.range(of: $0) }.first
        }
    }

    private static func spelled(_ value: Parameter, isSwitch: Bool = false) -> String {
        switch value {
        case .null: "null"
        case .bool(let isOn): isSwitch ? (isOn ? "on" : "off") : "\(isOn)"
        case .integer(let number): "\(number)"
        case .number(let number): number == number.rounded() ? "\(Int(number))" : "\(number)"
        case .string(let text): text.isEmpty ? "none" : text
        case .array(let values): values.isEmpty ? "none" : values.map { self.spelled($0) }.joined(separator: ", ")
        default: ""
        }
    }
}
