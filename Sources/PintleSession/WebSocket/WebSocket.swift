// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
internal import PintleSystem
public import PintleWebSocket

/// A connection on which messages go both ways (RFC 6455), opened by ``Session/webSocket(_:options:)-(SessionRequest,_)``.
///
/// It is a sequence of the messages that come. While they are not read, the connection is not read either beyond 64 KiB,
/// and the server has to wait. The sequence ends when the server has closed the WebSocket, and throws where its connection
/// broke, or what it sent breaks the protocol. Pings are answered by themselves, as far as they are read.
///
/// One that is let go is closed with 1001, and what was given to it before is sent, within
/// ``WebSocketOptions/closeTimeout``. Until its connection is closed its session is not let go.
public final class WebSocket: AsyncSequence, Sendable {
    /// A message.
    public typealias Element = WebSocketMessage
    /// Why there is no next message.
    public typealias Failure = SessionError

    /// The URL that it leads to, after redirects.
    public let url: HTTPURL
    /// The head of the server's `101 Switching Protocols`.
    public let response: ResponseHead
    /// The task behind it, which is under way as long as the connection.
    public let task: SessionTask
    /// One of ``WebSocketOptions/subprotocols``, as the server has chosen; nil where it has chosen none.
    public let subprotocol: String?
    /// The extensions that the server has agreed to, as it names them, such as `permessage-deflate`; empty for none.
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

    /// Why the server has closed it: `WebSocketCloseCode.noStatus` where its Close said nothing,
    /// `WebSocketCloseCode.abnormal` where the connection ended without one. Nil while it is open.
    public var closeCode: WebSocketCloseCode? { self.shared.close?.code }
    /// The words beside ``closeCode``; empty where there are none.
    public var closeReason: String? { self.shared.close?.reason }

    // MARK: Receiving

    /// Reads the messages from here on. Several readers share them: each message is read once.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// Waits for one message after another.
    public struct Iterator: AsyncIteratorProtocol {
        /// A message.
        public typealias Element = WebSocketMessage
        /// Why there is no next message.
        public typealias Failure = SessionError

        let socket: WebSocket

        /// As ``WebSocket/receive()``.
        public mutating func next() async throws(SessionError) -> WebSocketMessage? {
            try await self.socket.receive()
        }

        /// As ``WebSocket/receive()``, on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SessionError) -> WebSocketMessage? {
            try await self.socket.receive()
        }
    }

    /// Waits for the next message.
    ///
    /// Cancelling who waits ends the wait: no message is lost, and the WebSocket stays open.
    ///
    /// - Returns: nil when the WebSocket is closed and every message was read.
    /// - Throws: ``SessionError``: `connectionBroken` where the connection ended without a Close, `malformedResponse` for
    ///   what breaks the protocol, with a `WebSocketViolation` in `underlying`, `tooLarge` for a message over the limit,
    ///   `timeout` for a server that is gone, and `cancelled`.
    public func receive() async throws(SessionError) -> WebSocketMessage? {
        try await self.shared.inbox.next()?.message
    }

    // MARK: Sending

    /// Sends a message behind those that were sent before.
    ///
    /// Returns when the message is on its way; with 64 KiB of others in front of it that are not, it waits for them.
    /// A call that is cancelled while it waits sends nothing; no message is ever sent in part.
    ///
    /// - Throws: ``SessionError``: `cannotSend` when the WebSocket is closed, what broke the connection where something
    ///   did, and `cancelled`.
    public func send(_ message: WebSocketMessage) async throws(SessionError) {
        try await self.shared.outbox.send(WebSocketPayload(message))
    }

    /// Sends text, as ``send(_:)-(WebSocketMessage)`` does.
    public func send(_ text: String) async throws(SessionError) { try await self.send(.text(text)) }

    /// Sends bytes, as ``send(_:)-(WebSocketMessage)`` does.
    public func send(_ bytes: ByteBuffer) async throws(SessionError) { try await self.send(.binary(bytes)) }

    /// Sends a ping, and waits for its pong, which comes behind the messages that the server has sent before: they must be
    /// read meanwhile.
    ///
    /// - Returns: the time from one to the other.
    /// - Throws: ``SessionError``: as ``send(_:)-(WebSocketMessage)``.
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

    /// Closes the WebSocket: sends what was given to ``send(_:)-(WebSocketMessage)``, then a Close, and waits for the server's.
    /// Messages that come meanwhile are not read any more.
    ///
    /// Returns when the connection is closed, at the latest after ``WebSocketOptions/closeTimeout``; cancelling who waits
    /// closes it at once. On a closed WebSocket nothing happens.
    ///
    /// - Parameters:
    ///   - code: the reason; one that no Close may have, such as `WebSocketCloseCode.noStatus`, sends a Close without.
    ///   - reason: more words, of which 123 bytes are sent.
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
