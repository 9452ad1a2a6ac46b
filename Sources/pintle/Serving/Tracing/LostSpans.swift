// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleSystem

/// Counts the spans that no receiver gets, and warns of them: at most once a minute, as a receiver that is away may stay away.
final class LostSpans: Sendable {
    /// Numbers since the start.
    struct Counts: Hashable, Sendable {
        /// Spans that were given up.
        var spans = 0
        /// Exchanges for which there was no room, before spans were made of them.
        var exchanges = 0
    }

    private struct State {
        var counts = Counts()
        var told = Counts()
        var lastWarning: ContinuousClock.Instant?
    }

    private static let interval = Duration.seconds(60)

    private let logger: Logger
    private let state = Locked(State())

    init(logger: Logger) { self.logger = logger }

    /// Notes a failure to deliver spans, and warns unless that was done within the last minute.
    ///
    /// - Parameters:
    ///   - spans: the number of spans that are given up with it.
    ///   - exchanges: the number of exchanges that are.
    func note(_ reason: String, spans: Int = 0, exchanges: Int = 0, at now: ContinuousClock.Instant = .now) {
        let counts: Counts? = self.state.withLock { state in
            state.counts.spans += spans
            state.counts.exchanges += exchanges
            if let last = state.lastWarning, last.duration(to: now) < Self.interval { return nil }
            (state.lastWarning, state.told) = (now, state.counts)
            return state.counts
        }
        if let counts { self.warn(reason, counts) }
    }

    /// Warns of losses that no warning has counted.
    func finish() {
        let counts: Counts? = self.state.withLock { $0.counts == $0.told ? nil : $0.counts }
        if let counts { self.warn("not all spans were delivered", counts) }
    }

    private func warn(_ reason: String, _ counts: Counts) {
        self.logger.log(
            .warning, .tracesIncomplete(reason: reason, lostSpans: counts.spans, lostExchanges: counts.exchanges))
    }
}
