// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSchema
package import PintleSerialization

/// A compiled `contract`: the operations of an OpenAPI document that messages must keep to.
package struct APIContract: Sendable {
    /// The path of the document.
    package let file: String
    /// True if requests must keep to it, too.
    package let checksRequests: Bool
    /// The servers with a host that the document names; nil for a route's contract, as the route selects the requests.
    package let origins: Set<Origin>?
    private let document: OpenAPIDocument
    private let decodedLimit: Int

    /// Reads and compiles a document and the documents that it refers to.
    ///
    /// - Parameters:
    ///   - isGlobal: true if the document's servers select the requests that it applies to.
    ///   - decodedLimit: the most bytes of a body after its content codings are removed.
    /// - Throws: the fault of the document, and its place.
    init(
        _ configuration: ContractConfiguration, isGlobal: Bool, decodedLimit: Int, options: SchemaOptions,
        surroundings: LoaderEnvironment
    ) throws(Malformed) {
        let file = configuration.file.value
        let document = try DocumentFile.read(file, surroundings)
        do throws(SchemaError) {
            self.document = try OpenAPIDocument(
                document, name: file, options: options, resolve: { try DocumentFile.read($0, surroundings) },
                examples: { try DocumentFile.bytes($0, surroundings) })
            self.origins = isGlobal ? try self.document.origins() : nil
        } catch {
            throw Malformed(error.description)
        }
        guard self.origins?.isEmpty != true else {
            throw Malformed(
                "\(file)#/servers: a contract at the top level is about the servers that it names with a host, and there "
                    + "are none; add their URLs, or put the contract on a route")
        }
        self.file = file
        self.checksRequests = configuration.requests
        self.decodedLimit = decodedLimit
    }

    /// True if the contract applies to requests to this origin.
    package func covers(_ scheme: Scheme, _ authority: Authority) -> Bool {
        self.origins?.contains(Origin(scheme, authority)) ?? true
    }

    /// The examples in other files that could not be read, each as a sentence with its place.
    var unreadExamples: [String] { self.document.unreadExamples.map(\.description) }

    /// The names of all operations, as in `GET /pets/{id}`.
    package var operationNames: [String] { self.document.operationNames }

    /// Finds the operation of a request.
    ///
    /// Dot segments are resolved first: the server that gets `/pets/..` does not read it as a pet. As servers may read a path
    /// differently, each reading is tried, and the first declared operation counts. If requests are checked, readings must not
    /// lead to two operations.
    ///
    /// - Parameter path: path and query, as they are sent upstream.
    /// - Throws: a sentence that says that the operation is not declared, or not certain.
    package func operation(method: String, path: String) throws(Malformed) -> ContractedOperation {
        var found: ContractedOperation?
        var failure: OpenAPIMismatch?
        for reading in try self.readings(of: path) {
            let match = Result { () throws(OpenAPIMismatch) in
                try self.document.operation(method: method, path: String(decoding: reading, as: UTF8.self))
            }
            switch match {
            case .failure(let error): failure = failure ?? error
            case .success(let match):
                guard let earlier = found else {
                    found = ContractedOperation(
                        match, checksRequests: self.checksRequests, decodedLimit: self.decodedLimit)
                    continue
                }
                guard earlier.name == match.operation.name || !self.checksRequests else {
                    throw Malformed("servers read the path differently: as \(earlier.name) or \(match.operation.name)")
                }
            }
        }
        if let found { return found }
        throw Malformed(failure?.description ?? "the path has no reading")
    }

    /// - Throws: the fault of a path that cannot be read, if the request must be checked.
    private func readings(of path: String) throws(Malformed) -> [[UInt8]] {
        do throws(Malformed) {
            return try PathReadings(path).all
        } catch {
            guard !self.checksRequests else { throw error }
            return [Array(path.utf8.prefix { $0 != UInt8(ascii: "?") })]
        }
    }
}

