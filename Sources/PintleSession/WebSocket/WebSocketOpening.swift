// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSystem
internal import PintleWebSocket

/// Gives the WebSocket of a task to the one caller that waits for it.
final class WebSocketOpening: Sendable {
    let options: WebSocketOptions
    private let socket = OneShot<Result<WebSocket, SessionError>>()
    /// The handshake of the request under way; each request has its own key (RFC 6455 §4.1).
    private let handshake = Locked(OpeningHandshake())

    init(_ options: WebSocketOptions) { self.options = options }

    /// Turns a request into one for a WebSocket.
    func prepare(_ request: inout TransferRequest) {
        let handshake = OpeningHandshake(
            protocols: self.options.subprotocols, compression: self.options.compression)
        for (name, value) in handshake.fields.pairs { request.fields.append(name, value) }
        request.upgrade = "websocket"
        self.handshake.withLock { $0 = handshake }
    }

    /// Checks the response to that request.
    func agreement(with head: ResponseHead) throws(WebSocketHandshakeError) -> WebSocketAgreement {
        try self.handshake.withLock { $0 }.agreement(with: head)
    }

    func deliver(_ socket: WebSocket) { self.socket.give(.success(socket)) }

    /// The task is over; a caller that still waits gets the error.
    func finish(_ error: SessionError?) {
        self.socket.give(.failure(error ?? SessionError(.internalError, "a WebSocket was not delivered")))
    }

    /// Waits for the WebSocket. Called once.
    func value() async throws(SessionError) -> WebSocket { try await self.socket.value().get() }
}
