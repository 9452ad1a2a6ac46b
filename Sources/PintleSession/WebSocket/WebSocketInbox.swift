// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSystem
internal import PintleWebSocket

/// Messages that have arrived and were not read. While they exceed 64 KiB, the connection is not read.
final class WebSocketInbox: Sendable {
    typealias Waiter = OneShot<Result<WebSocketPayload?, SessionError>>

    private struct State: Sendable {
        var messages: CircularBuffer<WebSocketPayload> = []
        var size = 0
        var waiters: CircularBuffer<Waiter> = []
        /// The end after the messages that are here; nil while more may arrive.
        var end: Result<Void, SessionError>?
        /// True if the connection waits for room.
        var isFull = false
        /// True if a reader has a message, and has not come back for the next one.
        var isReading = false
        /// True if a reader has heard of the end.
        var isEndTold = false
    }

    private let state = Locked(State())
    /// Makes the connection check again, as there is room, or as a reader has heard of the end. Called on the reader's
    /// thread.
    private let wake: @Sendable () -> Void

    static let window = 64 * 1024
    /// The size of a message in addition to its bytes.
    private static let overhead = 128

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    // MARK: For the connection

    /// Adds a message that has arrived.
    func add(_ message: WebSocketPayload) {
        let waiter = self.state.withLock { state -> Waiter? in
            if let waiter = state.waiters.popFirst() {
                state.isReading = true
                return waiter
            }
            state.messages.append(message)
            state.size += message.bytes.readableBytes + Self.overhead
            return nil
        }
        waiter?.give(.success(message))
    }

    /// Returns true if there is room for another message. If there is none, the connection is woken as soon as there
    /// is.
    func hasRoom() -> Bool {
        self.state.withLock { state in
            state.isFull = state.size >= Self.window
            return !state.isFull
        }
    }

    /// Notes that no more messages will arrive. Those that are here can still be read.
    func finish(_ error: SessionError?) {
        let waiters = self.state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
            if !state.waiters.isEmpty { state.isEndTold = true }
            defer { state.waiters.removeAll() }
            return state.waiters
        }
        for waiter in waiters { waiter.give(error.map { .failure($0) } ?? .success(nil)) }
    }

    /// True if a message from before the end may still be answered by its reader. The connection is woken when a reader
    /// hears of the end.
    var isBeforeEnd: Bool {
        self.state.withLock { !$0.isEndTold && ($0.isReading || !$0.messages.isEmpty) }
    }

    // MARK: For readers

    /// Waits for the next message. Waiting readers are served in their order. A cancelled reader takes no message.
    ///
    /// - Returns: nil after the last message.
    func next() async throws(SessionError) -> WebSocketPayload? {
        enum Next {
            case result(Result<WebSocketPayload?, SessionError>)
            case wait(Waiter)
        }
        guard !Task.isCancelled else { throw .cancelled }
        let (next, wakes) = self.state.withLock { state -> (Next, Bool) in
            if let message = state.messages.popFirst() {
                state.size -= message.bytes.readableBytes + Self.overhead
                let isRoomy = state.isFull && state.size < Self.window / 2
                if isRoomy { state.isFull = false }
                state.isReading = true
                return (.result(.success(message)), isRoomy)
            }
            state.isReading = false
            if let end = state.end {
                defer { state.isEndTold = true }
                return (.result(end.map { nil }), !state.isEndTold)
            }
            let waiter = Waiter()
            state.waiters.append(waiter)
            return (.wait(waiter), false)
        }
        if wakes { self.wake() }
        switch next {
        case .result(let result): return try result.get()
        case .wait(let waiter):
            let result = await withTaskCancellationHandler {
                await waiter.value()
            } onCancel: {
                self.cancel(waiter)
            }
            return try result.get()
        }
    }

    private func cancel(_ waiter: Waiter) {
        let isWaiting = self.state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        // A waiter that is not in the queue any more has got a message, which must not be lost.
        if isWaiting { waiter.give(.failure(.cancelled)) }
    }
}
