// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
internal import PintleSystem
public import PintleWebSocket

/// A connection on which messages go both ways (RFC 6455), opened by ``Session/webSocket(_:options:)-(SessionRequest,_)``.
///
/// It is a sequence of the received messages. While they are not read, at most 64 KiB are read from the connection, and
/// the server must wait. The sequence ends when the server has closed the WebSocket; it throws if the connection
/// breaks, or the server violates the protocol. Pings are answered automatically when they are read.
///
/// A WebSocket that is released is closed with 1001, after the messages that were passed to it have been sent, within
/// ``WebSocketOptions/closeTimeout``. It keeps its session alive until its connection is closed.
public final class WebSocket: AsyncSequence, Sendable {
    /// A message.
    public typealias Element = WebSocketMessage
    /// The reason why there is no next message.
    public typealias Failure = SessionError

    /// The URL of its origin, after redirects.
    public let url: HTTPURL
    /// The head of the server's `101 Switching Protocols`.
    public let response: ResponseHead
    /// The task of the WebSocket, which runs as long as the connection.
    public let task: SessionTask
    /// The one of ``WebSocketOptions/subprotocols`` that the server has chosen; nil for none.
    public let subprotocol: String?
    /// The extensions that the server has agreed to, in its words, such as `permessage-deflate`; empty for none.
    public let extensions: String
    private let shared: WebSocketSharedState
    private let session: Session

    init(
        url: HTTPURL, response: ResponseHead, task: SessionTask, agreement: WebSocketAgreement,
        shared: WebSocketSharedState, session: Session
    ) {
        self.url = url
        self.response = response
        self.task = task
        self.subprotocol = agreement.subprotocol
        self.extensions = agreement.extensions
        self.shared = shared
        self.session = session
    }

    deinit { self.shared.onLoop { $0.close(WebSocketClose(.goingAway)) } }

    /// The reason why the server has closed it: `WebSocketCloseCode.noStatus` if its Close had no code,
    /// `WebSocketCloseCode.abnormal` if the connection ended without a Close. Nil while it is open.
    public var closeCode: WebSocketCloseCode? { self.shared.close?.code }
    /// The text in the Close with ``closeCode``; empty if it had none.
    public var closeReason: String? { self.shared.close?.reason }

    // MARK: Receiving

    /// Reads the messages from now on. Several readers share them: each message is read once.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// An iterator that waits for each message.
    public struct Iterator: AsyncIteratorProtocol {
        /// A message.
        public typealias Element = WebSocketMessage
        /// The reason why there is no next message.
        public typealias Failure = SessionError

        let socket: WebSocket

        /// Waits like ``WebSocket/receive()``.
        public mutating func next() async throws(SessionError) -> WebSocketMessage? {
            try await self.socket.receive()
        }

        /// Waits like ``WebSocket/receive()``, on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SessionError) -> WebSocketMessage? {
            try await self.socket.receive()
        }
    }

    /// Waits for the next message.
    ///
    /// Cancelling the waiting task ends only the wait: no message is lost, and the WebSocket stays open.
    ///
    /// - Returns: nil when the WebSocket is closed and every message was read.
    /// - Throws: ``SessionError``: `connectionBroken` if the connection ended without a Close; `malformedResponse` for
    ///   a protocol violation, with a `WebSocketViolation` in `underlying`; `tooLarge` for a message over the limit;
    ///   `timeout` for a server that is gone; and `cancelled`.
    public func receive() async throws(SessionError) -> WebSocketMessage? {
        try await self.shared.inbox.next()?.message
    }

    // MARK: Sending

    /// Sends a message after those that were sent before.
    ///
    /// Returns when the message is on its way; while 64 KiB of earlier messages are not, it waits for them. A call that
    /// is cancelled while it waits sends nothing; no message is ever sent in part.
    ///
    /// - Throws: ``SessionError``: `cannotSend` if the WebSocket is closed; the failure of the connection, if it broke;
    ///   and `cancelled`.
    public func send(_ message: WebSocketMessage) async throws(SessionError) {
        try await self.shared.outbox.send(WebSocketPayload(message))
    }

    /// Sends text, as ``send(_:)-(WebSocketMessage)`` does.
    public func send(_ text: String) async throws(SessionError) { try await self.send(.text(text)) }

    /// Sends bytes, as ``send(_:)-(WebSocketMessage)`` does.
    public func send(_ bytes: ByteBuffer) async throws(SessionError) { try await self.send(.binary(bytes)) }

    /// Sends a ping, and waits for its pong. The pong comes after the messages that the server has sent before, so
    /// these must be read meanwhile.
    ///
    /// - Returns: the time from ping to pong.
    /// - Throws: ``SessionError`` as ``send(_:)-(WebSocketMessage)``.
    public func ping() async throws(SessionError) -> Duration {
        guard !Task.isCancelled else { throw .cancelled }
        let pong = PendingPings.Pong()
        guard self.shared.onLoop({ $0.ping(pong) }) else {
            throw SessionError(.cannotSend, "the WebSocket to \(self.url.authority) is closed")
        }
        let result = await withTaskCancellationHandler {
            await pong.value()
        } onCancel: {
            pong.give(.failure(.cancelled))
        }
        return try result.get()
    }

    // MARK: Closing

    /// Closes the WebSocket: sends the messages that were passed to ``send(_:)-(WebSocketMessage)``, then a Close, and
    /// waits for that of the server. Messages that arrive meanwhile are dropped.
    ///
    /// Returns when the connection is closed, at the latest after ``WebSocketOptions/closeTimeout``; cancelling the
    /// waiting task closes it at once. On a closed WebSocket nothing happens.
    ///
    /// - Parameters:
    ///   - code: the reason. With one that a Close may not carry, such as `WebSocketCloseCode.noStatus`, the Close has
    ///     none.
    ///   - reason: further text, of which 123 bytes are sent.
    public func close(code: WebSocketCloseCode = .normal, reason: String = "") async {
        let close = WebSocketClose(code, reason)
        self.shared.onLoop { $0.close(close) }
        await withTaskCancellationHandler {
            await self.shared.ended.wait()
        } onCancel: {
            self.shared.onLoop { $0.abort(.cancelled) }
        }
    }
}
