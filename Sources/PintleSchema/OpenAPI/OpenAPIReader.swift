// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Reads the paths of an OpenAPI document; the compiler reads its schemas.
struct OpenAPIReader {
    private(set) var compiler: SchemaCompiler
    /// The servers of the document, of paths and of operations, in the order in which they are read.
    private(set) var servers: [ServerURL] = []
    private(set) var external: ExternalExamples
    private let root: OpenAPIElement

    init(
        _ document: Parameter, name: String, options: SchemaOptions, resolve: @escaping SchemaResolver,
        examples: @escaping (String) throws -> [UInt8]
    ) throws(SchemaError) {
        self.external = ExternalExamples(of: name, read: examples)
        let dialect = try Self.dialect(of: document, name)
        self.compiler = SchemaCompiler(options: options, resolve: resolve)
        let number = try self.compiler.add(document, name: name, dialect: dialect)
        self.root = OpenAPIElement(value: document, document: number, pointer: "", name: name)
        // Indexed first, as names must be known before references to them. All are read, so that faults are found in unused
        // ones, too.
        for schema in try self.root.child("components")?.child("schemas")?.children() ?? [] {
            try self.compiler.index(schema.value, at: schema.place, isRead: true)
        }
    }

    private static func dialect(of document: Parameter, _ name: String) throws(SchemaError) -> SchemaDocument.Dialect {
        guard case .string(let version)? = document["openapi"] else {
            throw SchemaError(
                "\(name)#/openapi", "must be a version in quotes, such as \"3.1.0\"; is this an OpenAPI document?")
        }
        if version.hasPrefix("3.0.") { return .openAPI30 }
        guard version.hasPrefix("3.1.") else {
            throw SchemaError(
                "\(name)#/openapi", "must be 3.1 or 3.0, is \(Wording.quoted(version)); convert the document")
        }
        if let dialect = document["jsonSchemaDialect"] {
            guard case .string(let text) = dialect, SchemaKeywords.dialects.contains(text) else {
                throw SchemaError(
                    "\(name)#/jsonSchemaDialect",
                    "\(Wording.value(dialect)) is not supported; remove it, for the dialect of OpenAPI 3.1")
            }
        }
        return .draft202012
    }

    // MARK: Paths

    /// Reads all paths; the compiler collects the schemas of their operations.
    mutating func paths() throws(SchemaError) -> [OpenAPIDocument.Path] {
        var paths: [OpenAPIDocument.Path] = []
        var shapes: [String: String] = [:]
        let servers = try self.bases(self.root) ?? [[]]
        for element in try self.root.child("paths")?.children() ?? [] where !element.key.hasPrefix("x-") {
            guard let template = PathTemplate(element.key) else {
                throw element.refusal("is no path; begin it with a slash, and close each brace")
            }
            if let other = shapes.updateValue(element.key, forKey: template.shape) {
                throw element.refusal("matches the same paths as \(other); remove one of them")
            }
            let operations = try self.operations(element, servers)
            paths.append(OpenAPIDocument.Path(template: template, text: element.key, operations: operations))
        }
        let graph = try self.compiler.finish()
        for path in paths.indices {
            for index in paths[path].operations.indices { paths[path].operations[index].operation.graph = graph }
        }
        return paths
    }

    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

    private mutating func operations(
        _ path: OpenAPIElement, _ servers: [[[UInt8]]]
    ) throws(SchemaError) -> [(method: String, bases: [[[UInt8]]], operation: OpenAPIOperation)] {
        let item = try self.resolved(path)
        if path.child("$ref") != nil, let method = Self.methods.first(where: { path.child($0) != nil }) {
            throw path.refusal("has a $ref and \(method) beside it; write the operations in one of the places")
        }
        let shared = try self.parameters(item)
        let itemServers = try self.bases(item) ?? servers
        var operations: [(method: String, bases: [[[UInt8]]], operation: OpenAPIOperation)] = []
        for method in Self.methods {
            guard let element = item.child(method) else { continue }
            let bases = try self.bases(element) ?? itemServers
            let name = "\(method.uppercased()) \(path.key)"
            operations.append((method.uppercased(), bases, try self.operation(element, name, shared)))
        }
        return operations
    }

    private mutating func operation(
        _ element: OpenAPIElement, _ name: String, _ shared: [OpenAPIParameter]
    ) throws(SchemaError) -> OpenAPIOperation {
        let own = try self.parameters(element)
        let parameters =
            own + shared.filter { other in !own.contains { $0.name == other.name && $0.location == other.location } }
        var request: OpenAPIContent?
        var requiresBody = false
        if let body = element.child("requestBody") {
            let body = try self.resolved(body)
            request = try self.content(body)
            requiresBody = try body.flag("required")
        }
        var responses: [(range: OpenAPIOperation.StatusRange, response: OpenAPIResponse)] = []
        for response in try element.child("responses")?.children() ?? [] where !response.key.hasPrefix("x-") {
            guard let range = OpenAPIOperation.StatusRange(key: response.key) else {
                throw response.refusal("is no status; write one such as 200, a range such as 2XX, or default")
            }
            responses.append((range, try self.response(try self.resolved(response))))
        }
        return OpenAPIOperation(
            name: name, identifier: try element.text("operationId"), requiresBody: requiresBody, responses: responses,
            request: request, parameters: parameters, options: self.compiler.options)
    }

