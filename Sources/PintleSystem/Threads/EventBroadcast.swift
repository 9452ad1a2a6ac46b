// SPDX-License-Identifier: Apache-2.0

/// Sends the same events to any number of subscribers.
package final class EventBroadcast<Event: Sendable>: Sendable {
    private struct Subscribers: Sendable {
        var streams: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let subscribers = Locked(Subscribers())
    private let policy: AsyncStream<Event>.Continuation.BufferingPolicy

    /// - Parameter policy: the policy for events that a subscriber has not taken.
    package init(_ policy: AsyncStream<Event>.Continuation.BufferingPolicy) { self.policy = policy }

    /// Returns a stream of `first` and all events that are posted from now on.
    ///
    /// - Parameter policy: the policy for events that this subscriber has not taken; nil for the general one.
    package func subscribe(
        beginningWith first: Event? = nil, policy: AsyncStream<Event>.Continuation.BufferingPolicy? = nil
    ) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: policy ?? self.policy)
        if let first { continuation.yield(first) }
        let number = self.subscribers.withLock { subscribers -> Int? in
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
            _ = self?.subscribers.withLock { $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    /// Sends an event to every subscriber; the event is not created if there is none.
    package func post(_ event: @autoclosure () -> Event) {
        let streams = self.subscribers.withLock { Array($0.streams.values) }
        guard !streams.isEmpty else { return }
        let event = event()
        for stream in streams { stream.yield(event) }
    }

    /// Ends all streams, also those that are requested later.
    package func finish() {
        let streams = self.subscribers.withLock { subscribers in
            subscribers.isFinished = true
            defer { subscribers.streams = [:] }
            return Array(subscribers.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
