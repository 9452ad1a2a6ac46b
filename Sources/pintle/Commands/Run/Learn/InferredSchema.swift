// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The structure of the observed JSON documents: their types, and those of their members and elements. No value is stored.
///
/// The schema that is generated from it accepts every document that was added.
struct InferredSchema: Sendable {
    /// The types of JSON Schema.
    struct Kinds: OptionSet, Sendable {
        let rawValue: UInt8

        static let array = Kinds(rawValue: 1)
        static let boolean = Kinds(rawValue: 2)
        static let integer = Kinds(rawValue: 4)
        static let null = Kinds(rawValue: 8)
        static let number = Kinds(rawValue: 16)
        static let object = Kinds(rawValue: 32)
        static let string = Kinds(rawValue: 64)

        /// The names of the types, in the order of the bits.
        static let names = ["array", "boolean", "integer", "null", "number", "object", "string"]
    }

    private struct Member: Sendable {
        /// The number of objects that have the member.
        var count: Int
        var sketch: InferredSchema
    }

    /// The maximum depth; deeper parts of documents are ignored.
    private static let deepest = 12
    /// The maximum number of names; an object with more is a map.
    private static let mostNames = 64
    /// The maximum number of nodes in a sketch.
    static let mostNodes = 400

    private(set) var kinds: Kinds = []
    private var objects = 0
    private var members: [String: Member] = [:]
    /// The sketch of the elements of arrays; at most one.
    private var elements: [InferredSchema] = []
    /// The sketch of the values of maps; at most one.
    private var values: [InferredSchema] = []
    /// True if the names are keys of a map, even if they look like names.
    private var isMap = false
    /// True if the sketch accepts everything.
    private var isAnything = false

    private init() {}

    /// - Parameter document: must not have an object with a repeated key.
    init(_ document: Parameter) { self.init(document, depth: 0) }

    private init(_ value: Parameter, depth: Int) {
        guard depth <= Self.deepest else {
            self.isAnything = true
            return
        }
        switch value {
        case .null: self.kinds = .null
        case .bool: self.kinds = .boolean
        case .integer: self.kinds = .integer
        case .number, .decimal: self.kinds = .number
        case .string: self.kinds = .string
        case .array(let elements):
            self.kinds = .array
            for element in elements { Self.merge(InferredSchema(element, depth: depth + 1), into: &self.elements) }
        case .dictionary(let entries):
            (self.kinds, self.objects) = (.object, 1)
            for entry in entries {
                let sketch = InferredSchema(entry.value, depth: depth + 1)
                if !self.isMap, SegmentShape.isName(entry.key) {
                    self.members[entry.key] = Member(count: 1, sketch: sketch)
                    if self.members.count > Self.mostNames { self.becomeMap() }
                } else {
                    Self.merge(sketch, into: &self.values)
                }
            }
        // Documents have no such values.
        case .data, .date, .file, .set: self.isAnything = true
        }
    }

    private static func merge(_ sketch: InferredSchema, into list: inout [InferredSchema]) {
        if list.isEmpty { list.append(sketch) } else { list[0].mergeAll(sketch) }
    }

    private mutating func becomeMap() {
        for member in self.members.values { Self.merge(member.sketch, into: &self.values) }
        (self.members, self.isMap) = ([:], true)
    }

    /// Adds the content of another sketch. Neither may exceed ``mostNodes``: the deepest parts are dropped.
    mutating func merge(_ other: InferredSchema) {
        self.mergeAll(other)
        var depth = Self.deepest
        while depth > 1, self.size > Self.mostNodes {
            depth -= 1
            self.cut(below: depth)
        }
    }

    private mutating func mergeAll(_ other: InferredSchema) {
        guard !self.isAnything, !other.isAnything else { return self.cut(below: -1) }
        self.kinds.formUnion(other.kinds)
        self.objects += other.objects
        for (key, member) in other.members {
            self.members[key, default: Member(count: 0, sketch: InferredSchema())].count += member.count
            self.members[key]?.sketch.mergeAll(member.sketch)
        }
        for sketch in other.values { Self.merge(sketch, into: &self.values) }
        for sketch in other.elements { Self.merge(sketch, into: &self.elements) }
        if self.isMap || other.isMap || self.members.count > Self.mostNames { self.becomeMap() }
    }

    // MARK: Size

    private var size: Int {
        var size = 1
        for member in self.members.values { size += member.sketch.size }
        for sketch in self.values + self.elements { size += sketch.size }
        return size
    }

    /// - Parameter depth: the number of levels to keep below this one; a negative number drops this one too.
    private mutating func cut(below depth: Int) {
        guard depth >= 0 else {
            self = InferredSchema()
            self.isAnything = true
            return
        }
        for key in self.members.keys { self.members[key]?.sketch.cut(below: depth - 1) }
        for index in self.values.indices { self.values[index].cut(below: depth - 1) }
        for index in self.elements.indices { self.elements[index].cut(below: depth - 1) }
    }

    // MARK: The schema

    /// True if a document was only a string, a number, a truth value or null.
    var hasFragments: Bool { !self.isAnything && !self.kinds.subtracting([.array, .object]).isEmpty }

    /// The JSON Schema (draft 2020-12). Equal documents give equal schemas, in any order.
    var schema: Parameter {
        guard !self.isAnything else { return .dictionary([]) }
        var kinds = self.kinds
        if kinds.contains(.number) { kinds.remove(.integer) }
        let names = Kinds.names.indices.filter { kinds.rawValue >> UInt8($0) & 1 == 1 }.map { Kinds.names[$0] }
        var entries = [
            Parameter.Entry("type", names.count == 1 ? .string(names[0]) : .array(names.map { .string($0) }))
        ]
        let keys = self.members.keys.sorted()
        if !keys.isEmpty {
            let properties = keys.map { Parameter.Entry($0, self.members[$0]?.sketch.schema ?? .dictionary([])) }
            entries.append(Parameter.Entry("properties", .dictionary(properties)))
        }
        let required = keys.filter { self.members[$0]?.count == self.objects }
        if !required.isEmpty {
            entries.append(Parameter.Entry("required", .array(required.map { .string($0) })))
        }
        if let values = self.values.first { entries.append(Parameter.Entry("additionalProperties", values.schema)) }
        if let elements = self.elements.first { entries.append(Parameter.Entry("items", elements.schema)) }
        return .dictionary(entries)
    }
}

extension Parameter {
    /// True if an object at any depth has a repeated key: no schema accepts such a document.
    var repeatsKey: Bool {
        var waiting = [self]
        while let value = waiting.popLast() {
            switch value {
            case .array(let elements): waiting += elements
            case .dictionary(let entries):
                // Compared as bytes, because `String` treats different encodings of a character as equal.
                var keys: Set<[UInt8]> = []
                for entry in entries {
                    guard keys.insert(Array(entry.key.utf8)).inserted else { return true }
                    waiting.append(entry.value)
                }
            default: break
            }
        }
        return false
    }
}
