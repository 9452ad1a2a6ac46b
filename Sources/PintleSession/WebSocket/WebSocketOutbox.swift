// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSystem
internal import PintleWebSocket

/// Messages that wait to be sent. While they exceed 64 KiB, senders wait.
final class WebSocketOutbox: Sendable {
    typealias Waiter = OneShot<Result<Void, SessionError>>

    private struct State: Sendable {
        var messages: CircularBuffer<WebSocketPayload> = []
        var size = 0
        var waiters: CircularBuffer<(message: WebSocketPayload, waiter: Waiter)> = []
        /// The reason why no more messages are accepted; nil while they are.
        var refusal: SessionError?
        /// True if the connection was woken, and has not checked yet.
        var isWaking = false

        mutating func append(_ message: WebSocketPayload) {
            self.messages.append(message)
            self.size += message.bytes.readableBytes + WebSocketOutbox.overhead
        }
    }

    private let state = Locked(State())
    /// Makes the connection check for messages. Called on the sender's thread.
    private let wake: @Sendable () -> Void

    private static let window = 64 * 1024
    /// The size of a message in addition to its bytes.
    private static let overhead = 128

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    // MARK: For senders

    /// Waits until there is room, and adds the message. A sender that is cancelled before adds none.
    func send(_ message: WebSocketPayload) async throws(SessionError) {
        enum Next {
            case taken(wakes: Bool)
            case refused(SessionError)
            case wait(Waiter)
        }
        guard !Task.isCancelled else { throw .cancelled }
        let next = self.state.withLock { state -> Next in
            if let refusal = state.refusal { return .refused(refusal) }
            guard state.waiters.isEmpty, state.size < Self.window else {
                let waiter = Waiter()
                state.waiters.append((message, waiter))
                return .wait(waiter)
            }
            state.append(message)
            defer { state.isWaking = true }
            return .taken(wakes: !state.isWaking)
        }
        switch next {
        case .taken(let wakes): if wakes { self.wake() }
        case .refused(let error): throw error
        case .wait(let waiter):
            let result = await withTaskCancellationHandler {
                await waiter.value()
            } onCancel: {
                self.cancel(waiter)
            }
            try result.get()
        }
    }

    private func cancel(_ waiter: Waiter) {
        let isWaiting = self.state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.waiter === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        // If the sender is not in the queue any more, its message is on its way.
        if isWaiting { waiter.give(.failure(.cancelled)) }
    }

    // MARK: For the connection

    /// Called when the connection has been woken and begins to check.
    func isLookedAt() { self.state.withLock { $0.isWaking = false } }

    /// Takes the next message, and admits those of waiting senders for which there is room now.
    func take() -> WebSocketPayload? {
        let (message, admitted) = self.state.withLock { state -> (WebSocketPayload?, [Waiter]) in
            guard let message = state.messages.popFirst() else { return (nil, []) }
            state.size -= message.bytes.readableBytes + Self.overhead
            var admitted: [Waiter] = []
            while state.size < Self.window, let next = state.waiters.popFirst() {
                state.append(next.message)
                admitted.append(next.waiter)
            }
            return (message, admitted)
        }
        for waiter in admitted { waiter.give(.success(())) }
        return message
    }

    /// True if there is no message to send.
    var isEmpty: Bool { self.state.withLock { $0.messages.isEmpty } }

    /// Refuses all further messages, including those of waiting senders.
    ///
    /// - Parameter dropping: true if the messages that are here are dropped too.
    func refuse(_ error: SessionError, dropping: Bool) {
        let waiters = self.state.withLock { state in
            if state.refusal == nil { state.refusal = error }
            if dropping {
                state.messages.removeAll()
                state.size = 0
            }
            defer { state.waiters.removeAll() }
            return state.waiters
        }
        for waiting in waiters { waiting.waiter.give(.failure(error)) }
    }
}
