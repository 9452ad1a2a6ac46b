// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
internal import PintleSystem

extension Session {
    /// Opens a WebSocket (RFC 6455).
    ///
    /// The request is treated like all requests of the session: the policy checks an https origin, the proxy is asked
    /// for a tunnel, cookies and credentials are sent, and redirects are followed. It has a connection of its own, with
    /// HTTP/1.1.
    ///
    /// - Parameter request: a GET, for example made by ``SessionRequest/init(webSocket:fields:)``; without fields whose
    ///   names begin with Sec-WebSocket, which the session writes.
    /// - Throws: ``SessionError``, as other tasks do; `rejected` for any response but a 101, with status, fields and
    ///   the first 64 KiB of the body in a ``RejectedResponse``; `malformedResponse` for a 101 that opens no WebSocket,
    ///   with a `WebSocketHandshakeError` in `underlying`.
    public func webSocket(
        _ request: SessionRequest, options: WebSocketOptions = WebSocketOptions()
    ) async throws(SessionError) -> WebSocket {
        try await self.webSocket(request, options: options, interception: nil)
    }

    func webSocket(
        _ request: SessionRequest, options: WebSocketOptions, interception: InterceptorChain?
    ) async throws(SessionError) -> WebSocket {
        try Self.checkCancellation()
        try options.checkSyntax()
        guard request.method == "GET" else {
            throw SessionError(.invalidRequest, "a WebSocket is asked for by GET, not by \(request.method)")
        }
        for (name, _) in request.fields.pairs where name.lowercased().hasPrefix("sec-websocket-") {
            throw SessionError(.invalidRequest, "\(name) belongs to the handshake; the session writes it")
        }
        let opening = WebSocketOpening(options)
        let task = try self.makeTask(.webSocket, request, output: .webSocket(opening), interception: interception)
        task.resume()
        let socket = await withTaskCancellationHandler {
            await Result { () async throws(SessionError) -> WebSocket in try await opening.value() }
        } onCancel: {
            task.cancel()
        }
        return try socket.get()
    }

    /// Opens a WebSocket, as ``webSocket(_:options:)-(SessionRequest,_)`` does.
    ///
    /// - Parameter url: an absolute ws, wss, http or https URL.
    public func webSocket(
        _ url: String, options: WebSocketOptions = WebSocketOptions()
    ) async throws(SessionError) -> WebSocket {
        try await self.webSocket(SessionRequest(webSocket: url), options: options)
    }
}

extension SessionRequest {
    /// Makes a request for a WebSocket.
    ///
    /// - Parameter url: an absolute ws, wss, http or https URL (RFC 6455 §3).
    /// - Throws: ``SessionError`` with `invalidURL`; its message says what is wrong with the URL.
    public init(webSocket url: String, fields: Fields = Fields()) throws(SessionError) {
        try self.init("GET", Self.httpSpelling(ofWebSocket: url), fields: fields)
    }

    /// Returns the URL with http for ws, or https for wss: the schemes differ only in their names.
    static func httpSpelling(ofWebSocket url: String) -> String {
        let scheme = url.prefix { $0 != ":" }
        let rest = url[scheme.endIndex...]
        return switch scheme.lowercased() {
        case "ws": "http\(rest)"
        case "wss": "https\(rest)"
        default: url
        }
    }
}