/// The rules of a contract for one request and its response.
///
/// An object to keep plans small: each has room for one, and few have one.
package final class ContractedOperation: Sendable {
    /// The method, and the path as declared: `GET /pets/{id}`.
    package var name: String { self.operation.name }
    /// True if the request must keep to them, too.
    package let checksRequests: Bool
    let operation: OpenAPIOperation
    /// True if the request's body is checked, too.
    private let judgesRequestBody: Bool
    private let pathValues: [String: String]
    private let decodedLimit: Int

    init(_ match: OpenAPIDocument.Match, checksRequests: Bool, decodedLimit: Int) {
        self.operation = match.operation
        self.pathValues = match.pathValues
        self.checksRequests = checksRequests
        self.decodedLimit = decodedLimit
        self.judgesRequestBody = true
    }

    private init(withoutRequestBody other: ContractedOperation) {
        self.operation = other.operation
        self.pathValues = other.pathValues
        self.checksRequests = other.checksRequests
        self.decodedLimit = other.decodedLimit
        self.judgesRequestBody = false
    }

    // MARK: The request

    /// True if the check of the request needs its body.
    ///
    /// - Parameter contentType: the request's, as it is sent upstream.
    package func readsRequestBody(_ contentType: String?) -> Bool {
        guard self.checksRequests, case .schema = self.operation.requestRule(contentType: contentType) else {
            return false
        }
        return true
    }

    /// A copy that does not check the request's body, for a body that is too long to be checked.
    package var withoutRequestBody: ContractedOperation { ContractedOperation(withoutRequestBody: self) }

    /// The faults of a request, in sentences; empty if it keeps to the contract or does not have to.
    ///
    /// - Parameters:
    ///   - head: the head as it is sent upstream.
    ///   - body: the body if it is checked, else nil.
    ///   - hasBody: true if the request has a body.
    ///   - rules: the route's rules. Values that they add may be secret and are never quoted.
    ///   - budget: the work for parameters and body together. If it is interrupted, the result means nothing.
    package func violations(
        of head: RequestHead, body: [UInt8]?, hasBody: Bool, rules: RequestRules?, within budget: WorkBudget
    ) -> [String] {
        guard self.checksRequests else { return [] }
        let query = head.target.path.flatMap { path in
            path.firstIndex(of: "?").map { String(path[path.index(after: $0)...]) }
        }
        let wrong = self.operation.parameterViolations(
            pathValues: self.pathValues, query: query, header: { head.fields.values(of: $0) },
            isSecret: { location, name in
                switch location {
                case .path: false
                // A name has several spellings (`list[]`), so any query parameter may be the route's.
                case .query: rules?.parameters.isEmpty == false
                case .header: rules?.injects(field: name) == true
                }
            },
            within: budget)
        guard budget.interruption == nil else { return [] }
        let isSecret = rules?.parameters.isEmpty == false
        return wrong + self.bodyViolations(of: head, body, hasBody: hasBody, isSecret: isSecret, within: budget)
    }

    private func bodyViolations(
        of head: RequestHead, _ body: [UInt8]?, hasBody: Bool, isSecret: Bool, within budget: WorkBudget
    ) -> [String] {
        guard hasBody else {
            return self.operation.requiresBody ? ["the request has no body, and \(self.operation.name) needs one"] : []
        }
        switch self.operation.requestRule(contentType: head.fields[.contentType]) {
        case .anyBody, .noBody: return []
        case .undeclaredType(let sentence), .undeclaredStatus(let sentence): return ["the request \(sentence)"]
        case .schema where !self.judgesRequestBody: return []
        case .schema(let schema):
            guard let body else { return ["the body has another type than it came with, and was not judged"] }
            // Checked like a response, so that there is one way to decode and to validate.
            let contract = self.contract(for: isSecret ? schema.hidingValues : schema)
            let like = ResponseHead(status: 200, fields: head.fields)
            do throws(ValidationError) {
                _ = try contract.validate(head: like, body: body, requestMethod: head.method, within: budget)
                return []
            } catch {
                return error.details.isEmpty ? ["the body is not as declared: \(error.message)"] : error.details
            }
        }
    }

    // MARK: The response

    /// The rules for the body of a response; nil if it may be anything.
    ///
    /// - Parameter method: the request's. If the response can have no body, its media type is not checked.
    /// - Throws: an error if the status or the media type is not declared.
    package func contract(for head: ResponseHead, to method: String) throws(ValidationError) -> ResponseContract? {
        let type = head.fields[.contentType]
        switch self.operation.responseRule(status: head.status, contentType: type) {
        case .anyBody, .noBody: return nil
        case .schema(let schema):
            return self.contract(for: schema)
        case .undeclaredStatus(let sentence):
            throw ValidationError(.responseStatus, "the response \(sentence)", status: head.status, contentType: type)
        case .undeclaredType where head.forbidsBody(to: method): return nil
        case .undeclaredType(let sentence):
            throw ValidationError(
                .responseContentType, "the response \(sentence)", status: head.status, contentType: type)
        }
    }

    private func contract(for schema: JSONSchema) -> ResponseContract {
        let rule = ResponseContract.JSONRule(scanner: JSONScanner(fragmentsAllowed: true), document: schema)
        return ResponseContract(acceptableStatusCodes: nil, body: .json(rule), decodedLimit: self.decodedLimit)
    }
}
