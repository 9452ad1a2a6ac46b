// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSchema

/// A `contract`, compiled: the operations of an OpenAPI document that messages must keep to.
package struct APIContract: Sendable {
    /// The document, as it was named.
    package let file: String
    /// Whether requests must keep to it too.
    package let checksRequests: Bool
    /// The servers that it names with a host; nil for the contract of a route, which says itself what it is about.
    private let origins: Set<Origin>?
    private let document: OpenAPIDocument
    private let decodedLimit: Int

    /// Reads and compiles a document, and what it refers to.
    ///
    /// - Parameters:
    ///   - isGlobal: whether its servers say which requests it is about.
    ///   - decodedLimit: the most bytes of a body without its content codings.
    /// - Throws: what is wrong with it, and where.
    init(
        _ configuration: ContractConfiguration, isGlobal: Bool, decodedLimit: Int, options: SchemaOptions,
        surroundings: Surroundings
    ) throws(Malformed) {
        let file = configuration.file.value
        let document = try DocumentFile.read(file, surroundings)
        do throws(SchemaError) {
            self.document = try OpenAPIDocument(document, name: file, options: options) {
                try DocumentFile.read($0, surroundings)
            }
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

    /// Whether it is about requests to this origin.
    package func covers(_ scheme: Scheme, _ authority: Authority) -> Bool {
        self.origins?.contains(Origin(scheme, authority)) ?? true
    }

    /// What it says of a request.
    ///
    /// Its dot segments are resolved first: to the server that gets it `/pets/..` is no pet. Where servers read the path
    /// differently, an operation that any of them would carry out is found.
    ///
    /// - Parameter path: with the query, as it is sent upstream.
    /// - Throws: that it declares no such operation, in a sentence.
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

    /// - Throws: where the request would have to be checked, and cannot be.
    private func readings(of path: String) throws(Malformed) -> [[UInt8]] {
        do throws(Malformed) {
            return try PathReadings(path).all
        } catch {
            guard !self.checksRequests else { throw error }
            return [Array(path.utf8.prefix { $0 != UInt8(ascii: "?") })]
        }
    }
}

/// What a contract says of one request and its response.
///
/// An object, since every plan has room for one and few have one.
package final class ContractedOperation: Sendable {
    /// The method and the path as it is declared: `GET /pets/{id}`.
    package var name: String { self.operation.name }
    /// Whether the request must keep to it too.
    package let checksRequests: Bool
    private let operation: OpenAPIOperation
    /// Whether the request's body is judged, too.
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

    /// Whether the request's body is looked at.
    ///
    /// - Parameter contentType: of the request, as it is sent upstream.
    package func readsRequestBody(_ contentType: String?) -> Bool {
        guard self.checksRequests, case .schema = self.operation.requestRule(contentType: contentType) else {
            return false
        }
        return true
    }

    /// The same without a look at the request's body, for one that is too long for that.
    package var withoutRequestBody: ContractedOperation { ContractedOperation(withoutRequestBody: self) }

    /// What is wrong with a request, in sentences; empty where it keeps to the contract, or need not.
    ///
    /// - Parameters:
    ///   - head: as it is sent upstream.
    ///   - body: where it is looked at, else nil.
    ///   - hasBody: whether there is one.
    ///   - rules: of its route: what they add may be secret, and is never quoted.
    ///   - budget: for parameters and body together; after an interruption of it the result means nothing.
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
                // Names are spelled in several ways (`list[]`), so the whole query is taken for the route's.
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
            // Held to it as a response would be: one way to decode and to judge.
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

    /// What the body of a response must be; nil where it may be anything.
    ///
    /// - Parameter method: of the request: where there can be no body, its media type says nothing.
    /// - Throws: that status or media type are not declared.
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
