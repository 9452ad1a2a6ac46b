// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import PintleMessage
internal import PintleTrust

/// A session as the client of one service: URLs below a base, parameters that a serializer writes, answers that a
/// serializer judges and decodes.
///
/// A value over a ``Session``: copies share its connections and nothing else.
///
///     let api = try HTTPSession(session, baseURL: "https://api.example/v1")
///     let user = try await api.get("users/1", as: DecodableResponseSerializer(User.self)).value
public struct HTTPSession: Sendable {
    /// What carries the requests.
    public let session: Session
    /// What URLs are resolved against; its path ends with a slash.
    public let baseURL: HTTPURL?
    /// Writes parameters into requests. Its default fields are those that every request gets where it has none of that
    /// name; Authorization and Cookie among them go to the base's own origin only. Default: query or form, and no
    /// fields.
    public var requestSerializer: any RequestSerializer = HTTPRequestSerializer()

    /// Makes a client.
    ///
    /// - Parameter baseURL: absolute; a path without a slash at its end gets one, so that what is resolved goes below
    ///   it. Without a base every URL has to be absolute.
    /// - Throws: ``SessionError`` with `invalidURL`; with `cleartext` where the session's policy pins and there is no
    ///   https base that it could hold for.
    public init(_ session: Session, baseURL: String? = nil) throws(SessionError) {
        let base: HTTPURL? = if let baseURL { try HTTPURL.checked(baseURL) } else { nil }
        if session.policy.pinning != .none, base?.isSecure != true {
            throw SessionError(
                .cleartext,
                "pinning: \(session.policy.pinning.rawValue) needs a base URL with https, and this one is "
                    + (base?.description ?? "missing"))
        }
        self.session = session
        self.baseURL = base?.asBase()
    }

    /// `text` resolved against the base (RFC 3986 §5): `users` and `users?page=2` go below it, `/users` and
    /// `https://other.example/` beside it.
    ///
    /// - Throws: ``SessionError`` with `invalidURL`.
    public func url(_ text: String) throws(SessionError) -> HTTPURL {
        guard let baseURL else { return try HTTPURL.checked(text) }
        do throws(HTTPURLError) {
            return try baseURL.resolving(text)
        } catch {
            throw SessionError(.invalidURL, error.description)
        }
    }

    // MARK: Tasks

    /// Makes a suspended task for a request with parameters.
    ///
    /// - Parameters:
    ///   - parameters: put where the request serializer puts them for `method`.
    ///   - fields: replace those of the same name that the serializer wrote.
    ///   - serializer: judges and decodes the answer.
    /// - Throws: ``SessionError`` with `invalidURL`, `invalidated`, or `invalidRequest` behind which is the
    ///   `SerializationError`.
    public func task<Output>(
        _ method: String, _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: some ResponseSerializer<Output>
    ) throws(SessionError) -> HTTPTask<Output> {
        try self.task(method, url, .parameters(parameters), fields, serializer)
    }

    /// Makes a suspended task that sends a form of parts.
    ///
    /// - Throws: ``SessionError`` as ``task(_:_:parameters:fields:as:)`` does; GET and HEAD carry no form.
    public func task<Output>(
        _ method: String, _ url: String, form: MultipartForm, fields: Fields = Fields(),
        as serializer: some ResponseSerializer<Output>
    ) throws(SessionError) -> HTTPTask<Output> {
        try self.task(method, url, .form(form), fields, serializer)
    }

    private func task<Output>(
        _ method: String, _ url: String, _ payload: Payload, _ fields: Fields,
        _ serializer: some ResponseSerializer<Output>
    ) throws(SessionError) -> HTTPTask<Output> {
        let written = try self.written(method, url, payload, fields)
        let task = try self.session.makeTask(
            written.body == nil ? .data : .upload, written.request, source: written.body, output: .memory)
        return HTTPTask(task: task, serializer: serializer)
    }

    // MARK: Operations

