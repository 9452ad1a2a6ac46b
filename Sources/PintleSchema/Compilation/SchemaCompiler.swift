// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// Reads the schemas of a set of documents into one graph.
///
/// Documents are indexed first: the places of their schemas, and the schemas' names. Then schemas are read from a queue, so
/// that neither depth nor loops of references lead to recursion.
struct SchemaCompiler {
    /// A document, or a schema in it that has an `$id`.
    struct Resource {
        let place: SchemaPlace
        let base: SchemaURI
        let number: Int
    }

    let options: SchemaOptions
    private let resolve: SchemaResolver
    private(set) var documents: [SchemaDocument] = []
    private var resources: [String: Resource] = [:]
    private var resourceCount = 0
    private var anchors: [String: SchemaPlace] = [:]
    private var dynamicAnchors: [(name: String, source: SchemaSource)] = []
    /// Names that some `$dynamicRef` refers to.
    var dynamicNames: Set<String> = []
    private var sources: [SchemaPlace: SchemaSource] = [:]
    private var numbers: [SchemaPlace: Int] = [:]
    private var queue: [(number: Int, source: SchemaSource)] = []
    private var graph = SchemaGraph()

    init(options: SchemaOptions, resolve: @escaping SchemaResolver) {
        self.options = options
        self.resolve = resolve
    }

    /// Reads all schemas that were asked for, and those that they refer to.
    mutating func finish() throws(SchemaError) -> SchemaGraph {
        repeat {
            while let (number, source) = self.queue.popLast() {
                self.graph.nodes[number] = try self.node(from: source)
                if case .dictionary(let entries) = source.value {
                    let annotations = SchemaAnnotations(entries)
                    self.graph.annotations[number] = annotations
                    if annotations?.isWriteOnly == true { self.graph.hasWriteOnly = true }
                    self.graph.discriminators[number] = self.discriminator(of: source)
                }
            }
            for (name, source) in self.dynamicAnchors where self.dynamicNames.contains(name) {
                let anchor = SchemaGraph.DynamicAnchor(resource: source.resource, name: name)
                self.graph.dynamicAnchors[anchor] = self.number(of: source)
            }
        } while !self.queue.isEmpty
        try self.graph.refuseLoops()
        self.graph.documents = self.documents
        return self.graph
    }

    // MARK: Documents

    /// Adds a document under its name.
    ///
    /// - Returns: the document's number.
    mutating func add(_ root: Parameter, name: String, dialect: SchemaDocument.Dialect) throws(SchemaError) -> Int {
        let fault = InstanceSurvey(root, faultLimit: 1, within: .unlimited).faults.first
        if let fault { throw SchemaError("\(name)#\(fault.pointer)", fault.sentence + "; mend the document") }
        let number = self.documents.count
        let document = SchemaDocument(name: name, root: root, dialect: dialect)
        self.documents.append(document)
        var base = SchemaURI(name)
        base.fragment = nil
        let retrieved = base.text
        if case .string(let identifier)? = root["$id"], dialect == .draft202012 {
            base = try Self.identifier(identifier, against: base, at: document.location("/$id"))
        }
        self.resourceCount += 1
        let resource = Resource(place: SchemaPlace(number, ""), base: base, number: self.resourceCount)
        self.resources[retrieved] = resource
        try self.register(resource, at: document.location("/$id"))
        return number
    }

    private mutating func register(_ resource: Resource, at location: String) throws(SchemaError) {
        let text = resource.base.text
        if let other = self.resources[text], other.place != resource.place {
            throw SchemaError(location, "\(Wording.quoted(text)) is the $id of two schemas; give one another")
        }
        self.resources[text] = resource
    }

    private static func identifier(
        _ text: String, against base: SchemaURI, at location: String
    ) throws(SchemaError) -> SchemaURI {
        var uri = SchemaURI(text).resolved(against: base)
        guard uri.fragment?.isEmpty ?? true else {
            throw SchemaError(location, "must have no fragment, is \(Wording.quoted(text)); write $anchor")
        }
        uri.fragment = nil
        return uri
    }

    // MARK: Indexing

