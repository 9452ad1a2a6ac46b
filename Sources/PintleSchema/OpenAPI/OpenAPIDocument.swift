// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSerialization

/// The operations that an OpenAPI document declares, with their schemas compiled. Reads OpenAPI 3.1, and 3.0 with its own
/// dialect of schemas.
///
/// Immutable; used from any thread.
package struct OpenAPIDocument: Sendable {
    /// A path with its operations, below the path of each of its servers.
    struct Path: Sendable {
        let template: PathTemplate
        let text: String
        /// The operations by method, which is case-sensitive (RFC 9110 §9.1), with the paths of their servers in segments.
        var operations: [(method: String, bases: [[[UInt8]]], operation: OpenAPIOperation)]
    }

    /// An operation, and the values that the path gives it.
    package struct Match: Sendable {
        package let operation: OpenAPIOperation
        /// The values of the names in the path's braces, with escapes decoded.
        package let pathValues: [String: String]
    }

    /// In the order in which they are tried.
    private let paths: [Path]
    private let servers: [ServerURL]
    /// The examples in other files that could not be read, with their places; they count as no examples.
    package let unreadExamples: [SchemaError]

    /// Reads a document and all documents that it refers to.
    ///
    /// - Parameters:
    ///   - document: the value that ``PintleSerialization/JSONScanner/parse(_:)`` or a YAML reader makes.
    ///   - name: the document's path. Errors name it, and relative references are resolved against it.
    ///   - resolve: reads other files. It is not called for URLs, which are refused.
    ///   - examples: reads the files of examples (`externalValue`) below the folder of the document.
    /// - Throws: the first fault.
    package init(
        _ document: Parameter, name: String, options: SchemaOptions = SchemaOptions(),
        resolve: @escaping SchemaResolver, examples: @escaping (String) throws -> [UInt8]
    ) throws(SchemaError) {
        var reader = try OpenAPIReader(
            document, name: name, options: options, resolve: resolve, examples: examples)
        let paths = try reader.paths()
        self.paths = paths.sorted { $0.template.precedes($1.template) }
        self.servers = reader.servers
        self.unreadExamples = reader.external.unread
    }

    /// The origins of all servers that have a host: of the document, of paths and of operations.
    ///
    /// - Throws: the first server that has a host but no http or https URL.
    package func origins() throws(SchemaError) -> Set<Origin> {
        var origins: Set<Origin> = []
        for server in self.servers {
            if let origin = try server.origin() { origins.insert(origin) }
        }
        return origins
    }

    /// The names of all operations, as in `GET /pets/{id}`, in the order in which their paths are tried.
    package var operationNames: [String] { self.paths.flatMap { $0.operations.map(\.operation.name) } }

    /// Finds the operation for a request.
    ///
    /// A server's path is removed first. It and the template match segment by segment, with escapes decoded. Concrete
    /// templates are tried before those with names in braces. HEAD and OPTIONS are methods like others.
    ///
    /// - Parameter path: the target's, beginning with a slash, without dot segments; a query is ignored.
    /// - Throws: an error if the path is unknown or does not have the method.
    package func operation(method: String, path: String) throws(OpenAPIMismatch) -> Match {
        let path = path.prefix { $0 != "?" && $0 != "#" }
        var others: [(method: String, path: String)] = []
        let segments = path.hasPrefix("/") ? PathTemplate.segments(of: path) : []
        for candidate in self.paths {
            var isKnown = false
            for (name, bases, operation) in candidate.operations {
                for base in bases where segments.starts(with: base) {
                    guard let values = candidate.template.match(segments.dropFirst(base.count)) else { continue }
                    if name == method { return Match(operation: operation, pathValues: values) }
                    others.append((name, candidate.text))
                    isKnown = true
                    break
                }
            }
            // Only the most specific path counts: another must not lend it a method.
            if isKnown { break }
        }
        guard let known = others.first else { throw OpenAPIMismatch(path: String(path)) }
        throw OpenAPIMismatch(method: method, path: known.path, declared: others.map(\.method))
    }
}

/// The reason why no operation was found for a request.
package struct OpenAPIMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// True if the path is known, and only the method is not.
    package let isPathKnown: Bool
    /// The methods that the path has.
    package let methods: [String]
    /// A sentence without a full stop: `the contract has no path for /pats`.
    package let description: String

    init(path: String) {
        self.isPathKnown = false
        self.methods = []
        self.description = "the contract has no path for \(Wording.line(path, limit: 200))"
    }

    init(method: String, path: String, declared: [String]) {
        self.isPathKnown = true
        self.methods = declared
        self.description =
            "the contract has no \(Wording.line(method, limit: 40)) for \(path); it has \(Wording.list(declared, "and"))"
    }
}
