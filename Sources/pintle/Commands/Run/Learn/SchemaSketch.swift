// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The shape of JSON documents that were seen: of what kinds they are, and what their members and elements are. It has no value
/// of any of them.
///
/// The schema that is written from it takes every document that went into it.
struct SchemaSketch: Sendable {
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

        /// In the order of the bits.
        static let names = ["array", "boolean", "integer", "null", "number", "object", "string"]
    }

    private struct Member: Sendable {
        /// The objects that have it.
        var count: Int
        var sketch: SchemaSketch
    }

    /// Deeper documents are not looked at.
    private static let deepest = 12
    /// Objects with more names are maps.
    private static let mostNames = 64
    /// The most sketches in one.
    static let mostNodes = 400

    private(set) var kinds: Kinds = []
    private var objects = 0
    private var members: [String: Member] = [:]
    /// The sketch of the elements of arrays; none or one.
    private var elements: [SchemaSketch] = []
    /// The sketch of the values of maps; none or one.
    private var values: [SchemaSketch] = []
    /// True where even its names are keys of a map.
    private var isMap = false
    /// True where nothing is said.
    private var isAnything = false

    private init() {}

    /// - Parameter document: without a key that an object has twice.
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
            for element in elements { Self.merge(SchemaSketch(element, depth: depth + 1), into: &self.elements) }
        case .dictionary(let entries):
            (self.kinds, self.objects) = (.object, 1)
            for entry in entries {
                let sketch = SchemaSketch(entry.value, depth: depth + 1)
                if !self.isMap, SegmentShape.isName(entry.key) {
                    self.members[entry.key] = Member(count: 1, sketch: sketch)
                    if self.members.count > Self.mostNames { self.becomeMap() }
                } else {
                    Self.merge(sketch, into: &self.values)
                }
            }
        // No document has them.
        case .data, .date, .file, .set: self.isAnything = true
        }
    }

    private static func merge(_ sketch: SchemaSketch, into list: inout [SchemaSketch]) {
        if list.isEmpty { list.append(sketch) } else { list[0].mergeAll(sketch) }
    }

    private mutating func becomeMap() {
        for member in self.members.values { Self.merge(member.sketch, into: &self.values) }
        (self.members, self.isMap) = ([:], true)
    }

    /// Adds what another one has seen. Neither grows beyond ``mostNodes``: the deepest parts are forgotten.
    mutating func merge(_ other: SchemaSketch) {
        self.mergeAll(other)
        var depth = Self.deepest
        while depth > 1, self.size > Self.mostNodes {
            depth -= 1
            self.cut(below: depth)
        }
    }

    private mutating func mergeAll(_ other: SchemaSketch) {
        guard !self.isAnything, !other.isAnything else { return self.cut(below: -1) }
        self.kinds.formUnion(other.kinds)
        self.objects += other.objects
        for (key, member) in other.members {
            self.members[key, default: Member(count: 0, sketch: SchemaSketch())].count += member.count
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

    /// - Parameter depth: how many levels stay below this one; less than none forgets this one, too.
    private mutating func cut(below depth: Int) {
        guard depth >= 0 else {
            self = SchemaSketch()
            self.isAnything = true
            return
        }
        for key in self.members.keys { self.members[key]?.sketch.cut(below: depth - 1) }
        for index in self.values.indices { self.values[index].cut(below: depth - 1) }
        for index in self.elements.indices { self.elements[index].cut(below: depth - 1) }
    }

    // MARK: The schema

    /// True where a document was none but a string, a number, a truth value or null.
    var hasFragments: Bool { !self.isAnything && !self.kinds.subtracting([.array, .object]).isEmpty }

    /// A JSON Schema (draft 2020-12). The same documents give the same one, in whatever order they came.
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
    /// True where an object has a key twice, at any depth: no schema takes such a document.
    var repeatsKey: Bool {
        var waiting = [self]
        while let value = waiting.popLast() {
            switch value {
            case .array(let elements): waiting += elements
            case .dictionary(let entries):
                // As bytes: `String` takes two spellings of one character for the same.
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