    /// Indexes every schema in `value`, which is one itself, and the names that the schemas give themselves.
    ///
    /// - Parameter isRead: true if all of them are read, so that faults are found even in schemas to which nothing refers.
    mutating func index(_ value: Parameter, at place: SchemaPlace, isRead: Bool) throws(SchemaError) {
        let surroundings = self.surroundings(of: place)
        var open = [
            SchemaSource(place: place, value: value, base: surroundings.base, resource: surroundings.number)
        ]
        while var source = open.popLast() {
            guard self.sources[source.place] == nil else { continue }
            if case .dictionary(let entries) = source.value {
                source = try self.naming(source)
                for entry in entries { Self.addSchemas(of: entry, in: source, to: &open) }
            }
            self.sources[source.place] = source
            if isRead { _ = self.number(of: source) }
        }
    }

    /// The resource that a place belongs to.
    private func surroundings(of place: SchemaPlace) -> (base: SchemaURI, number: Int) {
        var pointer = place.pointer.string[...]
        while true {
            if let source = self.sources[SchemaPlace(place.document, String(pointer))] {
                return (source.base, source.resource)
            }
            guard let slash = pointer.lastIndex(of: "/") else { break }
            pointer = pointer[..<slash]
        }
        guard let resource = self.resources[SchemaURI(self.documents[place.document].name).text] else {
            preconditionFailure("BUG: a document that was not added")
        }
        return (resource.base, resource.number)
    }

    /// Returns the source with the base and the resource of its own `$id`, if it has one; notes its anchors.
    private mutating func naming(_ source: SchemaSource) throws(SchemaError) -> SchemaSource {
        let document = self.documents[source.place.document]
        guard document.dialect == .draft202012 else { return source }
        let pointer = source.place.pointer.string
        func text(_ keyword: String) throws(SchemaError) -> (String, at: String)? {
            guard let value = source.value[keyword] else { return nil }
            let location = document.location(pointer + "/" + keyword)
            guard case .string(let text) = value else {
                throw SchemaError(location, "must be a string, is \(Wording.value(value)); put it in quotes")
            }
            return (text, location)
        }
        if let (dialect, location) = try text("$schema"),
            !SchemaKeywords.dialects.contains(dialect.hasSuffix("#") ? String(dialect.dropLast()) : dialect)
        {
            throw SchemaError(
                location,
                "\(Wording.quoted(dialect)) is not supported; write the schema for "
                    + "https://json-schema.org/draft/2020-12/schema")
        }
        var source = source
        if !pointer.isEmpty, let (identifier, location) = try text("$id") {
            let base = try Self.identifier(identifier, against: source.base, at: location)
            self.resourceCount += 1
            try self.register(
                Resource(place: source.place, base: base, number: self.resourceCount), at: location)
            source = SchemaSource(
                place: source.place, value: source.value, base: base, resource: self.resourceCount)
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            guard let (name, location) = try text(keyword) else { continue }
            let key = source.base.text + "#" + name
            if let other = self.anchors[key], other != source.place {
                throw SchemaError(location, "\(Wording.quoted(name)) is the anchor of two schemas; give one another")
            }
            self.anchors[key] = source.place
            if keyword == "$dynamicAnchor" { self.dynamicAnchors.append((name, source)) }
        }
        return source
    }

    private static func addSchemas(of entry: Parameter.Entry, in source: SchemaSource, to open: inout [SchemaSource]) {
        let pointer = JSONPointer.child(of: source.place.pointer.string, entry.key)
        func add(_ value: Parameter, _ pointer: String) {
            open.append(
                SchemaSource(
                    place: SchemaPlace(source.place.document, pointer), value: value, base: source.base,
                    resource: source.resource))
        }
        switch entry.value {
        case .array(let schemas) where SchemaKeywords.list.contains(entry.key):
            for (index, schema) in schemas.enumerated() { add(schema, JSONPointer.child(of: pointer, index)) }
        case .dictionary(let schemas) where SchemaKeywords.named.contains(entry.key):
            for schema in schemas { add(schema.value, JSONPointer.child(of: pointer, schema.key)) }
        case .array where entry.key == "items": break  // Refused with a better remedy when the schema is read.
        default: if SchemaKeywords.single.contains(entry.key) { add(entry.value, pointer) }
        }
    }

    // MARK: Numbers

    /// The schema at a place; nil if that is not indexed.
    func source(at place: SchemaPlace) -> SchemaSource? { self.sources[place] }