    private mutating func content(_ element: OpenAPIElement) throws(SchemaError) -> OpenAPIContent {
        var content = OpenAPIContent(types: [])
        for media in try element.child("content")?.children() ?? [] {
            let range = MediaRange(media.key)
            guard range.text.contains("/") else {
                throw media.refusal("is no media type; write one such as application/json")
            }
            let description = try self.resolved(media)
            content.types.append(
                OpenAPIMediaType(
                    range: range, schema: try self.schema(description),
                    examples: try self.examples(description, isJSON: range.isJSON)))
        }
        return content
    }

    private mutating func response(_ element: OpenAPIElement) throws(SchemaError) -> OpenAPIResponse {
        var fields: [OpenAPIResponse.Field] = []
        for header in try element.child("headers")?.children() ?? [] {
            // The media types of `content` say what this field has (OpenAPI §4.8.17.1).
            guard header.key.lowercased() != "content-type" else { continue }
            let field = try self.resolved(header)
            fields.append(
                OpenAPIResponse.Field(
                    name: header.key, isRequired: try field.flag("required"), schema: try self.schema(field),
                    example: try self.examples(field, isJSON: false).first?.value))
        }
        return OpenAPIResponse(content: try self.content(element), fields: fields)
    }

    /// The examples of a media type or a field.
    private mutating func examples(
        _ element: OpenAPIElement, isJSON: Bool
    ) throws(SchemaError) -> [(name: String?, value: Parameter)] {
        var examples: [(name: String?, value: Parameter)] = []
        if let example = element.child("example") { examples.append((nil, example.value)) }
        guard let named = element.child("examples"), case .dictionary = named.value else { return examples }
        for example in try named.children() {
            // Nothing is judged by an example, so a reference that leads nowhere does not spoil the document.
            guard case .dictionary = example.value, let target = try? self.resolved(example) else { continue }
            if let value = target.child("value") {
                examples.append((example.key, value.value))
            } else if let file = target.child("externalValue"), case .string(let reference) = file.value,
                let value = self.external.value(
                    of: reference, in: self.compiler.documents[file.place.document].name, isJSON: isJSON,
                    at: file.location)
            {
                examples.append((example.key, value))
            }
        }
        return examples
    }

    private mutating func schema(_ element: OpenAPIElement) throws(SchemaError) -> Int? {
        guard let schema = element.child("schema") else { return nil }
        return try self.compiler.number(of: schema.value, at: schema.place)
    }

    // MARK: Parameters

    private mutating func parameters(_ element: OpenAPIElement) throws(SchemaError) -> [OpenAPIParameter] {
        var parameters: [OpenAPIParameter] = []
        for entry in try element.child("parameters")?.elements() ?? [] {
            let parameter = try self.resolved(entry)
            guard let name = try parameter.text("name"), let place = try parameter.text("in") else {
                throw parameter.refusal("must have name and in; add them")
            }
            // Cookies are not checked, and these fields are described elsewhere in the document (§4.8.12.1).
            if place == "cookie" { continue }
            if place == "header", ["accept", "content-type", "authorization"].contains(name.lowercased()) { continue }
            guard let location = OpenAPIParameter.Location(rawValue: place) else {
                throw parameter.refusal("is in \(Wording.quoted(place)); write path, query, header or cookie")
            }
            let (style, explodes) = (try parameter.text("style"), parameter.child("explode")?.value)
            var form: OpenAPIParameter.Style?
            switch (location, style) {
            case (.query, nil), (.query, "form"): form = explodes == .bool(false) ? .commas : .repeated
            case (.path, nil), (.path, "simple"), (.header, nil), (.header, "simple"): form = .commas
            default: break
            }
            parameters.append(
                OpenAPIParameter(
                    name: name, location: location, isRequired: try parameter.flag("required"), style: form,
                    schema: try self.schema(parameter)))
        }
        return parameters
    }

    // MARK: References and servers

    /// The element that a chain of references leads to.
    private mutating func resolved(_ element: OpenAPIElement) throws(SchemaError) -> OpenAPIElement {
        var element = element
        for _ in 0..<32 {
            guard let reference = try element.text("$ref") else { return element }
            let name = self.compiler.documents[element.place.document].name
            let (place, value) = try self.compiler.target(
                of: reference, in: element.place.document, base: SchemaURI(name), at: element.location + "/$ref")
            let document = self.compiler.documents[place.document].name
            element = OpenAPIElement(
                value: value, document: place.document, pointer: place.pointer.string, name: document)
        }
        throw element.refusal("is one of more than 32 references that lead to each other; take one out")
    }

    /// The paths of the servers that an element names, in segments; nil if it names none.
    private mutating func bases(_ element: OpenAPIElement) throws(SchemaError) -> [[[UInt8]]]? {
        guard let servers = try element.child("servers")?.elements(), !servers.isEmpty else { return nil }
        var bases: [[[UInt8]]] = []
        for server in servers {
            for url in try ServerURL.expansions(of: server) {
                if !bases.contains(url.segments) { bases.append(url.segments) }
                self.servers.append(url)
            }
        }
        return bases
    }
}
