// SPDX-License-Identifier: Apache-2.0

/// Tells any number of subscribers of the same events.
package final class EventBroadcast<Event: Sendable>: Sendable {
    private struct Subscribers: Sendable {
        var streams: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let subscribers = Locked(Subscribers())
    private let policy: AsyncStream<Event>.Continuation.BufferingPolicy

    /// - Parameter policy: what becomes of events that a subscriber has not taken.
    package init(_ policy: AsyncStream<Event>.Continuation.BufferingPolicy) { self.policy = policy }

    /// A stream of what is posted from now on, after `first`.
    ///
    /// - Parameter policy: what becomes of events that this subscriber has not taken; nil for what holds for all.
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

    /// Tells every subscriber; nothing is made for nobody.
    package func post(_ event: @autoclosure () -> Event) {
        let streams = self.subscribers.withLock { Array($0.streams.values) }
        guard !streams.isEmpty else { return }
        let event = event()
        for stream in streams { stream.yield(event) }
    }

    /// Ends the streams, and those that are asked for later.
    package func finish() {
        let streams = self.subscribers.withLock { subscribers in
            subscribers.isFinished = true
            defer { subscribers.streams = [:] }
            return Array(subscribers.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