    /// Makes an operation for a request with parameters, to be started or added to a queue. Its answer is decoded by
    /// ``TransferOperation/value(decodedBy:)``.
    ///
    /// - Parameters:
    ///   - parameters: put where the request serializer puts them for `method`.
    ///   - fields: replace those of the same name that the serializer wrote.
    /// - Throws: ``SessionError`` with `invalidURL`, or `invalidRequest` behind which is the `SerializationError`.
    public func operation(
        _ method: String, _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        to output: TransferOperation.Output = .memory, completion: TransferOperation.Completion? = nil
    ) throws(SessionError) -> TransferOperation {
        try self.operation(method, url, .parameters(parameters), fields, output, completion)
    }

    /// Makes an operation that sends a form of parts.
    ///
    /// - Throws: ``SessionError`` as ``operation(_:_:parameters:fields:to:completion:)`` does; GET and HEAD carry no
    ///   form.
    public func operation(
        _ method: String, _ url: String, form: MultipartForm, fields: Fields = Fields(),
        to output: TransferOperation.Output = .memory, completion: TransferOperation.Completion? = nil
    ) throws(SessionError) -> TransferOperation {
        try self.operation(method, url, .form(form), fields, output, completion)
    }

    private func operation(
        _ method: String, _ url: String, _ payload: Payload, _ fields: Fields, _ output: TransferOperation.Output,
        _ completion: TransferOperation.Completion?
    ) throws(SessionError) -> TransferOperation {
        let written = try self.written(method, url, payload, fields)
        return TransferOperation(
            written.request, in: self.session, from: written.body, to: output, completion: completion)
    }

    // MARK: Requests

    /// The input of a serializer.
    private enum Payload {
        case parameters(Parameter?)
        case form(MultipartForm)
    }

    /// A request as the serializer wrote it.
    private struct Written {
        let request: SessionRequest
        let body: UploadSource?

        init(_ head: RequestHead, _ fields: Fields, _ body: UploadSource?, base: HTTPURL?) {
            guard case .absolute(let scheme, let authority, let path) = head.target else {
                preconditionFailure("BUG: a serializer changed the form of a target")
            }
            let url = HTTPURL(scheme: scheme, authority: authority, path: path)
            var request = SessionRequest(head.method, url, fields: head.fields)
            // What the service may know of the user is no business of another that is asked beside it.
            if let base, !url.isSameOrigin(as: base) {
                request.fields.remove(.authorization)
                request.fields.remove(.cookie)
            }
            for (name, _) in fields.pairs { request.fields.remove(name) }
            for (name, value) in fields.pairs { request.fields.append(name, value) }
            self.request = request
            self.body = body
        }
    }

    private func written(
        _ method: String, _ url: String, _ payload: Payload, _ fields: Fields
    ) throws(SessionError) -> Written {
        let url = try self.url(url)
        let head = RequestHead(
            method: method, target: .absolute(scheme: url.scheme, authority: url.authority, path: url.path))
        do throws(SerializationError) {
            switch payload {
            case .parameters(let parameters):
                let serialized = try self.requestSerializer.serialize(head, parameters: parameters)
                return Written(serialized.head, fields, UploadSource(serialized.body), base: self.baseURL)
            case .form(let form):
                let serialized = try self.requestSerializer.serialize(head, form: form)
                let body: UploadSource? =
                    switch serialized.body {
                    case .bytes(let bytes): UploadSource(bytes)
                    case .form(let form): .multipart(form)
                    }
                return Written(serialized.head, fields, body, base: self.baseURL)
            }
        } catch {
            throw SessionError(.invalidRequest, "the request cannot be made: \(error)", underlying: error)
        }
    }
}

extension UploadSource {
    /// Nil where there are no bytes to be sent.
    fileprivate init?(_ bytes: [UInt8]?) {
        guard let bytes else { return nil }
        self = .bytes(ByteBuffer(bytes: bytes))
    }
}