    /// The number of the schema at a place; nil if it was not asked for.
    func knownNumber(at place: SchemaPlace) -> Int? { self.numbers[place] }

    /// The number of a schema, which is read when its turn comes.
    mutating func number(of source: SchemaSource) -> Int {
        if let number = self.numbers[source.place] { return number }
        let number = self.graph.nodes.count
        self.numbers[source.place] = number
        let location = self.documents[source.place.document].location(source.place.pointer.string)
        self.graph.nodes.append(SchemaNode(location: location, resource: source.resource))
        self.queue.append((number, source))
        return number
    }

    /// The number of the schema `value` at a place, which is indexed first if necessary.
    mutating func number(of value: Parameter, at place: SchemaPlace) throws(SchemaError) -> Int {
        if self.sources[place] == nil { try self.index(value, at: place, isRead: false) }
        guard let source = self.sources[place] else { preconditionFailure("BUG: a place that was not indexed") }
        return self.number(of: source)
    }

    // MARK: References

    /// The place that a reference names, and the value there.
    ///
    /// - Parameters:
    ///   - base: the URI that the reference is resolved against.
    ///   - location: the place of the keyword, for messages.
    mutating func target(
        of reference: String, in document: Int, base: SchemaURI, at location: String
    ) throws(SchemaError) -> (place: SchemaPlace, value: Parameter) {
        let uri = SchemaURI(reference)
        let resource = try self.resource(uri, in: document, base: base, at: location)
        let dangling = SchemaError(
            location,
            "\(Wording.quoted(reference)) names nothing in \(self.documents[resource.place.document].name); "
                + "correct the reference or add what it names")
        guard let fragment = PercentEscaping.unescape(uri.fragment ?? "") else { throw dangling }
        if !fragment.isEmpty, !fragment.hasPrefix("/") {
            guard let place = self.anchors[resource.base.text + "#" + fragment], let source = self.sources[place] else {
                throw dangling
            }
            return (place, source.value)
        }
        guard let tokens = JSONPointer.tokens(of: fragment),
            var value = self.value(at: resource.place)
        else { throw dangling }
        var pointer = resource.place.pointer.string
        for token in tokens {
            guard let next = JSONPointer.step(into: value, token) else { throw dangling }
            value = next
            pointer = JSONPointer.child(of: pointer, token)
        }
        return (SchemaPlace(resource.place.document, pointer), value)
    }

    private func value(at place: SchemaPlace) -> Parameter? {
        if let source = self.sources[place] { return source.value }
        return JSONPointer.tokens(of: place.pointer.string)?.reduce(self.documents[place.document].root) {
            value, token in
            value.flatMap { JSONPointer.step(into: $0, token) }
        }
    }

    private mutating func resource(
        _ reference: SchemaURI, in document: Int, base: SchemaURI, at location: String
    ) throws(SchemaError) -> Resource {
        let uri = reference.resolved(against: base)
        if let known = self.resources[uri.text] { return known }
        // Files refer to each other by relative names even if an $id names them by a URL, which is never fetched.
        let isRelative = reference.scheme == nil && reference.authority == nil
        let file = isRelative ? reference.resolved(against: SchemaURI(self.documents[document].name)) : uri
        if let known = self.resources[file.text] { return known }
        guard file.scheme == nil, file.authority == nil else {
            throw SchemaError(
                location,
                "\(Wording.quoted(uri.text)) is in none of the files, and nothing is fetched from the network; "
                    + "refer to a file by its relative path")
        }
        let root: Parameter
        do {
            root = try self.resolve(file.text)
        } catch {
            throw SchemaError(location, "\(Wording.quoted(file.text)) cannot be read: \(error)")
        }
        let isOld: Bool
        if case .string(let version)? = root["openapi"] {
            isOld = version.hasPrefix("3.0")
        } else {
            isOld = self.documents[document].dialect == .openAPI30
        }
        let number = try self.add(root, name: file.text, dialect: isOld ? .openAPI30 : .draft202012)
        if root["openapi"] == nil { try self.index(root, at: SchemaPlace(number, ""), isRead: false) }
        guard let added = self.resources[file.text] else { preconditionFailure("BUG: a document that was not added") }
        return added
    }
}
