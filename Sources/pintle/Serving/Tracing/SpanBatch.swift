// SPDX-License-Identifier: Apache-2.0

internal import PintleWatch

/// The spans that wait until they are worth a request to their receiver.
struct SpanBatch {
    /// The most spans of one request.
    static let mostSpans = 512
    /// The longest time that a span waits for others.
    static let longestWait = Duration.seconds(5)

    private(set) var spans: [TraceSpan] = []
    private var oldest: ContinuousClock.Instant?

    mutating func add(_ more: [TraceSpan], at now: ContinuousClock.Instant) {
        if self.oldest == nil, !more.isEmpty { self.oldest = now }
        self.spans += more
    }

    /// The time after which the spans are due; nil if there are none.
    func timeLeft(at now: ContinuousClock.Instant) -> Duration? {
        if self.spans.count >= Self.mostSpans { return .zero }
        return self.oldest.map { max(.zero, Self.longestWait - $0.duration(to: now)) }
    }

    /// Takes the spans of the next request; nil if they are not due.
    ///
    /// - Parameter isLast: true if spans are due at once.
    mutating func take(at now: ContinuousClock.Instant, isLast: Bool) -> [TraceSpan]? {
        guard let left = self.timeLeft(at: now), left <= .zero || isLast else { return nil }
        let taken = Array(self.spans.prefix(Self.mostSpans))
        self.spans.removeFirst(taken.count)
        if self.spans.isEmpty { self.oldest = nil }
        return taken
    }
}
