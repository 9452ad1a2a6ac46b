// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import NIOCore
public import PintleMessage
public import PintleSerialization
public import PintleTrust

/// The client of one service: URLs below a base, values that are encoded and decoded, and steps that all requests pass.
///
///     let api = try HTTPSession(base: "https://api.example/v1")
///     let user = try await api.get("users/1", as: User.self)
///
/// A value over a ``Session``: copies share the session's connections and nothing else.
public struct HTTPSession: Sendable {
    /// Changes a request just before its task is made: its fields, time limits, cache policy or pace.
    ///
    ///     try await api.get("slow", as: Report.self) { $0.timeout = .seconds(300) }
    public typealias Shaping = (inout SessionRequest) -> Void

    /// The session that sends the requests.
    public let session: Session
    /// The base against which URLs are resolved; its path ends with a slash.
    public let baseURL: HTTPURL?
    /// Writes parameters into requests. Its default fields are added to each request that has none of that name;
    /// Authorization and Cookie among them only if the request goes to the base's own origin. Default: query or form,
    /// and no fields.
    public var requestSerializer: any RequestSerializer = HTTPRequestSerializer()
    /// The steps that requests pass, in this order. Default none.
    public var interceptors: [Interceptor] = []
    /// Makes the encoder that writes values as JSON; default Foundation's settings. Encoders have mutable settings, so
    /// each use makes one instead of sharing it.
    public var makeEncoder: @Sendable () -> JSONEncoder = { JSONEncoder() }
    /// Makes the decoder that reads values from JSON; default Foundation's settings.
    public var makeDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }

    /// Makes a client with a session of its own, on the engine that the program's sessions share.
    ///
    /// - Parameters:
    ///   - base: an absolute URL. A path without a slash at its end gets one, so that relative URLs go below it. Without
    ///     a base every URL must be absolute.
    ///   - policy: the conditions that servers' certificates must satisfy; a policy that pins needs a base with https.
    /// - Throws: ``SessionError`` with `invalidURL`, `cleartext`, `invalidPolicy`, or `internalError` if the shared
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
    /// - Parameter base: an absolute URL. A path without a slash at its end gets one, so that relative URLs go below
    ///   it. Without a base every URL must be absolute.
    /// - Throws: ``SessionError`` with `invalidURL`; with `cleartext` if the session's policy pins and the base is not
    ///   https.
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

    /// Returns `text` resolved against the base (RFC 3986 §5): `users` and `users?page=2` go below it, `/users` and
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

    /// Makes a suspended task, to be resumed, observed and cancelled.
    ///
    /// - Parameters:
    ///   - body: nil for none. The request serializer decides the place of parameters for `method`.
    ///   - serializer: checks and decodes the response.
    ///   - shape: changes the request last, before it is sent.
    /// - Throws: ``SessionError`` with `invalidURL`, `invalidated`, or `invalidRequest`, with the error of the
    ///   serializer or encoder as `underlying`.
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

    /// Downloads to a file.
    ///
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` does, or that of the task; with `rejected` if the
    ///   response does not satisfy `contract`.
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

    /// Waits for the head of a response, whatever its status; the body streams after it.
    ///
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` does, and if no final head arrives. Later errors are
    ///   thrown by the body.
    public func stream(
        _ url: String, method: String = "GET", body: RequestBody? = nil, _ shape: Shaping = { _ in }
    ) async throws(SessionError) -> SessionResponse {
        let written = try self.written(method, url, body, shape)
        return try await self.session.stream(
            written.request, from: written.source, interception: self.interception)
    }

    /// Returns the events of a server, like
    /// ``Session/serverSentEvents(_:from:lastEventID:limit:reconnection:onChange:)``; each connection passes the
    /// interceptors.
    ///
    /// - Parameters:
    ///   - shape: changes the request last, before it is sent. A trailing closure is this one, as in all other calls: of
    ///     several closure parameters the compiler gives a single closure to the first.
    ///   - onChange: notified of connections and pauses.
    /// - Throws: ``SessionError`` with `invalidURL`, or `invalidRequest`, with the error of the serializer or encoder
    ///   as `underlying`.
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
    /// - Parameter url: resolved against the base; an absolute one may also be ws or wss.
    /// - Throws: ``SessionError`` as ``task(_:_:body:as:_:)`` and the session do.
    public func webSocket(
        _ url: String, options: WebSocketOptions = WebSocketOptions(), _ shape: Shaping = { _ in }
    ) async throws(SessionError) -> WebSocket {
        let written = try self.written("GET", SessionRequest.httpSpelling(ofWebSocket: url), nil, shape)
        return try await self.session.webSocket(written.request, options: options, interception: self.interception)
    }

    /// Makes a suspended task for a request that is serialized already; it passes the interceptors.
    ///
    /// - Throws: ``SessionError`` with `invalidated`.
    package func task<Output>(
        for request: SessionRequest, as serializer: some ResponseSerializer<Output>
    ) throws(SessionError) -> HTTPTask<Output> {
        let task = try self.session.makeTask(.data, request, output: .memory, interception: self.interception)
        return HTTPTask(task: task, serializer: serializer, session: self.session)
    }

    /// The steps that a task passes; nil if there are none.
    package var interception: InterceptorChain? { InterceptorChain(self.interceptors, baseURL: self.baseURL) }

    // MARK: Requests

    /// Returns the request for GET of `url`: resolved against the base, with the client's default fields, and shaped.
    ///
    /// - Throws: ``SessionError`` with `invalidURL` or `invalidRequest`.
    package func request(_ url: String, _ shape: Shaping) throws(SessionError) -> SessionRequest {
        try self.written("GET", url, nil, shape).request
    }

    /// A request after the serializer and the shaping closure, and its body.
    package struct Written {
        package var request: SessionRequest
        package let source: UploadSource?
    }

    package func written(
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
        // The service's credentials must not reach another origin.
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
    /// Nil if there are no bytes to send.
    fileprivate init?(_ bytes: [UInt8]?) {
        guard let bytes else { return nil }
        self = .bytes(ByteBuffer(bytes: bytes))
    }
}
