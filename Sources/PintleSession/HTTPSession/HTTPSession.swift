// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import NIOCore
public import PintleMessage
public import PintleTrust

/// The client of one service: URLs below a base, values that go out and come back, and steps that all requests pass.
///
///     let api = try HTTPSession(base: "https://api.example/v1")
///     let user = try await api.get("users/1", as: User.self)
///
/// A value over a ``Session``: copies share its connections and nothing else.
public struct HTTPSession: Sendable {
    /// Changes a request just before its task is made: its fields, time limits, cache policy or pace.
    ///
    ///     try await api.get("slow", as: Report.self) { $0.timeout = .seconds(300) }
    public typealias Shaping = (inout SessionRequest) -> Void

    /// What carries the requests.
    public let session: Session
    /// What URLs are resolved against; its path ends with a slash.
    public let baseURL: HTTPURL?
    /// Writes parameters into requests. Its default fields are those that every request gets where it has none of that
    /// name; Authorization and Cookie among them go to the base's own origin only. Default: query or form, and no
    /// fields.
    public var requestSerializer: any RequestSerializer = HTTPRequestSerializer()
    /// The steps that requests pass, in their order. Default none.
    public var interceptors: [Interceptor] = []
    /// Makes what writes values as JSON; default Foundation's settings. Encoders have settings that change, so they are made,
    /// not shared.
    public var makeEncoder: @Sendable () -> JSONEncoder = { JSONEncoder() }
    /// Makes what reads values from JSON; default Foundation's settings.
    public var makeDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }

    /// Makes a client with a session of its own, on the engine that the program's sessions share.
    ///
    /// - Parameters:
    ///   - base: absolute; a path without a slash at its end gets one, so that what is resolved goes below it. Without a
    ///     base every URL has to be absolute.
    ///   - policy: what the servers' certificates must satisfy; one that pins needs a base with https.
    /// - Throws: ``SessionError`` with `invalidURL`, `cleartext`, `invalidPolicy`, or `internalError` where the shared
    ///   engine cannot be started.
    public init(
        base: String? = nil, configuration: SessionConfiguration = SessionConfiguration(),
        policy: SecurityPolicy = .default, hooks: SessionHooks = SessionHooks()
    ) throws(SessionError) {
        let session = try Session(configuration: configuration, policy: policy, hooks: hooks)
        try self.init(session, base: base)
    }

    /// Makes a client of a session.
    ///
    /// - Parameter base: absolute; a path without a slash at its end gets one, so that what is resolved goes below it.
    ///   Without a base every URL has to be absolute.
    /// - Throws: ``SessionError`` with `invalidURL`; with `cleartext` where the session's policy pins and there is no
    ///   https base that it could hold for.
    public init(_ session: Session, base: String? = nil) throws(SessionError) {
        let base: HTTPURL? = if let base { try HTTPURL.checked(base) } else { nil }
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

    /// Makes a suspended task, to be steered and observed.
    ///
    /// - Parameters:
    ///   - body: nil for none. Parameters are put where the request serializer puts them for `method`.
    ///   - serializer: judges and decodes the answer.
    ///   - shape: has the last word about the request.
    /// - Throws: ``SessionError`` with `invalidURL`, `invalidated`, or `invalidRequest` behind which is what the
    ///   serializer or encoder threw.
    public func task<Output>(
        _ method: String, _ url: String, body: RequestBody? = nil, as serializer: some ResponseSerializer<Output>,
        _ shape: Shaping = { _ in }
    ) throws(SessionError) -> HTTPTask<Output> {
        let written = try self.written(method, url, body, shape)
        let task = try self.session.makeTask(
            written.source == nil ? .data : .upload, written.request, source: written.source, output: .memory,
            interception: self.interception)
        return HTTPTask(task: task, serializer: serializer, session: self.session)
    }

    /// Makes an operation, to be started or added to a queue. Its answer is decoded by
    /// ``TransferOperation/value(decodedBy:)``.
    ///
    /// - Throws: ``SessionError`` with `invalidURL`, or `invalidRequest` behind which is what the serializer or encoder
    ///   threw.
    public func operation(
        _ method: String, _ url: String, body: RequestBody? = nil, to output: TransferOperation.Output = .memory,
        completion: TransferOperation.Completion? = nil, _ shape: Shaping = { _ in }
    ) throws(SessionError) -> TransferOperation {
        let written = try self.written(method, url, body, shape)
        return TransferOperation(
            written.request, in: self.session, from: written.source, to: output, interception: self.interception,
            completion: completion)
    }

    /// Downloads to a file.
    ///
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` does and the task itself; with `rejected` for a response that
    ///   does not satisfy `contract`.
    @discardableResult
    public func download(
        _ url: String, to destination: DownloadDestination, method: String = "GET", body: RequestBody? = nil,
        accepting contract: ResponseContract = .init(), _ shape: Shaping = { _ in }
    ) async throws(SessionError) -> TaskResult {
        let written = try self.written(method, url, body, shape)
        let task = try self.session.makeTask(
            .download, written.request, source: written.source,
            output: .file(destination, contract, resuming: nil), interception: self.interception)
        return try await task.run()
    }

    /// Waits for the head of a response, whatever its status; the body streams behind it.
    ///
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` does, and when no final head arrives. What goes wrong
    ///   later is thrown by the body.
    public func stream(
        _ url: String, method: String = "GET", body: RequestBody? = nil, _ shape: Shaping = { _ in }
    ) async throws(SessionError) -> SessionResponse {
        let written = try self.written(method, url, body, shape)
        return try await self.session.stream(
            written.request, from: written.source, interception: self.interception)
    }

    /// The events of a server, as ``Session/serverSentEvents(_:from:lastEventID:limit:reconnection:onChange:)`` has them;
    /// each connection passes the interceptors.
    ///
    /// - Parameters:
    ///   - shape: has the last word about the request, and is what a closure behind the call stands for, as in all other
    ///     calls: of several closures the compiler gives a single one to the first.
    ///   - onChange: told of connections and pauses.
    /// - Throws: ``SessionError`` with `invalidURL`, or `invalidRequest` behind which is what the serializer or encoder
    ///   threw.
    public func serverSentEvents(
        _ url: String, method: String = "GET", body: RequestBody? = nil, lastEventID: String = "",
        limit: Int = 1 << 20, reconnection: EventReconnection? = EventReconnection(),
        _ shape: Shaping = { _ in }, onChange: (@Sendable (EventSource.Change) -> Void)? = nil
    ) throws(SessionError) -> EventSource {
        let written = try self.written(method, url, body, shape)
        return EventSource(
            session: self.session, request: written.request, source: written.source, interception: self.interception,
            lastEventID: lastEventID, limit: limit, reconnection: reconnection, onChange: onChange)
    }

    /// Opens a WebSocket, as ``Session/webSocket(_:options:)-(SessionRequest,_)`` does; the request passes the
    /// interceptors.
    ///
    /// - Parameter url: resolved against the base; an absolute one may be ws or wss, too.
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` and the session do.
    public func webSocket(
        _ url: String, options: WebSocketOptions = WebSocketOptions(), _ shape: Shaping = { _ in }
    ) async throws(SessionError) -> WebSocket {
        let written = try self.written("GET", SessionRequest.httpSpelling(ofWebSocket: url), nil, shape)
        return try await self.session.webSocket(written.request, options: options, interception: self.interception)
    }

    /// Makes a suspended task for a request that is written already; it passes the interceptors.
    ///
    /// - Throws: ``SessionError`` with `invalidated`.
    func task<Output>(
        for request: SessionRequest, as serializer: some ResponseSerializer<Output>
    ) throws(SessionError) -> HTTPTask<Output> {
        let task = try self.session.makeTask(.data, request, output: .memory, interception: self.interception)
        return HTTPTask(task: task, serializer: serializer, session: self.session)
    }

    private var interception: Interception? { Interception(self.interceptors, baseURL: self.baseURL) }

    // MARK: Requests

    /// The request that GET of `url` makes: resolved against the base, with the client's default fields, and shaped.
    ///
    /// - Throws: ``SessionError`` with `invalidURL` or `invalidRequest`.
    func request(_ url: String, _ shape: Shaping) throws(SessionError) -> SessionRequest {
        try self.written("GET", url, nil, shape).request
    }

    /// A request as the serializer wrote it, and as it was shaped after that.
    private struct Written {
        var request: SessionRequest
        let source: UploadSource?
    }

    private func written(
        _ method: String, _ url: String, _ body: RequestBody?, _ shape: Shaping
    ) throws(SessionError) -> Written {
        let url = try self.url(url)
        let head = RequestHead(
            method: method, target: .absolute(scheme: url.scheme, authority: url.authority, path: url.path))
        let (written, source) = try self.serialized(head, body)
        guard case .absolute(let scheme, let authority, let path) = written.target else {
            preconditionFailure("BUG: a serializer changed the form of a target")
        }
        let target = HTTPURL(scheme: scheme, authority: authority, path: path)
        var request = SessionRequest(written.method, target, fields: written.fields)
        // Credentials for the service are no business of another that is asked beside it.
        if let baseURL, !target.isSameOrigin(as: baseURL) {
            request.fields.remove(.authorization)
            request.fields.remove(.cookie)
        }
        shape(&request)
        return Written(request: request, source: source)
    }

    private func serialized(
        _ head: RequestHead, _ body: RequestBody?
    ) throws(SessionError) -> (RequestHead, UploadSource?) {
        do {
            switch body?.content {
            case nil:
                let plain = try self.requestSerializer.serialize(head, parameters: nil)
                return (plain.head, UploadSource(plain.body))
            case .parameters(let parameters):
                let serialized = try self.requestSerializer.serialize(head, parameters: parameters)
                return (serialized.head, UploadSource(serialized.body))
            case .form(let form):
                let serialized = try self.requestSerializer.serialize(head, form: form)
                switch serialized.body {
                case .bytes(let bytes): return (serialized.head, UploadSource(bytes))
                case .form(let form): return (serialized.head, .multipart(form))
                }
            case .encoded(let encode):
                return try self.typed(head, "application/json", .bytes(ByteBuffer(bytes: encode(self.makeEncoder()))))
            case .source(let source, let type): return try self.typed(head, type, source)
            }
        } catch {
            throw SessionError(.invalidRequest, "the request cannot be made: \(error)", underlying: error)
        }
    }

    private func typed(
        _ head: RequestHead, _ type: String, _ source: UploadSource
    ) throws(SerializationError) -> (RequestHead, UploadSource?) {
        var head = try self.requestSerializer.serialize(head, parameters: nil).head
        head.fields.set("Content-Type", type)
        return (head, source)
    }
}

extension UploadSource {
    /// Nil where there are no bytes to be sent.
    fileprivate init?(_ bytes: [UInt8]?) {
        guard let bytes else { return nil }
        self = .bytes(ByteBuffer(bytes: bytes))
    }
}
