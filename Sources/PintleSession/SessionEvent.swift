// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers

/// What happens to a session and its tasks, as told by ``Session/eventStream()``.
public enum SessionEvent: Sendable {
    /// ``SessionTask/resume()`` set a task going that was suspended.
    case taskResumed(SessionTask)
    /// ``SessionTask/suspend()`` stopped a task that was running.
    case taskSuspended(SessionTask)
    /// A task is over. Its state, response, metrics and error are the task's; who waited for it has been told.
    case taskCompleted(SessionTask)
    /// A download was moved to where it belongs.
    case downloadMoved(SessionTask, to: String)
    /// A download is whole, but could not be moved; it is still in the temporary file.
    case downloadMoveFailed(SessionTask, from: String, to: String, SessionError)
    /// An operation was started, or goes on after a pause.
    case operationStarted(TransferOperation)
    /// An operation is no longer under way: it was paused, or it has finished. Its state says which.
    case operationStopped(TransferOperation)
    /// The session takes no more tasks and the last one has ended. The stream ends with this.
    case sessionInvalidated
}

/// Tells any number of subscribers of the same events.
final class EventBroadcast<Event: Sendable>: Sendable {
    private struct Subscribers: Sendable {
        var streams: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let subscribers = NIOLockedValueBox(Subscribers())
    private let policy: AsyncStream<Event>.Continuation.BufferingPolicy

    init(_ policy: AsyncStream<Event>.Continuation.BufferingPolicy) { self.policy = policy }

    /// A stream of what is posted from now on, after `first`.
    func subscribe(beginningWith first: Event? = nil) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: self.policy)
        if let first { continuation.yield(first) }
        let number = self.subscribers.withLockedValue { subscribers -> Int? in
            guard !subscribers.isFinished else { return nil }
            subscribers.next += 1
            subscribers.streams[subscribers.next] = continuation
            return subscribers.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.subscribers.withLockedValue { $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func post(_ event: @autoclosure () -> Event) {
        let streams = self.subscribers.withLockedValue { Array($0.streams.values) }
        guard !streams.isEmpty else { return }
        let event = event()
        for stream in streams { stream.yield(event) }
    }

    func finish() {
        let streams = self.subscribers.withLockedValue { subscribers in
            subscribers.isFinished = true
            defer { subscribers.streams = [:] }
            return Array(subscribers.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
